-- Kinds of membership of a team, such as its Friends. Written by seats/memberships.
CREATE TABLE membership_kind (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id  bigint NOT NULL REFERENCES team,
    name     text NOT NULL,
    text     text NOT NULL DEFAULT '',            -- what its members get
    currency text NOT NULL,                       -- ISO 4217
    price    bigint NOT NULL,                     -- minor units
    months   integer NOT NULL,                    -- a membership is valid so long, unless its end is given
    CONSTRAINT "a team has a kind of membership" UNIQUE (team_id, id),
    CONSTRAINT "a kind of membership is said in short" CHECK (length(name) BETWEEN 1 AND 100 AND length(text) <= 1000),
    CONSTRAINT "a currency of memberships has three letters" CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT "a membership has a price and a length" CHECK (price >= 0 AND months BETWEEN 1 AND 600)
);
CREATE UNIQUE INDEX "a team has one kind of membership of a name" ON membership_kind (team_id, lower(name));

-- That a person is a member from one day to another. Written by seats/memberships.
CREATE TABLE membership (
    id       uuid PRIMARY KEY,
    team_id  bigint NOT NULL,
    kind_id  bigint NOT NULL,
    name     text NOT NULL,
    email    text NOT NULL,                       -- in lower case; empty: the person was erased
    card     text NOT NULL DEFAULT '',            -- the number on the card
    from_on  date NOT NULL,
    until_on date NOT NULL,                       -- the last day
    currency text NOT NULL,                       -- as the kind had them when it was given
    price    bigint NOT NULL,
    given_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    given_by text NOT NULL,                       -- the organizer's name then
    ended_at timestamptz,                         -- before its last day
    FOREIGN KEY (team_id, kind_id) REFERENCES membership_kind (team_id, id),
    CONSTRAINT "a membership ends after it begins" CHECK (from_on <= until_on),
    CONSTRAINT "a membership is said in short" CHECK (length(name) <= 200 AND length(email) <= 254 AND length(card) <= 40),
    CONSTRAINT "a member has an address unless erased" CHECK (email <> '' OR ended_at IS NOT NULL)
);
CREATE INDEX membership_by_end ON membership (team_id, until_on, id);
CREATE INDEX membership_by_email ON membership (team_id, email);
CREATE INDEX membership_by_person ON membership (email);
CREATE INDEX membership_by_kind ON membership (kind_id, email);

CALL desk_wall('membership_kind', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('membership', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE (ended_at)');

-- A code that was mailed to a member is good while the person is one.
ALTER TABLE code ADD COLUMN membership_id uuid REFERENCES membership; -- null: it is of no member
CREATE INDEX code_by_membership ON code (membership_id) WHERE membership_id IS NOT NULL;

-- member_now reports whether the person of a membership is a member of its kind today, at the place of an event. A later membership of the same
-- person counts, too. One that was given today begins, though it is still yesterday there.
CREATE FUNCTION member_now(membership uuid, event bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
SELECT EXISTS (SELECT FROM membership given JOIN membership m ON m.kind_id = given.kind_id AND m.email = given.email
                WHERE given.id = $1 AND m.email <> '' AND m.ended_at IS NULL
                  AND m.from_on <= greatest(d.there, (clock_timestamp() AT TIME ZONE 'UTC')::date) AND m.until_on >= d.there)
  FROM (SELECT (clock_timestamp() AT TIME ZONE time_zone)::date AS there FROM event WHERE id = $2) d
$$;
