package verify

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/usherbox/usher/seats"
)

// row is one seat: what the drawing and its row say.
type row struct {
	category int         // missing: it is not in the drawing
	state    seats.State // missing: it has no row
	holder   seats.ID
	end      pgtype.Timestamptz
}

const missing = -1

// mostSeats is the most an event can have; the schema says so too.
const mostSeats = 100_000

const seatsSQL = `
SELECT idx, coalesce(d.category, -1), coalesce(s.state, -1), s.holder, s.expires_at
  FROM (SELECT idx, category FROM seat WHERE event_id = $1) d
  FULL JOIN (SELECT idx, state, holder, expires_at FROM seat_state WHERE event_id = $1) s USING (idx)
 ORDER BY idx`

// readSeats puts the rows in their places and notes places that have none or two.
func (b *books) readSeats(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, seatsSQL, b.id)
	if err != nil {
		return err
	}
	b.rows = make([]row, 0, min(max(b.seats, 0), mostSeats))
	var idx int
	var r row
	_, err = pgx.ForEachRow(rows, []any{&idx, &r.category, &r.state, &r.holder, &r.end}, func() error {
		switch {
		case idx < 0 || idx >= mostSeats:
			b.broken(p4, idx, "is outside of every map: idx is %d", idx)
			return nil
		case idx < len(b.rows):
			b.broken(p1, idx, "has two rows")
			return nil
		}
		for len(b.rows) < idx {
			b.rows = append(b.rows, row{category: missing, state: missing})
		}
		b.rows = append(b.rows, r)
		return nil
	})
	if err == nil && len(b.rows) != b.seats {
		b.broken(p4, none, "it has %d seats by its own row, and %d by theirs", b.seats, len(b.rows))
	}
	return err
}

// checkSeat holds P1, P3 and P4 against one row. The guard gives a seat to anybody when it has no holder or its end is
// past, so a seat with a holder needs both.
func (b *books) checkSeat(idx int) {
	r := &b.rows[idx]
	switch {
	case r.category == missing:
		b.broken(p4, idx, "is not in the drawing")
	case r.state == missing:
		b.broken(p4, idx, "is in the drawing and has no row: it cannot be claimed")
	case r.state == seats.Free && (r.holder != seats.ID{} || r.end.Valid):
		b.broken(p4, idx, "is free, and the guard refuses it: its row names a holder or an end")
	case r.state == seats.Free:
	case r.state < seats.Free || r.state > seats.Blocked:
		b.broken(p1, idx, "is in state %d, which is none of the six", r.state)
	case r.state == seats.Sold && r.holder == seats.ID{}:
		b.broken(p1, idx, "is sold without an order")
	case r.holder == seats.ID{}:
		b.broken(p1, idx, "is %s without a holder: the guard gives it to anybody", r.state)
	case r.state == seats.Held || r.state == seats.Expired || r.state == seats.Paying:
		b.checkHeld(idx, r)
		b.checkStrict(idx, r)
	case r.state == seats.Blocked && !b.keeps(r.holder, idx):
		b.broken(p12, idx, "is blocked by %s, which keeps no such seat", short(r.holder))
	case r.end.InfinityModifier != pgtype.Infinity:
		b.broken(p1, idx, "is %s and may end: the guard gives it to anybody then", r.state)
	}
}

// checkHeld holds the row of a held, expired or paying seat against its holder's hold.
func (b *books) checkHeld(idx int, r *row) {
	h := b.holdOf[r.holder]
	switch {
	case !finite(r.end):
		b.broken(p3, idx, "is %s without an end: it never becomes available", r.state)
	case h == nil:
		b.broken(p1, idx, "is %s by %s, who has no hold", r.state, short(r.holder))
	case !h.names(idx):
		b.broken(p1, idx, "is %s by %s, and that hold does not name it", r.state, short(r.holder))
	case !h.end.Time.Equal(r.end.Time):
		b.broken(p3, idx, "ends at %s, and its hold at %s", clock(r.end), clock(h.end))
	case r.state == seats.Expired && r.end.Time.After(b.now):
		b.broken(p4, idx, "counts as free, and the guard refuses it until %s", clock(r.end))
	case r.state != seats.Expired && h.expired:
		b.broken(p4, idx, "counts as held, and the end of its hold was announced")
	}
}

// finite reports whether there is an end and a clock reaches it.
func finite(t pgtype.Timestamptz) bool {
	return t.Valid && t.InfinityModifier == pgtype.Finite
}

func clock(t pgtype.Timestamptz) string {
	if !finite(t) {
		return "no time"
	}
	return t.Time.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// short is enough of an id to find its rows, and too little to be anybody.
func short(id seats.ID) string { return id.String()[:8] }

// Seats that are held for the waitlist come back for one entry or for all visitors. They have no buyer yet.
const wholeSQL = `
SELECT min(d.idx), count(*), count(t.holder), count(DISTINCT t.holder)
  FROM event e JOIN plan p ON p.id = e.plan_id,
       jsonb_to_recordset(CASE jsonb_typeof(to_jsonb(p.drawing) -> 'Whole') WHEN 'array' THEN to_jsonb(p.drawing) -> 'Whole' ELSE '[]' END) AS w("Section" integer, "Row" text)
       JOIN seat d ON d.event_id = $1 AND d.section = w."Section" AND d.row = w."Row"
       LEFT JOIN (SELECT idx, holder FROM seat_state
                   WHERE event_id = $1 AND state IN (1, 2, 3, 4) /* held, lapsed, paying, sold */ AND holder <> '00000000-0000-0000-0000-000000000002') t ON t.idx = d.idx
 WHERE e.id = $1 AND e.status <> 'cancelled' -- then tickets that were used stay sold
 GROUP BY w."Section", w."Row"
HAVING count(t.holder) NOT IN (0, count(*)) OR count(DISTINCT t.holder) > 1`

// checkWhole holds P16: a row that is sold whole has no buyer, or one.
func (b *books) checkWhole(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, wholeSQL, b.id)
	if err != nil {
		return err
	}
	var idx, all, taken, holders int
	_, err = pgx.ForEachRow(rows, []any{&idx, &all, &taken, &holders}, func() error {
		b.broken(p16, idx, "is in a row that is sold whole: %d of its %d seats are taken, by %d", taken, all, holders)
		return nil
	})
	return err
}
