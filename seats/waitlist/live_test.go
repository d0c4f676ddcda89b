package waitlist_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

// W9, with the loops of several nodes. The moments are those of the database: when the seats stood in the change log as
// kept, and when they were offered. A machine that others use makes one of them wait; a loop that only looks from time to
// time makes most of them wait.
func TestRound_ReturnedSeatsAreOfferedOnAnyNode(t *testing.T) {
	t.Parallel()
	h := build(t, hall(2, 4), week/2, 3, true)
	outsiders := h.nodes[0].fill(t)
	codes := []string{}
	for i := range 8 {
		codes = append(codes, h.nodes[i%3].joins(t, fmt.Sprintf("p%d@example.org", i), one))
	}
	h.eventually(t, "the list is known", func() bool { return h.count(t, `SELECT count(*) FROM event WHERE wait_list`) == 1 })
	offered := func(n int) {
		t.Helper()
		h.eventually(t, fmt.Sprint(n, " offers were made"), func() bool { return h.count(t, `SELECT count(*) FROM offer`) == n })
	}
	release := func(node, idx int) {
		t.Helper()
		if _, err := h.nodes[node].sale.Release(t.Context(), outsiders[idx], idx); err != nil {
			t.Fatal(err)
		}
	}
	release(1, 0)
	offered(1)
	if err := h.nodes[2].list.Decline(t.Context(), h.nodes[2].sale, h.nodes[2].entry(t, codes[0])); err != nil {
		t.Fatal(err)
	}
	offered(2)
	release(2, 7)
	offered(3)
	h.expire(t, h.nodes[0], outsiders[12]) // six at once
	offered(8)
	var waits []time.Duration
	rows, err := h.db.Query(t.Context(), `
		SELECT extract(epoch FROM o.at - max(c.at))::float8 FROM offer o JOIN change c ON c.event_id = o.event_id AND c.at <= o.at
		   AND EXISTS (SELECT FROM unnest(c.idx, c.holder) AS u(idx, holder) WHERE u.idx = o.seats[1] AND u.holder = $1)
		 GROUP BY o.id, o.at`, seats.ID{15: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var seconds float64
		if err := rows.Scan(&seconds); err != nil {
			t.Fatal(err)
		}
		waits = append(waits, time.Duration(seconds*float64(time.Second)))
	}
	if slices.Sort(waits); len(waits) != 8 || waits[len(waits)/2] > 5*time.Second {
		t.Errorf("seats that came back were offered after %v", waits)
	}
	t.Logf("seats that came back were offered after %v", waits)
	h.wantBooks(t)
}

// The order of magnitude: what a round does for many it does at once. How fast that is next to a sale says
// tools/bench.
func TestRound_OffersAThousandSeatsByRank(t *testing.T) {
	t.Parallel()
	const many, back = 8_000, 1000
	h := build(t, hall(0, back), week/2, 1, false)
	n := h.nodes[0]
	all := n.sale.FreeSeats()
	if _, err := n.sale.Block(t.Context(), seats.BlockRequest{Seats: all}); err != nil {
		t.Fatal(err)
	}
	n.joins(t, "p0@example.org", one)
	h.exec(t, `
		INSERT INTO entry (event_id, code, email, quantity, together, fewer, rank, state, waits_since)
		SELECT n.event_id, 'code' || i, 'p' || i || '@example.org', CASE WHEN i % 10 = 0 THEN 6 ELSE 1 END, false, false, n.rank + i, 'waiting', n.waits_since
		  FROM entry n, generate_series(1, $1::integer) i`, many)
	h.rounds(t)
	if _, err := n.sale.Unblock(t.Context(), seats.BlockRequest{Seats: all}); err != nil {
		t.Fatal(err)
	}
	if waitlisted := len(n.sale.Waitlisted()); waitlisted != back {
		t.Fatalf("%d seats are kept", waitlisted)
	}
	before := h.count(t, `SELECT version FROM counter`)
	began := time.Now()
	if _, err := n.list.Round(t.Context(), h.slug); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d offers among %d entries took %v and %d versions", back, many, time.Since(began), h.count(t, `SELECT version FROM counter`)-before)
	if made, first := h.count(t, `SELECT sum(cardinality(seats)) FROM offer WHERE state = 'open'`), h.count(t, `SELECT count(*) FROM entry WHERE state = 'waiting' AND passed IS NULL AND rank < (SELECT max(rank) FROM offer)`); made != back || first != 0 {
		t.Errorf("%d seats were offered, and %d were passed over without a reason", made, first)
	}
	if grew := h.count(t, `SELECT version FROM counter`) - before; grew > back/4 {
		t.Errorf("%d offers were made one by one: in %d versions", back, grew)
	}
	h.wantBooks(t)
}
