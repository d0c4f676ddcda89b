package handlers

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
)

// reserved are the literal segments of a table: words that a wildcard could be given to be mistaken for another route.
func reserved(table []route) (words []string) {
	seen := map[string]bool{"": true}
	for _, r := range table {
		_, path, _ := strings.Cut(r.pattern, " ")
		for part := range strings.SplitSeq(path, "/") {
			if !seen[part] && !strings.Contains(part, "{") {
				seen[part] = true
				words = append(words, part)
			}
		}
	}
	return words
}

// metered is a body that counts what is taken of it.
type metered struct {
	io.Reader
	taken int64
}

func (c *metered) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.taken += int64(n)
	return n, err
}

func (c *metered) Close() error { return nil }

// blanks are as many spaces, which are read to their end before JSON says what is wrong with them.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) { return copy(p, manySpaces), nil }

var manySpaces = strings.Repeat(" ", 64<<10)

const asParts = "multipart/form-data; boundary=b"

// oversized sends a body of one byte more than limit and returns how much of it was taken.
func oversized(site http.Handler, method, path, kind string, limit int64, cookies []*http.Cookie) (status int, taken int64) {
	start := ""
	if kind == asParts {
		start = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n"
	}
	body := &metered{Reader: io.LimitReader(io.MultiReader(strings.NewReader(start), blanks{}), limit+1)}
	r := httptest.NewRequest(method, path, body)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", "application/json")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w.Code, body.taken
}

// unlimited sends a body that is too long to all routes of a table that change something, with each wildcard set to each
// of words, and lists those that took too much of it or did not say so.
func unlimited(site http.Handler, table []route, words []string, kinds []string, most func(web.Rule) int64, cookies func(pattern string) []*http.Cookie) (wrong []string) {
	for _, r := range table {
		method, path, _ := strings.Cut(r.pattern, " ")
		if method == http.MethodGet {
			continue
		}
		for _, word := range words {
			address := placeholder.ReplaceAllString(path, word)
			for _, kind := range kinds {
				limit := most(r.rule)
				status, taken := oversized(site, method, address, kind, limit, cookies(r.pattern))
				if taken > limit+1 || taken > limit && status != http.StatusRequestEntityTooLarge {
					wrong = append(wrong, fmt.Sprintf("%s %s as %s: %d after %d bytes", method, address, kind, status, taken))
				}
			}
			if address == path {
				break
			}
		}
	}
	return wrong
}

func noCookies(string) []*http.Cookie { return nil }

func TestRoutes_BodyOfStrangerIsLimitedOnEveryAddress(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	h := newHandlers(w.config)
	table := h.table()
	site, words := h.Wrap(h.routes(table)), append(reserved(table), "evening", "x")
	if !slices.Contains(words, "live") || !slices.Contains(words, "status") || len(words) < 80 {
		t.Fatal(words)
	}
	few := func(web.Rule) int64 { return web.BodyLimit }
	for _, wrong := range unlimited(site, table, words, []string{"application/json", asForm}, few, noCookies) {
		t.Error(wrong)
	}
	planted := []route{{"POST /planted/{word}", func(_ http.ResponseWriter, r *http.Request) error {
		_, err := io.Copy(io.Discard, r.Body)
		return err
	}, pageRule}}
	for name, bare := range map[string]http.Handler{"without the middleware": h.Answer(web.Rule{}, planted[0].handler), "with it": h.Wrap(h.routes(planted))} {
		wrong := unlimited(bare, planted, words, []string{asForm}, func(web.Rule) int64 { return web.BodyLimit }, noCookies)
		if name == "with it" && len(wrong) > 0 || name != "with it" && len(wrong) != len(words) {
			t.Errorf("a route %s: %d of %d are found unlimited", name, len(wrong), len(words))
		}
	}
	for _, path := range []string{"/live", "/nowhere/live", "/desk/nowhere", "/static/live", "/events/evening"} {
		if status, taken := oversized(site, http.MethodPost, path, asForm, web.BodyLimit, nil); taken > 0 || status != 404 && status != 405 {
			t.Errorf("%s: %d after %d bytes", path, status, taken)
		}
	}
}

func TestRoutes_LargeBodiesNeedTheManagerRole(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	h := newHandlers(w.config)
	table := h.table()
	site, at := h.Wrap(h.routes(table)), must(url.Parse(w.url))
	as := func(role string) func(string) []*http.Cookie {
		return func(string) []*http.Cookie { return w.people[role].Jar.Cookies(at) }
	}
	large := slices.DeleteFunc(slices.Clone(table), func(r route) bool { return r.rule.Body == 0 })
	if len(large) != 13 {
		t.Errorf("%d routes take plans, statements, texts, addresses and pictures", len(large))
	}
	for _, role := range []string{"stranger", string(organizers.Door), string(organizers.Till), string(organizers.Viewer)} {
		for _, r := range large {
			_, path, _ := strings.Cut(r.pattern, " ")
			for _, kind := range []string{"application/json", asForm, asParts} {
				status, taken := oversized(site, http.MethodPost, placeholder.ReplaceAllString(path, "live"), kind, 1<<20, as(role)(""))
				if taken > 0 || status != http.StatusUnauthorized && status != http.StatusForbidden && status != http.StatusNotFound {
					t.Errorf("%s as %s: %d after %d bytes", r.pattern, role, status, taken)
				}
			}
		}
	}
	whole := func(r web.Rule) int64 { return max(r.Body, web.BodyLimit) }
	for _, wrong := range unlimited(site, large, []string{"live", "evening", w.plans[0]}, []string{"application/json", asParts}, whole, as(string(organizers.Manager))) {
		t.Error(wrong)
	}
	small := slices.DeleteFunc(slices.Clone(table), func(r route) bool { return r.rule.Body > 0 || strings.Contains(r.pattern, "/session") })
	for _, wrong := range unlimited(site, small, []string{"live", "new", "evening", "1"}, []string{"application/json", asForm}, whole, as(string(organizers.Owner))) {
		t.Error(wrong)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Not parallel: it counts what the whole process allocates.
func TestRoutes_MemoryIsFlatUnderLargeBodies(t *testing.T) {
	w := newSite(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, path := range []string{"/desk/password/live", "/desk/setup/live", "/desk/invitations/live", "/waitlist/live", "/demo-card/live", "/desk/imports", "/desk/events", "/desk/password/x"} {
		r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, io.LimitReader(blanks{}, 300<<20)))
		r.Header.Set("Content-Type", "application/json")
		if a, err := person(t).Do(r); err == nil { // a connection closed while we send is a refusal too
			_ = a.Body.Close()
			if a.StatusCode < 400 {
				t.Errorf("%s: %d", path, a.StatusCode)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("8 bodies of 300 MB had %d MB allocated", grown>>20)
	}
}

// slow is a body of which the last byte comes only when it is let go.
type slow struct {
	io.Reader
	last chan struct{}
}

func (s slow) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		<-s.last
	}
	return n, err
}

func TestRoutes_LargeBodiesOfMembersWaitForEachOther(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	h := newHandlers(w.config)
	site, at := h.Wrap(h.routes(h.table())), must(url.Parse(w.url))
	post := func(body io.Reader, size int64) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/desk/plans/"+w.plans[0]+"/versions", body)
		r.ContentLength = size
		r.Header.Set("Accept", "application/json")
		for _, c := range w.people[string(organizers.Manager)].Jar.Cookies(at) {
			r.AddCookie(c)
		}
		answer := httptest.NewRecorder()
		site.ServeHTTP(answer, r)
		return answer
	}
	first := slow{io.LimitReader(blanks{}, 1<<20), make(chan struct{})} // what is announced counts
	done := make(chan int, 1)
	go func() { done <- post(first, 40<<20).Code }()
	for h.Large.TryAcquire(plan.MaxBytes) { // until the first has its share
		h.Large.Release(plan.MaxBytes)
		runtime.Gosched()
	}
	if a := post(strings.NewReader(`{"base":0}`), 10); a.Code == http.StatusServiceUnavailable {
		t.Errorf("a small body waits for a large one: %d", a.Code)
	}
	second := &metered{Reader: io.LimitReader(blanks{}, 40<<20)}
	if a := post(second, 40<<20); a.Code != http.StatusServiceUnavailable || a.Header().Get("Retry-After") != "5" || second.taken > web.BodyLimit {
		t.Errorf("beside another one: %d %q after %d bytes", a.Code, a.Header().Get("Retry-After"), second.taken)
	}
	close(first.last)
	if status := <-done; status >= 500 {
		t.Errorf("the first one: %d", status)
	}
	if !h.Large.TryAcquire(plan.MaxBytes) {
		t.Error("a share was not given back")
	}
}
