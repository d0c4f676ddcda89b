-- Seats that an event got after it was made: so many behind those that were there, free from that version on.
CREATE TABLE added (
    event_id bigint NOT NULL REFERENCES event,
    version  bigint NOT NULL,
    seats    integer NOT NULL,
    PRIMARY KEY (event_id, version),
    CONSTRAINT "seats are added, never taken away" CHECK (seats > 0)
);

CALL desk_wall('added', 'event_id IN (SELECT id FROM event)');
