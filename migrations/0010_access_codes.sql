-- Codes that unlock ticket types, reserved seats or the time before the sale.

ALTER TABLE code
    ADD COLUMN unlocks_types integer[] NOT NULL DEFAULT '{}', -- ticket types that are sold with a code
    ADD COLUMN unlocks_blocks uuid[] NOT NULL DEFAULT '{}',   -- blocks with seats that are reserved for the code
    ADD COLUMN presale boolean NOT NULL DEFAULT false,        -- seats may be claimed before the event is on sale
    DROP CONSTRAINT "a code takes something off",
    ADD CONSTRAINT "a code takes something off or unlocks something"
        CHECK (percent BETWEEN 0 AND 10000 AND amount >= 0
               AND (percent > 0 OR amount > 0 OR presale OR unlocks_types <> '{}' OR unlocks_blocks <> '{}')) NOT VALID;

-- The code of a seat that needed one when it was claimed. Written by seats in the batch that gives the seat away. A row
-- counts while its holder is that of the seat.
CREATE TABLE seat_code (
    event_id bigint NOT NULL,
    idx      integer NOT NULL,
    holder   uuid NOT NULL,                  -- of the seat: the visitor, then the order
    code     uuid NOT NULL REFERENCES code,
    block    uuid REFERENCES block,          -- where the seat was reserved: it goes back there; null: it was not
    early    boolean NOT NULL,               -- it was claimed before the event was on sale
    PRIMARY KEY (event_id, idx),
    FOREIGN KEY (event_id, idx) REFERENCES seat (event_id, idx)
);

ALTER TABLE ticket_type ADD COLUMN coded_from bigint; -- the version of the event from which it is sold with a code; null: it is not

CALL desk_wall('seat_code', 'event_id IN (SELECT id FROM event)');
