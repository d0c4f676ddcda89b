-- Several houses may share one database, each in a schema of its own (docs/houses.md). Channels and advisory locks are of the whole
-- database, so each house has its own names and numbers for them. Those of schema public are what they were.
CREATE FUNCTION house_channel(name text) RETURNS text LANGUAGE sql STABLE AS
    $$SELECT CASE current_schema() WHEN 'public' THEN name ELSE name || '@' || current_schema() END$$;

CREATE FUNCTION house_seed() RETURNS bigint LANGUAGE sql STABLE AS
    $$SELECT CASE current_schema() WHEN 'public' THEN 0 ELSE hashtextextended(current_schema(), 0) END$$;
