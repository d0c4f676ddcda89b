-- Links by which others look at the live desk of one event: figures, and nobody's name (seats/desk/share.go).
CREATE TABLE share (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    token      bytea NOT NULL,                -- SHA-256 of what the link says
    name       text NOT NULL,                 -- whom it is for
    maker      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT "one link is one share" UNIQUE (token),
    CONSTRAINT "a share is for somebody" CHECK (length(name) BETWEEN 1 AND 100)
);

CREATE INDEX share_by_event ON share (event_id, id);

CALL desk_wall('share', 'event_id IN (SELECT id FROM event)', 'SELECT (id, event_id, name, maker, created_at, expires_at, revoked_at), INSERT, UPDATE (revoked_at)');

-- How often a claim was refused, and why. Nodes count in memory and add what came together every few seconds: nothing is
-- written for one refusal.
CREATE TABLE refusal (
    event_id bigint NOT NULL REFERENCES event,
    code     text NOT NULL,
    n        bigint NOT NULL,
    PRIMARY KEY (event_id, code),
    CONSTRAINT "refusals are counted" CHECK (n > 0)
);

CALL desk_wall('refusal', 'event_id IN (SELECT id FROM event)');
