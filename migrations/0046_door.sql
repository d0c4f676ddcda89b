-- Gates, leaving and coming back, and links for the door with a name.

ALTER TABLE event
    ADD COLUMN gates jsonb NOT NULL DEFAULT '[]',       -- [{"name": …, "sections": […]}]; without sections a gate is good for all
    ADD COLUMN reentry boolean NOT NULL DEFAULT false;  -- a ticket that went out comes in again

ALTER TABLE door
    ADD COLUMN name text NOT NULL DEFAULT '', -- of the device, in the words of the organizer
    ADD COLUMN gate text NOT NULL DEFAULT '', -- that it stands at; empty: it admits tickets of all gates
    ADD COLUMN seen_at timestamptz,           -- when its page last asked for the tickets; null: never
    ADD CONSTRAINT "names of a door are short" CHECK (length(name) <= 60 AND length(gate) <= 60) NOT VALID;

-- admitted stays what it was: the first entry of the ticket that arrived. Devices let people pass by themselves while they are offline.
ALTER TABLE scan
    ADD COLUMN way text NOT NULL DEFAULT 'in',
    ADD COLUMN said text,                              -- what the server answered; null: in if admitted, else again
    ADD COLUMN offline boolean NOT NULL DEFAULT false, -- the device had answered by itself
    ADD CONSTRAINT "a scan goes in or out" CHECK (way IN ('in', 'out')) NOT VALID;
