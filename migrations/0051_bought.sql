-- A limit per person counts what the visitor holds and what they bought: the hold row keeps the second number, so that a
-- claim needs no other row. It changes in the transaction that sells the seats or gives them back.
ALTER TABLE hold
    ADD COLUMN bought integer NOT NULL DEFAULT 0, -- live tickets of the visitor's orders in the event; those of the box office do not count
    ADD CONSTRAINT "nobody bought less than nothing" CHECK (bought >= 0);

-- Buyers whose row was purged get one again. Its id is that of the hold which became their last order.
INSERT INTO hold (event_id, holder, id, seats, expires_at, lapsed, bought)
SELECT o.event_id, o.holder, (array_agg(o.hold_id ORDER BY o.created_at DESC))[1], '{}', clock_timestamp(), true, sum(t.live)
  FROM orders o, LATERAL (SELECT count(*) AS live FROM ticket WHERE order_id = o.id AND revoked_at IS NULL) t
 WHERE NOT o.at_office AND t.live > 0
 GROUP BY o.event_id, o.holder
    ON CONFLICT (event_id, holder) DO UPDATE SET bought = excluded.bought;
