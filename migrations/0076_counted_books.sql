-- What the books count of each order: sums by day at the event's place, category, ticket type, channel, payment method and tax rate.
-- Written by seats/books. Rows are of the postings of an order when it was counted, and are replaced when it is counted anew.
CREATE TABLE book_order (
    order_id  uuid NOT NULL,    -- or of a payment without an order
    event_id  bigint NOT NULL,
    team_id   bigint,           -- whose sums (book_day) have it; null: it is of a test sale
    day       date NOT NULL,    -- at the event's place
    rate      integer NOT NULL, -- of the tax, in thousandths of a percent
    n         smallint NOT NULL,
    category  smallint NOT NULL,
    type      smallint NOT NULL,
    postings  integer NOT NULL, -- how many it sums
    tickets   integer NOT NULL,
    gross     bigint NOT NULL,  -- minor units, as all amounts
    exchanged bigint NOT NULL,
    refunds   bigint NOT NULL,
    fees      bigint NOT NULL,
    tax       bigint NOT NULL,
    currency  text NOT NULL,
    line      text NOT NULL,    -- what it is for, if not for tickets and their fees
    channel   text NOT NULL,
    method    text NOT NULL,
    reason    text NOT NULL,    -- why the tickets of the order are free; empty: they are not, or none is noted
    PRIMARY KEY (order_id, n)
);
CREATE INDEX book_order_by_team ON book_order (team_id, day) WHERE team_id IS NOT NULL;
CREATE INDEX book_order_by_event ON book_order (event_id, day);

-- The sums of book_order for each day of a team. Written by seats/books, in the transaction that writes those.
CREATE TABLE book_day (
    team_id   bigint NOT NULL,
    day       date NOT NULL,
    currency  text NOT NULL,
    channel   text NOT NULL,
    method    text NOT NULL,
    rate      integer NOT NULL,
    postings  bigint NOT NULL, -- 0: orders that were counted here are counted elsewhere now
    tickets   bigint NOT NULL,
    gross     bigint NOT NULL,
    exchanged bigint NOT NULL,
    refunds   bigint NOT NULL,
    fees      bigint NOT NULL,
    tax       bigint NOT NULL,
    PRIMARY KEY (team_id, day, currency, channel, method, rate)
);

-- Orders, and payments without one, that changed since they were counted. Written by seats/books: triggers add a line in the transaction of the
-- change, without a key and without a lock. Reports add up what has a line here by themselves.
CREATE TABLE book_touch (
    order_id uuid NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

CALL desk_wall('book_order', 'event_id IN (SELECT id FROM event)');
CALL desk_wall('book_day', 'team_id = desk_team()');
CALL desk_wall('book_touch', 'order_id IN (SELECT id FROM orders)');

-- touch_books notes of which orders the postings may change. What is said of a payment is so of all of its orders: they share its money, and the
-- refunds of one say what is left for the others.
CREATE FUNCTION touch_books() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    paid uuid;
BEGIN
    CASE TG_TABLE_NAME
    WHEN 'orders' THEN
        INSERT INTO book_touch VALUES (coalesce(NEW.id, OLD.id));
    WHEN 'exchange' THEN
        INSERT INTO book_touch VALUES (coalesce(NEW.from_order, OLD.from_order)), (coalesce(NEW.to_order, OLD.to_order));
    WHEN 'cancellation' THEN
        INSERT INTO book_touch (order_id) SELECT coalesce(NEW.order_id, OLD.order_id) UNION ALL SELECT to_order FROM exchange WHERE cancellation_id = coalesce(NEW.id, OLD.id);
    WHEN 'payment', 'credit_hold' THEN
        paid := coalesce(NEW.id, OLD.id);
    WHEN 'intention' THEN
        paid := coalesce(NEW.payment_id, OLD.payment_id);
    WHEN 'payment_share' THEN
        paid := coalesce(NEW.payment_id, OLD.payment_id);
        INSERT INTO book_touch VALUES (coalesce(NEW.order_id, OLD.order_id));
    WHEN 'refund' THEN
        paid := coalesce(NEW.payment_id, OLD.payment_id);
        INSERT INTO book_touch VALUES (coalesce(NEW.order_id, OLD.order_id));
    ELSE
        INSERT INTO book_touch VALUES (coalesce(NEW.order_id, OLD.order_id));
    END CASE;
    IF paid IS NOT NULL THEN
        INSERT INTO book_touch (order_id)
        SELECT order_id FROM payment WHERE id = paid UNION SELECT order_id FROM payment_share WHERE payment_id = paid UNION SELECT order_id FROM refund WHERE payment_id = paid;
    END IF;
    RETURN NULL;
END $$;

-- Tickets come many in a statement.
CREATE FUNCTION touch_books_of_tickets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO book_touch (order_id) SELECT DISTINCT order_id FROM fresh;
    RETURN NULL;
END $$;

-- What is said of an event is so of all its orders. The desk may change it, and not write here.
CREATE FUNCTION touch_books_of_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO book_touch (order_id)
    SELECT id FROM orders WHERE event_id = NEW.id UNION ALL
    SELECT order_id FROM payment p WHERE event_id = NEW.id AND captured > 0 AND NOT EXISTS (SELECT FROM orders o WHERE o.id = p.order_id);
    RETURN NULL;
END $$;
DO $$ BEGIN EXECUTE format('ALTER FUNCTION touch_books_of_event() SET search_path = %I, pg_temp', current_schema()); END $$;

CREATE FUNCTION touch_books_of_seat() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO book_touch (order_id) SELECT order_id FROM ticket WHERE event_id = NEW.event_id AND idx = NEW.idx;
    RETURN NULL;
END $$;

-- Nothing is counted yet. It takes a while to note that of many orders, so it is done before sales wait for the triggers, and for new ones again.
INSERT INTO book_touch (order_id, at) SELECT id, '-infinity' FROM orders ORDER BY created_at;
INSERT INTO book_touch (order_id, at) SELECT order_id, '-infinity' FROM payment p WHERE captured > 0 AND NOT EXISTS (SELECT FROM orders o WHERE o.id = p.order_id);

CREATE TRIGGER "the books have an event otherwise" AFTER UPDATE ON event FOR EACH ROW
    WHEN ((OLD.time_zone, OLD.currency, OLD.team_id, OLD.test_of) IS DISTINCT FROM (NEW.time_zone, NEW.currency, NEW.team_id, NEW.test_of)) EXECUTE FUNCTION touch_books_of_event();
CREATE TRIGGER "the books have a seat otherwise" AFTER UPDATE ON seat FOR EACH ROW WHEN (OLD.category <> NEW.category) EXECUTE FUNCTION touch_books_of_seat();
CREATE TRIGGER "the books have a new order" AFTER INSERT OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have an order otherwise" AFTER UPDATE ON orders FOR EACH ROW
    WHEN ((OLD.event_id, OLD.created_at, OLD.at_office, OLD.method, OLD.extras, OLD.received, OLD.sold_by, OLD.free_reason) IS DISTINCT FROM (NEW.event_id, NEW.created_at, NEW.at_office, NEW.method, NEW.extras, NEW.received, NEW.sold_by, NEW.free_reason))
    EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have new tickets" AFTER INSERT ON ticket REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION touch_books_of_tickets();
CREATE TRIGGER "the books have a ticket otherwise" AFTER UPDATE ON ticket FOR EACH ROW
    WHEN ((OLD.revoked_at, OLD.moved_to, OLD.idx, OLD.type, OLD.price, OLD.fee, OLD.tax, OLD.fee_tax, OLD.tax_rate, OLD.fee_rate) IS DISTINCT FROM
          (NEW.revoked_at, NEW.moved_to, NEW.idx, NEW.type, NEW.price, NEW.fee, NEW.tax, NEW.fee_tax, NEW.tax_rate, NEW.fee_rate))
    EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a ticket no more" AFTER DELETE ON ticket FOR EACH ROW EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a cancellation" AFTER INSERT OR UPDATE OR DELETE ON cancellation FOR EACH ROW EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a receipt" AFTER INSERT OR UPDATE OR DELETE ON receipt FOR EACH ROW EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have an exchange" AFTER INSERT OR UPDATE OR DELETE ON exchange FOR EACH ROW EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have an order of a subscription" AFTER INSERT OR DELETE ON subscriber_order FOR EACH ROW EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a share of a payment" AFTER INSERT OR UPDATE OR DELETE ON payment_share FOR EACH ROW EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a new payment" AFTER INSERT ON payment FOR EACH ROW WHEN (NEW.captured > 0) EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a payment otherwise" AFTER UPDATE ON payment FOR EACH ROW
    WHEN ((OLD.captured, OLD.method, OLD.event_id) IS DISTINCT FROM (NEW.captured, NEW.method, NEW.event_id) OR OLD.state <> NEW.state AND NEW.captured > 0)
    EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a refund" AFTER INSERT OR DELETE ON refund FOR EACH ROW EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a refund otherwise" AFTER UPDATE ON refund FOR EACH ROW
    WHEN ((OLD.amount, OLD.by_hand, OLD.by_credit, OLD.created_at, OLD.cancellation_id) IS DISTINCT FROM (NEW.amount, NEW.by_hand, NEW.by_credit, NEW.created_at, NEW.cancellation_id))
    EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have credit that was captured" AFTER INSERT ON credit_hold FOR EACH ROW WHEN (NEW.captured > 0) EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have credit otherwise" AFTER UPDATE ON credit_hold FOR EACH ROW WHEN (OLD.captured <> NEW.captured) EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have a moment of a payment" AFTER INSERT ON intention FOR EACH ROW
    WHEN (NEW.done_at IS NOT NULL AND NEW.step IN ('authorize', 'capture')) EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have another moment of a payment" AFTER UPDATE ON intention FOR EACH ROW
    WHEN (NEW.step IN ('authorize', 'capture') AND OLD.done_at IS DISTINCT FROM NEW.done_at) EXECUTE FUNCTION touch_books();
CREATE TRIGGER "the books have no moment of a payment" AFTER DELETE ON intention FOR EACH ROW WHEN (OLD.step IN ('authorize', 'capture')) EXECUTE FUNCTION touch_books();

INSERT INTO book_touch (order_id, at) SELECT id, '-infinity' FROM orders WHERE created_at > now() - interval '1 day';
INSERT INTO book_touch (order_id, at) SELECT order_id, '-infinity' FROM payment p WHERE created_at > now() - interval '1 day' AND captured > 0;
