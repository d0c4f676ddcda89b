-- Which rows a team may see is asked of an index for each row. Policies that read event_id IN (SELECT id FROM event) had each statement read all
-- events of the team once for each of its tables: 6 ms at 10,000 events. The catalogue changes, and no row is read.
DO $$ DECLARE p record; BEGIN
    FOR p IN SELECT tablename, policyname, qual ~ 'orders' AS orders FROM pg_policies
              WHERE schemaname = current_schema() AND regexp_replace(qual, '\s+', ' ', 'g') IN
                    ('(event_id IN ( SELECT event.id FROM event))', '(order_id IN ( SELECT orders.id FROM orders))') ORDER BY tablename LOOP
        EXECUTE format('ALTER POLICY %I ON %I USING (EXISTS (SELECT FROM %s))', p.policyname, p.tablename,
                       CASE WHEN p.orders THEN 'orders o WHERE o.id = order_id' ELSE 'event e WHERE e.id = event_id' END);
    END LOOP;
END $$;
