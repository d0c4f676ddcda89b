package handlers

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/organizers"
)

var deskLink = regexp.MustCompile(`<a [^>]*href="(/desk[^"#]*)`)

func TestRoles_NoLinkLeadsToARefusal(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	for _, role := range organizers.Roles() {
		from, next := map[string]string{"/desk": "", "/desk/events": ""}, []string{"/desk", "/desk/events"}
		for len(next) > 0 && len(from) < 400 {
			path := next[0]
			next = next[1:]
			a, body := send(t, w.people[string(role)], "GET", w.url+path, "", "Accept", asPage)
			if a.StatusCode == http.StatusForbidden || a.StatusCode >= 500 {
				t.Errorf("%s finds %s on %s and is answered %d", role, path, from[path], a.StatusCode)
			}
			for _, found := range deskLink.FindAllStringSubmatch(body, -1) {
				to := html.UnescapeString(found[1])
				bare, _, _ := strings.Cut(to, "?")
				if _, seen := from[bare]; !seen && !strings.Contains(bare, "/exports/") {
					from[bare] = path
					next = append(next, to)
				}
			}
		}
		if len(from) < 5 {
			t.Errorf("%s finds only %v", role, from)
		}
	}
}
