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
	for path, order := range map[string][]string{"/events": {"An hour ago", "Free", "Evening", "from €", `href="/events?past=1"`}, "/events?past=1": {"Last year", "Long ago", `href="/events"`}} {
		_, body := s.page(t, who, path)
		at := 0
		for _, want := range order {
			next := strings.Index(body[at:], want)
			if next < 0 {
				t.Fatalf("%q is not where it should be in %s:\n%s", want, path, body)
			}
			at += next + len(want)
		}
		if past := path != "/events"; past == strings.Contains(body, "An hour ago") || past == strings.Contains(body, "incl. fees") {
			t.Errorf("%s mixes what is over with what is to come:\n%s", path, body)
		}
	}
	for path, begun := range map[string]bool{"/events/an-hour-ago": true, "/events/last-year": true, "/events/evening": false} {
		if _, body := s.page(t, who, path); strings.Contains(body, "already started") != begun {
			t.Errorf("%s says that it has begun: %v", path, !begun)
		}
	}
}
