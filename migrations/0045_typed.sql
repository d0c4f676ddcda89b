-- What somebody sent from a checkout that made no order, and what they were told: the answer to a form is a page with an
-- address of its own, which can be loaded again, left and come back to. It goes with the order, and after a day.
CREATE TABLE typed (
    event_id bigint NOT NULL REFERENCES event,
    holder   uuid NOT NULL,
    answer   json NOT NULL,              -- not jsonb: people send zero bytes, too
    since    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, holder)
);

CREATE INDEX typed_by_age ON typed (since);

CALL desk_wall('typed', 'event_id IN (SELECT id FROM event)', ''); -- the desk does not read it
