-- How a sale went, folded from its change log (seats/desk). Only who looks at a desk writes these, and what stands here
-- could be made again from the log at any time.

-- How far the log was read, and what of that the history does not say: a form of its own, seats/desk/kept.go.
CREATE TABLE tally (
    event_id bigint PRIMARY KEY REFERENCES event,
    version  bigint NOT NULL,
    kept     bytea NOT NULL
);

-- One row for each minute and each hour in which something changed. The last four are of the holds that began in it.
CREATE TABLE history (
    event_id       bigint NOT NULL REFERENCES event,
    span           smallint NOT NULL,    -- minutes
    at             timestamptz NOT NULL, -- when it began
    free           integer NOT NULL,     -- at its end
    held           integer NOT NULL,
    sold           integer NOT NULL,
    blocked        integer NOT NULL,
    seats_sold     integer NOT NULL,     -- in it
    seats_returned integer NOT NULL,     -- that had been sold
    revenue        bigint NOT NULL,      -- what those cost, minor units
    orders         integer NOT NULL,
    begun          integer NOT NULL,
    ordered        integer NOT NULL,
    lapsed         integer NOT NULL,
    given_back     integer NOT NULL,
    PRIMARY KEY (event_id, span, at),
    CONSTRAINT "a span is a minute or an hour" CHECK (span IN (1, 60))
);

-- Who took note of what needs attention.
CREATE TABLE seen (
    event_id bigint NOT NULL REFERENCES event,
    concern  text NOT NULL,
    who      text NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, concern),
    CONSTRAINT "a concern has a short name" CHECK (length(concern) BETWEEN 1 AND 200)
);

CREATE INDEX seen_by_time ON seen (event_id, at);

-- What a desk asks for, without reading all orders and payments of an event.
CREATE INDEX payment_by_event ON payment (event_id, created_at);
CREATE INDEX order_with_waived ON orders (event_id) INCLUDE (waived) WHERE waived > 0;

CREATE INDEX deed_by_subject ON deed (team_id, subject, id);

CALL desk_wall('tally', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('history', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('seen', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT');
