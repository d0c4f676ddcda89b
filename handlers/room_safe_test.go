package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestSigningInAndOutInsideAWaitingRoomKeepsThePlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	club, _ := plan.Named("club")
	if _, err := events.Create(t.Context(), s.db, events.Settings{Name: "Morning", StartsAt: time.Unix(2e9, 0)}, club); err != nil {
		t.Fatal(err)
	}
	opens := time.Now().Add(time.Hour)
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	joins(t, s, person(t)) // so that no visitor of this test is the first
	new, buyer := person(t), person(t)
	if a, body := send(t, buyer, "POST", s.url+"/events/morning/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusCreated {
		t.Fatalf("a claim elsewhere gets %d %s", a.StatusCode, body)
	}
	for name, who := range map[string]*http.Client{"new": new, "buyer": buyer} {
		place := joins(t, s, who).Index
		kept := func(after string) {
			t.Helper()
			if st := stand(t, s, who); st.Index != place || st.State != "lobby" {
				t.Errorf("after %s %s has place %d of %d, in state %s", after, name, st.Index, place, st.State)
			}
			if st := joins(t, s, who); st.Index != place {
				t.Errorf("after %s %s joins with place %d of %d", after, name, st.Index, place)
			}
		}
		s.signsIn(t, who, name+"@example.org")
		kept("signing in")
		s.signsIn(t, who, name+"@example.org")
		kept("signing in again")
		if a, _ := send(t, who, "DELETE", s.url+"/account/session", ""); a.StatusCode != http.StatusNoContent {
			t.Fatalf("signing out gets %d", a.StatusCode)
		}
		kept("signing out")
	}
}

// lose takes the database away from everybody but this test, and gives it back.
func lose(t *testing.T, s *site) (back func()) {
	t.Helper()
	config := s.db.Config().ConnConfig.Copy()
	name := pgx.Identifier{config.Database}.Sanitize()
	config.Database = "postgres"
	admin, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	run := func(sql string, args ...any) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	run(`ALTER DATABASE ` + name + ` ALLOW_CONNECTIONS false`)
	run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, s.db.Config().ConnConfig.Database)
	return func() {
		t.Helper()
		run(`ALTER DATABASE ` + name + ` ALLOW_CONNECTIONS true`)
		_ = admin.Close(t.Context())
	}
}

func TestWithTheDatabaseGoneTheRoomStillShowsThePlaceAndSaysWhy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := time.Now().Add(time.Hour)
	c := newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens, Slots: 1})
	ann, bob := person(t), person(t)
	s.signsIn(t, bob, "bob@example.org") // bob has a session, which cannot be read then
	joins(t, s, ann)
	joins(t, s, bob)
	if err := c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	people := map[string]*http.Client{"ann": ann, "bob": bob}
	numbers := map[string]int64{}
	for name, who := range people {
		until(t, name+" has a number", func() bool { numbers[name] = stand(t, s, who).Number; return numbers[name] > 0 })
	}
	back := lose(t, s)
	for name, who := range people {
		a, body := s.page(t, who, "/rooms/evening")
		if a.StatusCode != http.StatusOK || !strings.Contains(body, `data-number="`+string(rune('0'+numbers[name]))+`"`) {
			t.Errorf("%s, number %d, gets %d without it", name, numbers[name], a.StatusCode)
		}
		until(t, name+" reads why", func() bool {
			_, body := s.page(t, who, "/rooms/evening")
			return strings.Contains(body, `data-away>The box office cannot be reached`)
		})
	}
	until(t, "the status says so to pages that are open", func() bool {
		a, body := send(t, ann, "GET", s.url+"/rooms/evening/status", "")
		return a.StatusCode == http.StatusOK && strings.Contains(body, `"away":true`)
	})
	back()
	until(t, "all is as before", func() bool {
		_, status := send(t, ann, "GET", s.url+"/rooms/evening/status", "")
		_, page := s.page(t, bob, "/rooms/evening")
		return !strings.Contains(status, `"away"`) && strings.Contains(page, `data-away hidden>`)
	})
	for name, who := range people {
		if st := stand(t, s, who); st.Number != numbers[name] {
			t.Errorf("%s had number %d and has %d", name, numbers[name], st.Number)
		}
	}
}

func TestALobbyOpensAtItsTimeThoughNothingElseHappens(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	lobby, opens := time.Now().Add(3*time.Second), time.Now().Add(time.Hour)
	newRoom(t, s, waitingroom.NewRoom{LobbyOpensAt: &lobby, OpensAt: &opens})
	until(t, "people may join", func() bool { return stand(t, s, person(t)).State == "join" })
}

func TestRoom_ClaimFromOutsideLeadsToTheRoom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := time.Now().Add(time.Hour)
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	a, body := send(t, person(t), "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`)
	if a.StatusCode != http.StatusForbidden || !strings.Contains(body, `"to":"/rooms/evening"`) || !strings.Contains(body, "Any seats you already have are still held.") {
		t.Errorf("a claim gets %d %s", a.StatusCode, body)
	}
	a, _ = s.submit(t, person(t), "/events/evening/claims", url.Values{"area": {"Floor"}, "quantity": {"1"}})
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/rooms/evening" {
		t.Errorf("a form gets %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
}
