package orders

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/pricing"
)

// Line is one ticket as an organizer lists them, with its order.
type Line struct {
	Order     string // code
	State     string
	Name      string
	Email     string
	Born      *time.Time // a day
	Method    string
	Currency  string
	Paid      int64 // minor units, of the whole order, without what went back
	Back      int64 // minor units of the whole order that went back or are to go back
	OnItsWay  int64 // minor units of Back that were not seen to be given back yet
	CreatedAt time.Time
	Answers   map[string]string // by number of the event's question, from 1
	Code      string            // of the discount of the order; empty: none
	Offer     string            // that the order got; empty: none
	Ticket    seats.ID
	Idx       int
	Type      string // its ticket type; empty if the event has one only

	pricing.Priced // what it cost

	Revoked bool
	In      *time.Time // when it was checked in
	Mail    string     // why mail was refused; empty if it was not
	On      string     // the name on the ticket
	Friend  string     // the name of the friend whom the ticket was sent to; empty: it was not sent

	Extras []pricing.Extra // of the whole order
	Post   *Address        // where its tickets go by post; nil: they do not
}

const linesSQL = `
SELECT o.code, o.state, o.name, o.email, o.born, o.method, o.currency, o.paid, coalesce(r.back, 0), coalesce(r.on_its_way, 0), o.created_at, o.answers, o.discount_code, o.offer,
       t.id, t.idx, coalesce(y.name, ''), t.price, t.fee, t.discount, t.tax, t.fee_tax, t.tax_rate, t.fee_rate, t.revoked_at IS NOT NULL,
       (SELECT scanned_at FROM scan WHERE ticket_id = t.id AND admitted),
       coalesce((SELECT CASE WHEN refused_at IS NOT NULL THEN error ELSE '' END FROM mail WHERE order_id = o.id ORDER BY id DESC LIMIT 1), ''), o.extras, o.post_to, coalesce(f.name, ''), ` + nameOnTicket + `
  FROM orders o JOIN event e ON e.id = o.event_id JOIN ticket t ON t.order_id = o.id AND t.moved_to IS NULL
       LEFT JOIN ticket_transfer f ON f.ticket_id = t.id AND f.accepted_at IS NOT NULL
       LEFT JOIN (SELECT order_id, sum(amount)::bigint AS back, (sum(amount) FILTER (WHERE done_at IS NULL))::bigint AS on_its_way
                    FROM refund GROUP BY order_id) r ON r.order_id = o.id` + typeOfTicket + `
 WHERE e.slug = $1
 ORDER BY o.created_at, o.id, t.idx`

// Lines hands every ticket of an event to visit, those of one order together, the first order first.
func (o *Orders) Lines(ctx context.Context, event string, visit func(Line) error) error {
	rows, err := o.db.Query(ctx, linesSQL, event)
	if err != nil {
		return fmt.Errorf("orders: list: %w", err)
	}
	var l Line
	_, err = pgx.ForEachRow(rows, []any{
		&l.Order, &l.State, &l.Name, &l.Email, &l.Born, &l.Method, &l.Currency, &l.Paid, &l.Back, &l.OnItsWay, &l.CreatedAt, &l.Answers, &l.Code, &l.Offer,
		&l.Ticket, &l.Idx, &l.Type, &l.Price, &l.Fee, &l.Discount, &l.Tax, &l.FeeTax, &l.Rate, &l.FeeRate, &l.Revoked, &l.In, &l.Mail, &l.Extras, &l.Post, &l.Friend, &l.On,
	}, func() error {
		one := l
		l.Answers, l.Extras, l.Post = nil, nil, nil // what was scanned is kept
		return visit(one)
	})
	if err != nil {
		return fmt.Errorf("orders: list: %w", err)
	}
	return nil
}

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
	ID        seats.ID
	Change    int64 // number of its last change, in a list of what changed
}

// Search is what an organizer looks for: a part of a name or of an address, of the buyer, of an attendee or of a friend who has a ticket, the number or the code of an order, the code of a ticket, a seat.
type Search struct {
	Words string
	Page  paging.Page
}

// SearchRows is how many orders a page of a list usually has.
const SearchRows = 50

// foundColumns is what is shown of an order o that was found.
const foundColumns = `
SELECT o.code, o.name, o.email, o.state, o.method, o.currency, o.paid, greatest(0, coalesce(t.cost, 0) + o.kept - o.paid - o.waived), o.created_at, o.at_office,
       coalesce(t.seats, '{}'), t.cancelled, t.came, o.id, o.change
  FROM found o,
       LATERAL (SELECT sum(price + fee) FILTER (WHERE revoked_at IS NULL)::bigint AS cost, array_agg(idx ORDER BY idx) FILTER (WHERE revoked_at IS NULL) AS seats,
                       count(*) FILTER (WHERE revoked_at IS NOT NULL) AS cancelled,
                       count(*) FILTER (WHERE EXISTS (SELECT FROM scan WHERE ticket_id = ticket.id AND admitted)) AS came
                  FROM ticket WHERE order_id = o.id AND moved_to IS NULL) t`

// Words are compared as fold writes them, on any database (migrations): ANE finds Åne. They are folded once, and what is
// shown of an order is read only for those that are shown.
const searchSQL = `
WITH found AS MATERIALIZED (
    SELECT o.*, 0::bigint AS change FROM orders o
     WHERE o.event_id = $1 AND (o.created_at, o.id) < (coalesce($2, 'infinity'::timestamptz), $9)
       AND ($3 = '' OR strpos(o.found_by, (SELECT fold($3))) > 0 OR starts_with(o.code, upper($3))
            OR o.id IN (SELECT order_id FROM ticket_transfer WHERE event_id = $1 AND strpos(fold(name || E'\n' || email), (SELECT fold($3))) > 0)
            OR o.id IN (SELECT order_id FROM ticket WHERE event_id = $1 AND name <> '' AND strpos(fold(name), (SELECT fold($3))) > 0)
            OR o.id IN (SELECT order_id FROM ticket WHERE event_id = $1 AND idx = $4) OR o.id = (SELECT order_id FROM ticket WHERE id = $5) OR o.id BETWEEN $7 AND $8)
     ORDER BY o.created_at DESC, o.id DESC
     LIMIT $6)` + foundColumns + `
 ORDER BY o.created_at DESC, o.id DESC`

// Search finds orders of an event, the latest first. next is where the list goes on, nil at its end.
func (o *Orders) Search(ctx context.Context, s *seats.Sale, look Search) (list []Found, next *paging.Place, err error) {
	words := strings.TrimSpace(look.Words)
	seat := -1
	if idx, ok := s.Seat(words); ok {
		seat = idx
	}
	var ticket seats.ID
	if c, ok := read(strings.ToUpper(words)); ok {
		ticket = c.ticket
	}
	least, greatest, _ := numbered(words) // if it is no number: of no order
	rows, err := o.db.Query(ctx, searchSQL, s.Event.ID, look.Page.After.Time(), words, seat, ticket, look.Page.Limit+1, least, greatest, look.Page.After.ID)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Found])
	}
	if err != nil {
		return nil, nil, fmt.Errorf("orders: search: %w", err)
	}
	list, next = paging.Cut(list, look.Page, func(f Found) paging.Place { return paging.Place{At: f.CreatedAt, ID: f.ID} })
	return list, next, nil
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
