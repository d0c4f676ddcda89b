-- What programs read as changes, and what the search of the desk reads by.

-- Events and customers that changed since their change was numbered, as order_touch has orders. Written by seats/changes: triggers add a line in
-- the transaction of the change. It has no key, so no change waits for another one.
CREATE TABLE team_touch (
    team_id bigint NOT NULL,
    list    text NOT NULL CONSTRAINT "a touch is of a list" CHECK (list IN ('events', 'customers')),
    subject text NOT NULL -- the id of an event; of an order of a customer, or of an imported one
);

CREATE INDEX team_touch_by_team ON team_touch (team_id);

-- The last change of each event and customer that changed. Written by seats/changes. Numbers are given to changes that are committed, by one
-- transaction of a team at a time. So nothing comes later below a number that was read.
CREATE TABLE team_change (
    team_id bigint NOT NULL,
    list    text NOT NULL CONSTRAINT "a change is of a list" CHECK (list IN ('events', 'customers')),
    subject text NOT NULL,        -- the id of an event; the id of the record of a customer
    number  bigint NOT NULL,      -- of the team, from 1
    at      timestamptz NOT NULL, -- when it got the number: not before the change was committed
    PRIMARY KEY (team_id, list, subject)
);

CREATE UNIQUE INDEX "a change of a team has a number of its own" ON team_change (team_id, number);
CREATE INDEX team_change_by_list ON team_change (team_id, list, number);

CALL desk_wall('team_touch', 'team_id = desk_team()', 'SELECT, INSERT, DELETE');
CALL desk_wall('team_change', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');

-- customer_of is the id of the record of an address in a team: its first order, or the imported customer; null if there is none.
CREATE FUNCTION customer_of(team bigint, address text) RETURNS uuid LANGUAGE sql STABLE AS $$
SELECT coalesce((SELECT f.id FROM unnest(customer_emails($1, lower($2))) a(email) CROSS JOIN LATERAL (
                     SELECT n.id, n.created_at FROM orders n
                      WHERE lower(n.email) = a.email AND n.email <> '' AND (SELECT team_id FROM event WHERE id = n.event_id AND test_of IS NULL) = $1 ORDER BY n.created_at, n.id LIMIT 1) f
                  ORDER BY f.created_at, f.id LIMIT 1),
                (SELECT c.id FROM unnest(customer_emails($1, lower($2))) a(email) JOIN customer c ON c.team_id = $1 AND c.email = a.email ORDER BY c.imported_at DESC, c.id DESC LIMIT 1))
$$;

-- changed_subject is what a note is numbered as: the record that the order or the imported customer belongs to by then; null if there is none.
CREATE FUNCTION changed_subject(team bigint, list text, subject text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    address text;
BEGIN
    IF $2 = 'events' THEN
        RETURN $3;
    END IF;
    SELECT email INTO address FROM orders WHERE id = $3::uuid AND email <> '';
    IF NOT FOUND THEN
        SELECT email INTO address FROM customer WHERE id = $3::uuid;
    END IF;
    RETURN CASE WHEN address IS NOT NULL THEN customer_of($1, address)::text END;
END $$;

CREATE FUNCTION touch_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'event' THEN
        INSERT INTO team_touch VALUES (NEW.team_id, 'events', NEW.id);
    ELSIF TG_TABLE_NAME = 'orders' THEN
        INSERT INTO team_touch SELECT team_id, 'customers', NEW.id FROM event WHERE id = NEW.event_id AND test_of IS NULL AND NEW.email <> '';
        IF TG_OP = 'UPDATE' AND OLD.email <> '' AND lower(OLD.email) <> lower(NEW.email) THEN
            INSERT INTO team_touch SELECT team_id, 'customers', customer_of(team_id, OLD.email) FROM event
             WHERE id = NEW.event_id AND test_of IS NULL AND customer_of(team_id, OLD.email) IS NOT NULL;
        END IF;
    ELSIF TG_OP <> 'DELETE' THEN
        INSERT INTO team_touch SELECT NEW.team_id, 'customers', o FROM customer_of(NEW.team_id, NEW.email) o WHERE o IS NOT NULL;
    ELSE
        INSERT INTO team_touch SELECT OLD.team_id, 'customers', o FROM customer_of(OLD.team_id, OLD.email) o WHERE o IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER "a new event has changed" AFTER INSERT ON event FOR EACH ROW WHEN (NEW.test_of IS NULL) EXECUTE FUNCTION touch_team();
CREATE TRIGGER "an event has changed" AFTER UPDATE ON event FOR EACH ROW WHEN (NEW.test_of IS NULL AND OLD IS DISTINCT FROM NEW) EXECUTE FUNCTION touch_team();
CREATE TRIGGER "a customer has a new order" AFTER INSERT ON orders FOR EACH ROW WHEN (NEW.email <> '') EXECUTE FUNCTION touch_team();
CREATE TRIGGER "a customer has an order that changed" AFTER UPDATE OF name, email ON orders FOR EACH ROW
    WHEN ((OLD.name, OLD.email) IS DISTINCT FROM (NEW.name, NEW.email)) EXECUTE FUNCTION touch_team();
CREATE TRIGGER "a customer of a list has changed" AFTER INSERT OR UPDATE OR DELETE ON customer FOR EACH ROW EXECUTE FUNCTION touch_team();
CREATE TRIGGER "a customer has other addresses" AFTER INSERT OR UPDATE OR DELETE ON customer_address FOR EACH ROW EXECUTE FUNCTION touch_team();
CREATE TRIGGER "a customer has another note" AFTER INSERT OR UPDATE OR DELETE ON customer_note FOR EACH ROW EXECUTE FUNCTION touch_team();

-- Those from before count as changed now.
INSERT INTO team_change (team_id, list, subject, number, at)
SELECT team_id, list, subject, row_number() OVER (PARTITION BY team_id ORDER BY list DESC, subject), clock_timestamp()
  FROM (SELECT team_id, 'events' AS list, id::text AS subject FROM event WHERE test_of IS NULL
         UNION ALL
        SELECT team_id, 'customers', id::text FROM (
            SELECT DISTINCT ON (e.team_id, lower(o.email)) e.team_id, o.id FROM orders o JOIN event e ON e.id = o.event_id
             WHERE o.email <> '' AND e.test_of IS NULL ORDER BY e.team_id, lower(o.email), o.created_at, o.id) first
         UNION ALL
        SELECT team_id, 'customers', id::text FROM customer) each;

-- word_vector are the words of a text as fold writes them; word_query wants all words of a text to begin such a word, null if it has none.
CREATE FUNCTION word_vector(words text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN array_to_tsvector(array_remove(regexp_split_to_array(fold(words), '\s+'), ''));
CREATE FUNCTION word_query(words text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT string_agg('''' || replace(replace(w, '\', '\\'), '''', '''''') || ''':*', ' & ')::tsquery FROM unnest(array_remove(regexp_split_to_array(fold(words), '\s+'), '')) w);

-- Guests and groups by the beginnings of words, imported customers by their last name, too.
CREATE INDEX guest_by_word ON guest USING gin (word_vector(name || ' ' || email));
CREATE INDEX booking_by_word ON booking USING gin (word_vector(name || ' ' || organisation || ' ' || email));
CREATE INDEX customer_by_last_name ON customer (team_id, substring(found_by from '(\S+)\s*\n') text_pattern_ops);
