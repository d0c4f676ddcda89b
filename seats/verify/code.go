package verify

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// claim is the last claim of a seat, as the change log tells it.
type claim struct {
	version  int64
	at       time.Time
	reserved bool // it was blocked
	early    bool // the event was not on sale yet
}

// presale is when a code let visitors claim before the sale.
type presale struct{ from, until time.Time }

const presalesSQL = `SELECT created_at, coalesce(retired_at, clock_timestamp() + interval '1 year') FROM code WHERE event_id = $1 AND presale`

func (b *books) readPresales(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, presalesSQL, b.id)
	if err != nil {
		return err
	}
	b.presales, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p presale, err error) {
		return p, row.Scan(&p.from, &p.until)
	})
	return err
}

// presaleAt reports whether a code let visitors claim before the sale at a time.
func (b *books) presaleAt(at time.Time) bool {
	return slices.ContainsFunc(b.presales, func(p presale) bool { return !at.Before(p.from) && !at.After(p.until) })
}

// What attendees hold or bought, and what the code unlocks that each seat was claimed with.
const seatCodesSQL = `
SELECT s.idx, t.name, t.coded_from, coalesce(s.type = ANY(k.unlocks_types), false), coalesce(c.block = ANY(k.unlocks_blocks), false), coalesce(k.presale, false)
  FROM seat_state s JOIN ticket_type t ON t.event_id = s.event_id AND t.number = s.type
       LEFT JOIN orders o ON s.state = 4 /* sold */ AND o.id = s.holder
       LEFT JOIN seat_code c ON c.event_id = s.event_id AND c.idx = s.idx AND c.holder = s.holder
       LEFT JOIN code k ON k.id = c.code AND k.event_id = s.event_id
 WHERE s.event_id = $1 AND s.state IN (1, 3, 4) /* held, paying, sold */ AND NOT coalesce(o.at_office, false)
   AND NOT EXISTS (SELECT FROM payment p WHERE p.id = s.holder AND p.form ? 'till') /* the box office needs no codes */
 ORDER BY s.idx`

// checkCodes holds the last claim of each seat against the code that it was made with (P15).
func (b *books) checkCodes(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, seatCodesSQL, b.id)
	if err != nil {
		return err
	}
	var idx int
	var kind string
	var codedFrom *int64
	var ofType, ofBlock, ofPresale bool
	_, err = pgx.ForEachRow(rows, []any{&idx, &kind, &codedFrom, &ofType, &ofBlock, &ofPresale}, func() error {
		if idx < 0 || idx >= len(b.log.seats) || b.log.seats[idx].state == seats.Free {
			return nil // another promise is broken
		}
		switch c := b.log.seats[idx].claim; {
		case c.version == 0: // it was sold without one: at the box office, or late
		case codedFrom != nil && c.version > *codedFrom && !ofType:
			b.broken(p15, idx, "has a ticket of type %q since version %d, without a code for it", kind, c.version)
		case c.reserved && !ofBlock:
			b.broken(p15, idx, "was reserved, and was claimed in version %d without a code for it", c.version)
		case c.early && !ofPresale:
			b.broken(p15, idx, "was claimed in version %d, before the sale, without a code for that", c.version)
		}
		return nil
	})
	return err
}
