-- Mails to organizers are written in the language in which they read the desk.
ALTER TABLE organizer ADD COLUMN language text NOT NULL DEFAULT '' CONSTRAINT "a language is a short tag" CHECK (length(language) <= 20);
COMMENT ON COLUMN organizer.language IS 'in which they read the desk last, as BCP 47 writes it; empty: not known';
