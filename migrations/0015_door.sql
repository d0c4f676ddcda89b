-- The door: links for those who let people in, and every code they looked at.
CREATE TABLE door (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    secret     bytea NOT NULL,           -- SHA-256 of what the link says
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz,              -- from then on the link opens nothing
    CONSTRAINT "one link is one door" UNIQUE (secret)
);

CREATE INDEX door_by_event ON door (event_id);

CREATE TABLE scan (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    bigint NOT NULL REFERENCES event,
    door_id     bigint NOT NULL REFERENCES door,
    ticket_id   uuid NOT NULL REFERENCES ticket,
    key         text NOT NULL,           -- of the scan, made by who scanned: a repeat is the same scan
    place       text NOT NULL,           -- which entrance, as its people call it
    scanned_at  timestamptz NOT NULL,    -- by the clock of who scanned, if that was offline
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    admitted    boolean NOT NULL,        -- the first of its ticket
    CONSTRAINT "a scan is sent once" UNIQUE (event_id, key),
    CONSTRAINT "texts of a scan are short" CHECK (length(key) BETWEEN 1 AND 200 AND length(place) <= 60)
);

CREATE UNIQUE INDEX "a ticket lets one person in" ON scan (ticket_id) WHERE admitted;
CREATE INDEX scan_by_event ON scan (event_id, ticket_id);
