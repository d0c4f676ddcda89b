-- Erasure of personal data. What stays are the books: sums, tickets, payments, invoices.

-- Constraints are NOT VALID: every row that was there before satisfies them, and reading all orders would stop a sale.
ALTER TABLE orders ADD COLUMN erased_at timestamptz; -- when its name, email and answers were erased
ALTER TABLE orders DROP CONSTRAINT "an order has a name and an address",
    ADD CONSTRAINT "an order has a name and an address" CHECK (erased_at IS NOT NULL OR name <> '' AND (email <> '' OR at_office)) NOT VALID,
    ADD CONSTRAINT "of an erased order nothing of the person is kept" CHECK (erased_at IS NULL
        OR name = '' AND email = '' AND born IS NULL AND answers = '{}' AND network = '' AND keys = '{}' AND wish = '') NOT VALID;

ALTER TABLE entry DROP CONSTRAINT "the address of an entry is written in one way",
    ADD CONSTRAINT "the address of an entry is written in one way"
        CHECK (length(email) <= 254 AND email !~ '[A-Z]' AND (email <> '' OR state IN ('served', 'left', 'over'))) NOT VALID;

-- How long a team keeps personal data after an event. Written by seats/privacy. Without a row it keeps them until it is asked.
CREATE TABLE retention (
    team_id bigint PRIMARY KEY REFERENCES team,
    months  integer,                     -- null: until a person asks
    CONSTRAINT "a retention time is between a month and ten years" CHECK (months BETWEEN 1 AND 120)
);

-- The key of the hashes in erasure. Written by seats/privacy, once. With it a list of addresses does not tell who was erased
-- unless the list's reader has this database, too.
CREATE TABLE erasure_key (
    one       boolean PRIMARY KEY DEFAULT true,
    inner_pad bytea NOT NULL,            -- of HMAC-SHA256, 64 bytes, so that SQL can compute it
    outer_pad bytea NOT NULL,
    CONSTRAINT "there is one erasure key" CHECK (one AND octet_length(inner_pad) = 64 AND octet_length(outer_pad) = 64)
);

-- An erasure: of a person in a team, or of all persons of an event. Written by seats/privacy, and never changed.
CREATE TABLE erasure (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id  bigint NOT NULL REFERENCES team,
    person   bytea,                      -- HMAC of the address; null: of all persons of the event
    event_id bigint REFERENCES event,    -- its retention time was over
    complete boolean NOT NULL,           -- nothing was left for a later run, such as an order with a refund on its way
    orders   integer NOT NULL,           -- how many orders it changed
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "an erasure is of a person or of an event" CHECK (num_nonnulls(person, event_id) = 1)
);

CREATE INDEX erasure_by_event ON erasure (event_id) WHERE complete;

CALL desk_wall('retention', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('erasure', 'team_id = desk_team()', 'SELECT (id, team_id, event_id, complete, orders, at)');
ALTER TABLE erasure_key ENABLE ROW LEVEL SECURITY;
