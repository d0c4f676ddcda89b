-- What mails of a team say in its own words, in one language. Written by seats/letters. Without a row they say the standard.
CREATE TABLE mail_text (
    team_id  bigint NOT NULL REFERENCES team,
    kind     text NOT NULL,
    language text NOT NULL,  -- a tag of BCP 47
    subject  text NOT NULL,  -- empty, as the next two: the standard one
    opening  text NOT NULL,  -- paragraphs before the facts
    closing  text NOT NULL,  -- paragraphs after them
    PRIMARY KEY (team_id, kind, language),
    CONSTRAINT "words are of a mail that may have some" CHECK (kind IN ('confirmation', 'upcoming', 'thanks', 'offer')),
    CONSTRAINT "a subject is one short line" CHECK (length(subject) <= 200 AND subject !~ '[[:cntrl:]]'),
    CONSTRAINT "words around a mail are short" CHECK (length(opening) <= 3000 AND length(closing) <= 3000 AND length(language) <= 20)
);

CALL desk_wall('mail_text', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');
