-- What a team writes down about a customer. Written by seats/customers.
CREATE TABLE customer_note (
    team_id    bigint NOT NULL REFERENCES team,
    email      text NOT NULL,                -- of the customer, in lower case
    note       text NOT NULL DEFAULT '',
    tags       text[] NOT NULL DEFAULT '{}', -- such as member, press; in lower case
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by text NOT NULL,                -- the organizer's name then
    PRIMARY KEY (team_id, email),
    CONSTRAINT "the address of a note is written in one way" CHECK (email <> '' AND email = lower(email)),
    CONSTRAINT "a note is about something" CHECK (note <> '' OR tags <> '{}')
);

CALL desk_wall('customer_note', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');
