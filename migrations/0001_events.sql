-- What is on sale: an event, what its seats cost, where they are, and the drawing.
-- Rarely written. The rows that change under a crowd stand in 0002_seats.sql.

CREATE TABLE plan (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL,
    hash       text NOT NULL UNIQUE,  -- of drawing and seats: the same plan is stored once
    drawing    jsonb NOT NULL,        -- size, outlines of sections, shapes, texts, generators (docs/plan-format.md)
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE event (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    plan_id          bigint NOT NULL REFERENCES plan,
    slug             text NOT NULL UNIQUE,
    name             text NOT NULL,
    venue            text NOT NULL DEFAULT '',
    starts_at        timestamptz NOT NULL,
    time_zone        text NOT NULL DEFAULT 'UTC',           -- IANA name; what the clock on the wall of the venue shows
    currency         text NOT NULL DEFAULT 'EUR',           -- ISO 4217
    hold_length      interval NOT NULL DEFAULT '8 minutes', -- from the first seat of a hold to its end
    seats_per_holder integer NOT NULL DEFAULT 6,
    extensions       integer NOT NULL DEFAULT 10,           -- how often a holder may ask for more time
    seats            integer NOT NULL,                      -- how many seat rows this event has
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT "a slug is lower case letters, digits and dashes" CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    CONSTRAINT "a hold lasts between a second and a week" CHECK (hold_length BETWEEN '1 second' AND '7 days'),
    CONSTRAINT "a holder may have at least one seat" CHECK (seats_per_holder >= 1),
    CONSTRAINT "extensions are not negative" CHECK (extensions >= 0),
    CONSTRAINT "an event has between 1 and 100000 seats" CHECK (seats BETWEEN 1 AND 100000)
);

-- What a seat costs. number is dense, 0…k-1, and the position in every array of counts.
CREATE TABLE category (
    event_id bigint NOT NULL REFERENCES event,
    number   smallint NOT NULL,
    key      text NOT NULL,
    name     text NOT NULL,
    price    bigint NOT NULL,  -- minor units of the event's currency
    PRIMARY KEY (event_id, number),
    UNIQUE (event_id, key),
    CONSTRAINT "a price is not negative" CHECK (price >= 0)
);

-- Where a seat is: rows of seats, or an area of places without labels. Its seats are idx first…first+count-1.
CREATE TABLE section (
    event_id bigint NOT NULL REFERENCES event,
    number   smallint NOT NULL,
    name     text NOT NULL,
    area     boolean NOT NULL DEFAULT false,  -- general admission
    first    integer NOT NULL,
    count    integer NOT NULL,
    PRIMARY KEY (event_id, number),
    UNIQUE (event_id, name),
    CONSTRAINT "a section has seats" CHECK (count > 0)
);

-- The drawing of one seat. idx is dense, 0…n-1, so a bitmap is the map.
CREATE TABLE seat (
    event_id    bigint NOT NULL REFERENCES event,
    idx         integer NOT NULL,
    section     smallint NOT NULL,
    category    smallint NOT NULL,
    flags       smallint NOT NULL DEFAULT 0,  -- 1 accessible, 2 companion, 4 restricted view, 8 an aisle follows
    x           real NOT NULL,
    y           real NOT NULL,
    row         text NOT NULL,                -- empty in an area
    number      text NOT NULL,
    external_id text NOT NULL,                -- the seat's id in the plan it came from
    PRIMARY KEY (event_id, idx),
    FOREIGN KEY (event_id, section) REFERENCES section (event_id, number),
    FOREIGN KEY (event_id, category) REFERENCES category (event_id, number),
    CONSTRAINT "one label is one seat" UNIQUE (event_id, section, row, number)
);
