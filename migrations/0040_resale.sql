-- Buyers offer a ticket back: its seat is for sale again, and the ticket is valid until the seat is sold.

ALTER TABLE event
    ADD COLUMN resale_until interval,                -- before the start; buyers offer tickets back until then; null: never
    ADD COLUMN resale_fee bigint NOT NULL DEFAULT 0, -- kept of what goes back for each ticket that is sold again, minor units
    ADD CONSTRAINT "tickets are offered back before the event" CHECK (resale_until >= '0') NOT VALID,
    ADD CONSTRAINT "a fee of a resale is not negative" CHECK (resale_fee >= 0) NOT VALID;

-- A seat that its buyer offers back. Written by seats. Its row in seat_state is that of any seat that is not sold.
CREATE TABLE resale (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL,
    idx        integer NOT NULL,
    ticket_id  uuid NOT NULL REFERENCES ticket,  -- valid until the seat is sold
    order_id   uuid NOT NULL,                    -- that it was sold to
    type       smallint NOT NULL,                -- its ticket type
    fee        bigint NOT NULL,                  -- kept of what goes back, minor units
    offered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,                      -- it was sold, taken back or cancelled
    sold_to    uuid,                             -- the order that has the seat since; null: it was not sold
    CONSTRAINT "a resale is of an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "a resale that sold has ended" CHECK (sold_to IS NULL OR ended_at IS NOT NULL)
);

CREATE UNIQUE INDEX "a seat is offered back by one buyer" ON resale (event_id, idx) WHERE ended_at IS NULL;
CREATE INDEX resale_by_order ON resale (order_id);
CREATE INDEX resale_by_ticket ON resale (ticket_id);

CALL desk_wall('resale', 'event_id IN (SELECT id FROM event)');

ALTER TABLE ticket ADD COLUMN resale_id uuid REFERENCES resale; -- it is offered back: no door admits it, and it is not sent; null: it is not
