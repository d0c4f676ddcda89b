-- What the page of an event says, and its pictures.

-- What holds in every language. Written by seats/pages. An event without a row has no page but that of its seats.
CREATE TABLE event_page (
    event_id    bigint PRIMARY KEY REFERENCES event,
    version     integer NOT NULL DEFAULT 1,  -- counts the saves
    category    text NOT NULL,               -- such as play or concert; empty, as all texts here: none
    doors       integer NOT NULL,            -- minutes before the start; 0: none are said
    running     integer NOT NULL,            -- minutes from start to end, intervals included; 0: not said
    intervals   integer NOT NULL,
    age         integer NOT NULL,            -- years that attendees should have at least; 0: not said
    street      text NOT NULL,               -- of the venue, as the next four
    postal_code text NOT NULL,
    town        text NOT NULL,
    country     text NOT NULL,               -- ISO 3166-1, two letters
    map_link    text NOT NULL,
    organizer   text NOT NULL,
    email       text NOT NULL,               -- of the organizer, for attendees, as the next two
    phone       text NOT NULL,
    website     text NOT NULL,
    CONSTRAINT "times of an event page are minutes of at most a month" CHECK (doors BETWEEN 0 AND 44640 AND running BETWEEN 0 AND 44640 AND intervals BETWEEN 0 AND 20),
    CONSTRAINT "an age is one of people" CHECK (age BETWEEN 0 AND 99),
    CONSTRAINT "a country has two letters" CHECK (country ~ '^([A-Z]{2})?$'),
    CONSTRAINT "addresses of an event page are of the web" CHECK (map_link ~ '^(https?://.*)?$' AND website ~ '^(https?://.*)?$'),
    CONSTRAINT "facts of an event page are short" CHECK (length(category) <= 40 AND length(street) <= 200 AND length(postal_code) <= 20 AND length(town) <= 100
        AND length(map_link) <= 500 AND length(organizer) <= 200 AND length(email) <= 254 AND length(phone) <= 40 AND length(website) <= 500)
);

-- What the page says in one language. Written by seats/pages.
CREATE TABLE event_text (
    event_id    bigint NOT NULL REFERENCES event_page,
    language    text NOT NULL,               -- a tag of BCP 47
    subtitle    text NOT NULL,               -- one line under the name
    description text NOT NULL,               -- Markdown, as the next two
    travel      text NOT NULL,               -- how to get there
    access      text NOT NULL,               -- what to expect, for people with disabilities
    PRIMARY KEY (event_id, language),
    CONSTRAINT "a language is a tag" CHECK (language ~ '^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$'),
    CONSTRAINT "texts of an event are no books" CHECK (length(subtitle) <= 200 AND length(description) <= 20000 AND length(travel) <= 5000 AND length(access) <= 5000)
);

-- A picture of an event. Written by seats/pages. Its files are in picture_file, or wherever else files are kept.
CREATE TABLE event_picture (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES event,
    kind     text NOT NULL,
    section  text NOT NULL,                  -- that it shows the view from; empty for a header
    hash     text NOT NULL,                  -- of its files, which begins their names
    widths   integer[] NOT NULL,             -- of the files, in pixels, the smallest first
    width    integer NOT NULL,               -- of the largest file
    height   integer NOT NULL,
    alt      text NOT NULL,                  -- what it shows, for people who do not see it
    added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a picture is a header or a view" CHECK (kind IN ('header', 'view') AND (kind = 'view') = (section <> '')),
    CONSTRAINT "a picture says what it shows" CHECK (length(alt) BETWEEN 1 AND 300 AND length(section) <= 100),
    CONSTRAINT "a picture has files" CHECK (hash ~ '^[0-9a-f]{32}$' AND cardinality(widths) BETWEEN 1 AND 3 AND width = widths[cardinality(widths)] AND height > 0)
);
CREATE UNIQUE INDEX event_picture_header ON event_picture (event_id) WHERE kind = 'header';
CREATE INDEX event_picture_by_event ON event_picture (event_id, id);
CREATE INDEX event_picture_by_hash ON event_picture (hash);

-- Files of pictures: JPEG, made by us. Written by seats/pages. One that no picture has any more is deleted after a day.
CREATE TABLE picture_file (
    hash    text NOT NULL,
    width   integer NOT NULL,
    content bytea NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- when it was last uploaded
    PRIMARY KEY (hash, width),
    CONSTRAINT "a file of a picture is small" CHECK (octet_length(content) BETWEEN 1 AND 4194304)
);
ALTER TABLE picture_file ALTER COLUMN content SET STORAGE EXTERNAL; -- JPEG is compressed

CALL desk_wall('event_page', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('event_text', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE, DELETE');
CALL desk_wall('event_picture', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE, DELETE');
ALTER TABLE picture_file ENABLE ROW LEVEL SECURITY;
