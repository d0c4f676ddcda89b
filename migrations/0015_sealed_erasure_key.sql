-- The key of erasures as one column, so that serve can seal it with the key outside of the database.

-- HMAC pads a key with 0x36 (54). An older node cannot erase a person from here on; it does all else.
ALTER TABLE erasure_key ADD COLUMN secret bytea; -- sealed, or the key itself
UPDATE erasure_key SET secret = (SELECT string_agg(set_byte('\x00'::bytea, 0, get_byte(inner_pad, i) # 54), ''::bytea ORDER BY i) FROM generate_series(0, 63) i);
ALTER TABLE erasure_key DROP CONSTRAINT "there is one erasure key", DROP COLUMN inner_pad, DROP COLUMN outer_pad,
    ALTER COLUMN secret SET NOT NULL, ADD CONSTRAINT "there is one erasure key" CHECK (one);
