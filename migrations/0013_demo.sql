-- The demo card's own books, as a provider would keep them: charges, and what it will tell and when. No money moves.

CREATE TABLE demo_charge (
    payment_id uuid PRIMARY KEY,        -- as we gave it to the demo card to keep
    reference  text NOT NULL UNIQUE,
    amount     bigint NOT NULL,         -- minor units
    currency   text NOT NULL,           -- ISO 4217
    what       text NOT NULL,
    back       text NOT NULL,           -- where the attendee comes back to
    stand      text NOT NULL DEFAULT 'pending',
    captured   bigint NOT NULL DEFAULT 0,
    refunds    jsonb NOT NULL DEFAULT '{}', -- amount by the key of the call
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "the demo card stands in a known way" CHECK (stand IN ('pending', 'authorized', 'captured', 'voided', 'declined')),
    CONSTRAINT "the demo card charges something" CHECK (amount > 0)
);

-- What the demo card decided and will tell. The same event may be told twice.
CREATE TABLE demo_news (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id uuid NOT NULL REFERENCES demo_charge,
    event      text NOT NULL,
    stand      text NOT NULL,           -- how the charge stands from then on, if it is pending
    due_at     timestamptz NOT NULL,
    told_at    timestamptz
);

CREATE INDEX demo_news_due ON demo_news (due_at) WHERE told_at IS NULL;
