-- The limit of tickets per person over several orders. A key stands for a person as one order names them: the normalized
-- email, the signed-in account, the card. It is the first 16 bytes of a SHA-256 (seats/orders/person.go).
CREATE TABLE purchase_key (
    event_id bigint NOT NULL,   -- of the event; no foreign key, which would cost as much as the row
    key      uuid NOT NULL,
    tickets  integer NOT NULL,  -- live tickets of orders with this key, and seats of payments under way
    PRIMARY KEY (event_id, key)
) WITH (fillfactor = 80);

ALTER TABLE orders
    ADD COLUMN keys uuid[] NOT NULL DEFAULT '{}';      -- its live tickets count for these; none at the box office, and before this migration

ALTER TABLE payment
    ADD COLUMN keys    uuid[] NOT NULL DEFAULT '{}',   -- known before it began: email, account
    ADD COLUMN card    uuid,                           -- key of the card; known once it was authorized
    ADD COLUMN counted boolean NOT NULL DEFAULT false; -- its seats are counted for its keys

CALL desk_wall('purchase_key', 'event_id IN (SELECT id FROM event)', ''); -- the desk does not read it
