-- What somebody on a wait list agreed to: that what they are offered is ordered for them at once (seats/waitlist/consent.go).

ALTER TABLE entry
    ADD COLUMN method text,  -- how it is paid; null: they are asked
    ADD COLUMN name text,    -- for the order
    ADD COLUMN most bigint,  -- minor units: what costs more is only offered
    ADD CONSTRAINT "a consent is whole" CHECK (num_nonnulls(method, name, most) IN (0, 3)),
    ADD CONSTRAINT "a consent is to an amount" CHECK (most >= 0);

ALTER TABLE offer ADD COLUMN ordering_at timestamptz; -- a node began to order it for who agreed to that
