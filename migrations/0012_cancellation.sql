-- Orders are given up by rows, all their tickets or some. What was done is kept; nothing is deleted.
CREATE TABLE cancellation (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL,
    order_id   uuid NOT NULL,
    tickets    uuid[] NOT NULL,          -- revoked by it
    amount     bigint NOT NULL,          -- what they cost, minor units of the order's currency
    back       bigint NOT NULL,          -- of what was paid: more than the tickets that are left cost
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a cancellation belongs to an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "a cancellation is of tickets" CHECK (cardinality(tickets) > 0),
    CONSTRAINT "nobody gets back more than was paid" CHECK (amount >= 0 AND back >= 0)
);

CREATE INDEX cancellation_by_order ON cancellation (order_id);

-- The keys of forms on an order's page: one is good for one content, and for that as often as it is sent.
CREATE TABLE order_key (
    order_id   uuid NOT NULL REFERENCES orders,
    key        text NOT NULL,
    wish       bytea NOT NULL,           -- SHA-256 of what was asked for
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (order_id, key),
    CONSTRAINT "a key is short" CHECK (length(key) BETWEEN 1 AND 200)
);

ALTER TABLE mail DROP CONSTRAINT "a mail is of a known kind";
ALTER TABLE mail ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation'));
