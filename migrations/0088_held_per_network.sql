-- Seats that visitors of one network may hold at once, whatever work they do; null: the default.
ALTER TABLE event_limit ADD COLUMN held_per_network integer CONSTRAINT "what a network may hold is positive" CHECK (held_per_network > 0);
