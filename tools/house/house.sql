-- A house of 10,000 events and 1,000,000 orders, for measuring the pages of the desk (docs/testing.md). It copies the event
-- "template", of the plan club, in a database that serves nobody:
--
--   psql "$DATABASE_URL" -v events=10000 -v orders=1000000 -f tools/house/house.sql
--
-- Half of the events are past. Forty performances at a time are a series, for a fifth of the events. Each order has two tickets.
-- Nothing is random: the same numbers make the same house, but for the time of day. Foreign keys and triggers rest meanwhile,
-- so it needs a superuser.
\set ON_ERROR_STOP on
SET session_replication_role = replica;
SET synchronous_commit = off;
SET max_parallel_workers_per_gather = 0;

-- some is a number from 0 to 1 that depends on its arguments only.
CREATE FUNCTION pg_temp.some(n bigint, what text) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$SELECT (hashtextextended(what, n) & 16777215) / 16777216.0::float8$$;

CREATE TEMP TABLE source AS SELECT id, name FROM event WHERE slug = 'template';

-- copied gives the new events the rows of a table that the template has.
CREATE FUNCTION pg_temp.columns(name regclass, but text[]) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
   WHERE attrelid = name AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND NOT attname = ANY (but)$$;

CREATE TEMP TABLE made AS
SELECT n, 'house-' || n AS slug,
       (ARRAY['Hamlet','The Tempest','Night Trains','Goldberg Variations','The Seagull','Blue Hour','Winter Songs','The Magic Flute','Three Sisters','Open Stage'])[1 + (n / 40) % 10] || ' ' || CASE WHEN (n / 40) % 5 = 0 THEN n / 40 ELSE n END AS name,
       date_trunc('hour', now()) + (n - :events / 2) * interval '1 hour' * (24.0 * 730 / :events) AS starts_at,
       CASE WHEN (n / 40) % 5 = 0 THEN n / 40 + 1 END AS series,
       20 + (160 * pg_temp.some(n, 'orders'))::integer AS weight,
       CASE WHEN n % 100 = 7 AND n > :events / 2 THEN 'draft' ELSE 'on sale' END AS status
  FROM generate_series(0, :events - 1) n;

SELECT format('INSERT INTO event (slug, name, starts_at, status, %1$s) SELECT m.slug, m.name, m.starts_at, m.status, %2$s FROM made m, event t WHERE t.slug = ''template'' ORDER BY m.n',
              pg_temp.columns('event', '{id,slug,name,starts_at,status,series_id}'), replace('t.' || pg_temp.columns('event', '{id,slug,name,starts_at,status,series_id}'), ', ', ', t.')) \gexec
CREATE TEMP TABLE house AS SELECT e.id, m.* FROM made m JOIN event e USING (slug);
CREATE INDEX ON house (id);
ANALYZE house;

SELECT format('INSERT INTO %1$s (event_id, %2$s) SELECT h.event_of_house, %2$s FROM (SELECT id AS event_of_house FROM house) h, (SELECT * FROM %1$s WHERE event_id = (SELECT id FROM source)) t', name, pg_temp.columns(name::regclass, '{event_id,id}'))
  FROM unnest('{section,category,seat,seat_state,counter,ticket_type,price,terms}'::text[]) name \gexec

INSERT INTO series (team_id, slug, lead_id) SELECT e.team_id, 'house-' || h.series, min(h.id) FROM house h JOIN event e USING (id) WHERE h.series IS NOT NULL GROUP BY e.team_id, h.series;
UPDATE event e SET series_id = s.id FROM house h JOIN series s ON s.slug = 'house-' || h.series WHERE e.id = h.id;
INSERT INTO performance (event_id, texts, prices, settings) SELECT id, '', '', '' FROM house WHERE series IS NOT NULL;

-- Orders of an event lie within 60 days before its beginning, or, if it is to come, within the year before now.
CREATE TEMP TABLE sold AS
WITH w AS (SELECT sum(weight) AS of_all FROM house)
SELECT h.id AS event, h.n * 1000::bigint + k AS key, k,
       CASE WHEN h.starts_at < now() THEN h.starts_at - interval '60 days' * pg_temp.some(h.n * 1000::bigint + k, 'at')
            ELSE now() - interval '120 days' * pg_temp.some(h.n * 1000::bigint + k, 'at') ^ 2 END AS at
  FROM house h, w, generate_series(0, least(180, round(h.weight * :orders::float8 / w.of_all)::integer) - 1) k;

CREATE TEMP TABLE called AS
SELECT array_agg(a || b ORDER BY a, b) AS last FROM unnest('{Berg,Stein,Hof,Lind,Wald,Ror,Ham,Sand,Nor,Kal,Ost,Mar,Fel,Gold,Silber,Brun,Win,Som,Ster,Kirch}'::text[]) a, unnest('{er,mann,gren,strøm,lin,bach,sen,ova,i,ard,eck,hold,wig,son,ler,ini,etti,escu,ski,feld}'::text[]) b;

INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total, paid, created_at)
SELECT md5('order' || s.key)::uuid, s.event, upper(translate(md5('code' || s.key), '0189', 'wxyz')), md5('holder' || s.key)::uuid, md5('hold' || s.key)::uuid, '',
       p.first || ' ' || p.last, lower(p.first || '.' || p.last || s.key % 5000 || '@example.org'), 'card', 'EUR', 5600, 5600, s.at
  FROM sold s, called c, LATERAL (
       SELECT (ARRAY['Anna','Ben','Claire','David','Elena','Felix','Grace','Hugo','Ines','Jonas','Klara','Leo','Maria','Nils','Olga','Paul','Rosa','Stefan','Tilda','Zoë'])[1 + (20 * pg_temp.some(s.key, 'first'))::integer % 20] AS first,
              c.last[1 + (400 * pg_temp.some(s.key, 'last'))::integer % 400] AS last) p
 ORDER BY s.at;

INSERT INTO ticket (id, event_id, order_id, idx, price)
SELECT md5('ticket' || s.key || '-' || i)::uuid, s.event, md5('order' || s.key)::uuid, 2 * s.k + i, 2800 FROM sold s, generate_series(0, 1) i ORDER BY s.at;

INSERT INTO book_touch (order_id) SELECT md5('order' || s.key)::uuid FROM sold s ORDER BY s.at; -- counted by "usher serve" in the first minutes

UPDATE seat_state t SET state = 4, holder = md5('order' || s.key)::uuid, expires_at = 'infinity', price = 2800
  FROM sold s, generate_series(0, 1) i WHERE t.event_id = s.event AND t.idx = 2 * s.k + i;

UPDATE counter c SET free = n.free, sold = n.sold, claims_from = '-infinity', sells = true
  FROM (SELECT h.id, array_agg(p.free ORDER BY p.category) AS free, array_agg(p.sold ORDER BY p.category) AS sold
          FROM house h, LATERAL (SELECT d.category, count(*) FILTER (WHERE s.state = 0)::integer AS free, count(*) FILTER (WHERE s.state = 4)::integer AS sold
                                   FROM seat d JOIN seat_state s USING (event_id, idx) WHERE d.event_id = h.id GROUP BY d.category) p GROUP BY h.id) n
 WHERE c.event_id = n.id;

SET session_replication_role = origin;
VACUUM ANALYZE;
SELECT (SELECT count(*) FROM event) AS events, (SELECT count(*) FROM orders) AS orders, (SELECT count(*) FROM ticket) AS tickets, pg_size_pretty(pg_database_size(current_database())) AS size;
