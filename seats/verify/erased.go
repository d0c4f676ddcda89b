package verify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

const erasuresSQL = `SELECT id, team_id, person, at FROM erasure WHERE person IS NOT NULL`

const erasureKeySQL = `SELECT secret FROM erasure_key`

// Rows with an address, from before the last erasure of a person in their team.
const addressesSQL = `
WITH known AS (
    SELECT e.team_id, lower(o.email) AS email, coalesce((SELECT max(done_at) FROM email_change WHERE order_id = o.id), o.created_at) AS at, 'order ' || o.code AS what FROM orders o JOIN event e ON e.id = o.event_id WHERE o.email <> ''
     UNION ALL
    SELECT e.team_id, lower(p.form->>'email'), coalesce((SELECT max(done_at) FROM email_change WHERE order_id = p.order_id), p.created_at), 'payment ' || p.code FROM payment p JOIN event e ON e.id = p.event_id WHERE p.form->>'email' <> ''
     UNION ALL
    SELECT e.team_id, n.email, n.joined_at, 'entry ' || n.id FROM entry n JOIN event e ON e.id = n.event_id WHERE n.email <> ''
     UNION ALL
    SELECT e.team_id, lower(m.email), m.created_at, 'mail ' || m.id FROM mail m JOIN event e ON e.room_id = m.room_id WHERE m.kind = 'place'
     UNION ALL
    SELECT e.team_id, a.email, a.at, 'sent ticket ' || f.id FROM ticket_transfer f JOIN event e ON e.id = f.event_id, LATERAL (VALUES (lower(f.email), f.accepted_at), (lower(f.sent_to), f.offered_at)) AS a(email, at) WHERE a.email <> ''
     UNION ALL
    SELECT e.team_id, lower(f.sent_to), f.offered_at, 'offer to a friend ' || f.id FROM resale_offer f JOIN event e ON e.id = f.event_id WHERE f.sent_to <> ''
     UNION ALL
    SELECT e.team_id, a.email, c.asked_at, 'change of an email ' || c.id FROM email_change c JOIN event e ON e.id = c.event_id, LATERAL (VALUES (lower(c.old_email)), (lower(c.new_email))) AS a(email) WHERE a.email <> ''
     UNION ALL
    SELECT g.team_id, lower(a.email), g.created_at, 'gift card ' || g.id FROM gift_card g, LATERAL (VALUES (g.buyer), (g.recipient)) AS a(email) WHERE a.email <> '' AND g.state NOT IN ('open', 'refunding')
     UNION ALL
    SELECT e.team_id, a.email, y.since, 'the checkout of ' || y.holder
      FROM typed y JOIN event e ON e.id = y.event_id,
           LATERAL (SELECT CASE WHEN strpos(y.answer::text, '\u0000') = 0 THEN lower(y.answer->'form'->>'email') END AS email) a /* a text has no zero byte */
     WHERE a.email <> ''
     UNION ALL
    SELECT e.team_id, lower(m.email), m.created_at, 'stored card ' || m.id
      FROM mandate m JOIN event e ON e.id IN (SELECT event_id FROM payment WHERE mandate = m.id UNION ALL SELECT event_id FROM entry WHERE mandate = m.id)
     WHERE m.email <> ''
     UNION ALL
    SELECT t.id, a.email, m.at, 'credit account ' || a.id
      FROM credit_account a CROSS JOIN team t, LATERAL (SELECT max(at) AS at FROM credit_transfer WHERE a.id IN (from_id, to_id)) m
     WHERE (SELECT count(*) FROM team) = 1 /* else another team may know the person */ AND a.kind = 'attendee' AND a.balance = 0 AND m.at IS NOT NULL AND NOT EXISTS (SELECT FROM credit_hold WHERE account_id = a.id AND state = 'open')
     UNION ALL
    SELECT team_id, email, given_at, 'membership ' || id FROM membership WHERE email <> ''
     UNION ALL
    SELECT team_id, email, imported_at, 'imported customer ' || id FROM customer
     UNION ALL
    SELECT team_id, email, merged_at, 'a merged address of person ' || person FROM customer_address
     UNION ALL
    SELECT team_id, email, changed_at, 'a note about a customer' FROM customer_note
     UNION ALL
    SELECT e.team_id, lower(b.email), b.at, 'booking ' || b.id FROM booking b JOIN event e ON e.id = b.event_id
     WHERE b.email <> '' AND NOT EXISTS (SELECT FROM deposit d WHERE d.booking_id = b.id AND d.paid_at IS NOT NULL AND d.ended_at IS NULL)
       AND NOT EXISTS (SELECT FROM deposit_payment p WHERE p.booking_id = b.id AND p.state IN ('open', 'refunding'))
     UNION ALL
    SELECT t.id, a.email, a.created_at, 'a passkey of an account' FROM account_passkey a CROSS JOIN team t WHERE (SELECT count(*) FROM team) = 1
)
SELECT k.team_id, k.email, k.at, k.what FROM known k
 WHERE k.at < (SELECT max(x.at) FROM erasure x WHERE x.person IS NOT NULL AND x.team_id = k.team_id)`

const erasedSQL = `
SELECT format('order %s was erased and has something of the person', code)
  FROM orders o WHERE erased_at IS NOT NULL AND NOT (name = '' AND email = '' AND born IS NULL AND answers = '{}' AND network = '' AND keys = '{}' AND wish = '' AND post_to IS NULL AND NOT EXISTS (SELECT FROM ticket WHERE order_id = o.id AND name <> ''))
 UNION ALL
SELECT format('order %s was erased, and its payment has the name', o.code)
  FROM orders o JOIN payment p ON p.order_id = o.id WHERE o.erased_at IS NOT NULL AND p.form->>'name' <> ''`

const anyErasedSQL = `SELECT EXISTS (SELECT FROM erasure)`

// checkErased looks for persons who were erased, in all events. Most databases have none, and then it reads no order.
func (l *look) checkErased(ctx context.Context, tx pgx.Tx, r *Report) error {
	var some bool
	if err := tx.QueryRow(ctx, anyErasedSQL).Scan(&some); err != nil || !some {
		return err
	}
	b := &books{report: r}
	if err := l.checkAddresses(ctx, tx, b); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, erasedSQL)
	if err != nil {
		return err
	}
	var what string
	_, err = pgx.ForEachRow(rows, []any{&what}, func() error {
		b.broken(e2, none, "%s", what)
		return nil
	})
	return err
}

// person is an address of a team, as an erasure knows it.
type person struct {
	team int64
	hash [sha256.Size]byte
}

type erasure struct {
	id int64
	at time.Time
}

// checkAddresses hashes every address that may have been erased, and looks the hash up.
func (l *look) checkAddresses(ctx context.Context, tx pgx.Tx, b *books) error {
	rows, err := tx.Query(ctx, erasuresSQL)
	if err != nil {
		return err
	}
	erased, of, one, hash := map[person][]erasure{}, person{}, erasure{}, []byte(nil)
	_, err = pgx.ForEachRow(rows, []any{&one.id, &of.team, &hash, &one.at}, func() error {
		of.hash = [sha256.Size]byte(hash)
		erased[of] = append(erased[of], one)
		return nil
	})
	if err != nil || len(erased) == 0 {
		return err
	}
	var secret []byte
	if err := tx.QueryRow(ctx, erasureKeySQL).Scan(&secret); errors.Is(err, pgx.ErrNoRows) {
		b.broken(e1, none, "the key of erasures is not there")
		return nil
	} else if err != nil {
		return err
	}
	if secret, err = l.box.Open(secret, "erasure_key/true"); err != nil {
		return err
	}
	if rows, err = tx.Query(ctx, addressesSQL); err != nil {
		return err
	}
	mac, email, what, at := hmac.New(sha256.New, secret), "", "", time.Time{}
	_, err = pgx.ForEachRow(rows, []any{&of.team, &email, &at, &what}, func() error {
		mac.Reset()
		mac.Write([]byte(email)) // never fails
		mac.Sum(of.hash[:0])
		for _, x := range erased[of] {
			if at.Before(x.at) {
				b.broken(e1, none, "%s has the address that erasure %d is of", what, x.id)
			}
		}
		return nil
	})
	return err
}
