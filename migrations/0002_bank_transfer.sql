-- Bank transfer: the account of a team, and what bank statements say that came for its orders.

-- The bank account of a team, to which attendees transfer. Written by seats/payments/banktransfer.
CREATE TABLE bank_account (
    team_id    bigint PRIMARY KEY REFERENCES team,
    holder     text NOT NULL,             -- name of the account's owner
    iban       text NOT NULL,             -- without spaces, its check digits are right
    bic        text NOT NULL DEFAULT '',
    bank       text NOT NULL DEFAULT '',  -- its name
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "an account has an owner" CHECK (length(holder) BETWEEN 1 AND 70),
    CONSTRAINT "an account has a number" CHECK (iban ~ '^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$'),
    CONSTRAINT "texts about a bank are short" CHECK (length(bic) <= 11 AND length(bank) <= 70)
);

-- A statement file of a bank that a member imported. Written by seats/payments/banktransfer, once for each different file.
CREATE TABLE statement (
    id          uuid PRIMARY KEY,
    team_id     bigint NOT NULL REFERENCES team,
    hash        bytea NOT NULL,            -- SHA-256 of the file
    name        text NOT NULL,             -- of the file
    format      text NOT NULL,
    entries     integer NOT NULL,          -- money that came, by this file
    fresh       integer NOT NULL,          -- of them, those that no earlier file had
    imported_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a file is imported once" UNIQUE (team_id, hash)
);

CREATE INDEX statement_by_team ON statement (team_id, imported_at);

-- Money that came, by a statement. Written by seats/payments/banktransfer. key is equal for an entry of two files.
-- Who paid, and the words they wrote, are deleted once it is known what the entry is for.
CREATE TABLE statement_entry (
    id           uuid PRIMARY KEY,
    team_id      bigint NOT NULL REFERENCES team,
    statement_id uuid NOT NULL REFERENCES statement,
    key          bytea NOT NULL,
    booked_on    date NOT NULL,
    amount       bigint NOT NULL,           -- minor units
    currency     text NOT NULL,             -- ISO 4217
    reference    text NOT NULL DEFAULT '',  -- of an order; empty if the entry names none
    payer        text NOT NULL DEFAULT '',
    words        text NOT NULL DEFAULT '',
    state        text NOT NULL DEFAULT 'open',
    order_id     uuid,                      -- that it was applied to
    decided_at   timestamptz,
    CONSTRAINT "an entry is imported once" UNIQUE (team_id, key),
    CONSTRAINT "an entry is of money that came" CHECK (amount > 0),
    CONSTRAINT "an entry is open, applied or set aside" CHECK (state IN ('open', 'applied', 'aside')),
    CONSTRAINT "an applied entry has an order" CHECK ((state = 'applied') = (order_id IS NOT NULL)),
    CONSTRAINT "a decided entry says when" CHECK ((state = 'open') = (decided_at IS NULL)),
    CONSTRAINT "a decided entry names no person" CHECK (state = 'open' OR payer = '' AND words = '')
);

CREATE INDEX statement_entry_open ON statement_entry (team_id, booked_on) WHERE state = 'open';
CREATE INDEX statement_entry_by_statement ON statement_entry (statement_id);
CREATE INDEX statement_entry_by_order ON statement_entry (order_id) WHERE order_id IS NOT NULL;

-- Money that came for an order at the door or by bank transfer. Written by seats/orders. orders.received is their sum.
CREATE TABLE receipt (
    id       uuid PRIMARY KEY,
    event_id bigint NOT NULL,
    order_id uuid NOT NULL,
    amount   bigint NOT NULL,               -- minor units of the order's currency
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    entry_id uuid REFERENCES statement_entry, -- null: a member marked the order as paid
    CONSTRAINT "a receipt belongs to an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "a receipt is of something" CHECK (amount > 0),
    CONSTRAINT "an entry has one receipt" UNIQUE (entry_id)
);

CREATE INDEX receipt_by_order ON receipt (order_id);

INSERT INTO receipt (id, event_id, order_id, amount, at)
SELECT gen_random_uuid(), event_id, id, received, created_at FROM orders WHERE received > 0 AND NOT at_office;

-- More may come by bank transfer than an order costs. The rest is a refund by hand.
ALTER TABLE orders DROP CONSTRAINT "no more comes than the total";
ALTER TABLE orders ADD CONSTRAINT "what came is not negative" CHECK (received >= 0);

ALTER TABLE mail DROP CONSTRAINT "a mail is of a known kind";
ALTER TABLE mail ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm',
    'link', 'security', 'invitation', 'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid'));

CALL desk_wall('bank_account', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');
CALL desk_wall('statement', 'team_id = desk_team()');
CALL desk_wall('statement_entry', 'team_id = desk_team()', 'SELECT, UPDATE (state, payer, words, decided_at)');
CALL desk_wall('receipt', 'event_id IN (SELECT id FROM event)');
