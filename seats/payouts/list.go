package payouts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

// Reckoned is a payout as a team sees it, with what its lines come to. Amounts are minor units.
type Reckoned struct {
	Payout
	Whole    bool // it is all of this team; of others, all that follows is of the team's own lines
	Read     bool // its lines are known
	Payments int
	Refunds  int
	Received int64 // by payments
	Returned int64 // to buyers; not negative
	Fees     int64 // that the provider kept
	Others   int64 // disputes, and what is of nothing here; negative if it went
	Net      int64 // what the lines come to
	Wrong    int   // lines that make a difference
	Off      int64 // what they come to
}

// Total is what was paid out: all of a payout, or the part of the team.
func (r Reckoned) Total() int64 {
	if r.Whole {
		return r.Amount
	}
	return r.Net
}

// Difference is what was paid out and is not in our books; negative if our books have more. It is zero, or named line by line.
func (r Reckoned) Difference() int64 {
	if !r.Read {
		return 0
	}
	return r.Off + r.Total() - r.Net
}

// Why a line makes a difference.
const (
	WhyForeign = "foreign" // it is of nothing here
	WhyAmount  = "amount"  // what it names is of another amount
	WhyUnknown = "unknown" // a refund that we do not know of, or one that failed
	WhyDispute = "dispute"
)

// What a line makes a difference by: nothing, if it is a fee, or what it is of is of its amount. A refund that was made at the provider is known once the
// payment was looked up; a refund that failed, once that is noted. If it was in another currency, its own amount is compared, and the difference is
// that of the whole line.
const reckonedRows = `
judged AS (
    SELECT l.*, CASE
        WHEN l.kind = 'fee' THEN ''
        WHEN l.kind = 'payout' AND EXISTS (SELECT FROM payout p WHERE p.id = l.source) THEN ''
        WHEN num_nonnulls(l.payment_id, l.gift_card_id, l.deposit_payment_id) = 0 THEN 'foreign'
        WHEN l.kind = 'dispute' THEN 'dispute'
        WHEN l.kind = 'failed' AND NOT EXISTS (SELECT FROM refund r WHERE r.id = l.refund_id AND r.failed <> '') THEN 'unknown'
        WHEN l.kind = 'refund' AND num_nonnulls(l.refund_id, l.gift_card_id, l.deposit_payment_id) = 0 THEN CASE
             WHEN (SELECT sum(o.charged) FROM payout_line o WHERE o.payment_id = l.payment_id AND o.kind = 'refund' AND o.refund_id IS NULL)
                  <= (SELECT coalesce(sum(r.amount), 0) FROM refund r WHERE r.payment_id = l.payment_id AND r.elsewhere) THEN '' ELSE 'unknown' END
        WHEN l.kind IN ('charge', 'refund', 'failed') AND l.ours = l.charged AND l.charged_currency = coalesce(pm.currency, l.charged_currency) THEN ''
        WHEN l.kind IN ('charge', 'refund', 'failed') THEN 'amount'
        ELSE 'foreign' END AS why
      FROM lines l LEFT JOIN payment pm ON pm.id = l.payment_id
), reckoned AS (
    SELECT j.*, num_nonnulls(j.payment_id, j.gift_card_id, j.deposit_payment_id) > 0 AS known, CASE WHEN why = '' THEN 0 WHEN why = 'amount' AND j.ours IS NOT NULL AND j.charged = abs(j.amount) THEN sign(j.amount)::bigint * (j.charged - j.ours) ELSE j.amount END AS off FROM judged j
)`

const listSQL = `
WITH these AS (
    SELECT * FROM payout WHERE $2 = '' AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4)) OR id = $2
     ORDER BY created_at DESC, id DESC LIMIT $5
), lines AS (
    SELECT l.* FROM payout_line l JOIN these ON these.id = l.payout_id
), ` + reckonedRows + `
SELECT s.id, s.status, s.currency, s.amount, s.created_at, s.arrives_on, s.automatic, coalesce(s.team_id = $1, false), s.read_at IS NOT NULL, t.*
  FROM these s, LATERAL (
       SELECT count(*) FILTER (WHERE kind = 'charge' AND known), count(*) FILTER (WHERE kind = 'refund' AND known),
              coalesce(sum(amount) FILTER (WHERE kind = 'charge' AND known), 0)::bigint, coalesce(-sum(amount) FILTER (WHERE kind = 'refund' AND known), 0)::bigint,
              (coalesce(sum(fee), 0) - coalesce(sum(amount) FILTER (WHERE kind = 'fee'), 0))::bigint,
              coalesce(sum(amount) FILTER (WHERE kind <> 'fee' AND NOT (kind IN ('charge', 'refund') AND known)), 0)::bigint,
              coalesce(sum(net), 0)::bigint, count(*) FILTER (WHERE why <> ''), coalesce(sum(off), 0)::bigint
         FROM reckoned WHERE payout_id = s.id) t
 ORDER BY s.created_at DESC, s.id DESC`

func (r *Reckoned) scan(row pgx.CollectableRow) error {
	return row.Scan(&r.ID, &r.Status, &r.Currency, &r.Amount, &r.CreatedAt, &r.ArrivesOn, &r.Automatic, &r.Whole, &r.Read,
		&r.Payments, &r.Refunds, &r.Received, &r.Returned, &r.Fees, &r.Others, &r.Net, &r.Wrong, &r.Off)
}

// Missing is money that was taken by card and is in no payout.
type Missing struct {
	Order    seats.ID
	Code     string // of the order
	Event    string // slug
	Name     string // of the event
	At       time.Time
	Currency string
	Amount   int64
}

// Reading is when payouts were read, and how it went.
type Reading struct {
	Due   *time.Time // nil: nothing is to be read
	At    *time.Time // nil: never
	Error string     // of the last try; empty: it went well
}

// Account is what a team sees of its payouts.
type Account struct {
	Reading Reading
	Payouts []Reckoned
	Missing []Missing // with the first page only
}

const readingSQL = `SELECT due_at, read_at, error FROM payout_reading WHERE method = 'card'`

// A payment is in a payout within a few days. It is missing if it is in none, though another payout was made two weeks after it was captured: so
// payouts that are made once a month, or were not read for a while, raise no alarm.
const missingSQL = `
SELECT p.order_id, p.code, e.slug, e.name, t.at, p.currency, p.captured
  FROM payment p JOIN event e ON e.id = p.event_id,
       LATERAL (SELECT coalesce((SELECT done_at FROM intention WHERE payment_id = p.id AND step = 'capture'), p.created_at) AS at) t
 WHERE p.method = 'card' AND p.captured > 0 AND NOT EXISTS (SELECT FROM payout_line l WHERE l.payment_id = p.id AND l.kind = 'charge')
   AND t.at < (SELECT max(created_at) FROM payout WHERE read_at IS NOT NULL) - interval '14 days'
 ORDER BY t.at LIMIT 100`

// PageSize is how many payouts a page usually has.
const PageSize = 50

// List returns the payouts of a member's team, the latest first, and where the list goes on; nil if there are no more.
func (p *Payouts) List(ctx context.Context, m organizers.Member, page paging.Page) (a Account, next *paging.Place, err error) {
	err = p.desk.As(ctx, m, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, readingSQL).Scan(&a.Reading.Due, &a.Reading.At, &a.Reading.Error); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		found, err := list(ctx, tx, m, "", page.After, page.Limit+1)
		if err != nil {
			return err
		}
		a.Payouts, next = paging.Cut(found, page, func(r Reckoned) paging.Place { return paging.Place{At: r.CreatedAt, Text: r.ID} })
		if page.After != (paging.Place{}) {
			return nil
		}
		rows, _ := tx.Query(ctx, missingSQL) // CollectRows returns its error
		a.Missing, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Missing])
		return err
	})
	if err != nil {
		return a, nil, fmt.Errorf("payouts: list: %w", err)
	}
	return a, next, nil
}

func list(ctx context.Context, tx pgx.Tx, m organizers.Member, only string, after paging.Place, most int) ([]Reckoned, error) {
	rows, _ := tx.Query(ctx, listSQL, m.Team, only, after.Time(), after.Text, most) // CollectRows returns its error
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Reckoned, err error) { return r, r.scan(row) })
}

// Entry is a line of a payout with what it is of.
type Entry struct {
	ID, Kind, Type, Source string
	At                     time.Time
	Amount, Fee, Net       int64
	Charged                int64
	Of                     string   // currency of Charged; empty: it is of no charge or refund
	Ours                   *int64   // what Charged is here; nil: nothing
	Order                  seats.ID // zero: it is of no order
	Code                   string   // of that order; empty: it was never placed
	Event                  string   // slug
	Name                   string   // of the event
	Gift                   bool     // it is of a gift card
	Deposit                bool     // it is of the deposit of a group, of Event
	Why                    string   // it makes a difference; empty: none
	Off                    int64    // by how much
}

const entriesSQL = `
WITH lines AS (
    SELECT * FROM payout_line WHERE payout_id = $1
), ` + reckonedRows + `
SELECT r.id, r.kind, r.type, r.source, r.at, r.amount, r.fee, r.net, r.charged, r.charged_currency, r.ours,
       p.order_id, coalesce(o.code, ''), coalesce(e.slug, ''), coalesce(e.name, ''), r.gift_card_id IS NOT NULL, r.deposit_payment_id IS NOT NULL, r.why, r.off
  FROM reckoned r LEFT JOIN payment p ON p.id = r.payment_id LEFT JOIN orders o ON o.id = p.order_id LEFT JOIN deposit_payment dp ON dp.id = r.deposit_payment_id LEFT JOIN event e ON e.id = coalesce(o.event_id, p.event_id, dp.event_id)
 ORDER BY r.why = '', r.at, r.id`

// ErrNoPayout says that a team has nothing in a payout, or that there is none.
var ErrNoPayout = errors.New("there is no such payout")

// Find returns a payout of a member's team with its lines, those that make a difference first.
//
// Errors: ErrNoPayout; the database's.
func (p *Payouts) Find(ctx context.Context, m organizers.Member, id string) (r Reckoned, entries []Entry, err error) {
	err = p.desk.As(ctx, m, func(tx pgx.Tx) error {
		found, err := list(ctx, tx, m, id, paging.Place{}, 1)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return ErrNoPayout
		}
		r = found[0]
		rows, _ := tx.Query(ctx, entriesSQL, id) // CollectRows returns its error
		entries, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Entry])
		return err
	})
	if err != nil {
		return r, nil, fmt.Errorf("payouts: find %q: %w", id, err)
	}
	return r, entries, nil
}
