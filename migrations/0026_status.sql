-- How far an event is: a draft that only its team sees, on sale (from a time on, until which it is scheduled), paused,
-- closed or cancelled. What was there before is on sale.
ALTER TABLE event
    ADD COLUMN status   text NOT NULL DEFAULT 'on sale',
    ADD COLUMN opens_at timestamptz,                -- on sale from then on; null: at once
    ADD COLUMN reason   text NOT NULL DEFAULT '',   -- of a pause or a cancellation, as attendees read it
    ADD CONSTRAINT "an event has one of five statuses" CHECK (status IN ('draft', 'on sale', 'paused', 'closed', 'cancelled')),
    ADD CONSTRAINT "a reason is short" CHECK (length(reason) <= 500);

-- What a claim and a sale need to know of it stands in the row that every writer locks last: what was decided by an
-- earlier status is undone with its batch, on whatever node.
ALTER TABLE counter
    ADD COLUMN claims_from timestamptz NOT NULL DEFAULT '-infinity', -- infinity: not at all
    ADD COLUMN sells       boolean NOT NULL DEFAULT true;

-- What an event allowed from which version on. Each row has a version of the change log that names no seat: every node
-- reads the event anew when it meets one.
CREATE TABLE terms (
    event_id         bigint NOT NULL REFERENCES event,
    version          bigint NOT NULL,
    at               timestamptz NOT NULL DEFAULT clock_timestamp(),
    status           text NOT NULL,
    opens_at         timestamptz,
    reason           text NOT NULL,
    hold_length      interval NOT NULL,
    payment_length   interval NOT NULL,
    seats_per_holder integer NOT NULL,
    extensions       integer NOT NULL,
    strict           boolean NOT NULL,
    PRIMARY KEY (event_id, version)
);

INSERT INTO terms (event_id, version, status, reason, hold_length, payment_length, seats_per_holder, extensions, strict)
SELECT e.id, c.version, e.status, e.reason, e.hold_length, e.payment_length, e.seats_per_holder, e.extensions, e.strict
  FROM event e JOIN counter c ON c.event_id = e.id;

CALL desk_wall('terms', 'event_id IN (SELECT id FROM event)');
