package organizers_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is a database with two teams and an event of each.
type fixture struct {
	db           *pgxpool.Pool
	desk         *organizers.Desk
	ann          organizers.Member // owner of the first team
	bob          organizers.Member // owner of the second
	mine, theirs seats.Event
}

const password = "three plain words"

// newEmptyFixture is a database without an organizer.
func newEmptyFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	h.desk = organizers.New(h.db, func() {})
	return h
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := newEmptyFixture(t)
	h.fill(t)
	return h
}

// fill sets the desk up and makes the second team.
func (h *fixture) fill(t *testing.T) {
	t.Helper()
	token, err := h.desk.SetupLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.desk.Setup(t.Context(), token, organizers.Newcomer{Name: "Ann", Email: "ann@example.org", Password: password})
	if err != nil {
		t.Fatal(err)
	}
	h.ann = h.member(t, s, "")
	var second int64
	h.scan(t, &second, `INSERT INTO team (name) VALUES ('Others') RETURNING id`)
	h.mine, h.theirs = h.event(t, "mine", h.ann.Team), h.event(t, "theirs", second)
	h.bob = h.add(t, "bob", organizers.Owner, second)
}

// add makes an organizer a member of a team.
func (h *fixture) add(t *testing.T, name string, role organizers.Role, team int64) organizers.Member {
	t.Helper()
	var s organizers.Session
	h.scan(t, &s.Organizer, `INSERT INTO organizer (email, name) VALUES ($1 || '@example.org', $1) ON CONFLICT (email) DO UPDATE SET name = excluded.name RETURNING id`, name)
	h.exec(t, `INSERT INTO member (team_id, organizer_id, role) VALUES ($1, $2, $3)`, team, s.Organizer, role)
	s.Epoch, s.Team = 1, team
	return h.member(t, s, "")
}

func (h *fixture) member(t *testing.T, s organizers.Session, event string) organizers.Member {
	t.Helper()
	m, err := h.desk.Member(t.Context(), h.enter(t, s), event)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// enter begins a session if it has not begun.
func (h *fixture) enter(t *testing.T, s organizers.Session) organizers.Session {
	t.Helper()
	if s.ID != 0 {
		return s
	}
	s, _, err := h.desk.Enter(t.Context(), s, organizers.Client{}, organizers.ByPassword)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (h *fixture) event(t *testing.T, name string, team int64) seats.Event {
	t.Helper()
	club, ok := plan.Named("club")
	if !ok {
		t.Fatal("there is no plan club")
	}
	e, err := events.Create(t.Context(), h.db, events.Settings{Name: name, StartsAt: time.Unix(2e9, 0), Team: team}, club)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (h *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *fixture) scan(t *testing.T, to any, sql string, args ...any) {
	t.Helper()
	if err := h.db.QueryRow(context.WithoutCancel(t.Context()), sql, args...).Scan(to); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
