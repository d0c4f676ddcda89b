-- In which language organizers write what attendees read of an event: reasons, questions, notes, names of prices (BCP 47).
ALTER TABLE event
    ADD COLUMN language text NOT NULL DEFAULT 'en',
    ADD CONSTRAINT "a language has a tag" CHECK (language ~ '^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$');
