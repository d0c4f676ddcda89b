-- What buyers add to an order: a donation, and postage of the tickets.
ALTER TABLE orders
    ADD COLUMN extras    jsonb NOT NULL DEFAULT '[]', -- kind, price, tax in it, rate (seats/pricing.Extra)
    ADD COLUMN extra     bigint NOT NULL DEFAULT 0,   -- of total: the sum of extras. It is kept from the beginning: cancelled tickets do not give it back
    ADD COLUMN post_to   jsonb,                       -- where the tickets go by post (seats/orders.Address); null: they do not
    ADD COLUMN posted_at timestamptz,                 -- when a member said that they were posted
    ADD CONSTRAINT "extras are a part of the total" CHECK (extra BETWEEN 0 AND total) NOT VALID,
    ADD CONSTRAINT "only tickets with an address are posted" CHECK (posted_at IS NULL OR post_to IS NOT NULL OR erased_at IS NOT NULL) NOT VALID;

CREATE INDEX orders_to_post ON orders (event_id, created_at) WHERE post_to IS NOT NULL;
