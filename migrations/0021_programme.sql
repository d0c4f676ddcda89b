-- What the programme of all events lists, searches and filters by, so that no page of it looks at seats or price lists of
-- other events than those it shows.

-- The clock of the place, as pages show it. A zone that this server does not know is UTC, as in Go.
CREATE FUNCTION local_time(at timestamptz, zone text) RETURNS timestamp LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN at AT TIME ZONE zone;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN at AT TIME ZONE 'UTC';
END $$;

ALTER TABLE event
    ADD COLUMN wheelchair   boolean NOT NULL DEFAULT false,
    ADD COLUMN lowest       bigint NOT NULL DEFAULT 0,
    ADD COLUMN starts_local timestamp GENERATED ALWAYS AS (local_time(starts_at, time_zone)) STORED,
    ADD COLUMN found_by     text GENERATED ALWAYS AS (fold(name || ' ' || venue)) STORED;
COMMENT ON COLUMN event.wheelchair IS 'the plan has wheelchair places';
COMMENT ON COLUMN event.lowest IS 'the least that a ticket may cost at any time of the sale, all in, minor units: no list shows a lower price';

ALTER TABLE event_page ADD COLUMN found_by text GENERATED ALWAYS AS (fold(town)) STORED;

-- Without fees and taxes, which Go computes: what is shown is not lower. The next change of the event writes the price itself.
UPDATE event e
   SET wheelchair = EXISTS (SELECT FROM seat s WHERE s.event_id = e.id AND s.flags & 1 <> 0 /* wheelchair place */),
       lowest = coalesce((SELECT min(p.amount) FROM price p JOIN counter c ON c.event_id = p.event_id AND c.price_version = p.version WHERE p.event_id = e.id), 0);

CREATE INDEX event_by_start ON event (starts_local, id) WHERE status <> 'draft';
