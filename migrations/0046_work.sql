-- Work that a browser does before it joins a waiting room, where that is asked for (seats/gate/work.go). What was worked for
-- is one person: it gives one place, to whoever shows it.
ALTER TABLE room
    ADD COLUMN work integer NOT NULL DEFAULT 0,     -- rounds in each try of a browser; 0: none is asked for
    ADD CONSTRAINT "work has between nothing and 100000 rounds" CHECK (work BETWEEN 0 AND 100000);

ALTER TABLE entrant
    ADD COLUMN came_by text NOT NULL DEFAULT 'address',
    ADD CONSTRAINT "a person came by address, work or patience" CHECK (came_by IN ('address', 'work', 'patience'));
