-- A function that works with its owner's rights looks for tables where they are, and not in what a caller made for itself.
DO $$ BEGIN EXECUTE format('ALTER FUNCTION team_keeps_owner() SET search_path = %I, pg_temp', current_schema()); END $$;

-- Keys of forms are forgotten some time after.
CREATE INDEX desk_key_by_age ON desk_key (created_at);
