-- The organizers' desk (seats/desk): who they are, in which team they have which role, and what each of them did.

CREATE TABLE team (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a team has a name" CHECK (length(name) BETWEEN 1 AND 100)
);

INSERT INTO team (name) VALUES ('Box office');

-- An event that was made without saying whose it is, as by the command line, is the first team's.
CREATE FUNCTION first_team() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT min(id) FROM team';

ALTER TABLE event ADD COLUMN team_id bigint NOT NULL DEFAULT first_team() REFERENCES team;

CREATE INDEX event_by_team ON event (team_id);

CREATE TABLE organizer (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email      text NOT NULL,
    name       text NOT NULL,
    password   text NOT NULL DEFAULT '',     -- argon2id, in the PHC string format; empty: none opens
    epoch      integer NOT NULL DEFAULT 1,   -- sessions of another epoch are signed out
    handle     bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()), -- what passkeys know the organizer by
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "one address is one organizer" UNIQUE (email),
    CONSTRAINT "one handle is one organizer" UNIQUE (handle),
    CONSTRAINT "the address of an organizer is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]'),
    CONSTRAINT "an organizer has a name" CHECK (length(name) BETWEEN 1 AND 200)
);

CREATE TABLE member (
    team_id      bigint NOT NULL REFERENCES team,
    organizer_id bigint NOT NULL REFERENCES organizer,
    role         text NOT NULL,
    since        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team_id, organizer_id),
    CONSTRAINT "a role is one of four" CHECK (role IN ('owner', 'manager', 'door', 'viewer'))
);

CREATE INDEX member_by_organizer ON member (organizer_id);

-- The lock makes two owners who remove each other at once take turns.
CREATE FUNCTION team_keeps_owner() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM FROM team WHERE id = OLD.team_id FOR UPDATE;
    IF NOT EXISTS (SELECT FROM member WHERE team_id = OLD.team_id AND role = 'owner') THEN
        RAISE EXCEPTION 'a team keeps an owner' USING ERRCODE = 'check_violation', CONSTRAINT = 'a team keeps an owner';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a team keeps an owner" AFTER UPDATE OR DELETE ON member
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION team_keeps_owner();

-- The links that make the first organizer, as long as no team has an owner. Only whoever was shown one has its token.
CREATE TABLE setup (
    token      bytea PRIMARY KEY,            -- SHA-256 of it
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at    timestamptz
);

-- Somebody may join a team. One address has one open invitation to a team.
CREATE TABLE invitation (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id     bigint NOT NULL REFERENCES team,
    email       text NOT NULL,
    role        text NOT NULL,
    token       bytea,                       -- SHA-256 of what the mail says; null until it is written
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at  timestamptz NOT NULL DEFAULT clock_timestamp() + interval '7 days',
    accepted_at timestamptz,
    revoked_at  timestamptz,
    CONSTRAINT "one token is one invitation" UNIQUE (token),
    CONSTRAINT "an invitation is for one of four roles" CHECK (role IN ('owner', 'manager', 'door', 'viewer')),
    CONSTRAINT "the address of an invitation is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]'),
    CONSTRAINT "an invitation is accepted or revoked" CHECK (accepted_at IS NULL OR revoked_at IS NULL)
);

CREATE UNIQUE INDEX "an address has one open invitation to a team" ON invitation (team_id, email)
    WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- A passkey of an organizer (WebAuthn).
CREATE TABLE passkey (
    id           bytea PRIMARY KEY,          -- as its authenticator named it
    organizer_id bigint NOT NULL REFERENCES organizer,
    name         text NOT NULL,
    credential   jsonb NOT NULL,             -- its public key, its counter and what is known of its authenticator
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at      timestamptz,
    CONSTRAINT "a passkey has a name" CHECK (length(name) BETWEEN 1 AND 100)
);

CREATE INDEX passkey_by_organizer ON passkey (organizer_id);

-- A link by mail lets an organizer choose another password. One row for each, so that asking is counted by it.
CREATE TABLE password_link (
    organizer_id bigint PRIMARY KEY REFERENCES organizer,
    token        bytea,                      -- SHA-256 of what the mail says; null until it is written, and once it was used
    expires_at   timestamptz NOT NULL,
    asked        integer NOT NULL DEFAULT 1, -- how often since
    since        timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "one token is one password link" UNIQUE (token)
);

-- Tries to sign in, by address that was typed and by network they came from.
CREATE TABLE attempt (
    who   bytea PRIMARY KEY,                 -- SHA-256 of it
    tries integer NOT NULL DEFAULT 1,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

CREATE INDEX attempt_by_age ON attempt (since);

-- The keys of forms at the desk: one is good for one content, and for that as often as it is sent.
CREATE TABLE desk_key (
    organizer_id bigint NOT NULL REFERENCES organizer,
    key          text NOT NULL,
    wish         bytea NOT NULL,             -- SHA-256 of what was asked for
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organizer_id, key),
    CONSTRAINT "a key of the desk is short" CHECK (length(key) BETWEEN 1 AND 200)
);

-- What was done at the desk. It tells by itself who it was, so that it holds when they have left.
CREATE TABLE deed (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    team_id      bigint NOT NULL REFERENCES team,
    organizer_id bigint,                     -- null: whoever runs the program, by the command line
    who          text NOT NULL,
    email        text NOT NULL DEFAULT '',
    what         text NOT NULL,              -- such as "invited"
    subject      text NOT NULL DEFAULT '',   -- an address below /desk, such as events/seagull
    detail       jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT "it is known who did what" CHECK (who <> '' AND what <> '')
);

CREATE INDEX deed_by_team ON deed (team_id, id);

CREATE FUNCTION deed_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'what was done is never changed and never taken away'; END $$;
CREATE TRIGGER "what was done stands" BEFORE UPDATE OR DELETE OR TRUNCATE ON deed
    FOR EACH STATEMENT EXECUTE FUNCTION deed_stands();
ALTER TABLE deed ENABLE ALWAYS TRIGGER "what was done stands";

-- Mail to organizers.
ALTER TABLE mail
    ADD COLUMN invitation_id bigint REFERENCES invitation,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind"
        CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'lost', 'link', 'invitation', 'password')),
    DROP CONSTRAINT "a mail is about an order or a payment, or goes to an address",
    ADD CONSTRAINT "a mail is about an order or a payment, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email) = 1 AND (kind IN ('link', 'invitation', 'password')) = (email IS NOT NULL)
           AND (kind = 'lost') = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL));

-- The second wall. What the desk does runs as a role that owns nothing and sees only rows of the team in the setting
-- usher.team; without it, none. Attendees' requests run as before, as the owner of the tables, whom no policy holds up.
DO $$
DECLARE
    may text := CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'usher_desk') THEN
        BEGIN
            CREATE ROLE usher_desk NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server had it made in the same moment
        END;
    END IF;
    IF NOT pg_has_role(current_user, 'usher_desk', may) THEN
        EXECUTE format('GRANT usher_desk TO %I', current_user);
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'organizers work as the role usher_desk, which % may not make. Nothing was changed. Have an administrator of this PostgreSQL run: CREATE ROLE usher_desk NOLOGIN; GRANT usher_desk TO %; then start usher again', current_user, quote_ident(current_user);
END $$;

DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO usher_desk', current_schema()); END $$;

-- desk_wall opens a table to the desk: the rows for which shown is true, for what rights name. Migrations that make a
-- table for the desk call it; a test fails on a table that has event_id, team_id or room_id and no policy.
CREATE PROCEDURE desk_wall(name regclass, shown text, rights text DEFAULT 'SELECT') LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY "what the team may see" ON %s TO usher_desk USING (%s)', name, shown);
    IF rights <> '' THEN
        EXECUTE format('GRANT %s ON %s TO usher_desk', rights, name);
    END IF;
END $$;

CREATE FUNCTION desk_team() RETURNS bigint LANGUAGE sql STABLE AS
    $$SELECT nullif(current_setting('usher.team', true), '')::bigint$$;

DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT c.oid::regclass AS name,
                      EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'event_id' AND NOT attisdropped) AS of_event,
                      EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'room_id' AND NOT attisdropped) AS of_room
                 FROM pg_class c
                WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', one.name);
        IF one.name = 'event'::regclass THEN
            CONTINUE;
        ELSIF one.of_event THEN
            CALL desk_wall(one.name, 'event_id IN (SELECT id FROM event)');
        ELSIF one.of_room THEN
            CALL desk_wall(one.name, 'room_id IN (SELECT room_id FROM event)');
        END IF;
    END LOOP;
END $$;

CALL desk_wall('event', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('plan', 'EXISTS (SELECT FROM event e WHERE e.plan_id = plan.id)');
CALL desk_wall('room', 'EXISTS (SELECT FROM event e WHERE e.room_id = room.id)', '');
CALL desk_wall('refund', 'EXISTS (SELECT FROM orders o WHERE o.id = refund.order_id) OR EXISTS (SELECT FROM payment p WHERE p.id = refund.payment_id)');
CALL desk_wall('intention', 'EXISTS (SELECT FROM payment p WHERE p.id = intention.payment_id)');
CALL desk_wall('mail', 'EXISTS (SELECT FROM orders o WHERE o.id = mail.order_id) OR EXISTS (SELECT FROM payment p WHERE p.id = mail.payment_id)
                     OR EXISTS (SELECT FROM invitation i WHERE i.id = mail.invitation_id)', 'SELECT, INSERT');
CALL desk_wall('team', 'id = desk_team()', 'SELECT, UPDATE (name)');
CALL desk_wall('member', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE (role), DELETE');
CALL desk_wall('organizer', 'EXISTS (SELECT FROM member m WHERE m.organizer_id = organizer.id)', 'SELECT (id, email, name, created_at)');
CALL desk_wall('invitation', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('desk_key', 'EXISTS (SELECT FROM member m WHERE m.organizer_id = desk_key.organizer_id)', 'SELECT, INSERT');
CALL desk_wall('deed', 'team_id = desk_team()', 'SELECT, INSERT');

-- What may be said of an event at the desk. Seats and their states are changed by package seats alone.
GRANT INSERT, UPDATE ON category, question TO usher_desk;
GRANT DELETE ON question TO usher_desk;
-- A room's secret stays sealed.
DO $$
BEGIN
    EXECUTE (SELECT format('GRANT SELECT (%s) ON room TO usher_desk', string_agg(quote_ident(attname), ', ' ORDER BY attnum))
               FROM pg_attribute WHERE attrelid = 'room'::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('sealed', 'secret'));
END $$;
