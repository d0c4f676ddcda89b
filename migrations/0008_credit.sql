-- Credit: money of attendees that the house keeps, by address and currency (seats/orders/credit).
--
-- One transfer is one row, with where the money comes from, where it goes and how much it is: its two entries sum to zero
-- because they are one number. Two rows and a trigger that adds them up would only find out what here cannot be written.

CREATE TABLE credit_account (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind     text NOT NULL,      -- attendee; of the house: issued, held, sales
    email    text,               -- attendee: whose it is
    currency text NOT NULL,      -- ISO 4217
    balance  bigint,             -- attendee: minor units
    CONSTRAINT "an address has one account of a currency" UNIQUE NULLS NOT DISTINCT (kind, email, currency),
    UNIQUE (id, currency),
    CONSTRAINT "an account is of a known kind" CHECK (kind IN ('attendee', 'issued', 'held', 'sales')),
    CONSTRAINT "a currency has three letters" CHECK (currency ~ '^[A-Z]{3}$'),
    -- Nothing guards what the house has, and a row that every payment locks would make them wait for each other: what a
    -- house account has is the sum of its entries.
    CONSTRAINT "attendees have an address and a balance, the house has neither"
        CHECK ((kind = 'attendee') = (email IS NOT NULL) AND (kind = 'attendee') = (balance IS NOT NULL)),
    CONSTRAINT "nobody has less than nothing" CHECK (balance >= 0),
    CONSTRAINT "an address is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]')
) WITH (fillfactor = 70);

-- Credit that was set aside for an order. The seats' deal is made while it is held, then it is captured or voided.
CREATE TABLE credit_hold (
    id         uuid PRIMARY KEY,             -- made up by who asks: a repeat finds it
    account_id bigint NOT NULL,
    currency   text NOT NULL,
    order_id   uuid NOT NULL,                -- the order it is to pay, which may never come to be
    amount     bigint NOT NULL,              -- minor units
    state      text NOT NULL DEFAULT 'open',
    captured   bigint NOT NULL DEFAULT 0,
    refunded   bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL,         -- an open hold is voided some time after
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a hold is of the account's currency" FOREIGN KEY (account_id, currency) REFERENCES credit_account (id, currency),
    CONSTRAINT "a hold is open, captured or voided" CHECK (state IN ('open', 'captured', 'voided')),
    CONSTRAINT "what is held is more than nothing" CHECK (amount > 0),
    CONSTRAINT "a hold is captured exactly if something was" CHECK ((state = 'captured') = (captured > 0)),
    CONSTRAINT "nothing more is captured than was held" CHECK (captured BETWEEN 0 AND amount),
    CONSTRAINT "nothing more is refunded than was captured" CHECK (refunded BETWEEN 0 AND captured)
) WITH (fillfactor = 70);

CREATE INDEX credit_hold_by_end ON credit_hold (expires_at) WHERE state = 'open';
CREATE INDEX credit_hold_by_account ON credit_hold (account_id, created_at);

-- A voucher loads credit, once. Only who has the paper knows its code.
CREATE TABLE credit_voucher (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    code        bytea NOT NULL UNIQUE,       -- SHA-256 of it
    currency    text NOT NULL,
    amount      bigint NOT NULL,             -- minor units
    expires_at  timestamptz,                 -- null: never
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    redeemed_at timestamptz,                 -- its transfer says by whom
    CONSTRAINT "a voucher's currency has three letters" CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT "a voucher is worth something" CHECK (amount > 0)
);

CREATE TABLE credit_transfer (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind       text NOT NULL,
    from_id    bigint NOT NULL,
    to_id      bigint NOT NULL,
    currency   text NOT NULL,
    amount     bigint NOT NULL,              -- minor units
    hold_id    uuid REFERENCES credit_hold,  -- hold, capture, void, refund: which one
    voucher_id bigint REFERENCES credit_voucher,
    key        text,                         -- refund, grant: made up by who asks; a repeat finds it
    order_id   uuid,                         -- grant: the order it is about, if it is about one
    CONSTRAINT "money comes from an account of its currency" FOREIGN KEY (from_id, currency) REFERENCES credit_account (id, currency),
    CONSTRAINT "money goes to an account of its currency" FOREIGN KEY (to_id, currency) REFERENCES credit_account (id, currency),
    CONSTRAINT "a transfer is of a known kind" CHECK (kind IN ('load', 'grant', 'hold', 'capture', 'void', 'refund')),
    CONSTRAINT "a transfer moves something" CHECK (amount > 0 AND from_id <> to_id),
    CONSTRAINT "one key is one transfer" UNIQUE (key),
    CONSTRAINT "a voucher is loaded once" UNIQUE (voucher_id),
    CONSTRAINT "a transfer says what it is about" CHECK (
        (kind IN ('hold', 'capture', 'void', 'refund')) = (hold_id IS NOT NULL) AND
        (kind = 'load') = (voucher_id IS NOT NULL) AND (kind IN ('refund', 'grant')) = (key IS NOT NULL))
);

CREATE INDEX credit_transfer_from ON credit_transfer (from_id);
CREATE INDEX credit_transfer_to ON credit_transfer (to_id);
CREATE INDEX credit_transfer_by_hold ON credit_transfer (hold_id);

-- What was booked stands; what was wrong is put right by another transfer.
CREATE FUNCTION credit_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a transfer is never changed and never taken away'; END $$;
CREATE TRIGGER "what was booked stands" BEFORE UPDATE OR DELETE OR TRUNCATE ON credit_transfer
    FOR EACH STATEMENT EXECUTE FUNCTION credit_stands();

-- The two sides of each transfer.
CREATE VIEW credit_entry AS
SELECT id AS transfer_id, from_id AS account_id, currency, -amount AS amount FROM credit_transfer
 UNION ALL
SELECT id, to_id, currency, amount FROM credit_transfer;
