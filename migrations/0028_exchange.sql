-- Tickets of a series are exchanged for tickets of another performance: tickets of one order are cancelled, and another order is made,
-- in one transaction. What was paid for the first ones goes on to the other order.

ALTER TABLE event
    ADD COLUMN exchange_until interval,                 -- before the start; attendees exchange tickets until then; null: never
    ADD COLUMN exchange_fee   bigint NOT NULL DEFAULT 0, -- kept for each exchanged ticket, minor units
    ADD CONSTRAINT "what is kept of an exchange is in bounds" CHECK (exchange_until >= '0' AND exchange_fee >= 0) NOT VALID;

-- An exchange. Written by seats/orders, in the transaction that cancels the tickets of one order and places the other.
CREATE TABLE exchange (
    cancellation_id uuid PRIMARY KEY REFERENCES cancellation,
    from_order      uuid NOT NULL REFERENCES orders,
    to_order        uuid NOT NULL REFERENCES orders,
    amount          bigint NOT NULL,          -- of what was paid for the cancelled tickets, that goes on to the other order; minor units
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "an order comes of one exchange" UNIQUE (to_order),
    CONSTRAINT "an exchange is of two orders" CHECK (from_order <> to_order),
    CONSTRAINT "what goes on is not negative" CHECK (amount >= 0)
);

CREATE INDEX exchange_by_from ON exchange (from_order);

-- Money of an order that was paid for another one before its tickets were exchanged, maybe several times. Written by seats/payments.
-- It goes back the way the other order was paid.
CREATE TABLE carried (
    order_id uuid NOT NULL REFERENCES orders,
    payer    uuid NOT NULL REFERENCES orders, -- the order that was paid with it: by its payment, or outside of this program
    amount   bigint NOT NULL,                 -- minor units; 0: it went on to a third one
    PRIMARY KEY (order_id, payer),
    CONSTRAINT "no order carries its own money" CHECK (order_id <> payer),
    CONSTRAINT "what is carried is not negative" CHECK (amount >= 0)
);

CREATE INDEX carried_by_payer ON carried (payer);

ALTER TABLE orders DROP CONSTRAINT "an order is paid in a known way",
    ADD CONSTRAINT "an order is paid in a known way"
        CHECK (method IN ('free', 'door', 'invoice', 'card', 'demo', 'credit', 'exchange') OR at_office AND method IN ('cash', 'terminal')) NOT VALID;

ALTER TABLE mail DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged')) NOT VALID;

-- What an order was paid with goes back that way: a cancellation may have several refunds.
DROP INDEX "a cancellation is given back once";
CREATE UNIQUE INDEX "a cancellation is given back once" ON refund (cancellation_id, coalesce(payment_id, '00000000-0000-0000-0000-000000000000')) WHERE cancellation_id IS NOT NULL;

CALL desk_wall('exchange', 'EXISTS (SELECT FROM orders o WHERE o.id = exchange.from_order)');
CALL desk_wall('carried', 'EXISTS (SELECT FROM orders o WHERE o.id = carried.order_id)');
