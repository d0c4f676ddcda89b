-- The till: sessions of the box office, what came in and went out in them, and their closing.

-- What a team says of its tills. Written by seats/till.
CREATE TABLE till_setting (
    team_id  bigint PRIMARY KEY REFERENCES team,
    required boolean NOT NULL DEFAULT false, -- the box office sells in an open session only
    methods  text[] NOT NULL DEFAULT '{}',   -- names of ways to pay beside cash and the card terminal
    CONSTRAINT "ways to pay are few" CHECK (cardinality(methods) <= 5)
);

-- A till session: a person, or their API key, who takes money in a currency from its opening to its closing. Written by seats/till.
CREATE TABLE till_session (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id      bigint NOT NULL REFERENCES team,
    organizer_id bigint NOT NULL,
    key_id       bigint NOT NULL DEFAULT 0,     -- the API key of a program; 0: the person
    who          text NOT NULL,
    currency     text NOT NULL,                 -- ISO 4217
    zone         text NOT NULL,                 -- time zone of its day
    opening      bigint NOT NULL,               -- cash in the drawer when it opened, minor units, as all amounts
    opened_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    number       bigint,                        -- of its report; null while it is open
    closed_at    timestamptz,
    day          date,                          -- of closed_at, in zone
    counted      bigint,                        -- cash in the drawer when it closed
    expected     bigint,                        -- cash by its entries
    taken        bigint,                        -- of orders, all ways to pay, less refunds
    note         text NOT NULL DEFAULT '',      -- why they differ
    CONSTRAINT "a number is given once in a team" UNIQUE (team_id, number),
    CONSTRAINT "numbers of reports count from 1" CHECK (number >= 1),
    CONSTRAINT "a closed session is counted" CHECK (num_nulls(number, closed_at, day, counted, expected, taken) IN (0, 6)),
    CONSTRAINT "a drawer holds no less than nothing" CHECK (opening >= 0 AND counted >= 0)
);

CREATE UNIQUE INDEX "a person has one open session in a currency" ON till_session (team_id, organizer_id, key_id, currency) WHERE closed_at IS NULL;
CREATE INDEX till_session_by_day ON till_session (team_id, day);

-- What came in or went out in a till session. Written by seats/till. Nothing is changed or deleted.
CREATE TABLE till_entry (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    session_id bigint NOT NULL REFERENCES till_session,
    kind       text NOT NULL,
    method     text NOT NULL,
    name       text NOT NULL DEFAULT '',        -- of the way to pay, as the team calls it
    amount     bigint NOT NULL,                 -- went out if it is a refund or paid out
    order_id   uuid REFERENCES orders,
    tickets    integer NOT NULL DEFAULT 0,
    reason     text NOT NULL DEFAULT '',
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "an entry is of a kind" CHECK (kind IN ('sale', 'payment', 'refund', 'in', 'out')),
    CONSTRAINT "it comes in a known way" CHECK (method IN ('cash', 'terminal', 'free')),
    CONSTRAINT "an entry of orders names one, another its reason" CHECK ((order_id IS NULL) = (kind IN ('in', 'out')) AND (order_id IS NOT NULL OR reason <> '' AND method = 'cash')),
    CONSTRAINT "an entry is of something, or a sale" CHECK (amount > 0 OR amount = 0 AND kind = 'sale')
);

CREATE INDEX till_entry_by_session ON till_entry (session_id, at);
CREATE INDEX till_entry_by_order ON till_entry (order_id);
CREATE UNIQUE INDEX "a sale is in one session" ON till_entry (order_id) WHERE kind = 'sale';

CREATE FUNCTION till_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'till_session' THEN
        IF OLD.closed_at IS NULL AND (NEW.id, NEW.team_id, NEW.organizer_id, NEW.key_id, NEW.who, NEW.currency, NEW.zone, NEW.opening, NEW.opened_at)
           IS NOT DISTINCT FROM (OLD.id, OLD.team_id, OLD.organizer_id, OLD.key_id, OLD.who, OLD.currency, OLD.zone, OLD.opening, OLD.opened_at) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'what a till took is never changed and never taken away';
END $$;

CREATE TRIGGER "an entry stands" BEFORE UPDATE OR DELETE OR TRUNCATE ON till_entry FOR EACH STATEMENT EXECUTE FUNCTION till_stands();
CREATE TRIGGER "a session is closed once" BEFORE UPDATE ON till_session FOR EACH ROW EXECUTE FUNCTION till_stands();
CREATE TRIGGER "a session stands" BEFORE DELETE OR TRUNCATE ON till_session FOR EACH STATEMENT EXECUTE FUNCTION till_stands();
ALTER TABLE till_entry ENABLE ALWAYS TRIGGER "an entry stands";
ALTER TABLE till_session ENABLE ALWAYS TRIGGER "a session is closed once";
ALTER TABLE till_session ENABLE ALWAYS TRIGGER "a session stands";

-- till_session_for returns the session that an entry goes to. A sale shares its transaction with commands of visitors, so it must not
-- fail: if its session was closed in this moment, it goes to the next one of the same person, which opens with an empty drawer. The
-- lock keeps a session open until the sale is committed; its closing waits.
CREATE FUNCTION till_session_for(session bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    was   till_session;
    found bigint;
BEGIN
    LOOP
        SELECT id INTO found FROM till_session WHERE id = session AND closed_at IS NULL FOR KEY SHARE;
        IF found IS NOT NULL THEN
            RETURN found;
        END IF;
        SELECT * INTO STRICT was FROM till_session WHERE id = session;
        INSERT INTO till_session (team_id, organizer_id, key_id, who, currency, zone, opening)
        VALUES (was.team_id, was.organizer_id, was.key_id, was.who, was.currency, was.zone, 0) ON CONFLICT DO NOTHING;
        SELECT id INTO session FROM till_session
         WHERE team_id = was.team_id AND organizer_id = was.organizer_id AND key_id = was.key_id AND currency = was.currency ORDER BY id DESC LIMIT 1;
    END LOOP;
END $$;

CALL desk_wall('till_setting', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('till_session', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('till_entry', 'session_id IN (SELECT id FROM till_session)', 'SELECT, INSERT');
