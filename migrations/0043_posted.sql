-- Forms that were sent with a key, and what they were answered: for a day, so that a repeat gets the same answer and does
-- nothing. What changes seats, orders or money has keys of its own, kept with what they changed.
CREATE TABLE posted (
    who    bytea NOT NULL,               -- SHA-256 of who sent it and where to
    key    text NOT NULL,
    wish   bytea NOT NULL,               -- SHA-256 of what was asked for
    answer jsonb,                        -- null until it is there
    since  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (who, key),
    CONSTRAINT "a posted key is short" CHECK (length(key) BETWEEN 1 AND 200)
);

CREATE INDEX posted_by_age ON posted (since);

ALTER TABLE posted ENABLE ROW LEVEL SECURITY; -- the desk does not read it
