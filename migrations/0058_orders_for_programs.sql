-- Orders that changed since their change was numbered. Written by seats/orders: triggers add a line in the transaction of the change. It has no
-- key, so no change waits for another one.
CREATE TABLE order_touch (
    event_id bigint NOT NULL,
    order_id uuid NOT NULL
);

CREATE INDEX order_touch_by_event ON order_touch (event_id);

-- The last change of each order that changed. Written by seats/orders. Numbers are given to changes that are committed, by one transaction of
-- an event at a time. So nothing comes later below a number that was read.
CREATE TABLE order_change (
    order_id uuid PRIMARY KEY REFERENCES orders,
    event_id bigint NOT NULL,
    number   bigint NOT NULL,     -- of the event, from 1
    at       timestamptz NOT NULL -- when it got the number: not before the change was committed
);

CREATE UNIQUE INDEX "a change of an order has a number of its own" ON order_change (event_id, number);

CALL desk_wall('order_touch', 'event_id IN (SELECT id FROM event)');
CALL desk_wall('order_change', 'event_id IN (SELECT id FROM event)');

CREATE FUNCTION touch_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'orders' THEN
        INSERT INTO order_touch VALUES (NEW.event_id, NEW.id);
    ELSIF TG_TABLE_NAME = 'refund' THEN
        INSERT INTO order_touch SELECT event_id, id FROM orders WHERE id = NEW.order_id; -- it may never have been placed
    ELSIF TG_TABLE_NAME = 'scan' THEN
        INSERT INTO order_touch SELECT event_id, order_id FROM ticket WHERE id = NEW.ticket_id;
    ELSE
        INSERT INTO order_touch VALUES (NEW.event_id, NEW.order_id);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER "a new order has changed" AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION touch_order();
CREATE TRIGGER "an order has changed" AFTER UPDATE ON orders FOR EACH ROW WHEN (OLD IS DISTINCT FROM NEW) EXECUTE FUNCTION touch_order();
CREATE TRIGGER "an order has a ticket that changed" AFTER UPDATE OF revoked_at, moved_to, name, resale_id, type ON ticket FOR EACH ROW
    WHEN ((OLD.revoked_at, OLD.moved_to, OLD.name, OLD.resale_id, OLD.type) IS DISTINCT FROM (NEW.revoked_at, NEW.moved_to, NEW.name, NEW.resale_id, NEW.type))
    EXECUTE FUNCTION touch_order();
CREATE TRIGGER "an order has a ticket that is sent" AFTER INSERT OR UPDATE OF withdrawn_at, accepted_at, name, email ON ticket_transfer FOR EACH ROW EXECUTE FUNCTION touch_order();
CREATE TRIGGER "an order has a ticket that was used" AFTER INSERT ON scan FOR EACH ROW WHEN (NEW.admitted) EXECUTE FUNCTION touch_order();
CREATE TRIGGER "an order has a refund" AFTER INSERT OR UPDATE OF done_at, failed ON refund FOR EACH ROW EXECUTE FUNCTION touch_order();

-- Orders from before count as changed now, the first one first.
INSERT INTO order_change (order_id, event_id, number, at)
SELECT id, event_id, row_number() OVER (PARTITION BY event_id ORDER BY created_at, id), clock_timestamp() FROM orders;

-- The name of the key with which a program ordered for a customer, as it was then; empty: no program did.
ALTER TABLE orders ADD COLUMN sold_by text NOT NULL DEFAULT '' CONSTRAINT "a key that sold has a short name" CHECK (length(sold_by) <= 100);
