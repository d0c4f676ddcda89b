package waitlist

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Consent is that what somebody is offered is to be ordered for them at once, without asking again.
type Consent struct {
	Method string // how it is paid; empty: they are asked
	Name   string // for the order
	Most   int64  // minor units: what costs more is only offered
}

// Given tells whether there is one.
func (c Consent) Given() bool { return c.Method != "" }

const mostName = 200 // characters

// check says what is wrong with a consent, by field.
func (c Consent) check(m Mistakes) {
	switch name := strings.TrimSpace(c.Name); {
	case !c.Given():
	case name == "":
		m[FieldName] = "Say your name, for the order."
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || utf8.RuneCountInString(name) > mostName:
		m[FieldName] = fmt.Sprintf("A name has at most %d characters that can be printed.", mostName)
	}
	if c.Most < 0 {
		m[FieldMost] = "This is no amount."
	}
}

// Purchase is an order that is to be placed for somebody of what they are offered.
type Purchase struct {
	Holder seats.ID // who has the seats
	Hold   seats.ID
	Seats  []int
	Email  string // it was verified
	Consent

	entry int64
}

// Offers whose seats nobody took with a browser yet. A node that died while it ordered leaves them to others.
const agreedSQL = `
UPDATE offer o SET ordering_at = clock_timestamp()
  FROM entry n
 WHERE o.event_id = $1 AND o.state = 'open' AND o.holder = o.id AND o.declined_at IS NULL AND o.until > clock_timestamp()
   AND n.id = o.entry_id AND n.method IS NOT NULL AND (o.ordering_at IS NULL OR o.ordering_at < clock_timestamp() - interval '1 minute')
RETURNING n.id, o.holder, o.hold_id, o.seats, n.email, n.method, n.name, n.most`

// What could not be ordered is offered as to everybody else: they are told, and asked.
const notOrderedSQL = `
WITH n AS (
    UPDATE entry SET method = NULL, name = NULL, most = NULL WHERE id = $2 AND method IS NOT NULL RETURNING id
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT $1, id, 'not ordered', $3 FROM n
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-offer' FROM n`

// atOnce is how many orders of one list are placed at once.
const atOnce = 8

// order places the orders that people agreed to.
func (l *List) order(ctx context.Context, s *seats.Sale) error {
	rows, err := l.db.Query(ctx, agreedSQL, s.Event.ID)
	if err != nil {
		return fmt.Errorf("waitlist: what people agreed to: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Purchase, err error) {
		return p, row.Scan(&p.entry, &p.Holder, &p.Hold, &p.Seats, &p.Email, &p.Method, &p.Name, &p.Most)
	})
	if err != nil {
		return fmt.Errorf("waitlist: what people agreed to: %w", err)
	}
	var all sync.WaitGroup
	next := make(chan Purchase)
	for range min(atOnce, len(list)) {
		all.Go(func() {
			for p := range next {
				l.orderOne(ctx, s, p)
			}
		})
	}
	for _, p := range list {
		next <- p
	}
	close(next)
	all.Wait()
	return nil
}

func (l *List) orderOne(ctx context.Context, s *seats.Sale, p Purchase) {
	why := ""
	switch total := s.Total(p.Seats); {
	case l.Order == nil:
		why = "nothing is ordered by itself here"
	case total > p.Most:
		why = fmt.Sprintf("it costs %s, and they agreed to %s", seats.Amount(total, s.Event.Currency), seats.Amount(p.Most, s.Event.Currency))
	default:
		if err := l.Order(ctx, s, p); err != nil {
			why = err.Error()
		}
	}
	if why == "" {
		return
	}
	if _, err := l.db.Exec(ctx, notOrderedSQL, s.Event.ID, p.entry, why); err != nil {
		l.log.Warn("that an order of the wait list was not placed could not be written down; it is tried again in a minute", "event", s.Event.Slug, "entry", p.entry, "error", err)
		return
	}
	l.Wrote()
}
