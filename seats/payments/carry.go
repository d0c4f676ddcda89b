package payments

import (
	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// When tickets are exchanged, what was paid for them goes on to another order. The payment stays that of the order that was
// paid. A row of carried says how much of its money another order has, so that it goes back the way it came, however often
// tickets are exchanged.

// sources are where the money of order $1 is from, and what is left of each: its own payment, or its share of one, money that came outside of this
// program, and what it carries of other orders. What went back by a payment, or by hand, is of the first of its sources.
const sources = `
WITH by AS NOT MATERIALIZED (
    SELECT p.order_id, p.id, p.captured FROM payment p
     WHERE p.method NOT IN ('free', 'door', 'invoice') AND NOT EXISTS (SELECT FROM payment_share WHERE payment_id = p.id)
     UNION ALL
    SELECT s.order_id, p.id, least(p.captured, s.amount) FROM payment_share s JOIN payment p ON p.id = s.payment_id WHERE p.method NOT IN ('free', 'door', 'invoice')
), part AS (
    SELECT o.id AS payer, p.id AS payment_id, (p.id IS NULL)::integer * 2 AS place,
           coalesce(p.captured, o.received, 0) - (SELECT coalesce(sum(amount), 0)::bigint FROM carried WHERE payer = $1) AS amount
      FROM (SELECT $1::uuid AS id) this LEFT JOIN by p ON p.order_id = this.id LEFT JOIN orders o ON o.id = this.id
     UNION ALL
    SELECT o.id, NULL, -1, o.received FROM orders o WHERE o.id = $1 AND o.received > 0 AND EXISTS (SELECT FROM by p WHERE p.order_id = o.id)
     UNION ALL
    SELECT c.payer, p.id, (p.id IS NULL)::integer + 1, c.amount
      FROM carried c LEFT JOIN by p ON p.order_id = c.payer
     WHERE c.order_id = $1
), gone AS (
    SELECT part.*, coalesce(sum(amount) OVER before, 0) AS before,
           (SELECT coalesce(sum(amount), 0) FROM refund r WHERE r.order_id = $1 AND r.payment_id IS NOT DISTINCT FROM part.payment_id) AS back
      FROM part WINDOW before AS (PARTITION BY payment_id ORDER BY place, payer ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), source AS (
    SELECT payer, payment_id, place, (amount - least(amount, greatest(0, back - before)))::bigint AS rest FROM gone
)`

// An order that has not so much gets an amount that may not be null, and nothing is exchanged.
const carrySQL = sources + `, taken AS (
    SELECT payer, least(rest, greatest(0, $3::bigint - coalesce(sum(rest) OVER before, 0)))::bigint AS amount, sum(rest) OVER () AS most
      FROM source WINDOW before AS (ORDER BY place, payer ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), less AS (
    UPDATE carried c SET amount = c.amount - taken.amount FROM taken WHERE c.order_id = $1 AND c.payer = taken.payer
)
INSERT INTO carried (order_id, payer, amount)
SELECT $2, payer, CASE WHEN $3 <= most THEN amount END FROM taken WHERE amount > 0 OR $3 > most`

// QueueCarry queues that an amount of what was paid for one order goes on to another one. Both are locked, and say already what
// they have. What the first one does not keep of the rest is a refund, which is queued next.
func QueueCarry(q *pgx.Batch, from, to seats.ID, amount int64) {
	if amount > 0 {
		q.Queue(carrySQL, from, to, amount)
	}
}
