-- What the controller of a room remembers, and what everybody who waits is told of how long it takes: written by the node
-- that calls numbers, so that every node says the same.
ALTER TABLE room
    ADD COLUMN pace    jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN outlook jsonb NOT NULL DEFAULT '{}';
