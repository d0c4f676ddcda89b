-- Gift cards. A card is a voucher that was paid for: its value is in the books of credit.

-- What gift cards a team sells. Written by seats/giftcards.
CREATE TABLE gift_card_offer (
    team_id  bigint PRIMARY KEY REFERENCES team,
    open     boolean NOT NULL,            -- they are sold
    currency text NOT NULL,               -- ISO 4217
    amounts  bigint[] NOT NULL,           -- minor units
    months   integer,                     -- a card is valid so long, and to the end of that year; null: always
    CONSTRAINT "a currency of gift cards has three letters" CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT "gift cards are worth something" CHECK (cardinality(amounts) BETWEEN 1 AND 12 AND 0 < ALL (amounts)),
    CONSTRAINT "gift cards are valid for a month at least" CHECK (months BETWEEN 1 AND 600)
);

ALTER TABLE credit_voucher
    ADD COLUMN voided_at timestamptz,     -- it was paid back and loads nothing any more
    ADD CONSTRAINT "a voucher is redeemed or paid back" CHECK (redeemed_at IS NULL OR voided_at IS NULL);

-- A gift card from its order on. Written by seats/giftcards. The same row is the payment: no seat depends on it.
CREATE TABLE gift_card (
    id          uuid PRIMARY KEY,         -- the payment's name at the provider
    team_id     bigint NOT NULL REFERENCES team,
    code        text NOT NULL UNIQUE,     -- opens the page of its buyer
    currency    text NOT NULL,
    amount      bigint NOT NULL,          -- minor units
    months      integer,                  -- as it was offered
    buyer       text NOT NULL,            -- an email address; empty once it was erased, as the next three
    recipient   text NOT NULL,            -- the email address that the card goes to
    giver       text NOT NULL,            -- a name on the card; may be empty
    message     text NOT NULL,            -- on the card; may be empty
    method      text NOT NULL,
    state       text NOT NULL DEFAULT 'open',
    reference   text NOT NULL DEFAULT '', -- the provider's name of the payment
    page        text NOT NULL DEFAULT '', -- where it is paid
    reason      text NOT NULL DEFAULT '', -- why it was not sold, or not paid back
    voucher_id  bigint UNIQUE REFERENCES credit_voucher,
    secret      bytea,                    -- the voucher's code, sealed
    tries       integer NOT NULL DEFAULT 0,
    next_try    timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    issued_at   timestamptz,
    refunded_at timestamptz,
    CONSTRAINT "a gift card is worth something" CHECK (amount > 0),
    CONSTRAINT "a gift card is open, issued, paid back or closed" CHECK (state IN ('open', 'issued', 'refunding', 'refunded', 'closed')),
    CONSTRAINT "a gift card has its voucher once it is paid"
        CHECK ((state IN ('issued', 'refunding', 'refunded')) = (voucher_id IS NOT NULL) AND (voucher_id IS NULL) = (secret IS NULL) AND (voucher_id IS NULL) = (issued_at IS NULL)),
    CONSTRAINT "texts on a gift card are short" CHECK (length(buyer) <= 254 AND length(recipient) <= 254 AND length(giver) <= 100 AND length(message) <= 500)
);

CREATE INDEX gift_card_by_team ON gift_card (team_id, created_at);
CREATE INDEX gift_card_due ON gift_card (next_try) WHERE state IN ('open', 'refunding');

-- NOT VALID: every row that was there before satisfies them.
ALTER TABLE mail ADD COLUMN gift_card_id uuid REFERENCES gift_card;
ALTER TABLE mail DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind = 'place') = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID;

CALL desk_wall('gift_card_offer', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('gift_card', 'team_id = desk_team()', '');
