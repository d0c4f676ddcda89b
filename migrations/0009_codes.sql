-- Discount codes, and how often something may be used.

-- How often something was used in orders of an event, such as a code, and may be. Written by seats in the batch of the order;
-- a row is made with the first use. An order, or a payment under way, counts until it is cancelled or given up.
CREATE TABLE allowance (
    event_id bigint NOT NULL REFERENCES event,
    key      uuid NOT NULL,                  -- of the code, or of the code and a person
    used     integer NOT NULL,
    most     integer NOT NULL,
    PRIMARY KEY (event_id, key),
    CONSTRAINT "an allowance is not exceeded" CHECK (used BETWEEN 0 AND most)
) WITH (fillfactor = 50);

-- A code that takes something off the prices of an event. Written by seats/pricing. Only retired_at changes.
CREATE TABLE code (
    id         uuid PRIMARY KEY,             -- also the key of its allowance
    event_id   bigint NOT NULL REFERENCES event,
    code       text NOT NULL,                -- as it is compared: capital letters and digits
    name       text NOT NULL,                -- of the codes that were made together, for organizers
    percent    integer NOT NULL,             -- hundredths of a percent off each ticket
    amount     bigint NOT NULL,              -- minor units off each ticket, or off the order
    per_order  boolean NOT NULL,
    types      integer[] NOT NULL,           -- for these ticket types; none: for all
    categories integer[] NOT NULL,           -- for these categories; none: for all
    tickets    integer NOT NULL,             -- for so many tickets of an order; 0: for all
    most       integer NOT NULL,             -- orders; 0: no limit
    per_person integer NOT NULL,             -- orders of one person; 0: no limit
    begins_at  timestamptz,
    ends_at    timestamptz,
    retired_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a code is there once in an event" UNIQUE (event_id, code),
    CONSTRAINT "a code is capital letters and digits" CHECK (code ~ '^[A-Z0-9]{3,40}$'),
    CONSTRAINT "a code takes something off" CHECK (percent BETWEEN 0 AND 10000 AND amount >= 0 AND (percent > 0 OR amount > 0)),
    CONSTRAINT "limits of a code are not negative" CHECK (tickets >= 0 AND most >= 0 AND per_person >= 0)
);

ALTER TABLE orders
    ADD COLUMN discount_code text NOT NULL DEFAULT '',    -- that the discount is for; empty: an offer, or none
    ADD COLUMN uses uuid[] NOT NULL DEFAULT '{}';         -- it counts for these allowances; none once it is cancelled

CREATE INDEX order_with_uses ON orders (event_id) WHERE uses <> '{}';

CALL desk_wall('allowance', 'event_id IN (SELECT id FROM event)');
CALL desk_wall('code', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE (retired_at)');
