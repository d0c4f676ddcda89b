-- What goes back: one kind of row, whatever was paid with. What came at the door or by invoice goes back by hand, and so
-- does what a provider could not give back after all.
ALTER TABLE orders
    ADD COLUMN received bigint NOT NULL DEFAULT 0,  -- what came at the door or by invoice; what went back is not taken off
    ADD COLUMN waived   bigint NOT NULL DEFAULT 0,  -- given back although the tickets hold: nobody asks for it again
    ADD CONSTRAINT "no more comes than the total" CHECK (received BETWEEN 0 AND total),
    ADD CONSTRAINT "what is waived is not negative" CHECK (waived >= 0);

UPDATE orders SET received = paid WHERE method IN ('door', 'invoice');

ALTER TABLE refund
    ALTER COLUMN payment_id DROP NOT NULL,          -- null: it came at the door or by invoice
    ADD COLUMN order_id uuid,                       -- that the money was for, which may never have come to be
    ADD COLUMN by_hand  boolean NOT NULL DEFAULT false, -- a person pays it out; done_at is when they said so
    ADD COLUMN failed   text NOT NULL DEFAULT '';   -- why the provider did not give it back after all

UPDATE refund r SET order_id = p.order_id FROM payment p WHERE p.id = r.payment_id;

ALTER TABLE refund
    ALTER COLUMN order_id SET NOT NULL,
    ADD CONSTRAINT "what no provider took goes back by hand" CHECK (payment_id IS NOT NULL OR by_hand);

CREATE INDEX refund_by_order ON refund (order_id);
CREATE INDEX refund_to_pay_out ON refund (created_at) WHERE by_hand AND done_at IS NULL;

-- Who cancels a ticket asks for it first, for as long as a batch may take: meanwhile no door lets it in.
ALTER TABLE ticket ADD COLUMN leaving_until timestamptz;

-- How a payment stands is looked at again when its provider tells of it after the money was taken.
ALTER TABLE intention DROP CONSTRAINT "a step is a known one";
ALTER TABLE intention ADD CONSTRAINT "a step is a known one" CHECK (step IN ('authorize', 'capture', 'void', 'refund', 'look'));

-- Somebody paid and got no seats: there is no order that mail could be about.
ALTER TABLE mail
    ADD COLUMN payment_id uuid REFERENCES payment,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'lost', 'link')),
    DROP CONSTRAINT "a mail is about an order or goes to an address",
    ADD CONSTRAINT "a mail is about an order or a payment, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email) = 1 AND (kind = 'link') = (email IS NOT NULL) AND (kind = 'lost') = (payment_id IS NOT NULL));

CREATE UNIQUE INDEX "a payment is told lost once" ON mail (payment_id) WHERE kind = 'lost';
