-- Webhooks tell of events, performances, transfers, payouts, waiting lists and waiting rooms, too. That a hold expired is told by the batch
-- that announces it (seats/hold.go), so that no claim pays for it.

-- A new event is told as the transaction that made it leaves it. A change names what changed.
CREATE FUNCTION tell_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    e event := NEW;
BEGIN
    IF NOT listens(NEW.id, TG_ARGV[0]) THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        SELECT * INTO e FROM event WHERE id = NEW.id;
    END IF;
    PERFORM tell(NEW.id, TG_ARGV[0], jsonb_strip_nulls(jsonb_build_object('name', e.name, 'venue', e.venue, 'starts_at', e.starts_at, 'time_zone', e.time_zone,
        'status', CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, 'opens_at', e.opens_at,
        'series', (SELECT slug FROM series WHERE id = e.series_id), 'changed', CASE WHEN TG_ARGV[0] = 'event.changed' THEN to_jsonb(array_remove(ARRAY[
            CASE WHEN OLD.name <> NEW.name THEN 'name' END, CASE WHEN OLD.venue <> NEW.venue THEN 'venue' END, CASE WHEN OLD.starts_at <> NEW.starts_at THEN 'starts_at' END,
            CASE WHEN OLD.time_zone <> NEW.time_zone THEN 'time_zone' END, CASE WHEN OLD.status <> NEW.status THEN 'status' END,
            CASE WHEN OLD.opens_at IS DISTINCT FROM NEW.opens_at THEN 'opens_at' END], NULL)) END)));
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "a new event is told" AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell_event('event.created');
CREATE TRIGGER "a changed event is told" AFTER UPDATE OF name, venue, starts_at, time_zone, status, opens_at ON event FOR EACH ROW
  WHEN ((OLD.name, OLD.venue, OLD.starts_at, OLD.time_zone, OLD.status, OLD.opens_at) IS DISTINCT FROM (NEW.name, NEW.venue, NEW.starts_at, NEW.time_zone, NEW.status, NEW.opens_at))
  EXECUTE FUNCTION tell_event('event.changed');
CREATE CONSTRAINT TRIGGER "a new performance is told" AFTER UPDATE OF series_id ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.series_id IS NOT NULL AND OLD.series_id IS DISTINCT FROM NEW.series_id) EXECUTE FUNCTION tell_event('performance.added');

CREATE FUNCTION tell_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kind text := CASE WHEN NEW.accepted_at IS NOT NULL THEN 'transfer.accepted' WHEN NEW.withdrawn_at IS NOT NULL THEN 'transfer.withdrawn' ELSE 'transfer.offered' END;
BEGIN
    IF listens(NEW.event_id, kind) THEN
        PERFORM tell(NEW.event_id, kind, (SELECT jsonb_build_object('order', code, 'transfer', NEW.id, 'ticket', NEW.ticket_id) FROM orders WHERE id = NEW.order_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a ticket that is sent is told" AFTER INSERT ON ticket_transfer FOR EACH ROW EXECUTE FUNCTION tell_transfer();
CREATE TRIGGER "what became of a sent ticket is told" AFTER UPDATE OF withdrawn_at, accepted_at ON ticket_transfer FOR EACH ROW
  WHEN (OLD.withdrawn_at IS NULL AND OLD.accepted_at IS NULL AND (NEW.withdrawn_at IS NOT NULL OR NEW.accepted_at IS NOT NULL)) EXECUTE FUNCTION tell_transfer();

-- An entry with an unconfirmed address is not told.
CREATE FUNCTION tell_entry() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kind text := CASE WHEN NEW.state = 'offered' THEN 'waitlist.offered' WHEN NEW.state IN ('served', 'left', 'over') THEN 'waitlist.left'
                      WHEN OLD.state = 'offered' THEN 'waitlist.missed' ELSE 'waitlist.joined' END;
BEGIN
    IF listens(NEW.event_id, kind) THEN
        PERFORM tell(NEW.event_id, kind, jsonb_strip_nulls(jsonb_build_object('entry', NEW.id, 'state', NEW.state, 'quantity', NEW.quantity,
            'seats', o.seats, 'until', o.until)))
           FROM (SELECT) one LEFT JOIN (SELECT cardinality(seats) AS seats, until FROM offer WHERE entry_id = NEW.id AND state = 'open') o ON true;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "an entry is told" AFTER UPDATE OF state ON entry FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND (OLD.state <> 'new' OR NEW.state = 'waiting')) EXECUTE FUNCTION tell_entry();

-- A room has no team: teams with events in it are told, each of its own.
CREATE FUNCTION tell_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notice (hook_id, kind, data)
    SELECT h.id, 'room.changed', jsonb_strip_nulls(jsonb_build_object('room', NEW.slug, 'phase', NEW.phase, 'before', OLD.phase, 'opens_at', NEW.opens_at,
           'events', (SELECT jsonb_agg(slug ORDER BY slug) FROM event WHERE room_id = NEW.id AND team_id = h.team_id)))
      FROM hook h WHERE h.team_id IN (SELECT team_id FROM event WHERE room_id = NEW.id) AND h.off_at IS NULL AND h.removed_at IS NULL AND 'room.changed' = ANY (h.kinds);
    RETURN NULL;
END $$;
CREATE TRIGGER "a phase of a room is told" AFTER UPDATE OF phase ON room FOR EACH ROW WHEN (OLD.phase <> NEW.phase) EXECUTE FUNCTION tell_room();

-- A team that shares the account is told once the lines were read, of what its own come to.
CREATE FUNCTION tell_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notice (hook_id, kind, data)
    SELECT h.id, k.kind, jsonb_build_object('payout', NEW.id, 'status', NEW.status, 'currency', NEW.currency, 'arrives_on', NEW.arrives_on,
           'amount', CASE WHEN h.team_id = NEW.team_id THEN NEW.amount ELSE (SELECT sum(net) FROM payout_line WHERE payout_id = NEW.id AND team_id = h.team_id) END)
      FROM hook h, LATERAL (SELECT CASE WHEN TG_OP = 'INSERT' OR h.team_id <> ALL (OLD.teams) THEN 'payout.created' WHEN OLD.status <> NEW.status THEN 'payout.changed' END AS kind) k
     WHERE h.team_id = ANY (NEW.teams) AND h.off_at IS NULL AND h.removed_at IS NULL AND k.kind = ANY (h.kinds);
    RETURN NULL;
END $$;
CREATE TRIGGER "a payout is told" AFTER INSERT OR UPDATE OF status, teams ON payout FOR EACH ROW EXECUTE FUNCTION tell_payout();
