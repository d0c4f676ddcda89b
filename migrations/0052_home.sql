-- What the home of the desk, its search over all events of a team, and the list of customers read by.

-- The beginning of an email, also where the collation is not C, and the first and the latest order of an email. It finds whole ones
-- as before.
DROP INDEX orders_by_email;
CREATE INDEX orders_by_email ON orders (lower(email) text_pattern_ops, created_at, id) WHERE email <> '';

-- found_by is the folded name, a line feed, and the email. The beginning of the name, and that of its last word.
CREATE INDEX orders_by_name ON orders (found_by text_pattern_ops);
CREATE INDEX orders_by_last_name ON orders (substring(found_by from '(\S+)\s*\n') text_pattern_ops);

-- Of one day and of seven, over all events, and the latest customers.
CREATE INDEX orders_by_time ON orders (created_at, id);

-- Names on tickets. Most have none.
CREATE INDEX ticket_by_name ON ticket (fold(name) text_pattern_ops) WHERE name <> '';
CREATE INDEX ticket_by_last_name ON ticket (substring(fold(name) from '(\S+)\s*$') text_pattern_ops) WHERE name <> '';

-- Friends who have tickets.
DROP INDEX ticket_transfer_by_email;
CREATE INDEX ticket_transfer_by_email ON ticket_transfer (lower(email) text_pattern_ops) WHERE email <> '';
CREATE INDEX ticket_transfer_by_name ON ticket_transfer (fold(name) text_pattern_ops) WHERE name <> '';
CREATE INDEX ticket_transfer_by_last_name ON ticket_transfer (substring(fold(name) from '(\S+)\s*$') text_pattern_ops) WHERE name <> '';

-- Mail that came back.
CREATE INDEX mail_refused ON mail (refused_at) WHERE refused_at IS NOT NULL;

-- The desk lists the events of a team by their time, drafts too.
CREATE INDEX event_of_team_by_start ON event (team_id, starts_at, id);
DROP INDEX event_by_team; -- it is its beginning

-- Performances of a series, drafts too.
CREATE INDEX event_of_series ON event (series_id, starts_at, id) WHERE series_id IS NOT NULL;
