package waitlist_test

import (
	"context"
	"strings"
	"testing"
)

// bug is something that may not be, and what the judge says of it.
type bug struct {
	plant func(t *testing.T, m *machine, n *node, idx int, first, second string)
	says  string
}

var bugs = map[string]bug{
	"an offer outside the guard": {func(t *testing.T, m *machine, _ *node, idx int, first, _ string) {
		m.h.exec(t, `
			WITH o AS (
			    INSERT INTO offer (id, event_id, entry_id, holder, hold_id, seats, rank, looked_at, until)
			    SELECT gen_random_uuid(), event_id, id, gen_random_uuid(), gen_random_uuid(), ARRAY[$2::integer], rank, clock_timestamp(), clock_timestamp() + interval '1 hour' FROM entry WHERE code = $1
			    RETURNING event_id, holder, until
			), e AS (
			    UPDATE entry SET state = 'offered' WHERE code = $1
			)
			UPDATE seat_state s SET state = 1, holder = o.holder, expires_at = o.until FROM o WHERE s.event_id = o.event_id AND s.idx = $2`, first, idx)
	}, "made outside of the guard"},
	"a skip loses rank": {func(t *testing.T, m *machine, _ *node, _ int, _, second string) {
		m.h.rounds(t)
		m.h.exec(t, `UPDATE entry SET rank = rank + 1000000000, passed = 'few', had = 1, passed_at = clock_timestamp() WHERE code = $1`, second)
	}, "and nothing took it away"},
	"the second is served before the first": {func(t *testing.T, m *machine, _ *node, _ int, first, _ string) {
		m.h.exec(t, `UPDATE entry SET state = 'left' WHERE code = $1`, first)
		m.h.rounds(t)
		m.h.exec(t, `UPDATE entry SET state = 'waiting' WHERE code = $1`, first)
	}, "passed over without a reason"},
	"a seat is offered twice": {func(t *testing.T, m *machine, _ *node, _ int, _, second string) {
		m.h.rounds(t)
		m.h.exec(t, `
			WITH o AS (
			    INSERT INTO offer (id, event_id, entry_id, holder, hold_id, seats, rank, looked_at, until)
			    SELECT gen_random_uuid(), o.event_id, n.id, gen_random_uuid(), gen_random_uuid(), o.seats, n.rank, o.looked_at, o.until FROM offer o, entry n WHERE n.code = $1
			    RETURNING event_id, id, holder, hold_id, seats, until, entry_id
			), e AS (
			    UPDATE entry SET state = 'offered' WHERE code = $1
			)
			INSERT INTO hold (event_id, holder, id, expires_at, seats) SELECT event_id, holder, hold_id, until, seats FROM o`, second)
	}, "open offers"},
	"an entry is served twice": {func(t *testing.T, m *machine, n *node, _ int, first, _ string) {
		m.h.rounds(t)
		n.buys(t, first)
		m.h.rounds(t)
		m.h.exec(t, `
			INSERT INTO offer (id, event_id, entry_id, holder, hold_id, seats, rank, looked_at, until, state, ended_at)
			SELECT gen_random_uuid(), event_id, entry_id, holder, hold_id, seats, rank, looked_at, until, 'accepted', ended_at FROM offer`)
	}, "accepted 2 offers"},
	"no entry is offered what fits": {func(*testing.T, *machine, *node, int, string, string) {}, "are not offered to it"},
	"the counts are wrong": {func(t *testing.T, m *machine, _ *node, _ int, _, _ string) {
		m.h.rounds(t)
		m.h.exec(t, `UPDATE counter SET held[1] = held[1] - 1, free[1] = free[1] + 1 WHERE event_id = (SELECT id FROM event WHERE slug = $1)`, m.h.slug)
	}, "count"},
}

// A judge who finds nothing wrong with wrong lists is none.
func TestTheJudgeOfTheWaitListCatchesPlantedBugs(t *testing.T) {
	t.Parallel()
	for name, bug := range bugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, hall(2, 4), week/2, 2, false)
			m := newMachine(t, h, "planted")
			n := h.nodes[0]
			first, second := n.joins(t, "first@example.org", one), n.joins(t, "second@example.org", one)
			h.rounds(t)
			if problem := m.judge(t); problem != "" || h.books(t) != "" {
				t.Fatal(problem, h.books(t))
			}
			if _, err := n.sale.Release(t.Context(), m.claims[0]); err != nil {
				t.Fatal(err)
			}
			waitlisted := n.sale.Waitlisted()
			if err := n.sale.LetGo(t.Context(), waitlisted[1:]); err != nil {
				t.Fatal(err)
			}
			n.hold(t, waitlisted[1:]...) // so that one seat is left
			bug.plant(t, m, n, waitlisted[0], first, second)
			if err := n.sale.CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			if said := m.judge(t) + "\n" + h.books(t); !strings.Contains(said, bug.says) {
				t.Errorf("the judge says %q and not %q", said, bug.says)
			}
		})
	}
}
