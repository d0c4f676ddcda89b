-- Consent to the terms of the team, by a person who has offers ordered at once.

ALTER TABLE entry
    ADD COLUMN terms     integer,        -- the version that the person accepted; null: the team had none
    ADD COLUMN agreed_at timestamptz,    -- when
    ADD CONSTRAINT "terms are accepted with a consent" CHECK (num_nonnulls(terms, agreed_at) IN (0, 2) AND (terms IS NULL OR method IS NOT NULL)) NOT VALID;
