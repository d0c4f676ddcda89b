-- What organizers do with seats and orders (seats/keep.go, seats/orders).

-- Seats kept back at once, and why. The block's id is the holder of its seats in seat_state, until they are unblocked or
-- sold at the box office.
CREATE TABLE block (
    id       uuid PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES event,
    seats    integer[] NOT NULL,
    reason   text NOT NULL DEFAULT '',
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a block has seats" CHECK (cardinality(seats) > 0),
    CONSTRAINT "the reason of a block is short" CHECK (length(reason) <= 500)
);

CREATE INDEX block_by_event ON block (event_id, at);

-- The box office: paid when it is sold, and its attendee need not say an address.
ALTER TABLE orders
    ADD COLUMN at_office boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT "an order is paid in a known way",
    ADD CONSTRAINT "an order is paid in a known way"
        CHECK (method IN ('free', 'door', 'invoice', 'card', 'demo', 'credit') OR at_office AND method IN ('cash', 'terminal')),
    DROP CONSTRAINT "an order has a name and an address",
    ADD CONSTRAINT "an order has a name and an address" CHECK (name <> '' AND (email <> '' OR at_office));

CREATE INDEX orders_by_event ON orders (event_id, created_at, id);

-- Somebody sits elsewhere: another ticket of the same order, at the same price.
ALTER TABLE ticket
    ADD COLUMN moved_to uuid,
    ADD CONSTRAINT "a ticket that moved is revoked" CHECK (moved_to IS NULL OR revoked_at IS NOT NULL),
    ADD CONSTRAINT "a ticket moves to another one" FOREIGN KEY (moved_to) REFERENCES ticket;

CREATE UNIQUE INDEX "a ticket comes of one other" ON ticket (moved_to) WHERE moved_to IS NOT NULL;
CREATE INDEX ticket_by_seat ON ticket (event_id, idx);

-- What organizers write to those who ordered.
CREATE TABLE message (
    id       uuid PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES event,
    subject  text NOT NULL,
    text     text NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a message says something" CHECK (length(subject) BETWEEN 1 AND 200 AND length(text) BETWEEN 1 AND 10000)
);

CREATE INDEX message_by_event ON message (event_id, at);

ALTER TABLE mail
    ADD COLUMN message_id uuid REFERENCES message,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind"
        CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'link', 'invitation', 'password', 'place')),
    ADD CONSTRAINT "a message goes to who ordered" CHECK ((kind = 'message') = (message_id IS NOT NULL) AND (message_id IS NULL OR order_id IS NOT NULL));

CREATE UNIQUE INDEX "a message goes to an order once" ON mail (message_id, order_id) WHERE message_id IS NOT NULL;

-- What is done to many orders, one after the other: whatever node is there goes on where the last one stopped.
CREATE TABLE errand (
    id          uuid PRIMARY KEY,
    event_id    bigint NOT NULL REFERENCES event,
    kind        text NOT NULL,             -- cancel: give their tickets back; message: write to them
    message_id  uuid REFERENCES message,
    begun_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    taken_until timestamptz NOT NULL DEFAULT '-infinity', -- a node is at it
    done        integer NOT NULL DEFAULT 0,  -- orders that it was done to
    refused     integer NOT NULL DEFAULT 0,  -- orders that it could not be done to, such as those of people who came in
    ended_at    timestamptz,
    CONSTRAINT "an errand is of a known kind" CHECK (kind IN ('cancel', 'message')),
    CONSTRAINT "an errand writes what it is given" CHECK ((kind = 'message') = (message_id IS NOT NULL))
);

CREATE INDEX errand_by_event ON errand (event_id, begun_at);
CREATE INDEX errand_not_ended ON errand (taken_until) WHERE ended_at IS NULL;

-- Orders that an errand has been to.
CREATE TABLE errand_order (
    errand_id uuid NOT NULL REFERENCES errand,
    order_id  uuid NOT NULL REFERENCES orders,
    refused   text NOT NULL DEFAULT '',    -- why it could not be done
    PRIMARY KEY (errand_id, order_id)
);

-- A form that was sent twice is answered the second time by what became of the first.
ALTER TABLE desk_key
    ADD COLUMN done_at timestamptz,
    ADD COLUMN answer  text NOT NULL DEFAULT '';

CALL desk_wall('block', 'event_id IN (SELECT id FROM event)');
CALL desk_wall('message', 'event_id IN (SELECT id FROM event)');
CALL desk_wall('errand', 'event_id IN (SELECT id FROM event)');
CALL desk_wall('errand_order', 'EXISTS (SELECT FROM errand e WHERE e.id = errand_order.errand_id)');
