-- Buyers name the attendee of each ticket.

ALTER TABLE event
    ADD COLUMN ticket_names text NOT NULL DEFAULT 'none', -- whether the checkout asks who comes with each ticket
    ADD CONSTRAINT "names on tickets are none, optional or required" CHECK (ticket_names IN ('none', 'optional', 'required')) NOT VALID;

ALTER TABLE ticket ADD COLUMN name text NOT NULL DEFAULT ''; -- that the buyer gave for it; empty: theirs, or that of the friend who has it
