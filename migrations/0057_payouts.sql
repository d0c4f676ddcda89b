-- What the card provider paid out, and what each payout is made of.

-- A payout of the provider's account, which all teams of a box office may share. Written by seats/payouts.
CREATE TABLE payout (
    id         text PRIMARY KEY,          -- the provider's name
    team_id    bigint REFERENCES team,    -- the only team that took cards when it was read: all of the payout is its own; null: teams share the account
    teams      bigint[] NOT NULL,         -- that have lines in it, and team_id
    status     text NOT NULL,             -- as the provider calls it
    currency   text NOT NULL,             -- ISO 4217
    amount     bigint NOT NULL,           -- minor units, as all amounts; negative if the provider took it from the bank account
    created_at timestamptz NOT NULL,
    arrives_on date NOT NULL,
    automatic  boolean NOT NULL,          -- of another one the provider does not say what it is made of
    read_at    timestamptz,               -- when its lines were read, all at once; they are never changed
    CONSTRAINT "lines of an automatic payout are read" CHECK (automatic OR read_at IS NULL)
);

CREATE INDEX payout_by_time ON payout (created_at);

-- A line of a payout: what the provider calls a balance transaction. Written by seats/payouts, once.
CREATE TABLE payout_line (
    id               text PRIMARY KEY,    -- the provider's name
    payout_id        text NOT NULL REFERENCES payout,
    kind             text NOT NULL,
    type             text NOT NULL,       -- as the provider calls it
    source           text NOT NULL,       -- the provider's name of the charge, refund, dispute or payout; may be empty
    at               timestamptz NOT NULL,
    amount           bigint NOT NULL,     -- in the currency of the payout, negative if it went
    fee              bigint NOT NULL,     -- that the provider kept of it
    net              bigint NOT NULL,
    charged          bigint NOT NULL,     -- what the charge or refund was of, in its own currency; never negative
    charged_currency text NOT NULL,       -- empty if the line is of neither
    payment_id       uuid REFERENCES payment,
    refund_id        uuid REFERENCES refund,
    gift_card_id     uuid REFERENCES gift_card,
    ours             bigint,              -- what the provider charged or gave back of that payment, refund or gift card, as it is known here; null: it is not
    team_id          bigint REFERENCES team, -- null: it is of nothing here
    CONSTRAINT "a line is of a known kind" CHECK (kind IN ('charge', 'refund', 'failed', 'dispute', 'fee', 'payout', 'other')),
    CONSTRAINT "what is left of a line is its amount less the fee" CHECK (net = amount - fee),
    CONSTRAINT "a line is of a payment or of a gift card" CHECK (payment_id IS NULL OR gift_card_id IS NULL),
    CONSTRAINT "a line of a refund is one of its payment" CHECK (refund_id IS NULL OR payment_id IS NOT NULL),
    CONSTRAINT "a line of a payment is a team's" CHECK (payment_id IS NULL AND gift_card_id IS NULL OR team_id IS NOT NULL)
);

CREATE INDEX payout_line_by_payout ON payout_line (payout_id);
CREATE INDEX payout_line_by_payment ON payout_line (payment_id) WHERE payment_id IS NOT NULL;
CREATE UNIQUE INDEX "a gift card is paid once" ON payout_line (gift_card_id) WHERE gift_card_id IS NOT NULL AND kind = 'charge';

-- When payouts are read next, and how it went. Written by seats/payouts; a row by method.
CREATE TABLE payout_reading (
    method   text PRIMARY KEY,
    due_at   timestamptz,                 -- null: nothing is to be read
    read_at  timestamptz,                 -- when the last reading began that came to its end
    tries    integer NOT NULL DEFAULT 0,  -- since then
    error    text NOT NULL DEFAULT ''     -- of the last try
);

CREATE INDEX payout_reading_due ON payout_reading (due_at) WHERE due_at IS NOT NULL;

CALL desk_wall('payout', 'desk_team() = ANY (teams)');
CALL desk_wall('payout_line', 'team_id = desk_team() OR payout_id IN (SELECT id FROM payout WHERE payout.team_id = desk_team())');
CALL desk_wall('payout_reading', 'desk_team() IS NOT NULL', 'SELECT, INSERT, UPDATE');

ALTER TABLE inbox ALTER payment_id DROP NOT NULL; -- null: the event is about payouts
