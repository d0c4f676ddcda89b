-- An exchange is told as one thing, beside the cancellation and the order that it consists of.
CREATE FUNCTION tell_exchange() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    event bigint := (SELECT event_id FROM orders WHERE id = NEW.from_order);
BEGIN
    IF listens(event, 'order.exchanged') THEN
        PERFORM tell(event, 'order.exchanged', (SELECT jsonb_build_object('order', f.code, 'tickets', to_jsonb(c.tickets), 'to_event', e.slug, 'to_order', t.code,
            'currency', f.currency, 'amount', NEW.amount)
            FROM orders f, orders t JOIN event e ON e.id = t.event_id, cancellation c WHERE f.id = NEW.from_order AND t.id = NEW.to_order AND c.id = NEW.cancellation_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "an exchange is told" AFTER INSERT ON exchange FOR EACH ROW EXECUTE FUNCTION tell_exchange();
