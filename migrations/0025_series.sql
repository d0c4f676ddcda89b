-- A production with several performances. Each performance is an event; claims know nothing of series.

-- Written by seats/series.
CREATE TABLE series (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id    bigint NOT NULL REFERENCES team,
    slug       text NOT NULL UNIQUE,
    lead_id    bigint NOT NULL UNIQUE REFERENCES event,  -- the performance that says what the production is: name, texts, pictures, prices, settings
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (id, team_id),
    CONSTRAINT "a slug of a series is lower case letters, digits and dashes" CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$')
);

-- What a performance got of its production last: a hash of each part. Written by seats/series.
-- A part that is neither this nor the production's is the performance's own.
CREATE TABLE performance (
    event_id bigint PRIMARY KEY REFERENCES event,
    texts    text NOT NULL,
    prices   text NOT NULL,
    settings text NOT NULL
);

ALTER TABLE event
    ADD COLUMN series_id bigint,  -- of which it is a performance
    ADD CONSTRAINT "a performance and its series are of one team" FOREIGN KEY (series_id, team_id) REFERENCES series (id, team_id);

CREATE INDEX event_by_series ON event (series_id, starts_local, id) WHERE series_id IS NOT NULL AND status <> 'draft';
CREATE INDEX event_alone_by_start ON event (starts_local, id) WHERE series_id IS NULL AND status <> 'draft';

CALL desk_wall('series', 'team_id = desk_team()', 'SELECT, INSERT');
CALL desk_wall('performance', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
