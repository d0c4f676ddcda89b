package verify

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Every ticket, and every order that does not cost what its tickets cost.
const ticketsSQL = `SELECT idx, order_id, revoked_at IS NOT NULL FROM ticket WHERE event_id = $1 ORDER BY idx`

const costsSQL = `
SELECT o.code, o.total, (o.extra + coalesce(sum(t.price + t.fee), 0))::bigint, o.fee, coalesce(sum(t.fee), 0)::bigint, o.discount, coalesce(sum(t.discount), 0)::bigint
  FROM orders o LEFT JOIN ticket t ON t.order_id = o.id AND t.moved_to IS NULL
 WHERE o.event_id = $1
 GROUP BY o.id, o.code, o.total, o.fee, o.discount, o.extra, o.extras
HAVING (o.total, o.fee, o.discount) IS DISTINCT FROM ((o.extra + coalesce(sum(t.price + t.fee), 0))::bigint, coalesce(sum(t.fee), 0)::bigint, coalesce(sum(t.discount), 0)::bigint)
    OR o.extra <> (SELECT coalesce(sum((x->>'price')::bigint), 0) FROM jsonb_array_elements(o.extras) x)`

// The tax of a rate is that of each amount, or that of their sum, half a minor unit up; see seats/pricing.
const taxesSQL = `
SELECT o.code, a.rate, sum(a.amount)::bigint, sum(a.tax)::bigint
  FROM orders o, LATERAL (
       SELECT a.* FROM ticket t, LATERAL (VALUES (t.price, t.tax, t.tax_rate), (t.fee, t.fee_tax, t.fee_rate)) AS a(amount, tax, rate)
        WHERE t.order_id = o.id AND t.moved_to IS NULL AND (t.tax_rate, t.tax, t.fee_rate, t.fee_tax) <> (0, 0, 0, 0)
        UNION ALL
       SELECT (x->>'price')::bigint, (x->>'tax')::bigint, (x->>'rate')::integer FROM jsonb_array_elements(o.extras) x
        WHERE (x->>'rate', x->>'tax') <> ('0', '0')) a
 WHERE o.event_id = $1
 GROUP BY o.id, o.code, a.rate
HAVING sum(a.tax) NOT IN (sum(div(a.amount::numeric * a.rate + (a.rate + 100000) / 2, a.rate + 100000)),
                          div(sum(a.amount) * a.rate + (a.rate + 100000) / 2, a.rate + 100000))`

// What codes count: orders, and payments that have no order yet.
const usesSQL = `
WITH used AS (
    SELECT unnest(uses) AS key FROM orders WHERE event_id = $1
     UNION ALL
    SELECT (u->>'key')::uuid FROM payment p, jsonb_array_elements(p.form->'uses') u WHERE p.event_id = $1 AND p.counted AND NOT p.form ? 'shares' AND jsonb_typeof(p.form->'uses') = 'array'
     UNION ALL
    SELECT (u->>'key')::uuid FROM payment p, jsonb_array_elements(p.form->'shares') s, jsonb_array_elements(s->'form'->'uses') u
     WHERE p.form ? 'shares' AND (s->>'event_id')::bigint = $1 AND p.counted AND jsonb_typeof(s->'form'->'uses') = 'array'
), n AS (
    SELECT key, count(*) AS n FROM used GROUP BY key
)
SELECT coalesce(a.key, n.key)::text, coalesce(a.used, 0), coalesce(n.n, 0), coalesce(a.most, 0)
  FROM (SELECT * FROM allowance WHERE event_id = $1) a FULL JOIN n ON n.key = a.key
 WHERE coalesce(a.used, 0) <> coalesce(n.n, 0) OR coalesce(n.n, 0) > coalesce(a.most, 0)`

// What the limits of codes say against orders that have them: by their discount, or by a seat that was claimed with the code.
const codeLimitsSQL = `
WITH had AS (
    SELECT c.id, c.code, c.most, c.per_person, o.id AS order_id, o.keys[1] AS person, o.uses
      FROM orders o JOIN code c ON c.event_id = o.event_id AND c.code = o.discount_code
     WHERE o.event_id = $1 AND o.discount_code <> '' AND o.state <> 'cancelled'
     UNION
    SELECT c.id, c.code, c.most, c.per_person, o.id, o.keys[1], o.uses
      FROM seat_code s JOIN orders o ON o.id = s.holder JOIN code c ON c.id = s.code
     WHERE s.event_id = $1 AND o.state <> 'cancelled' AND NOT o.at_office
)
SELECT format('code %s is for %s orders, and %s have it', code, most, count(*)) FROM had WHERE most > 0 GROUP BY id, code, most HAVING count(*) > most
 UNION ALL
SELECT format('code %s is for %s orders of one person, who has %s', code, per_person, count(*))
  FROM had WHERE per_person > 0 AND person IS NOT NULL GROUP BY id, code, per_person, person HAVING count(*) > per_person
 UNION ALL
SELECT format('order %s has code %s, and does not count for it', order_id, code) FROM had WHERE most > 0 AND id <> ALL(uses)
 UNION ALL
SELECT format('code %s is for %s orders, and its allowance for %s', c.code, c.most, a.most)
  FROM allowance a JOIN code c ON c.id = a.key AND c.event_id = a.event_id WHERE a.event_id = $1 AND a.most <> c.most`

// checkCodeLimits holds the limits of codes against the orders that have them (O14).
func (b *books) checkCodeLimits(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, codeLimitsSQL, b.id)
	if err != nil {
		return err
	}
	var what string
	_, err = pgx.ForEachRow(rows, []any{&what}, func() error {
		b.broken(o14, none, "%s", what)
		return nil
	})
	return err
}

// checkUses holds the counts of codes against orders and payments: no code is used more often than it may be (O14).
func (b *books) checkUses(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, usesSQL, b.id)
	if err != nil {
		return err
	}
	var key string
	var used, counted, most int64
	_, err = pgx.ForEachRow(rows, []any{&key, &used, &counted, &most}, func() error {
		b.broken(o14, none, "code %.8s… was used %d times of %d, and orders and payments have it %d times", key, used, most, counted)
		return nil
	})
	return err
}

// sale is a seat and the order it was sold to.
type sale struct {
	order seats.ID
	idx   int
}

// checkTickets holds sold seats against tickets: each has one live ticket, of the order it is sold to, and no other seat
// has one (O1); and an order costs what its tickets and extras cost, which contain the tax of their rate (O4).
func (b *books) checkTickets(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, ticketsSQL, b.id)
	if err != nil {
		return err
	}
	live := map[int]seats.ID{}
	b.returned = map[sale]bool{}
	var idx int
	var order seats.ID
	var revoked bool
	if _, err = pgx.ForEachRow(rows, []any{&idx, &order, &revoked}, func() error {
		if revoked {
			b.returned[sale{order, idx}] = true
			return nil
		}
		if _, two := live[idx]; two {
			b.broken(o1, idx, "has two live tickets")
		}
		live[idx] = order
		return nil
	}); err != nil {
		return err
	}
	if err := b.readResales(ctx, tx); err != nil {
		return err
	}
	for idx := range b.rows {
		r := &b.rows[idx]
		order, has := live[idx]
		switch {
		case r.state == seats.Sold && has && order == r.holder && b.offeredBack[sale{order, idx}]:
			b.broken(o18, idx, "is offered back by %s, and sold to it", short(order))
		case r.state == seats.Sold && !has:
			b.broken(o1, idx, "is sold to %s and has no live ticket", short(r.holder))
		case r.state == seats.Sold && order != r.holder:
			b.broken(o1, idx, "is sold to %s, and its ticket is of %s", short(r.holder), short(order))
		case r.state != seats.Sold && has && !b.offeredBack[sale{order, idx}]:
			b.broken(o1, idx, "is %s and has a live ticket of %s", r.state, short(order))
		}
	}
	if err := b.checkResales(ctx, tx); err != nil {
		return err
	}
	if err := b.checkUses(ctx, tx); err != nil {
		return err
	}
	if err := b.checkCodeLimits(ctx, tx); err != nil {
		return err
	}
	if err := b.checkListed(ctx, tx); err != nil {
		return err
	}
	return b.checkCosts(ctx, tx)
}

// A ticket costs no less than its seat, without its discount, and no more, without its tax. A tax of all tickets together is
// divided over them, which rounds each. An erased order does not say whether its buyer owes the tax.
const listedSQL = `
SELECT t.idx, t.price, t.fee, t.discount, s.price
  FROM ticket t JOIN orders o ON o.id = t.order_id JOIN seat_state s ON s.event_id = t.event_id AND s.idx = t.idx AND s.holder = t.order_id
 WHERE t.event_id = $1 AND t.revoked_at IS NULL AND NOT (o.at_office AND o.method = 'free')
   AND (t.price - t.tax - 2 > s.price OR t.price + t.fee + t.discount < s.price AND o.erased_at IS NULL AND NOT coalesce((o.billing->>'reverse_charge')::boolean, false))`

// checkListed holds what tickets cost against the prices of their seats (O4).
func (b *books) checkListed(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, listedSQL, b.id)
	if err != nil {
		return err
	}
	var idx int
	var price, fee, discount, listed int64
	_, err = pgx.ForEachRow(rows, []any{&idx, &price, &fee, &discount, &listed}, func() error {
		b.broken(o4, idx, "is sold at %d, and its ticket costs %d with a fee of %d and a discount of %d", listed, price, fee, discount)
		return nil
	})
	return err
}

func (b *books) checkCosts(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, costsSQL, b.id)
	if err != nil {
		return err
	}
	var code string
	var total, tickets, fee, shares, discount, off int64
	if _, err = pgx.ForEachRow(rows, []any{&code, &total, &tickets, &fee, &shares, &discount, &off}, func() error {
		b.broken(o4, none, "order %.6s… costs %d with fees of %d and a discount of %d, and its tickets cost %d with fees of %d and a discount of %d", code, total, fee, discount, tickets, shares, off)
		return nil
	}); err != nil {
		return err
	}
	if rows, err = tx.Query(ctx, taxesSQL, b.id); err != nil {
		return err
	}
	var rate int
	_, err = pgx.ForEachRow(rows, []any{&code, &rate, &total, &tickets}, func() error {
		b.broken(o4, none, "order %.6s… contains a tax of %d in %d at a rate of %d, which is another one", code, tickets, total, rate)
		return nil
	})
	return err
}
