-- What the pages, mails and papers of a team look like.

-- Written by seats/pages. A team without a row has the standard look.
CREATE TABLE team_branding (
    team_id bigint PRIMARY KEY REFERENCES team,
    version integer NOT NULL DEFAULT 1,  -- counts the saves
    button  text NOT NULL,               -- colour of buttons, as it was asked for; empty, as the next: the standard one
    accent  text NOT NULL,               -- colour of what stands out
    font    text NOT NULL,
    theme   text NOT NULL,
    sender  text NOT NULL,               -- name of the sender of mails; empty: that of the operator
    links   jsonb NOT NULL,              -- at the foot of pages: [{"words": …, "path": …}]
    CONSTRAINT "a colour has six digits" CHECK (button ~ '^(#[0-9a-f]{6})?$' AND accent ~ '^(#[0-9a-f]{6})?$'),
    CONSTRAINT "a font is one that is shipped" CHECK (font IN ('poster', 'plain', 'serif', 'system')),
    CONSTRAINT "a theme is one of three" CHECK (theme IN ('auto', 'light', 'dark')),
    CONSTRAINT "the name of a sender is one short line" CHECK (length(sender) <= 100 AND sender !~ '[[:cntrl:]]'),
    CONSTRAINT "links of a team are a short list" CHECK (jsonb_typeof(links) = 'array' AND jsonb_array_length(links) <= 6)
);

-- The logo and the header picture of a team. Written by seats/pages. Its files are where those of events are.
CREATE TABLE team_picture (
    team_id bigint NOT NULL REFERENCES team,
    kind    text NOT NULL,
    hash    text NOT NULL,               -- of its files, which begins their names
    widths  integer[] NOT NULL,          -- of the files, in pixels, the smallest first
    width   integer NOT NULL,            -- of the largest file
    height  integer NOT NULL,
    alt     text NOT NULL,               -- what it shows, for people who do not see it
    PRIMARY KEY (team_id, kind),
    CONSTRAINT "a picture of a team is a logo or a header" CHECK (kind IN ('logo', 'header')),
    CONSTRAINT "a picture of a team says what it shows" CHECK (length(alt) BETWEEN 1 AND 300),
    CONSTRAINT "a picture of a team has files" CHECK (hash ~ '^[0-9a-f]{32}$' AND cardinality(widths) BETWEEN 1 AND 3 AND width = widths[cardinality(widths)] AND height > 0)
);
CREATE INDEX team_picture_by_hash ON team_picture (hash);

CALL desk_wall('team_branding', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('team_picture', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');
