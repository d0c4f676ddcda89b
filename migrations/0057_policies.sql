-- What a house decides about giving up tickets and paying later. Events that are there keep what their attendees read.
ALTER TABLE event
    ADD COLUMN cancel_until   interval DEFAULT '7 days',          -- before the start; attendees cancel until then. Null: they do not
    ADD COLUMN cancel_fee     bigint NOT NULL DEFAULT 0,          -- kept for each cancelled ticket, minor units
    ADD COLUMN cancel_percent integer NOT NULL DEFAULT 0,         -- of its price, in hundredths of a percent
    ADD COLUMN pay_later      interval NOT NULL DEFAULT '3 days', -- how long an order that is paid at the door or by invoice may stay unpaid
    ADD COLUMN pay_before     interval NOT NULL DEFAULT '1 hour', -- before the start; it is due then at the latest
    ADD CONSTRAINT "a policy is not negative" CHECK (cancel_until >= '0' AND cancel_fee >= 0 AND cancel_percent BETWEEN 0 AND 10000 AND pay_later >= '1 minute' AND pay_before >= '0');

UPDATE event SET cancel_until = '0';

ALTER TABLE orders
    ADD COLUMN due_at    timestamptz,  -- what is unpaid at this time is cancelled; null: nothing is to be paid later
    ADD COLUMN remind_at timestamptz;  -- when mail reminds of it; null: it went out, or there is none

UPDATE orders o SET due_at = e.starts_at + interval '1 day'
  FROM event e WHERE e.id = o.event_id AND o.state = 'confirmed' AND o.method IN ('door', 'invoice') AND o.paid + o.waived < o.total;

CREATE INDEX orders_due ON orders (least(remind_at, due_at)) WHERE due_at IS NOT NULL;

ALTER TABLE cancellation
    ADD COLUMN fee bigint NOT NULL DEFAULT 0;  -- of the policy; kept of what was paid, as far as that is enough

-- Mail that what is to be paid later is due soon.
ALTER TABLE mail
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'link', 'security', 'invitation', 'password', 'place',
        'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder'));

-- What is kept of cancelled tickets may be more than their fees.
ALTER TABLE orders
    DROP CONSTRAINT "what is kept of fees was paid",
    ADD CONSTRAINT "what is kept of cancelled tickets is not negative" CHECK (kept >= 0);
