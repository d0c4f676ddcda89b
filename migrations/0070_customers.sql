-- Who puts an event on, when it is not the team itself. Books are grouped by it. Written by seats/events.
ALTER TABLE event
    ADD COLUMN promoter text NOT NULL DEFAULT '', -- empty: the team itself
    ADD CONSTRAINT "a promoter is said in short" CHECK (length(promoter) <= 200);

-- A customer of a list that was imported, by email address, beside what orders say. Written by seats/customers.
CREATE TABLE customer (
    id          uuid PRIMARY KEY,
    team_id     bigint NOT NULL REFERENCES team,
    email       text NOT NULL,                -- in lower case
    name        text NOT NULL DEFAULT '',
    phone       text NOT NULL DEFAULT '',
    language    text NOT NULL DEFAULT '',     -- such as de
    agreed_on   date,                         -- to emails that are not about an order; null: not said
    agreed_by   text NOT NULL DEFAULT '',     -- where the person agreed, such as a form
    imported_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- the first time
    listed_at   timestamptz NOT NULL DEFAULT clock_timestamp(), -- the last time
    imported_by text NOT NULL,                -- the organizer's name then, the last time
    found_by    text NOT NULL GENERATED ALWAYS AS (fold(name) || E'\n' || fold(email)) STORED,
    CONSTRAINT "a team imports an address once" UNIQUE (team_id, email),
    CONSTRAINT "the address of a customer is written in one way" CHECK (email <> '' AND email = lower(email)),
    CONSTRAINT "a customer is said in short" CHECK (length(email) <= 254 AND length(name) <= 200 AND length(phone) <= 40 AND length(language) <= 35 AND length(agreed_by) <= 200),
    CONSTRAINT "a source is that of a consent" CHECK (agreed_by = '' OR agreed_on IS NOT NULL)
);
CREATE INDEX customer_by_time ON customer (team_id, imported_at, id);
CREATE INDEX customer_by_name ON customer (team_id, found_by text_pattern_ops);
CREATE INDEX customer_by_prefix ON customer (team_id, email text_pattern_ops);
CREATE INDEX customer_by_email ON customer (email);

-- Addresses of one person, as a team says. Orders, credit and all else stay under their own address. Written by seats/customers.
CREATE TABLE customer_address (
    team_id   bigint NOT NULL REFERENCES team,
    email     text NOT NULL,                  -- in lower case
    person    uuid NOT NULL,                  -- equal for the addresses of one person
    merged_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team_id, email),
    CONSTRAINT "a merged address is written in one way" CHECK (email <> '' AND email = lower(email))
);
CREATE INDEX customer_address_by_person ON customer_address (team_id, person);

CALL desk_wall('customer', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');
CALL desk_wall('customer_address', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');

-- An import gives no consent to an address that unsubscribed from the team. The desk sees its hash for that.
GRANT SELECT (email) ON unsubscribed TO usher_desk;

-- Nor a consent of before an erasure. The hashes say nothing without the key, which the desk does not see.
GRANT SELECT (person) ON erasure TO usher_desk;

-- customer_emails are the addresses of the person of an address in a team: that one first, then those merged with it.
CREATE FUNCTION customer_emails(team bigint, address text) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
SELECT $2 || ARRAY(SELECT other.email FROM customer_address own JOIN customer_address other ON other.team_id = own.team_id AND other.person = own.person
                    WHERE own.team_id = $1 AND own.email = $2 AND other.email <> $2 ORDER BY other.email)
$$;
