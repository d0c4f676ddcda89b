-- The seating plans of teams (seats/desk). A plan is kept in versions: each is what somebody saved, and stays as it is. What
-- an event was made of stands in table plan, whatever becomes of these.

CREATE TABLE team_plan (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id    bigint NOT NULL REFERENCES team,
    versions   integer NOT NULL DEFAULT 0,   -- how many there are, which is the number of the newest
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "versions are counted" CHECK (versions >= 0)
);

CREATE INDEX team_plan_by_team ON team_plan (team_id);

CREATE TABLE plan_version (
    plan_id      bigint NOT NULL REFERENCES team_plan,
    version      integer NOT NULL,           -- 1, 2, 3 …
    document     text NOT NULL,              -- docs/plan-format.md, complete
    name         text NOT NULL,              -- of the plan, and how many seats and sections it has: for lists
    seats        integer NOT NULL,
    sections     integer NOT NULL,
    note         text NOT NULL DEFAULT '',   -- where it came from or what was changed, in the words of who saved it
    organizer_id bigint NOT NULL REFERENCES organizer,
    key          text NOT NULL,              -- of the form that saved it
    saved_by     text NOT NULL,              -- the organizer's name then
    saved_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (plan_id, version),
    CONSTRAINT "one form saves one version" UNIQUE (organizer_id, key),
    CONSTRAINT "versions are numbered from 1" CHECK (version >= 1)
);

ALTER TABLE plan_version ALTER COLUMN document SET COMPRESSION pglz;

-- A file that is being imported: kept for a day between the steps of that.
CREATE TABLE plan_import (
    id         uuid PRIMARY KEY,
    team_id    bigint NOT NULL REFERENCES team,
    name       text NOT NULL,                -- of the file
    content    bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX plan_import_by_age ON plan_import (created_at);

CALL desk_wall('team_plan', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE (versions)');
CALL desk_wall('plan_version', 'plan_id IN (SELECT id FROM team_plan)', 'SELECT, INSERT');
CALL desk_wall('plan_import', 'team_id = desk_team()', 'SELECT, INSERT, DELETE');
