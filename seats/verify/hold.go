package verify

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/usherbox/usher/seats"
)

// hold is one hold row.
type hold struct {
	holder, id seats.ID
	seats      []int32
	end        pgtype.Timestamptz
	extensions int
	expired    bool
	bought     int                // live tickets of the visitor's orders, as the row says
	session    pgtype.Timestamptz // it lasts until then at least; null for none
	answers    []byte             // JSON; see answer.go

	has int // rows of seats that name the holder, held, expired or paying
}

func (h *hold) names(idx int) bool { return slices.Contains(h.seats, int32(idx)) }

const holdsSQL = `
SELECT holder, id, seats, expires_at, extensions, lapsed, answers, bought, session_ends FROM hold WHERE event_id = $1 ORDER BY holder`

func (b *books) readHolds(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, holdsSQL, b.id)
	if err != nil {
		return err
	}
	b.holds, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*hold, error) {
		var h hold
		return &h, row.Scan(&h.holder, &h.id, &h.seats, &h.end, &h.extensions, &h.expired, &h.answers, &h.bought, &h.session)
	})
	if err != nil {
		return err
	}
	b.holdOf, b.holdNamed = make(map[seats.ID]*hold, len(b.holds)), make(map[seats.ID]*hold, len(b.holds))
	for _, h := range b.holds {
		if b.holdOf[h.holder] != nil {
			b.broken(p8, none, "%s has two holds", short(h.holder))
		}
		if other := b.holdNamed[h.id]; other != nil {
			b.broken(p7, none, "the holds of %s and %s have one id", short(other.holder), short(h.holder))
		}
		b.holdOf[h.holder], b.holdNamed[h.id] = h, h
	}
	for i := range b.rows {
		r := &b.rows[i]
		if h := b.holdOf[r.holder]; h != nil && (r.state == seats.Held || r.state == seats.Expired || r.state == seats.Paying) {
			h.has++
		}
	}
	return nil
}

// checkHold holds P1, P2, P3 and P8 against one hold. Seats that others took after the end of a hold may still stand in
// it; until its end it has every seat that it names.
func (b *books) checkHold(h *hold) {
	if !finite(h.end) {
		b.broken(p3, none, "the hold of %s has no end", short(h.holder))
		return
	}
	if h.session.Valid && h.end.Time.After(h.session.Time) {
		b.broken(p13, none, "the hold of %s ends at %s, and its session at %s", short(h.holder), clock(h.end), clock(h.session))
	}
	live := !h.expired && h.end.Time.After(b.now)
	for _, i := range h.seats {
		idx := int(i)
		switch {
		case idx < 0 || idx >= len(b.rows):
			b.broken(p2, none, "the hold of %s names seat number %d, which is not there", short(h.holder), idx)
		case b.rows[idx].holder == h.holder && b.rows[idx].state == seats.Sold:
			b.broken(p1, idx, "is sold to %s, who only has a hold of it, and no order", short(h.holder))
		case !live || b.rows[idx].holder == h.holder:
		case b.rows[idx].holder == seats.ID{}:
			b.broken(p2, idx, "stands in the hold of %s, which lasts, and is %s", short(h.holder), b.rows[idx].state)
		default:
			b.broken(p1, idx, "stands in the hold of %s, which lasts, and is %s by %s",
				short(h.holder), b.rows[idx].state, short(b.rows[idx].holder))
		}
	}
	b.checkLimits(h)
}

const awaitedSQL = `
SELECT id FROM payment WHERE event_id = $1 AND awaited_until IS NOT NULL
 UNION ALL
SELECT id FROM payment WHERE form ? 'shares' AND awaited_until IS NOT NULL AND form->'shares' @> jsonb_build_array(jsonb_build_object('event_id', $1::bigint))`

// readAwaited notes which holders are payments.
func (b *books) readAwaited(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, awaitedSQL, b.id)
	if err != nil {
		return err
	}
	b.awaited = map[seats.ID]bool{}
	var id seats.ID
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error { b.awaited[id] = true; return nil })
	return err
}

// checkLimits holds P8 against one hold. What is over was within the limits of its time.
func (b *books) checkLimits(h *hold) {
	if h.expired || h.holder == waitList || b.offered[h.id] || b.awaited[h.holder] || b.kept[h.holder] {
		return // what is kept for those who wait, offered to them, kept for a subscriber, or paid by a method that takes days, has limits of its own
	}
	if h.has > b.limit {
		b.broken(p8, none, "%s holds %d seats, and the limit is %d", short(h.holder), h.has, b.limit)
	}
	if h.extensions > b.extensions {
		b.broken(p8, none, "%s got %d extensions, and the limit is %d", short(h.holder), h.extensions, b.extensions)
	}
	if latest := b.now.Add(max(b.holdLength, b.payLength)); h.end.Time.After(latest) {
		b.broken(p8, none, "the hold of %s ends at %s, later than a hold or a payment that begins now", short(h.holder), clock(h.end))
	}
}
