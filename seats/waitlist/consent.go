package waitlist

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Consent allows us to order offered seats at once, without asking the person again.
type Consent struct {
	Method string // of payment; empty: there is no consent
	Name   string // for the order
	Most   int64  // minor units; more expensive seats are only offered

	Terms    int       // the version of the team's terms that the person accepted; 0: none
	InForce  int       // the version that the team shows; 0: it has none. Only of a form
	AgreedAt time.Time // when the person accepted Terms; zero in a form
}

// Given reports whether there is a consent.
func (c Consent) Given() bool { return c.Method != "" }

const mostName = 200 // characters

// check adds the mistakes in a consent, by field.
func (c Consent) check(m Mistakes) {
	switch name := strings.TrimSpace(c.Name); {
	case !c.Given():
	case name == "":
		m[FieldName] = text.Mark("Enter your name.")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || utf8.RuneCountInString(name) > mostName:
		m[FieldName] = text.Mark("The name is too long, or has characters that cannot be printed.")
	}
	if c.Most < 0 {
		m[FieldMost] = text.Mark("Enter an amount.")
	}
	switch {
	case c.Terms == c.InForce:
	case c.Terms == 0:
		m[FieldTerms] = text.Mark("Accept the terms to order at once, or choose “Ask me”.")
	default:
		m[FieldTerms] = text.Mark("The terms have changed. Please read and accept the new version.")
	}
}

// Purchase is an order to be placed for offered seats.
type Purchase struct {
	Holder seats.ID // of the seats
	Hold   seats.ID
	Seats  []int
	Email  string // verified
	Consent
	Mandate seats.ID // to charge a saved card; zero for none

	entry    int64
	language string // of the person
}

// Offers with seats that no browser took yet. If a node dies while it orders, another one takes its offers after a minute.
const agreedSQL = `
UPDATE offer o SET ordering_at = clock_timestamp()
  FROM entry n
 WHERE o.event_id = $1 AND o.state = 'open' AND o.holder = o.id AND o.declined_at IS NULL AND o.until > clock_timestamp()
   AND n.id = o.entry_id AND n.method IS NOT NULL AND (o.ordering_at IS NULL OR o.ordering_at < clock_timestamp() - interval '1 minute')
RETURNING n.id, o.holder, o.hold_id, o.seats, n.email, n.method, n.name, n.most, n.mandate, coalesce(n.terms, 0), coalesce(n.agreed_at, n.joined_at),
          coalesce(nullif(n.language, ''), (SELECT language FROM event WHERE id = n.event_id))`

// If an order cannot be placed, the consent ends, and the person gets an ordinary offer with the reason. The offer is locked
// before its entry, as in settleSQL.
const notOrderedSQL = `
WITH locked AS MATERIALIZED (
    SELECT id FROM offer WHERE entry_id = $2 AND state = 'open' FOR NO KEY UPDATE
), n AS (
    UPDATE entry SET method = NULL, name = NULL, most = NULL, mandate = NULL, terms = NULL, agreed_at = NULL
     WHERE id = $2 AND method IS NOT NULL AND (SELECT count(*) FROM locked) >= 0 RETURNING id
), told AS (
    UPDATE offer SET unordered = $4 FROM n WHERE offer.entry_id = n.id AND offer.state = 'open'
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT $1, id, 'not ordered', $3 FROM n
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-offer' FROM n`

// atOnce is how many orders of one list are placed at once.
const atOnce = 8

// order starts placing orders for offers with a consent, and reports whether there are any. They run beside the rounds,
// because a payment provider may be slow and other entries wait for seats. The list is woken after the last one.
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
		_ = all.Wait() // each entry records the result
	})
	return true, nil
}

// orders records whether orders of a list are being placed, and reports whether that is a change.
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
		return nil, fmt.Errorf("waitlist: read offers to order: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Purchase, err error) {
		return p, row.Scan(&p.entry, &p.Holder, &p.Hold, &p.Seats, &p.Email, &p.Method, &p.Name, &p.Most, &p.Mandate, &p.Terms, &p.AgreedAt, &p.language)
	})
	if err != nil {
		return nil, fmt.Errorf("waitlist: read offers to order: %w", err)
	}
	return list, nil
}

func (l *List) orderOne(ctx context.Context, s *seats.Sale, p Purchase) {
	reader := text.For(ctx, p.language)
	why, says := "", text.T(reader, "We couldn’t order at once.")
	hold, err := s.Hold(ctx, p.Holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		l.log.Warn("the hold of a waitlist order could not be read; the order is tried again in a minute", "event", s.Event.Slug, "entry", p.entry, "error", err)
		return
	}
	if total := pricing.CostOf(&s.Event, hold.Lines).Total; total > p.Most {
		costs, agreed := pricing.Amount(total, s.Event.Currency), pricing.Amount(p.Most, s.Event.Currency)
		why = fmt.Sprintf("it costs %s, and they agreed to %s", costs, agreed)
		says = text.T(reader, "The seats cost %s %s, and you had agreed to %s at most.", costs, s.Event.Currency, agreed)
	} else {
		err := l.Order(ctx, s, p)
		if err == nil {
			return
		}
		var refusal *seats.Conflict
		if why = err.Error(); errors.As(err, &refusal) {
			says = refusal.In(reader)
		}
	}
	if _, err := l.db.Exec(ctx, notOrderedSQL, s.Event.ID, p.entry, why, says); err != nil {
		l.log.Warn("failed to record that a waitlist order was not placed; the order is tried again in a minute", "event", s.Event.Slug, "entry", p.entry, "error", err)
		return
	}
	l.Wrote()
}

const mandateSQL = `
UPDATE entry SET mandate = $2 WHERE id = $1 AND state = 'waiting' AND method IS NOT NULL RETURNING event_id`

// StoreMandate stores the mandate that pays for an entry's orders, in the transaction of means. An earlier mandate ends. Refused if
// the entry has no consent any more.
func (l *List) StoreMandate(ctx context.Context, n Entry, mandate seats.ID, means seats.TxHook) error {
	err := pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		if err := means.Run(ctx, tx); err != nil {
			return err
		}
		var event int64
		if err := tx.QueryRow(ctx, mandateSQL, n.ID, mandate).Scan(&event); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, stepSQL, event, n.ID, "asked to save a card", "", "")
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return refuseGone()
	}
	if err != nil {
		return fmt.Errorf("waitlist: keep a mandate: %w", err)
	}
	return nil
}
