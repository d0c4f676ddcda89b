-- Legal texts of a team, and the consent of buyers to its terms.

-- A saved version of a legal text of a team. Written by seats/pages, and never changed.
-- Attendees see the newest published version. An empty text takes the one before it off the site.
CREATE TABLE legal_text (
    team_id   bigint NOT NULL REFERENCES team,
    kind      text NOT NULL,
    version   integer NOT NULL,          -- 1, 2, 3 … of this text of the team, drafts included
    text      text NOT NULL,             -- Markdown
    published boolean NOT NULL,          -- false: a draft
    saved_by  text NOT NULL,             -- the organizer's name then
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team_id, kind, version),
    CONSTRAINT "a legal text is one of four" CHECK (kind IN ('imprint', 'terms', 'privacy', 'accessibility')),
    CONSTRAINT "versions of a legal text are numbered from 1" CHECK (version >= 1),
    CONSTRAINT "a legal text is not a book" CHECK (length(text) <= 100000)
);

CREATE FUNCTION legal_text_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a saved legal text is never changed and never taken away'; END $$;
CREATE TRIGGER "what was published stands" BEFORE UPDATE OR DELETE OR TRUNCATE ON legal_text
    FOR EACH STATEMENT EXECUTE FUNCTION legal_text_stands();

-- The consent of a buyer to the terms of the team that sells. Written by seats/orders with the order, and never changed.
-- An order of a team without terms has none, and neither has one of the box office.
CREATE TABLE consent (
    order_id uuid PRIMARY KEY REFERENCES orders,
    team_id  bigint NOT NULL,
    kind     text NOT NULL DEFAULT 'terms',
    version  integer NOT NULL,
    at       timestamptz NOT NULL,       -- when the buyer sent the form; the order may be younger
    CONSTRAINT "a consent is to a saved text" FOREIGN KEY (team_id, kind, version) REFERENCES legal_text (team_id, kind, version),
    CONSTRAINT "a consent is to terms" CHECK (kind = 'terms')
);

CALL desk_wall('legal_text', 'team_id = desk_team()', 'SELECT, INSERT');
CALL desk_wall('consent', 'team_id = desk_team()');
