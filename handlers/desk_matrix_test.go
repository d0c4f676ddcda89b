package handlers

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
)

// wall is a box office with a member in each role of the first team, and another team with things of its own.
type wall struct {
	*site
	people map[string]*http.Client // by role, and a stranger
	team   int64                   // the other one

	plans, imports []string // one of the first team, and one of the other one
}

// roles are who knocks, those who may do least first: what they do changes least.
var roles = []string{"stranger", string(organizers.Door), string(organizers.Till), string(organizers.Viewer), string(organizers.Marketing), string(organizers.Accounting), "key to manage of a viewer", "key to look of an owner", "key of an owner", string(organizers.Manager), string(organizers.Owner)}

// keys are the programs among them: who made their key, and what it opens.
var keys = map[string]struct {
	maker  organizers.Role
	scopes []organizers.Scope
	may    []organizers.Need
}{
	"key to manage of a viewer": {organizers.Viewer, []organizers.Scope{organizers.ScopeLook, organizers.ScopeManage}, []organizers.Need{organizers.Enter, organizers.Look, organizers.Find}},
	"key to look of an owner":   {organizers.Owner, []organizers.Scope{organizers.ScopeLook}, []organizers.Need{organizers.Enter, organizers.Look, organizers.Find}},
	"key of an owner":           {organizers.Owner, organizers.Scopes(), []organizers.Need{organizers.Enter, organizers.Look, organizers.Find, organizers.Sell, organizers.Exchange, organizers.Admit, organizers.Promote, organizers.Account, organizers.Manage}},
}

// mayKnock reports whether a role or a key meets a need.
func mayKnock(role string, need organizers.Need) bool {
	if key, program := keys[role]; program {
		return slices.Contains(key.may, need)
	}
	return organizers.Role(role).May(need)
}

// withKey is the transport of a program that sends a key.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

func newWall(t *testing.T) *wall {
	t.Helper()
	w := &wall{site: newSite(t), people: map[string]*http.Client{"stranger": person(t)}}
	w.people[string(organizers.Owner)] = w.owner(t)
	for _, role := range organizers.Roles()[1:] {
		w.people[string(role)] = w.memberOf(t, string(role), role, w.sale.Event.Team)
	}
	for name, key := range keys {
		w.exec(t, `INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start) SELECT team_id, organizer_id, $2, $3, sha256(convert_to($2, 'UTF8')), 'x' FROM member WHERE role = $1`,
			key.maker, name, key.scopes)
		w.people[name] = person(t)
		w.people[name].Transport = withKey(name)
	}
	w.team = w.others(t, "theirs")
	w.plant(t)
	w.drawn(t)
	return w
}

// serve answers with a table of routes in place of the site's own.
func (w *wall) serve(t *testing.T, table []route) {
	t.Helper()
	h := newHandlers(w.config)
	server := httptest.NewServer(h.Wrap(h.routes(table)))
	t.Cleanup(server.Close)
	at, _ := url.Parse(server.URL)
	before, _ := url.Parse(w.url)
	for _, who := range w.people {
		who.Jar.SetCookies(at, who.Jar.Cookies(before))
	}
	w.url = server.URL
}

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// addresses are those that a route has for things of one's own, of others, not there, and, where an address names two
// things, for something of others below one's own.
func (w *wall) addresses(path string) (byOwner map[string]string, err error) {
	byOwner, things := map[string]string{}, w.things()
	marks := placeholder.FindAllStringIndex(path, -1)
	for _, owner := range []string{"own", "foreign", "none", "crossed"} {
		filled, from := "", 0
		for i, mark := range marks {
			one, known := things[path[:mark[1]]]
			if !known {
				return nil, fmt.Errorf("nothing is known to stand for %s: add a line to things", path[:mark[1]])
			}
			last := i == len(marks)-1
			value := one.own
			switch {
			case owner == "foreign", owner == "crossed" && last:
				value = one.foreign
			case owner == "none" && last:
				value = one.none
			}
			filled, from = filled+path[from:mark[0]]+value, mark[1]
		}
		if owner == "own" || len(marks) > 0 && owner != "crossed" || len(marks) > 1 {
			byOwner[owner] = filled + path[from:]
		}
	}
	return byOwner, nil
}

// knock is one request to a route, and the answer's status: as a form or page of a browser, or as a program.
func (w *wall) knock(t *testing.T, role, method, address string, want access, program bool) int {
	t.Helper()
	if program {
		a, _ := send(t, w.people[role], method, w.url+address, "")
		return a.StatusCode
	}
	body, header := "", []string{"Accept", asPage}
	if method != http.MethodGet {
		body, header = "key="+rand.Text()+"&"+want.form, append(header, "Content-Type", asForm)
	}
	a, _ := send(t, w.people[role], method, w.url+address, body, header...)
	if a.StatusCode == http.StatusSeeOther && strings.HasPrefix(a.Header.Get("Location"), "/desk/session?to=") {
		return http.StatusUnauthorized
	}
	return a.StatusCode
}

// judge knocks at a route of the desk as everybody, and lists what was not as expected.
func (w *wall) judge(t *testing.T, pattern string, want access) (wrong []string) {
	t.Helper()
	method, path, _ := strings.Cut(pattern, " ")
	addresses, err := w.addresses(path)
	if err != nil {
		return []string{pattern + ": " + err.Error()}
	}
	for _, role := range roles {
		for _, owner := range []string{"none", "foreign", "crossed", "own"} {
			address, there := addresses[owner]
			if !there {
				continue
			}
			address = strings.ReplaceAll(address, "SESSION", w.id("SELECT max(s.id) AS id FROM desk_session s JOIN organizer o ON o.id = s.organizer_id WHERE o.email = '"+role+"@example.org' OR '"+role+"' = 'owner' AND o.email = 'ann@example.org'"))
			address = strings.ReplaceAll(address, "PASSKEY", base64.RawURLEncoding.EncodeToString([]byte(role)))
			got := w.knock(t, role, method, address, want, false)
			if want.refuses && owner == "own" && mayKnock(role, want.need) && (got == http.StatusForbidden || got == http.StatusNotFound) {
				continue
			}
			if !fits(got, role, owner, want.need, strings.Contains(path, "{slug}")) {
				wrong = append(wrong, fmt.Sprintf("%s for something %s gets %d as %s", pattern, owner, got, role))
			}
			if role != "stranger" {
				continue
			}
			if got := w.knock(t, role, method, address, want, true); got != http.StatusUnauthorized {
				wrong = append(wrong, fmt.Sprintf("%s for something %s gets %d as a program without a key", pattern, owner, got))
			}
		}
	}
	return wrong
}

// fits reports whether a status is right for a role and the owner of a thing.
func fits(status int, role, owner string, need organizers.Need, ofEvent bool) bool {
	let := mayKnock(role, need)
	switch {
	case role == "stranger":
		return status == http.StatusUnauthorized
	case owner == "own" && let:
		return status != http.StatusUnauthorized && status != http.StatusForbidden && status != http.StatusNotFound && status < 500
	case owner == "own", owner == "crossed" && !let, !ofEvent && !let:
		return status == http.StatusForbidden
	case owner == "none" && ofEvent && !let: // which of the two walls it meets first says nothing of others
		return status == http.StatusForbidden || status == http.StatusNotFound
	}
	return status == http.StatusNotFound
}

// open lists attendees' routes that answer members of the desk otherwise than strangers.
func (w *wall) open(t *testing.T, pattern string) (wrong []string) {
	t.Helper()
	method, path, _ := strings.Cut(pattern, " ")
	path = strings.TrimSuffix(path, "{$}")
	for _, slug := range []string{"evening", "theirs", "nothing"} {
		address := placeholder.ReplaceAllString(strings.ReplaceAll(path, "{slug}", slug), "0")
		status := map[int][]string{}
		for _, role := range roles {
			got := w.knock(t, role, method, address, access{}, true)
			status[got] = append(status[got], role)
		}
		if len(status) != 1 {
			wrong = append(wrong, fmt.Sprintf("%s for %s is answered %v", pattern, slug, status))
		}
	}
	return wrong
}

// breaches holds a table of routes against the matrix and lists what is not as it says.
func (w *wall) breaches(t *testing.T, table []route, matrix map[string]access) (wrong []string) {
	t.Helper()
	left := map[string]bool{}
	for pattern := range matrix {
		left[pattern] = true
	}
	for _, r := range table {
		want, known := matrix[r.pattern]
		delete(left, r.pattern)
		_, path, _ := strings.Cut(r.pattern, " ")
		switch {
		case !known:
			wrong = append(wrong, r.pattern+" has no line in the matrix: say who may")
		case want.ends:
			wrong = append(wrong, newWall(t).judge(t, r.pattern, want)...)
		case !want.anyone:
			wrong = append(wrong, w.judge(t, r.pattern, want)...)
		case !strings.HasPrefix(path, "/desk"):
			wrong = append(wrong, w.open(t, r.pattern)...)
		}
	}
	for pattern := range left {
		wrong = append(wrong, pattern+" is in the matrix and no route")
	}
	return wrong
}

func TestMatrix_EveryRouteEnforcesItsNeed(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	table := newHandlers(w.config).table()
	for _, problem := range w.breaches(t, table, matrix) {
		t.Error(problem)
	}
}

func TestMatrix_ProofIsNeededWhereItSaysSo(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	for pattern, want := range matrix {
		method, path, _ := strings.Cut(pattern, " ")
		if want.anyone || (want.ends || method == http.MethodGet) && !want.proved {
			continue
		}
		addresses, err := w.addresses(path)
		if err != nil {
			t.Fatal(err)
		}
		w.exec(t, `UPDATE desk_session SET proved_at = clock_timestamp() - interval '11 minutes'`)
		address := strings.NewReplacer("SESSION", "999999", "PASSKEY", base64.RawURLEncoding.EncodeToString([]byte("owner"))).Replace(addresses["own"])
		a, body := send(t, w.people[string(organizers.Owner)], method, w.url+address, "")
		if asked := a.StatusCode == http.StatusForbidden && strings.Contains(body, `"proof"`); asked != want.proved {
			t.Errorf("%s asks for proof: %t, want %t: %d %.200s", pattern, asked, want.proved, a.StatusCode, body)
		}
	}
}

func TestMatrix_NoticesPlantedRoutes(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	h := newHandlers(w.config)
	here := func(rw http.ResponseWriter, _ *http.Request) error { return web.WriteJSON(rw, http.StatusOK, nil) }
	asMember := func(rw http.ResponseWriter, r *http.Request, _ organizers.Member) error { return here(rw, r) }
	planted := []route{
		{"GET /desk/events/{slug}/unguarded", h.Visit(here), secretRule},
		{"GET /desk/events/{slug}/generous", h.desk.Member(organizers.Look, asMember), secretRule},
		{"GET /desk/events/{slug}/stern", h.desk.Member(organizers.Own, asMember), secretRule},
		{"GET /desk/forgotten", h.desk.Member(organizers.Own, asMember), secretRule},
		{"GET /desk/strangers/{id}", h.desk.Member(organizers.Own, asMember), secretRule},
		{"GET /events/{slug}/partial", h.desk.Member(organizers.Look, asMember), secretRule},
		{"GET /desk/events/{slug}/right", h.desk.Member(organizers.Manage, asMember), secretRule},
	}
	w.serve(t, planted)
	found := strings.Join(w.breaches(t, planted, map[string]access{
		"GET /desk/events/{slug}/unguarded": {need: organizers.Look}, "GET /desk/events/{slug}/generous": {need: organizers.Manage}, "GET /desk/events/{slug}/stern": {need: organizers.Manage},
		"GET /desk/strangers/{id}": {need: organizers.Own}, "GET /events/{slug}/partial": anyone, "GET /desk/events/{slug}/right": {need: organizers.Manage}, "GET /desk/gone": {need: organizers.Own},
	}), "\n")
	for _, want := range []string{
		"unguarded for something foreign gets 200 as viewer", "unguarded for something own gets 200 as stranger", "unguarded for something own gets 200 as a program", "generous for something own gets 200 as viewer",
		"stern for something own gets 403 as manager", "GET /desk/forgotten has no line", "nothing is known to stand for /desk/strangers/{id}", "GET /events/{slug}/partial for evening is answered", "GET /desk/gone is in the matrix and no route",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("%q is not noticed", want)
		}
	}
	if strings.Contains(found, "/right") {
		t.Errorf("a right route is found wrong:\n%s", found)
	}
}
