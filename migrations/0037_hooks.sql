-- What happens is told to other programs (seats/hook): a hook is an address of a team's own, a notice what is told to it.
CREATE TABLE hook (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id       bigint NOT NULL REFERENCES team,
    url           text NOT NULL,
    kinds         text[] NOT NULL,             -- what it is told of
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    removed_at    timestamptz,
    off_at        timestamptz,                 -- nothing is told to it from then on
    off_why       text NOT NULL DEFAULT '',    -- empty: an owner wanted it
    failures      integer NOT NULL DEFAULT 0,  -- in a row, one for each time it was left alone after
    failing_since timestamptz,
    rests_until   timestamptz NOT NULL DEFAULT '-infinity',
    CONSTRAINT "a hook has an address" CHECK (length(url) BETWEEN 10 AND 500),
    CONSTRAINT "a hook is told of something" CHECK (cardinality(kinds) > 0),
    CONSTRAINT "a hook fails since its first failure" CHECK ((failures > 0) = (failing_since IS NOT NULL))
);

CREATE INDEX hook_by_team ON hook (team_id) WHERE removed_at IS NULL;

-- What signs the notices of a hook. While one follows another both do.
CREATE TABLE hook_secret (
    hook_id bigint NOT NULL REFERENCES hook,
    secret  bytea NOT NULL,
    since   timestamptz NOT NULL DEFAULT clock_timestamp(),
    until   timestamptz,
    PRIMARY KEY (hook_id, since),
    CONSTRAINT "a secret cannot be guessed" CHECK (octet_length(secret) BETWEEN 24 AND 64)
);

CREATE UNIQUE INDEX "a hook has one newest secret" ON hook_secret (hook_id) WHERE until IS NULL;

-- Nothing in it names a person: programs ask for that with a key.
CREATE TABLE notice (
    id       uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    hook_id  bigint NOT NULL REFERENCES hook,
    kind     text NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    data     jsonb NOT NULL,
    tries    integer NOT NULL DEFAULT 0,
    next_try timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_at  timestamptz,                      -- somebody took it
    ended_at timestamptz,                      -- nobody did for so long that it is not tried again
    answers  jsonb NOT NULL DEFAULT '[]',      -- of each try: when, the status or 0, the milliseconds, what went wrong
    CONSTRAINT "tries of a notice are counted" CHECK (tries >= 0)
);

CREATE INDEX notice_due ON notice (hook_id, next_try) WHERE sent_at IS NULL AND ended_at IS NULL;
CREATE INDEX notice_by_hook ON notice (hook_id, at, id);
CREATE INDEX notice_by_age ON notice (at);

CALL desk_wall('hook', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('hook_secret', 'EXISTS (SELECT FROM hook h WHERE h.id = hook_secret.hook_id)', 'SELECT (hook_id, since, until), INSERT, UPDATE (until)');
CALL desk_wall('notice', 'EXISTS (SELECT FROM hook h WHERE h.id = notice.hook_id)', 'SELECT, INSERT, UPDATE (next_try, sent_at, ended_at, tries)');

-- Notices are written in the transaction of what they tell of, whoever changes it. A team without a hook for it costs a look
-- at an index.
CREATE FUNCTION listens(event bigint, kind text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM hook h WHERE h.team_id = (SELECT team_id FROM event e WHERE e.id = $1)
                                        AND h.off_at IS NULL AND h.removed_at IS NULL AND $2 = ANY (h.kinds))
$$;

CREATE FUNCTION tell(event bigint, kind text, said jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO notice (hook_id, kind, data)
    SELECT h.id, $2, jsonb_build_object('event', e.slug) || $3
      FROM event e JOIN hook h ON h.team_id = e.team_id
     WHERE e.id = $1 AND h.off_at IS NULL AND h.removed_at IS NULL AND $2 = ANY (h.kinds)
$$;

CREATE FUNCTION tell_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND listens(NEW.event_id, 'order.confirmed') THEN
        PERFORM tell(NEW.event_id, 'order.confirmed', jsonb_build_object('order', NEW.code, 'method', NEW.method, 'currency', NEW.currency,
            'total', NEW.total, 'paid', NEW.paid, 'tickets', (SELECT count(*) FROM ticket WHERE order_id = NEW.id), 'at_office', NEW.at_office));
    END IF;
    IF NEW.paid > (CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD.paid END) AND listens(NEW.event_id, 'order.paid') THEN
        PERFORM tell(NEW.event_id, 'order.paid', jsonb_build_object('order', NEW.code, 'method', NEW.method, 'currency', NEW.currency,
            'total', NEW.total, 'paid', NEW.paid));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a new order is told" AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION tell_order();
CREATE TRIGGER "a paid order is told" AFTER UPDATE OF paid ON orders FOR EACH ROW WHEN (NEW.paid > OLD.paid) EXECUTE FUNCTION tell_order();

CREATE FUNCTION tell_cancellation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF listens(NEW.event_id, 'order.cancelled') THEN
        PERFORM tell(NEW.event_id, 'order.cancelled', (SELECT jsonb_build_object('order', code, 'state', state, 'currency', currency,
            'tickets', to_jsonb(NEW.tickets), 'amount', NEW.amount, 'back', NEW.back) FROM orders WHERE id = NEW.order_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a cancellation is told" AFTER INSERT ON cancellation FOR EACH ROW EXECUTE FUNCTION tell_cancellation();

-- A refund of a payment of which no order came is told by its payment's code.
CREATE FUNCTION tell_refund() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    about record;
BEGIN
    SELECT coalesce(o.event_id, p.event_id) AS event, coalesce(o.code, p.code) AS code, coalesce(o.currency, p.currency) AS currency INTO about
      FROM (SELECT NEW.order_id, NEW.payment_id) r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.id = r.payment_id;
    IF listens(about.event, 'order.refunded') THEN
        PERFORM tell(about.event, 'order.refunded', jsonb_build_object('order', about.code, 'currency', about.currency, 'amount', NEW.amount, 'by_hand', NEW.by_hand));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a refund that is done at once is told" AFTER INSERT ON refund FOR EACH ROW WHEN (NEW.done_at IS NOT NULL) EXECUTE FUNCTION tell_refund();
CREATE TRIGGER "a refund that was done is told" AFTER UPDATE OF done_at ON refund
    FOR EACH ROW WHEN (OLD.done_at IS NULL AND NEW.done_at IS NOT NULL) EXECUTE FUNCTION tell_refund();

CREATE FUNCTION tell_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF listens(NEW.event_id, 'ticket.moved') THEN
        PERFORM tell(NEW.event_id, 'ticket.moved', (SELECT jsonb_build_object('order', code, 'ticket', NEW.id, 'to', NEW.moved_to) FROM orders WHERE id = NEW.order_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a ticket that moved is told" AFTER UPDATE OF moved_to ON ticket FOR EACH ROW WHEN (NEW.moved_to IS NOT NULL) EXECUTE FUNCTION tell_move();

CREATE FUNCTION tell_scan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF listens(NEW.event_id, 'ticket.scanned') THEN
        PERFORM tell(NEW.event_id, 'ticket.scanned', (SELECT jsonb_build_object('order', o.code, 'ticket', t.id, 'place', NEW.place, 'scanned_at', NEW.scanned_at)
            FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.id = NEW.ticket_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "who came is told" AFTER INSERT ON scan FOR EACH ROW WHEN (NEW.admitted) EXECUTE FUNCTION tell_scan();
