package waitlist

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats"
)

// Consent says that an entry's offers are to be ordered at once, without asking again.
type Consent struct {
	Method string // how it is paid; empty: they are asked
	Name   string // for the order
	Most   int64  // minor units: what costs more is only offered
}

// Given reports whether there is one.
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

// Purchase is an order to place for an entry, of what it is offered.
type Purchase struct {
	Holder seats.ID // who has the seats
	Hold   seats.ID
	Seats  []int
	Email  string // it was verified
	Consent
	Mandate seats.ID // to charge a card that is kept; zero for none

	entry int64
}

// Offers that no browser took yet. A node that died while it ordered leaves them to others.
const agreedSQL = `
UPDATE offer o SET ordering_at = clock_timestamp()
  FROM entry n
 WHERE o.event_id = $1 AND o.state = 'open' AND o.holder = o.id AND o.declined_at IS NULL AND o.until > clock_timestamp()
   AND n.id = o.entry_id AND n.method IS NOT NULL AND (o.ordering_at IS NULL OR o.ordering_at < clock_timestamp() - interval '1 minute')
RETURNING n.id, o.holder, o.hold_id, o.seats, n.email, n.method, n.name, n.most, n.mandate`

// What could not be ordered is offered as to everybody else: they are told, and asked. The offer is locked before its
// entry, as settleSQL locks them.
const notOrderedSQL = `
WITH locked AS MATERIALIZED (
    SELECT id FROM offer WHERE entry_id = $2 AND state = 'open' FOR NO KEY UPDATE
), n AS (
    UPDATE entry SET method = NULL, name = NULL, most = NULL, mandate = NULL
     WHERE id = $2 AND method IS NOT NULL AND (SELECT count(*) FROM locked) >= 0 RETURNING id
), told AS (
    UPDATE offer SET unordered = $4 FROM n WHERE offer.entry_id = n.id AND offer.state = 'open'
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT $1, id, 'not ordered', $3 FROM n
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-offer' FROM n`

// atOnce is how many orders of one list are placed at once.
const atOnce = 8

// order begins to place the orders that people agreed to, beside the rounds: a provider of payments may take its time, and
// others wait for seats meanwhile. It tells whether there were any. When they are placed the list is woken.
func (l *List) order(ctx context.Context, s *seats.Sale) (began bool, err error) {
	if l.Order == nil || !l.orders(s.Event.Slug, true) {
		return false, nil
	}
	list, err := l.agreed(ctx, s.Event.ID)
	if err != nil || len(list) == 0 {
		l.orders(s.Event.Slug, false)
		return false, err
	}
	l.ordering.Go(func() {
		defer l.Wake(s.Event.Slug)
		defer l.orders(s.Event.Slug, false)
		var all errgroup.Group
		all.SetLimit(atOnce)
		for _, p := range list {
			all.Go(func() error { l.orderOne(ctx, s, p); return nil })
		}
		_ = all.Wait() // what became of each stands in its entry
	})
	return true, nil
}

// orders notes that orders of a list are being placed, or no more; false if it was so already.
func (l *List) orders(slug string, now bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.busy[slug]
	l.busy[slug] = now
	return was != now
}

func (l *List) agreed(ctx context.Context, event int64) ([]Purchase, error) {
	rows, err := l.db.Query(ctx, agreedSQL, event)
	if err != nil {
		return nil, fmt.Errorf("waitlist: what people agreed to: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Purchase, err error) {
		return p, row.Scan(&p.entry, &p.Holder, &p.Hold, &p.Seats, &p.Email, &p.Method, &p.Name, &p.Most, &p.Mandate)
	})
	if err != nil {
		return nil, fmt.Errorf("waitlist: what people agreed to: %w", err)
	}
	return list, nil
}

func (l *List) orderOne(ctx context.Context, s *seats.Sale, p Purchase) {
	why, says := "", "It could not be ordered at once."
	if total := s.Total(p.Seats); total > p.Most {
		costs, agreed := seats.Amount(total, s.Event.Currency), seats.Amount(p.Most, s.Event.Currency)
		why = fmt.Sprintf("it costs %s, and they agreed to %s", costs, agreed)
		says = fmt.Sprintf("It costs %s %s, and you had agreed to %s at most.", costs, s.Event.Currency, agreed)
	} else {
		err := l.Order(ctx, s, p)
		if err == nil {
			return
		}
		var refusal *seats.Refusal
		if why = err.Error(); errors.As(err, &refusal) {
			says = refusal.Message
		}
	}
	if _, err := l.db.Exec(ctx, notOrderedSQL, s.Event.ID, p.entry, why, says); err != nil {
		l.log.Warn("that an order of the wait list was not placed could not be written down; it is tried again in a minute", "event", s.Event.Slug, "entry", p.entry, "error", err)
		return
	}
	l.Wrote()
}
