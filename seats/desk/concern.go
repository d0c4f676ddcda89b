package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Concern is something a person has to look at. Its words are made where it is shown.
type Concern struct {
	Kind   string
	Key    string // the same concern has the same key: who saw it is kept under it
	Order  string // code of the order or payment; empty if it is about none
	Amount int64  // minor units
	Why    string // what was noted
	At     time.Time
	Rate   Rate
	Before Rate
}

// The kinds of concern that the books tell of. Whoever shows them may know more.
const (
	OfPayment = "payment" // something was noted about a payment
	OfStep    = "step"    // a call to a provider failed again and again
	OfPayout  = "payout"  // money goes back by hand
	OfHook    = "hook"    // a webhook is not taken, or was switched off
	OfFailing = "failing" // many payments come to nothing
	OfLapses  = "lapses"  // many more holds lapse than before
)

const mostConcerns = 20

// What is noted, steps that failed again and again, what goes back by hand, and what is told to nobody: each by an index.
const concernsSQL = `
(SELECT 'payment', 'payment:' || p.id, p.code, p.amount, p.attention, p.created_at FROM payment p
  WHERE p.attention <> '' AND p.event_id = $1 ORDER BY p.id LIMIT $2)
UNION ALL
(SELECT 'step', 'step:' || i.id, p.code, p.amount, 'It was tried to ' || i.step || ' ' || i.tries || ' times: ' || i.error, i.created_at
   FROM intention i JOIN payment p ON p.id = i.payment_id
  WHERE i.done_at IS NULL AND i.tries >= 5 AND i.error <> '' AND p.event_id = $1 ORDER BY i.next_try LIMIT $2)
UNION ALL
(SELECT 'payout', 'payout:' || r.id, coalesce(o.code, p.code), r.amount, CASE r.failed WHEN '' THEN r.reason ELSE r.failed END, r.created_at
   FROM refund r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.id = r.payment_id
  WHERE r.by_hand AND r.done_at IS NULL AND coalesce(o.event_id, p.event_id) = $1 ORDER BY r.created_at DESC LIMIT $2)
UNION ALL
(SELECT 'hook', 'hook:' || h.id || ':' || coalesce(h.off_at, h.failing_since)::date, '', 0::bigint,
        h.url || CASE WHEN h.off_at IS NULL THEN ' has not taken what it was told for an hour or more. It is tried again.' ELSE ' is not told anything any more. ' || h.off_why END,
        coalesce(h.off_at, h.failing_since)
   FROM hook h
  WHERE h.team_id = (SELECT team_id FROM event WHERE id = $1) AND h.removed_at IS NULL
    AND (h.off_why <> '' OR h.off_at IS NULL AND h.failing_since < statement_timestamp() - interval '1 hour') LIMIT $2)
ORDER BY 6 DESC`

// Of the payments that began lately, how many came to nothing. An index can be asked for the statement's time.
const failingSQL = `
SELECT count(*) FILTER (WHERE reason <> ''), count(*)
  FROM (SELECT reason FROM payment WHERE event_id = $1 AND created_at > statement_timestamp() - interval '10 minutes'
         ORDER BY created_at DESC LIMIT 500) p`

// Seen is who took note of a concern, and when.
type Seen struct {
	Who string
	At  time.Time
}

const seenListSQL = `SELECT concern, who, at FROM seen WHERE event_id = $1 ORDER BY at DESC LIMIT 200`

func (l *Live) queueConcerns(q *pgx.Batch, event int64) {
	q.Queue(concernsSQL, event, mostConcerns).Query(func(rows pgx.Rows) error {
		var c Concern
		_, err := pgx.ForEachRow(rows, []any{&c.Kind, &c.Key, &c.Order, &c.Amount, &c.Why, &c.At}, func() error {
			l.Concerns = append(l.Concerns, c)
			return nil
		})
		return err
	})
	failing := Concern{Kind: OfFailing}
	q.Queue(failingSQL, event).QueryRow(func(r pgx.Row) error {
		err := r.Scan(&failing.Rate.Some, &failing.Rate.Of)
		if failing.Rate.Known() && failing.Rate.Share() > failingShare {
			l.Concerns = append([]Concern{failing}, l.Concerns...)
		}
		return err
	})
	q.Queue(seenListSQL, event).Query(func(rows pgx.Rows) error {
		l.Seen = map[string]Seen{}
		var key string
		var s Seen
		_, err := pgx.ForEachRow(rows, []any{&key, &s.Who, &s.At}, func() error {
			l.Seen[key] = s
			return nil
		})
		return err
	})
}

const failingShare = 0.25 // of the payments that began lately

// worry adds what follows from the figures. A concern that comes back on another day is another one.
func (l *Live) worry() {
	for i := range l.Concerns {
		if c := &l.Concerns[i]; c.Kind == OfFailing {
			c.Key, c.At = c.Kind+":"+l.At.Format(time.DateOnly), l.At
		}
	}
	before := Rate{l.Lapses.Some - l.Lately.Some, l.Lapses.Of - l.Lately.Of}
	if l.Lately.Known() && before.Known() && l.Lately.Share() > 2*max(before.Share(), 0.05) {
		l.Concerns = append([]Concern{{Kind: OfLapses, Key: OfLapses + ":" + l.At.Format(time.DateOnly), At: l.At, Rate: l.Lately, Before: before}}, l.Concerns...)
	}
}

const seeSQL = `
INSERT INTO seen (event_id, concern, who) VALUES ($1, $2, $3) ON CONFLICT (event_id, concern) DO NOTHING`

// see notes that somebody took note of a concern; the first one stands.
func see(ctx context.Context, db seats.DB, event int64, key, who string) (fresh bool, err error) {
	if key == "" || len(key) > 200 {
		return false, &seats.Nonsense{Message: "That is nothing to be seen. Nothing was changed."}
	}
	tag, err := db.Exec(ctx, seeSQL, event, key, who)
	if err != nil {
		return false, fmt.Errorf("desk: note what was seen: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}
