-- Customers of a team: the latest ones, and those with a name or an email that begins with what a member types.
-- This index of emails finds an address, the beginning of one, and the first and the latest order of an address.
DROP INDEX orders_by_email;
CREATE INDEX orders_by_email ON orders (lower(email) text_pattern_ops, created_at, id) WHERE email <> '';

-- found_by begins with the name.
CREATE INDEX IF NOT EXISTS orders_by_name ON orders (found_by text_pattern_ops);

DROP INDEX IF EXISTS orders_by_time;
CREATE INDEX orders_by_time ON orders (created_at, id);
