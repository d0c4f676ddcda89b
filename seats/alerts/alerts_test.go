package alerts_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/alerts"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

// fixture is a team with an owner and a viewer, and an event on sale next year.
type fixture struct {
	*alerts.Alerts
	db       *pgxpool.Pool
	sale     *seats.Sale
	ann, bob organizers.Member
}

func open(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	conference, _ := plan.Named("conference")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Date(2040, 5, 1, 18, 0, 0, 0, time.UTC), TimeZone: "Europe/Vienna", SeatsPerHolder: 1000}, conference); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	sold := orders.New(h.db)
	sold.Open(office, "")
	h.Alerts = alerts.New(h.db, organizers.New(h.db, func() {}), sold)
	for name, role := range map[string]organizers.Role{"ann": organizers.Owner, "bob": organizers.Viewer} {
		m := organizers.Member{Team: 1, Name: name, Email: name + "@example.org", Role: role}
		if err := h.db.QueryRow(t.Context(), `WITH o AS (INSERT INTO organizer (email, name) VALUES ($1, $2) RETURNING id)
			INSERT INTO member (team_id, organizer_id, role) SELECT 1, id, $3 FROM o RETURNING organizer_id`, m.Email, name, role).Scan(&m.Organizer); err != nil {
			t.Fatal(err)
		}
		if name == "ann" {
			h.ann = m
		} else {
			h.bob = m
		}
	}
	return h
}

func (h *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *fixture) choose(t *testing.T, m organizers.Member, kinds ...alerts.Kind) {
	t.Helper()
	if err := h.Choose(t.Context(), m, seats.NewID().String(), kinds); err != nil {
		t.Fatal(err)
	}
}

// looks has some nodes look at the team at once, a minute after they looked before.
func (h *fixture) looks(t *testing.T, nodes int) {
	t.Helper()
	h.exec(t, `UPDATE alert_look SET looked_at = looked_at - interval '1 minute'`)
	var all sync.WaitGroup
	for range nodes {
		all.Go(func() {
			if _, err := h.Jobs()[0].Do(t.Context(), "1"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// counts returns how many seats of the event are available, and how many are sold.
func (h *fixture) counts(t *testing.T, free, sold int) {
	t.Helper()
	h.exec(t, `UPDATE counter SET free = array_fill(0, ARRAY[cardinality(free)]), sold = array_fill(0, ARRAY[cardinality(free)]), held = array_fill(0, ARRAY[cardinality(free)])`)
	h.exec(t, `UPDATE counter SET free[1] = $1, sold[1] = $2`, free, sold)
}

// mails are the mails about alerts: who got them, and the kinds of needs in each.
func (h *fixture) mails(t *testing.T) (list []string) {
	t.Helper()
	rows, err := h.db.Query(t.Context(), `SELECT split_part(m.email, '@', 1) || ':' || (SELECT coalesce(string_agg(a.kind, ',' ORDER BY a.id), '') FROM alert a WHERE a.id = ANY (string_to_array(nullif(split_part(m.about, ':', 2), ''), ',')::bigint[]))
		FROM mail m WHERE m.kind = 'alert' ORDER BY m.id`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return list
}

func (h *fixture) mailed(t *testing.T, want ...string) {
	t.Helper()
	if got := h.mails(t); !slices.Equal(got, want) {
		t.Fatalf("mailed %q, want %q", got, want)
	}
}

func TestAlerts_ACauseIsToldOnceToThoseWhoChoseIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.choose(t, h.ann, alerts.Sold)
	h.choose(t, h.bob, alerts.Money)
	h.exec(t, `INSERT INTO hook (team_id, url, kinds) VALUES (1, 'https://example.org/told', '{alert.raised}'), (1, 'https://example.org/other', '{order.paid}')`)
	h.counts(t, 50, 50)
	h.looks(t, 3)
	h.mailed(t)

	h.counts(t, 0, 100)
	h.looks(t, 5)
	h.looks(t, 5)
	h.mailed(t, "ann:sold-out")
	var told string
	if err := h.db.QueryRow(t.Context(), `SELECT string_agg(data->>'alert' || ' ' || (data->>'event'), ',') FROM notice WHERE kind = 'alert.raised' AND data->>'event' IS NOT NULL AND data->>'alert' <> 'prices'`).Scan(&told); err != nil || told != "sold-out evening" {
		t.Errorf("webhooks were told %q, %v", told, err)
	}

	// One seat that comes back is the same cause; many are its end, and after them it begins anew.
	h.counts(t, 1, 99)
	h.looks(t, 2)
	h.counts(t, 0, 100)
	h.looks(t, 2)
	h.mailed(t, "ann:sold-out")
	h.counts(t, 60, 40)
	h.looks(t, 2)
	h.counts(t, 0, 100)
	h.looks(t, 2)
	h.mailed(t, "ann:sold-out") // within half an hour
	h.exec(t, `UPDATE alert SET mailed_at = mailed_at - interval '31 minutes'`)
	h.looks(t, 2)
	h.mailed(t, "ann:sold-out", "ann:sold-out")

	list, err := h.List(t.Context(), h.bob)
	if err != nil || len(list) != 2 || list[0].Ended != nil || list[1].Ended == nil { // and nothing of what only managers mend
		t.Errorf("a viewer is listed %+v, %v", list, err)
	}
}

func TestAlerts_WhatIsOverByThenIsNotMailed(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.choose(t, h.ann, alerts.Sold, alerts.Stopped)
	h.counts(t, 5, 95)
	h.looks(t, 1)
	h.mailed(t, "ann:few")
	h.exec(t, `UPDATE event SET status = 'paused', reason = 'A lamp fell.'`)
	h.looks(t, 1)
	h.exec(t, `UPDATE event SET status = 'on sale', reason = ''`)
	h.looks(t, 1)
	h.exec(t, `UPDATE alert SET mailed_at = mailed_at - interval '31 minutes'`)
	h.looks(t, 1)
	if got := h.mails(t); slices.ContainsFunc(got, func(one string) bool { return strings.Contains(one, "paused") }) {
		t.Errorf("mailed %q, and the sale went on before", got)
	}
}

func TestAlerts_ARoleGetsOnlyWhatItMaySee(t *testing.T) {
	t.Parallel()
	h := open(t)
	if err := h.Choose(t.Context(), h.bob, "hooks", []alerts.Kind{alerts.Hooks}); err == nil {
		t.Error("a viewer chose alerts of webhooks")
	}
	h.choose(t, h.ann, alerts.Hooks)
	h.exec(t, `UPDATE member SET role = 'owner'`)
	h.exec(t, `UPDATE member SET role = 'viewer' WHERE organizer_id = $1`, h.ann.Organizer) // chose it as an owner
	h.exec(t, `INSERT INTO hook (team_id, url, kinds, off_at, off_why) VALUES (1, 'https://example.org/gone', '{order.paid}', clock_timestamp(), '410')`)
	h.looks(t, 1)
	h.mailed(t)
	var raised int
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM alert WHERE kind = 'hook'`).Scan(&raised); err != nil || raised != 1 {
		t.Errorf("raised %d times, %v", raised, err)
	}
}

func TestAlerts_BlocksAndFailingPaymentsAreFound(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.choose(t, h.ann, alerts.Kinds()...)
	h.exec(t, `INSERT INTO block (id, event_id, seats, kind, reason, ends_at) SELECT gen_random_uuid(), id, '{1,2,3}', '', 'a camera', clock_timestamp() + d FROM event, unnest('{20 hours,30 hours}'::interval[]) d`)
	h.looks(t, 1)
	if got := h.mails(t); len(got) != 1 || !strings.Contains(got[0], "block") || strings.Count(got[0], "block") != 1 {
		t.Errorf("mailed %q", got)
	}
}

func TestAlerts_ATryGoesToTheMemberAlone(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 2 { // a repeat of the form
		if err := h.Try(t.Context(), h.bob, "once"); err != nil {
			t.Fatal(err)
		}
	}
	h.mailed(t, "bob:")
	team, list, try, err := h.Mailed(t.Context(), "1:")
	if err != nil || team != 1 || len(list) > 0 || !try {
		t.Errorf("%d %v %t %v", team, list, try, err)
	}
}
