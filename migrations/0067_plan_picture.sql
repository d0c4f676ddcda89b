-- A picture that a plan is traced from. Members see it in the editor, and attendees nowhere. Written by seats/pages.
CREATE TABLE plan_picture (
    plan_id bigint NOT NULL REFERENCES team_plan,
    hash    text NOT NULL,                   -- of its content, which versions of the plan name it by
    content bytea NOT NULL,                  -- JPEG, made by us
    width   integer NOT NULL,                -- pixels
    height  integer NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- when it was last uploaded; one that no version has goes after a day
    PRIMARY KEY (plan_id, hash),
    CONSTRAINT "a picture under a plan has a name and a size" CHECK (hash ~ '^[0-9a-f]{32}$' AND width > 0 AND height > 0),
    CONSTRAINT "a picture under a plan is small" CHECK (octet_length(content) BETWEEN 1 AND 16777216)
);

ALTER TABLE plan_picture ALTER COLUMN content SET STORAGE EXTERNAL;

ALTER TABLE plan_version ADD pictures text[] NOT NULL DEFAULT '{}'; -- hashes of what it is traced from

CALL desk_wall('plan_picture', 'plan_id IN (SELECT id FROM team_plan)', 'SELECT, INSERT, UPDATE (at), DELETE');
