-- Rules an event may ask for.

ALTER TABLE event
    ADD COLUMN strict        boolean NOT NULL DEFAULT false,  -- time running out takes the seats away at once
    ADD COLUMN no_lone_seats boolean NOT NULL DEFAULT false;  -- no claim may leave a single free seat between others, if it can do without
