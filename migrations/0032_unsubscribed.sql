-- Who unsubscribed from emails of a team that are not about an order, such as thanks. Written by seats/letters.
CREATE TABLE unsubscribed (
    team_id bigint NOT NULL REFERENCES team,
    email   bytea NOT NULL,  -- SHA-256 of the address in lower case
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team_id, email),
    CONSTRAINT "an address is hashed" CHECK (octet_length(email) = 32)
);

CALL desk_wall('unsubscribed', 'team_id = desk_team()', 'SELECT (team_id, at)');
