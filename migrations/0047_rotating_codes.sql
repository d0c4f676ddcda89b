-- Codes of tickets that change all the time, against pictures of them.

ALTER TABLE event
    ADD COLUMN rotating_codes boolean NOT NULL DEFAULT false; -- the door takes the code of a ticket with the letters of the moment alone, but for those of the box office
