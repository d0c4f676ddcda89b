-- Consent to the terms of the team, by the buyer of a gift card.
ALTER TABLE gift_card
    ADD COLUMN terms     integer,        -- the version that the buyer accepted; null: the team had none
    ADD COLUMN agreed_at timestamptz,    -- when
    ADD CONSTRAINT "terms of a gift card are accepted at a time" CHECK (num_nonnulls(terms, agreed_at) IN (0, 2)) NOT VALID;
