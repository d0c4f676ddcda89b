package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRoots_TwoOfOneSizeAreTold(t *testing.T) {
	t.Parallel()
	shown := "house/events/torture/log\n7\nAAAA\n\n— house x\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(shown)) // the client tells
	}))
	defer server.Close()
	r := &run{history: newHistory(), plain: http.DefaultClient}
	for _, step := range []struct {
		shows string
		wrong int
	}{{shown, 0}, {shown, 0}, {strings.Replace(shown, "7", "8", 1), 0}, {strings.Replace(shown, "AAAA", "BBBB", 1), 1}, {"no checkpoint", 2}} {
		shown = step.shows
		r.readRoot(t.Context(), server.URL, eventSlug)
		if n := len(r.history.violations()); n != step.wrong {
			t.Errorf("after %q there are %d violations, want %d", step.shows, n, step.wrong)
		}
	}
	if list := r.roots.of(eventSlug); len(list) != 2 || !strings.Contains(list[0], "\n7\n") {
		t.Errorf("seen were %q", list)
	}
}
