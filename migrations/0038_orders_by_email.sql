-- People find their orders again by their email.
CREATE INDEX orders_by_email ON orders (lower(email)) WHERE email <> '';
