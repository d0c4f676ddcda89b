package payouts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

const dueSQL = `SELECT method, due_at FROM payout_reading WHERE due_at IS NOT NULL`

const askSQL = `
INSERT INTO payout_reading (method, due_at) VALUES ('card', clock_timestamp())
    ON CONFLICT (method) DO UPDATE SET due_at = clock_timestamp()`

// MakeDue makes a reading due, as a webhook about a payout does.
func (p *Payouts) MakeDue(ctx context.Context) error {
	if p.provider == nil {
		return nil
	}
	if _, err := p.db.Exec(ctx, askSQL); err != nil {
		return fmt.Errorf("payouts: make a reading due: %w", err)
	}
	p.job.Wake()
	return nil
}

// ErrNoProvider says that no card provider is set up.
var ErrNoProvider = &seats.Conflict{Code: "unset", Message: text.Mark("No card provider is set up here. Nothing was changed. Ask the operator of this box office.")}

// Ask makes a reading due, as a member asks for.
//
// Errors: ErrNoProvider; those of idempotency.Key.Take; the database's.
func (p *Payouts) Ask(ctx context.Context, m organizers.Member, key string) error {
	if p.provider == nil {
		return ErrNoProvider
	}
	err := p.desk.Change(ctx, m, key, []any{"payouts"}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, askSQL); err != nil {
			return fmt.Errorf("payouts: make a reading due: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("had payouts read"), "books/payouts", nil)
	})
	p.job.Wake()
	return err
}

// longest is how long one reading takes at most. What it did not come to is done by the next one.
const longest = 4 * time.Minute

var backoff = jobs.Backoff{First: 30 * time.Second, Most: time.Hour}

// A reading is due no more for as long as it may take; it is due again if its node dies, or if a member asks.
const takeSQL = `
UPDATE payout_reading SET tries = tries + 1, due_at = clock_timestamp() + make_interval(secs => $2)
 WHERE method = $1 AND due_at <= clock_timestamp()
RETURNING tries, due_at, read_at, clock_timestamp()`

const endSQL = `
UPDATE payout_reading
   SET tries = CASE WHEN $3 = '' THEN 0 ELSE tries END, read_at = CASE WHEN $3 = '' THEN $4 ELSE read_at END, error = $3,
       due_at = CASE WHEN due_at <> $2 THEN due_at WHEN $5::float8 > 0 THEN clock_timestamp() + make_interval(secs => $5) END
 WHERE method = $1`

// An account has its lines within hours. A payout may fail some days after it was made.
const (
	unsettled = time.Hour
	before    = 35 * 24 * time.Hour
)

// work reads what was paid out since the last reading, and stores how that went.
func (p *Payouts) work(ctx context.Context, method string) (n int, err error) {
	var tries int
	var due, began time.Time
	var last *time.Time
	err = p.db.QueryRow(ctx, takeSQL, method, 2*longest.Seconds()).Scan(&tries, &due, &last, &began)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil // another node does it
	}
	if err != nil {
		return 0, fmt.Errorf("payouts: take a reading: %w", err)
	}
	said, next := "", 0.0
	again, readErr := p.read(ctx, last)
	if again {
		next = unsettled.Seconds()
	}
	if readErr != nil {
		pause := backoff.After(tries)
		said, next = readErr.Error(), pause.Seconds()
		p.job.Failed(method, tries, pause, readErr)
	}
	if _, err := p.db.Exec(context.WithoutCancel(ctx), endSQL, method, due, said, began, next); err != nil {
		return 0, fmt.Errorf("payouts: end a reading: %w", err)
	}
	return 1, nil
}

// The first reading goes back to the first payment by card.
const firstSQL = `
SELECT coalesce(least((SELECT min(created_at) FROM payment WHERE method = 'card'), (SELECT min(created_at) FROM gift_card WHERE method = 'card'), (SELECT min(created_at) FROM deposit_payment WHERE method = 'card')), clock_timestamp()) - interval '1 day'`

// read stores what the provider paid out. It reports whether lines of a payout are not known there yet.
func (p *Payouts) read(ctx context.Context, last *time.Time) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	var since time.Time
	if last != nil {
		since = last.Add(-before)
	} else if err := p.db.QueryRow(ctx, firstSQL).Scan(&since); err != nil {
		return false, fmt.Errorf("payouts: when the first payment was: %w", err)
	}
	for payout, err := range p.provider.Payouts(ctx, since) {
		if err != nil {
			return again, fmt.Errorf("payouts: list them: %w", err)
		}
		if err := p.keep(ctx, payout); err != nil {
			return again, fmt.Errorf("payouts: read %s: %w", payout.ID, err)
		}
		again = again || payout.Automatic && !payout.Settled
	}
	return again, nil
}

// A payout is of the only team that took cards, or of the only team.
const keepSQL = `
WITH card AS (
    SELECT DISTINCT e.team_id AS id FROM payment p JOIN event e ON e.id = p.event_id WHERE p.method = 'card' AND p.reference <> ''
     UNION SELECT team_id FROM gift_card WHERE method = 'card' AND reference <> ''
     UNION SELECT e.team_id FROM deposit_payment p JOIN event e ON e.id = p.event_id WHERE p.method = 'card' AND p.reference <> ''
), taking AS (
    SELECT id FROM card UNION SELECT id FROM team WHERE NOT EXISTS (SELECT FROM card)
), sole AS (
    SELECT CASE WHEN count(*) = 1 THEN min(id) END AS id FROM taking
)
INSERT INTO payout (id, team_id, teams, status, currency, amount, created_at, arrives_on, automatic)
SELECT $1, sole.id, array_remove(ARRAY[sole.id], NULL), $2, $3, $4, $5, $6, $7 FROM sole
    ON CONFLICT (id) DO UPDATE SET status = $2, arrives_on = $6
RETURNING read_at IS NOT NULL`

// keep stores a payout and, once they are known, its lines.
func (p *Payouts) keep(ctx context.Context, payout Payout) error {
	var read bool
	err := p.db.QueryRow(ctx, keepSQL, payout.ID, payout.Status, payout.Currency, payout.Amount, payout.CreatedAt, payout.ArrivesOn, payout.Automatic).Scan(&read)
	if err != nil || read || !payout.Automatic || !payout.Settled {
		return err
	}
	var lines []Line
	for line, err := range p.provider.Lines(ctx, payout.ID) { // no transaction is open meanwhile
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	return p.keepLines(ctx, payout, lines)
}

// A lock of the payout, so that its lines are stored once.
const readSQL = `UPDATE payout SET read_at = clock_timestamp() WHERE id = $1 AND read_at IS NULL`

// A line is matched with what the provider was told of: a payment, a gift card or the deposit of a group, and the key of the call that made a refund. What credit paid or got
// back of it is not the provider's (seats/payments/parts.go).
const lineSQL = `
WITH p AS (
    SELECT p.id, e.team_id, p.captured - coalesce((SELECT least(p.captured, h.captured) FROM credit_hold h WHERE h.id = p.id), 0) AS amount
      FROM payment p JOIN event e ON e.id = p.event_id WHERE p.id = $12 AND p.method = 'card' AND $3 <> 'fee'
), r AS (
    SELECT r.id, CASE WHEN r.by_hand THEN r.amount - r.by_credit ELSE least(b.amount + r.amount, p.amount) - least(b.amount, p.amount) END AS amount
      FROM p JOIN intention i ON i.payment_id = p.id AND 'usher-refund-' || i.id = $13 JOIN refund r ON r.id = i.refund_id,
           LATERAL (SELECT coalesce(sum(CASE WHEN by_hand THEN by_credit ELSE amount END), 0)::bigint AS amount FROM refund
                     WHERE payment_id = p.id AND (created_at, id) < (r.created_at, r.id)) b
     WHERE $3 IN ('refund', 'failed')
), g AS (
    SELECT id, team_id, amount FROM gift_card WHERE id = $12 AND method = 'card' AND ($3 = 'charge' OR $3 = 'refund' AND starts_with($13, 'usher-gift-'))
), d AS (
    SELECT p.id, e.team_id, p.amount FROM deposit_payment p JOIN event e ON e.id = p.event_id
     WHERE p.id = $12 AND p.method = 'card' AND ($3 = 'charge' OR $3 = 'refund' AND starts_with($13, 'usher-deposit-'))
)
INSERT INTO payout_line (id, payout_id, kind, type, source, at, amount, fee, net, charged, charged_currency, payment_id, refund_id, gift_card_id, deposit_payment_id, team_id, ours)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, p.id, r.id, g.id, d.id, coalesce(p.team_id, g.team_id, d.team_id), CASE WHEN $3 = 'charge' THEN coalesce(p.amount, g.amount, d.amount) ELSE coalesce(r.amount, g.amount, d.amount) END
  FROM (SELECT) one LEFT JOIN p ON true LEFT JOIN r ON true LEFT JOIN g ON true LEFT JOIN d ON true`

const teamsSQL = `
UPDATE payout SET teams = ARRAY(SELECT team_id FROM payout_line WHERE payout_id = $1 AND team_id IS NOT NULL UNION SELECT team_id FROM payout WHERE id = $1 AND team_id IS NOT NULL)
 WHERE id = $1`

// Refunds that were made at the provider, or failed there, and of which nothing may be known here.
const lookSQL = `
SELECT id, payment_id FROM payout_line l WHERE payout_id = $1 AND payment_id IS NOT NULL
   AND (kind = 'refund' AND refund_id IS NULL OR kind = 'failed' AND NOT EXISTS (SELECT FROM refund WHERE id = l.refund_id AND failed <> ''))`

// keepLines stores all lines of a payout, once, and has payments looked up of which the provider knows more.
func (p *Payouts) keepLines(ctx context.Context, payout Payout, lines []Line) error {
	var looks []payments.WebhookEvent
	err := pgx.BeginFunc(ctx, p.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, readSQL, payout.ID)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		var q pgx.Batch
		for _, l := range lines {
			if l.Currency != payout.Currency {
				return fmt.Errorf("line %s is in %s, and the payout in %s", l.ID, l.Currency, payout.Currency)
			}
			q.Queue(lineSQL, l.ID, payout.ID, l.Kind, l.Type, l.Source, l.At, l.Amount, l.Fee, l.Net, l.Charged, l.Of, l.Payment, l.Key)
		}
		q.Queue(teamsSQL, payout.ID)
		q.Queue(lookSQL, payout.ID).Query(func(rows pgx.Rows) error {
			looks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (payments.WebhookEvent, error) {
				e := payments.WebhookEvent{Method: payments.Card, Kind: "payout line"}
				return e, row.Scan(&e.Event, &e.Payment)
			})
			return err
		})
		return tx.SendBatch(ctx, &q).Close()
	})
	for _, e := range looks {
		err = errors.Join(err, p.Record(ctx, e))
	}
	return err
}
