-- Keys by which scripts of a team's listed sites sell its tickets. Written by seats/sites. A key is no secret: it stands in pages.
CREATE TABLE team_site_key (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id  bigint NOT NULL REFERENCES team,
    key      text NOT NULL UNIQUE,
    made_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,                -- it opens nothing from then on
    CONSTRAINT "a site key cannot be guessed" CHECK (key ~ '^site_[A-Z2-7]{26}$')
);
CREATE INDEX team_site_key_team ON team_site_key (team_id);

CALL desk_wall('team_site_key', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
