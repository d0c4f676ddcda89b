-- Card readers take money at the till.

-- What a team's till session charges cards with. Sales by card in the shop are no entries of tills.
ALTER TABLE till_session ADD COLUMN reader text NOT NULL DEFAULT '', -- the card provider's name of the reader; empty: none
    ADD COLUMN reader_label text NOT NULL DEFAULT '';

ALTER TABLE till_entry DROP CONSTRAINT "it comes in a known way",
    ADD CONSTRAINT "it comes in a known way" CHECK (method IN ('cash', 'terminal', 'card', 'free', 'credit')) NOT VALID;

CREATE UNIQUE INDEX "a reader takes one payment at a time" ON payment ((form->'till'->>'reader')) WHERE state = 'open' AND form ? 'till';
CREATE INDEX payment_under_way_at_till ON payment ((form->'till'->>'session')) WHERE state IN ('open', 'authorized') AND form ? 'till';

-- till_takes keeps a session open until a payment at a card reader has begun in it; its closing waits.
CREATE FUNCTION till_takes(session bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM till_session WHERE id = session AND closed_at IS NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE check_violation USING MESSAGE = 'this session of a till is closed', CONSTRAINT = 'a payment begins in an open till';
    END IF;
END $$;

-- As in 0050, and the next session has the card reader of the one before.
CREATE OR REPLACE FUNCTION till_session_for(session bigint) RETURNS bigint LANGUAGE plpgsql AS $$
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
        INSERT INTO till_session (team_id, organizer_id, key_id, who, currency, zone, opening, reader, reader_label)
        VALUES (was.team_id, was.organizer_id, was.key_id, was.who, was.currency, was.zone, 0, was.reader, was.reader_label) ON CONFLICT DO NOTHING;
        SELECT id INTO session FROM till_session
         WHERE team_id = was.team_id AND organizer_id = was.organizer_id AND key_id = was.key_id AND currency = was.currency ORDER BY id DESC LIMIT 1;
    END LOOP;
END $$;
