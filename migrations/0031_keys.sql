-- Keys by which programs work at the desk, in the name of whoever made them and never further than they.
CREATE TABLE api_key (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id      bigint NOT NULL REFERENCES team,
    organizer_id bigint NOT NULL REFERENCES organizer, -- who made it: it opens as long as they are in the team
    name         text NOT NULL,
    scopes       text[] NOT NULL,
    hash         bytea NOT NULL,                       -- SHA-256 of it
    start        text NOT NULL,                        -- its first letters, to know it by
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at      timestamptz,                          -- about: noted once an hour
    revoked_at   timestamptz,
    CONSTRAINT "one key is one row" UNIQUE (hash),
    CONSTRAINT "a key has a name" CHECK (length(name) BETWEEN 1 AND 100),
    CONSTRAINT "a key opens something" CHECK (cardinality(scopes) > 0 AND scopes <@ '{look,sell,manage}')
);

CREATE INDEX api_key_by_team ON api_key (team_id);

CALL desk_wall('api_key', 'team_id = desk_team()', 'SELECT (id, team_id, organizer_id, name, scopes, start, created_at, used_at, revoked_at), INSERT, UPDATE (revoked_at)');
