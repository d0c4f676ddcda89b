-- Guests of an event, who get complimentary tickets. Written by seats/guests.
CREATE TABLE guest (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    n          bigint GENERATED ALWAYS AS IDENTITY, -- the order in which they were added
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    name       text NOT NULL,
    email      text NOT NULL DEFAULT '',   -- where the tickets go; empty: nowhere
    places     integer NOT NULL,           -- the guest, and whom they bring
    note       text NOT NULL DEFAULT '',
    invited_by text NOT NULL DEFAULT '',
    order_id   uuid UNIQUE REFERENCES orders, -- with the tickets; null: there are none yet
    block_id   uuid REFERENCES block,      -- that their seats came from, and go back to; null: they were on sale
    struck_at  timestamptz,                -- since when they are no guest any more
    CONSTRAINT "a guest has some places" CHECK (places BETWEEN 1 AND 50),
    CONSTRAINT "a guest is said in short" CHECK (length(name) <= 200 AND length(email) <= 254 AND length(note) <= 500 AND length(invited_by) <= 200),
    CONSTRAINT "seats of a guest came with an order" CHECK (block_id IS NULL OR order_id IS NOT NULL)
);
CREATE INDEX guest_by_event ON guest (event_id, n);

CALL desk_wall('guest', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE, DELETE');
