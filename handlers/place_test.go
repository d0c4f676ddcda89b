package handlers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/waitingroom"
)

// keeps is what a browser is told to keep by a site over TLS, or not.
func keeps(t *testing.T, secure bool, value string) *http.Cookie {
	t.Helper()
	h, w := &Handlers{Server: &web.Server{Sessions: web.NewSessions(nil, secure)}}, httptest.NewRecorder()
	h.KeepCookie(w, "place-1", value)
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("it is told to keep %v", cookies)
	}
	return cookies[0]
}

func TestAPlaceIsKeptForADayByThisSiteAloneAndOutOfReachOfScripts(t *testing.T) {
	t.Parallel()
	for secure, name := range map[bool]string{true: "__Host-usher-place-1", false: "usher-place-1"} {
		c := keeps(t, secure, "word")
		if c.Name != name || c.Value != "word" || !c.HttpOnly || c.Secure != secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 24*60*60 {
			t.Errorf("over TLS (%v) a browser keeps %s", secure, c.Raw)
		}
		if c := keeps(t, secure, ""); c.Name != name || c.MaxAge >= 0 {
			t.Errorf("a place that is given up is kept: %s", c.Raw)
		}
	}
}

func TestRoom_VisitorWhoGivesUpJoinsAnew(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := time.Now().Add(time.Hour)
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	ann := person(t)
	joins(t, s, ann)
	a, _ := send(t, ann, "POST", s.url+"/rooms/evening/departure", "")
	if kept := strings.Join(a.Header.Values("Set-Cookie"), "\n"); a.StatusCode != http.StatusNoContent || !strings.Contains(kept, "usher-place-") || !strings.Contains(kept, "Max-Age=0") {
		t.Errorf("giving up gets %d, and the browser is told to keep %q", a.StatusCode, kept)
	}
	if st := stand(t, s, ann); st.Index != 0 || st.State != "join" {
		t.Errorf("who gave up has %+v", st)
	}
	if st := joins(t, s, ann); st.Index != 2 {
		t.Errorf("who joins again has place %d", st.Index)
	}
}

func TestAPageThatSaysItIsThereIsCounted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := time.Now().Add(time.Hour)
	c := newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens, Slots: 1})
	people := []*http.Client{person(t), person(t), person(t), person(t)}
	for _, who := range people {
		joins(t, s, who)
	}
	if err := c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	// They say again and again that they are there; the count of a window of 30 s shows them when it is over.
	counts := func() bool {
		for _, who := range people[:3] {
			if a, _ := send(t, who, "POST", s.url+"/rooms/evening/presence", ""); a.StatusCode != http.StatusNoContent {
				t.Fatalf("a sign of life gets %d", a.StatusCode)
			}
		}
		var counted bool
		if err := s.db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM presence p, unnest(p.people) n WHERE n > 0)`).Scan(&counted); err != nil {
			t.Fatal(err)
		}
		return counted
	}
	for range 600 {
		if counts() {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Error("they are not counted")
}

func TestRoom_KeepsAnEarlierSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	club, _ := plan.Named("club")
	if _, err := events.Create(t.Context(), s.db, events.Settings{Name: "Morning", StartsAt: time.Unix(2e9, 0)}, club); err != nil {
		t.Fatal(err)
	}
	opens := time.Now().Add(time.Hour)
	c := newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens, Slots: 5})
	ann := person(t)
	if a, body := send(t, ann, "POST", s.url+"/events/morning/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusCreated {
		t.Fatalf("a claim elsewhere gets %d %s", a.StatusCode, body)
	}
	joins(t, s, ann)
	if err := c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	until(t, "ann is let in", func() bool {
		_, body := send(t, ann, "POST", s.url+"/rooms/evening/admissions", "")
		return strings.Contains(body, `"inside":true`)
	})
	if a, body := send(t, ann, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusCreated {
		t.Errorf("who was let in claims and gets %d %s", a.StatusCode, body)
	}
}
