-- Where else the events of a team are shown: on its own sites in a frame, and under its own domain.

-- Written by seats/sites. A site may show the team's events in a frame.
CREATE TABLE team_site (
    team_id bigint NOT NULL REFERENCES team,
    origin  text NOT NULL,               -- scheme, host and port, as browsers write them
    PRIMARY KEY (team_id, origin),
    CONSTRAINT "a site is a secure origin, or one of this machine" CHECK (length(origin) <= 300 AND origin ~ '^(https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?|http://(localhost|127\.0\.0\.1))(:[0-9]{1,5})?$')
);

-- Written by seats/sites. It counts once the team has proven that it is theirs.
CREATE TABLE team_domain (
    team_id   bigint PRIMARY KEY REFERENCES team,
    domain    text NOT NULL,             -- in ASCII
    proof     text NOT NULL,             -- what the TXT record of the domain has to say
    proven_at timestamptz,
    CONSTRAINT "a domain is a name in lower case" CHECK (length(domain) <= 253 AND domain ~ '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$'),
    CONSTRAINT "a proof cannot be guessed" CHECK (length(proof) >= 26)
);
CREATE UNIQUE INDEX team_domain_proven ON team_domain (domain) WHERE proven_at IS NOT NULL;

CALL desk_wall('team_site', 'team_id = desk_team()', 'SELECT, INSERT, DELETE');
CALL desk_wall('team_domain', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');
