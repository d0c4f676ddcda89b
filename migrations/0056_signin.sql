-- Sign-in of organizers: the sessions and devices of each, second factors, keys that expire, and what happened about all of these.

-- A session of an organizer at the desk. The browser's session (table session) names it; whoever ends the row ends the session
-- on all nodes with the next request.
CREATE TABLE desk_session (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organizer_id bigint NOT NULL REFERENCES organizer,
    agent        text NOT NULL,              -- browser and system in words, such as "Firefox on Linux"
    network      text NOT NULL,              -- truncated address of the last use noted, such as 192.0.2.0/24
    second       boolean NOT NULL,           -- a second factor was shown: a code of an app, a passkey or a recovery code
    started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- last use, noted every five minutes
    proved_at    timestamptz NOT NULL DEFAULT clock_timestamp()  -- last time a password, passkey or code was shown
) WITH (fillfactor = 80);

CREATE INDEX desk_session_by_organizer ON desk_session (organizer_id);
CREATE INDEX desk_session_by_age ON desk_session (started_at);

-- Browsers in which an organizer signed in: wrong passwords elsewhere do not slow them down.
CREATE TABLE desk_device (
    token        bytea NOT NULL,             -- SHA-256 of what the cookie says
    organizer_id bigint NOT NULL REFERENCES organizer,
    used_at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- last sign-in; forgotten half a year later
    PRIMARY KEY (token, organizer_id)
);

CREATE INDEX desk_device_by_age ON desk_device (used_at);

-- An app that makes codes for an organizer (TOTP, RFC 6238).
CREATE TABLE totp (
    organizer_id bigint PRIMARY KEY REFERENCES organizer,
    secret       bytea NOT NULL,             -- sealed (seats/seal) if the operator set a key
    confirmed_at timestamptz,                -- the app showed its first code; null: it asks for nothing yet
    step         bigint NOT NULL DEFAULT 0,  -- of the last code that was taken: it and those before open nothing any more
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Codes that stand in for a second factor, each once.
CREATE TABLE recovery_code (
    organizer_id bigint NOT NULL REFERENCES organizer,
    hash         bytea NOT NULL,             -- SHA-256 of 120 random bits
    used_at      timestamptz,
    PRIMARY KEY (organizer_id, hash)
);

-- A team may demand a second factor of every member.
ALTER TABLE team ADD COLUMN second_factor boolean NOT NULL DEFAULT false;
GRANT UPDATE (second_factor) ON team TO usher_desk;

ALTER TABLE api_key
    ADD COLUMN expires_at timestamptz NOT NULL DEFAULT clock_timestamp() + interval '1 year',
    ADD COLUMN warned_at  timestamptz,                 -- its maker was told that it expires soon
    ADD COLUMN networks   text[] NOT NULL DEFAULT '{}', -- where it was used from, the last ten
    ADD CONSTRAINT "a key expires after it was made" CHECK (expires_at > created_at);
GRANT SELECT (expires_at) ON api_key TO usher_desk;

-- What happened about accounts: sign-ins, refusals, changes of factors. Equal ones of a minute are one row.
CREATE TABLE security_event (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    minute       timestamptz NOT NULL,       -- in which it happened
    last_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind         text NOT NULL,              -- such as sign_in_failed
    organizer_id bigint NOT NULL DEFAULT 0,  -- whose account; 0: nobody's here
    team_id      bigint NOT NULL DEFAULT 0,  -- of which team; 0: of the account, and so of all of its teams
    network      text NOT NULL DEFAULT '',   -- truncated address
    agent        text NOT NULL DEFAULT '',
    detail       text NOT NULL DEFAULT '',
    n            integer NOT NULL,           -- how often
    CONSTRAINT "a security event happened" CHECK (n > 0 AND kind <> ''),
    CONSTRAINT "equal security events of a minute are one" UNIQUE (minute, kind, organizer_id, team_id, network, agent, detail)
);

CREATE INDEX security_event_by_organizer ON security_event (organizer_id, id);
CREATE INDEX security_event_by_team ON security_event (team_id, id);

ALTER TABLE desk_session ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk_device ENABLE ROW LEVEL SECURITY;
ALTER TABLE totp ENABLE ROW LEVEL SECURITY;
ALTER TABLE recovery_code ENABLE ROW LEVEL SECURITY;
CALL desk_wall('security_event', 'desk_team() IS NOT NULL AND (team_id = desk_team() OR team_id = 0 AND organizer_id = 0
    OR team_id = 0 AND EXISTS (SELECT FROM member m WHERE m.organizer_id = security_event.organizer_id))');

-- Mail that tells of a change to an account or a team. Other kinds stay as they are, whichever there are by now.
ALTER TABLE mail ADD COLUMN about text NOT NULL DEFAULT ''; -- what a mail of the kind security tells
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT conname, pg_get_constraintdef(oid) AS rule FROM pg_constraint
                WHERE conrelid = 'mail'::regclass AND conname IN ('a mail is of a known kind', 'a mail is about one thing, or goes to an address') LOOP
        EXECUTE format('ALTER TABLE mail DROP CONSTRAINT %I, ADD CONSTRAINT %I %s', one.conname, one.conname,
            replace(one.rule, '''link''::text', '''link''::text, ''security''::text'));
    END LOOP;
END $$;

-- The desk writes such mail to members of the team.
DO $$
BEGIN
    EXECUTE (SELECT format('ALTER POLICY "what the team may see" ON mail USING (%s OR kind = ''security'' AND EXISTS (SELECT FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE o.email = mail.email))',
                           pg_get_expr(polqual, polrelid)) FROM pg_policy WHERE polrelid = 'mail'::regclass AND polname = 'what the team may see');
END $$;
