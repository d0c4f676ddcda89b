-- Payment: what was asked of a provider, what came of it, and the money that goes back. Every call to a provider has its
-- row in intention, committed before the call; webhooks stand in inbox before anybody acts on them (seats/orders).

ALTER TABLE event
    ADD COLUMN payment_length interval NOT NULL DEFAULT '15 minutes',  -- how long seats are kept while a payment runs
    ADD COLUMN demo           boolean NOT NULL DEFAULT false,          -- paid with the demo card, which moves no money
    ADD COLUMN invoices       boolean NOT NULL DEFAULT false,          -- who has something to pay may get an invoice
    ADD CONSTRAINT "a payment may take between a second and a day" CHECK (payment_length BETWEEN '1 second' AND '1 day');

-- A seat in payment has an end as well, a second deadline. Nothing is captured before the seats are sold, so time may
-- take it: the authorization is then given back.
ALTER TABLE seat_state DROP CONSTRAINT "only held and lapsed seats have an end";
ALTER TABLE seat_state ADD CONSTRAINT "held, lapsed and paying seats have an end"
    CHECK (expires_at IS NULL OR isfinite(expires_at) = (state IN (1, 2, 3)));

ALTER TABLE orders DROP CONSTRAINT "an order is paid in a known way";
ALTER TABLE orders ADD CONSTRAINT "an order is paid in a known way"
    CHECK (method IN ('free', 'door', 'invoice', 'card', 'demo', 'credit'));

CREATE TABLE payment (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    order_id   uuid NOT NULL UNIQUE,     -- of the order it is for, which is there once the seats are sold
    code       text NOT NULL UNIQUE,     -- of that order; whoever knows it may see how the payment stands
    holder     uuid NOT NULL,
    hold_id    uuid NOT NULL,
    form       jsonb NOT NULL,           -- what the order will be made of
    method     text NOT NULL,            -- which provider
    currency   text NOT NULL,            -- ISO 4217
    amount     bigint NOT NULL,          -- minor units
    state      text NOT NULL DEFAULT 'open',
    reference  text NOT NULL DEFAULT '', -- the provider's name of it; empty until it answered
    page       text NOT NULL DEFAULT '', -- where the attendee pays, if that is a page of the provider
    captured   bigint NOT NULL DEFAULT 0,
    reason     text NOT NULL DEFAULT '', -- why it came to nothing, for the attendee
    attention  text NOT NULL DEFAULT '', -- why a person has to look at it, for the organizer
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a payment is in a known state" CHECK (state IN ('open', 'authorized', 'sold', 'captured', 'lost', 'closed')),
    CONSTRAINT "a payment is of something" CHECK (amount > 0),
    CONSTRAINT "what is captured is not negative" CHECK (captured >= 0)
);

CREATE UNIQUE INDEX "one hold has one payment under way" ON payment (hold_id) WHERE state IN ('open', 'authorized');
CREATE UNIQUE INDEX "one reference is one payment" ON payment (method, reference) WHERE reference <> '';
CREATE INDEX payment_to_look_at ON payment (id) WHERE attention <> '';

-- Money that goes back. What was captured is in exactly one place: orders.paid or a refund.
CREATE TABLE refund (
    id         uuid PRIMARY KEY,
    payment_id uuid NOT NULL REFERENCES payment,
    amount     bigint NOT NULL,          -- minor units of the payment's currency
    reason     text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at    timestamptz,              -- when the provider had done it
    CONSTRAINT "a refund is of something" CHECK (amount > 0)
);

CREATE INDEX refund_by_payment ON refund (payment_id);

-- A call to be made. It is there before the call, and open until its answer was written down.
CREATE TABLE intention (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id uuid NOT NULL REFERENCES payment,
    step       text NOT NULL,
    refund_id  uuid REFERENCES refund,
    tries      integer NOT NULL DEFAULT 0,
    tried_at   timestamptz,              -- when a try began that has not ended: others keep off for a while
    next_try   timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at    timestamptz,
    error      text NOT NULL DEFAULT '', -- of the last try
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a step is a known one" CHECK (step IN ('authorize', 'capture', 'void', 'refund')),
    CONSTRAINT "a refund is refunded, and nothing else" CHECK ((step = 'refund') = (refund_id IS NOT NULL)),
    CONSTRAINT "tries of a step are counted" CHECK (tries >= 0)
);

CREATE INDEX intention_due ON intention (next_try) WHERE done_at IS NULL;
CREATE UNIQUE INDEX "each step of a payment is meant once" ON intention (payment_id, step) WHERE step <> 'refund';
CREATE UNIQUE INDEX "each refund is meant once" ON intention (refund_id) WHERE refund_id IS NOT NULL;

-- What providers told by themselves, each event of theirs once, whatever its order and however often it comes.
CREATE TABLE inbox (
    method      text NOT NULL,
    event       text NOT NULL,           -- the provider's name of its event
    payment_id  uuid NOT NULL,           -- as the provider kept it for us; of no row, if it is not ours
    kind        text NOT NULL,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at     timestamptz,
    PRIMARY KEY (method, event)
);

CREATE INDEX inbox_due ON inbox (received_at) WHERE done_at IS NULL;
