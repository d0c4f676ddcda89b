-- A test sale is an event like another one, by which an organizer tries that event before its sale starts. Written by seats/testsale.
ALTER TABLE event ADD COLUMN test_of bigint REFERENCES event;          -- the event that is tried; null: this is no test
ALTER TABLE event ADD CONSTRAINT "a test sale moves no money" CHECK (test_of IS NULL OR demo AND NOT pay_at_door AND NOT invoices) NOT VALID;
ALTER TABLE event ADD CONSTRAINT "a test sale says so" CHECK (test_of IS NULL OR starts_with(name, 'TEST · ')) NOT VALID;
ALTER TABLE event ADD CONSTRAINT "a test sale stands by itself" CHECK (test_of IS NULL OR series_id IS NULL AND room_id IS NULL) NOT VALID;

CREATE UNIQUE INDEX "an event has one test sale at a time" ON event (test_of) WHERE test_of IS NOT NULL AND status NOT IN ('closed', 'cancelled');

CREATE INDEX event_by_test_of ON event (test_of) WHERE test_of IS NOT NULL;

-- A key for test sales sees them and no other event. Other keys, and the pages of the desk that show more than one event, see none.
ALTER TABLE api_key ADD COLUMN test boolean NOT NULL DEFAULT false;
GRANT SELECT (test) ON api_key TO usher_desk;

CREATE FUNCTION desk_test() RETURNS boolean LANGUAGE sql STABLE AS
    $$SELECT coalesce(current_setting('usher.test', true) = 'on', false)$$;

ALTER POLICY "what the team may see" ON event USING (team_id = desk_team() AND (test_of IS NOT NULL) = desk_test());

-- Webhooks are not told of test sales.
CREATE OR REPLACE FUNCTION listens(event bigint, kind text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM hook h WHERE h.team_id = (SELECT team_id FROM event e WHERE e.id = $1 AND e.test_of IS NULL)
                                        AND h.off_at IS NULL AND h.removed_at IS NULL AND $2 = ANY (h.kinds))
$$;

CREATE OR REPLACE FUNCTION tell(event bigint, kind text, said jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO notice (hook_id, kind, data)
    SELECT h.id, $2, jsonb_build_object('event', e.slug) || $3
      FROM event e JOIN hook h ON h.team_id = e.team_id
     WHERE e.id = $1 AND e.test_of IS NULL AND h.off_at IS NULL AND h.removed_at IS NULL AND $2 = ANY (h.kinds)
$$;
