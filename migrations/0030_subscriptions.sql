-- Subscriptions: the same seat in several performances, sold in one order of all of them or of none.

-- Written by seats/subscriptions.
CREATE TABLE subscription (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id     bigint NOT NULL REFERENCES team,
    slug        text NOT NULL UNIQUE,
    name        text NOT NULL,
    currency    text NOT NULL,                               -- ISO 4217, of all its performances
    opens_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    closes_at   timestamptz NOT NULL,
    places      integer,                                     -- how many seats it may sell; null: any number
    sold        integer NOT NULL DEFAULT 0,                  -- seats
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a slug of a subscription is lower case letters, digits and dashes" CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    CONSTRAINT "a subscription is sold before it ends" CHECK (closes_at > opens_at),
    CONSTRAINT "a subscription sells no more than its places" CHECK (sold BETWEEN 0 AND places)
);

-- What a seat of a category costs in each performance, all in. The price of a subscription is their sum. Written by seats/subscriptions.
CREATE TABLE subscription_price (
    subscription_id bigint NOT NULL REFERENCES subscription,
    event_id        bigint NOT NULL REFERENCES event,
    category        text NOT NULL,                           -- key
    price           bigint NOT NULL,                         -- minor units
    PRIMARY KEY (subscription_id, event_id, category),
    CONSTRAINT "a price is not negative" CHECK (price >= 0)
);

-- Written by seats/subscriptions, with the orders. Who it is stands in the orders.
CREATE TABLE subscriber (
    id              uuid PRIMARY KEY,                        -- of the hold in its first performance
    subscription_id bigint NOT NULL REFERENCES subscription,
    seats           integer NOT NULL,                        -- how many
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a subscriber has seats" CHECK (seats > 0)
);
CREATE INDEX subscriber_by_subscription ON subscriber (subscription_id);

-- The order of a subscriber in one performance. Written by seats/subscriptions.
CREATE TABLE subscriber_order (
    order_id      uuid PRIMARY KEY REFERENCES orders,
    subscriber_id uuid NOT NULL REFERENCES subscriber,
    event_id      bigint NOT NULL REFERENCES event,
    seats         integer[] NOT NULL,                        -- idx, as they were sold
    UNIQUE (subscriber_id, event_id)
);

-- Which orders a payment is for, if it is for several, and how much of it is for each. Written by seats/payments, with the orders.
CREATE TABLE payment_share (
    order_id   uuid PRIMARY KEY REFERENCES orders,
    payment_id uuid NOT NULL REFERENCES payment,
    amount     bigint NOT NULL,                              -- minor units
    CONSTRAINT "a share is not negative" CHECK (amount >= 0)
);
CREATE INDEX payment_share_by_payment ON payment_share (payment_id);
CREATE INDEX payment_shared ON payment (id) WHERE form ? 'shares';

CALL desk_wall('subscription', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('subscription_price', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT');
CALL desk_wall('subscriber', 'subscription_id IN (SELECT id FROM subscription)', 'SELECT');
CALL desk_wall('subscriber_order', 'event_id IN (SELECT id FROM event)', 'SELECT');
CALL desk_wall('payment_share', 'order_id IN (SELECT id FROM orders)', 'SELECT');
