package orders

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Found is an order as organizers list them.
type Found struct {
	Code      string
	Name      string
	Email     string
	State     string
	Method    string
	Currency  string // ISO 4217
	Paid      int64  // minor units, without what went back
	Due       int64  // minor units
	CreatedAt time.Time
	AtOffice  bool
	Seats     []int // of the tickets that hold
	Cancelled int   // tickets
	In        int   // tickets that were checked in
}

// Search is what an organizer looks for: a part of a name or of an address, a code of an order or of a ticket, a seat.
type Search struct {
	Words  string
	Before time.Time // orders placed before this; zero: the latest
}

// searchRows is how many orders one look finds.
const searchRows = 50

// Words are compared as fold writes them, on any database (migrations): ANE finds Åne. They are folded once, and what is
// shown of an order is read only for those that are shown.
const searchSQL = `
WITH found AS MATERIALIZED (
    SELECT o.* FROM orders o
     WHERE o.event_id = $1 AND o.created_at < coalesce($2, 'infinity'::timestamptz)
       AND ($3 = '' OR strpos(o.found_by, (SELECT fold($3))) > 0 OR starts_with(o.code, upper($3))
            OR o.id IN (SELECT order_id FROM ticket WHERE event_id = $1 AND idx = $4) OR o.id = (SELECT order_id FROM ticket WHERE id = $5))
     ORDER BY o.created_at DESC, o.id DESC
     LIMIT $6)
SELECT o.code, o.name, o.email, o.state, o.method, o.currency, o.paid, greatest(0, coalesce(t.cost, 0) + o.kept - o.paid - o.waived), o.created_at, o.at_office,
       coalesce(t.seats, '{}'), t.cancelled, t.came
  FROM found o,
       LATERAL (SELECT sum(price + fee) FILTER (WHERE revoked_at IS NULL)::bigint AS cost, array_agg(idx ORDER BY idx) FILTER (WHERE revoked_at IS NULL) AS seats,
                       count(*) FILTER (WHERE revoked_at IS NOT NULL) AS cancelled,
                       count(*) FILTER (WHERE EXISTS (SELECT FROM scan WHERE ticket_id = ticket.id AND admitted)) AS came
                  FROM ticket WHERE order_id = o.id AND moved_to IS NULL) t
 ORDER BY o.created_at DESC, o.id DESC`

// Search finds orders of an event, the latest first. more tells whether there are others before the last one found.
func (o *Orders) Search(ctx context.Context, s *seats.Sale, look Search) (list []Found, more bool, err error) {
	words := strings.TrimSpace(look.Words)
	var before *time.Time
	if !look.Before.IsZero() {
		before = &look.Before
	}
	seat := -1
	if idx, ok := s.Seat(words); ok {
		seat = idx
	}
	var ticket seats.ID
	if c, ok := read(strings.ToUpper(words)); ok {
		ticket = c.ticket
	}
	rows, err := o.db.Query(ctx, searchSQL, s.Event.ID, before, words, seat, ticket, searchRows+1)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Found])
	}
	if err != nil {
		return nil, false, fmt.Errorf("orders: search: %w", err)
	}
	if more = len(list) > searchRows; more {
		list = list[:searchRows]
	}
	return list, more, nil
}

const ofSeatSQL = `
SELECT o.id, o.code, o.name FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.event_id = $1 AND t.idx = $2`

// OfSeat names the orders that ever had a ticket for a seat, by the id that the change log knows them by.
func (o *Orders) OfSeat(ctx context.Context, event int64, idx int) (map[seats.ID]Found, error) {
	rows, err := o.db.Query(ctx, ofSeatSQL, event, idx)
	if err != nil {
		return nil, fmt.Errorf("orders: of a seat: %w", err)
	}
	of := map[seats.ID]Found{}
	var id seats.ID
	var f Found
	_, err = pgx.ForEachRow(rows, []any{&id, &f.Code, &f.Name}, func() error { of[id] = f; return nil })
	if err != nil {
		return nil, fmt.Errorf("orders: of a seat: %w", err)
	}
	return of, nil
}
