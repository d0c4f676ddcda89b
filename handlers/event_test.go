package handlers

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
)

func TestEvents_UpcomingComeFirst(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	places, _ := plan.Named("conference")
	for name, starts := range map[string]time.Time{"Long ago": time.Unix(1e9, 0), "Last year": time.Unix(15e8, 0), "An hour ago": time.Now().Add(-time.Hour)} {
		if _, err := events.Create(t.Context(), s.db, events.Settings{Name: name, StartsAt: starts}, places); err != nil {
			t.Fatal(err)
		}
	}
	_, body := s.page(t, who, "/events")
	at := 0
	for _, want := range []string{"An hour ago", "200 of 200 free", "Evening", "free", "<h2>Earlier</h2>", "Last year", "Long ago", "</ol>"} {
		next := strings.Index(body[at:], want)
		if next < 0 {
			t.Fatalf("%q is not where it should be in the list:\n%s", want, body)
		}
		at += next + len(want)
	}
	if _, past, _ := strings.Cut(body, "Earlier"); strings.Contains(past, "free") {
		t.Errorf("the list offers places of what is over:\n%s", past)
	}
	for path, begun := range map[string]bool{"/events/an-hour-ago": true, "/events/last-year": true, "/events/evening": false} {
		if _, body := s.page(t, who, path); strings.Contains(body, "already begun") != begun {
			t.Errorf("%s says that it has begun: %v", path, !begun)
		}
	}
}
