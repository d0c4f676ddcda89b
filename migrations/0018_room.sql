-- The waiting room of a sale (seats/gate): who may come in to claim, and when. Nobody who waits has a row here: a place is
-- a signed cookie, and its number follows from this row.

CREATE TABLE room (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug           text NOT NULL UNIQUE,
    name           text NOT NULL,
    epoch          integer NOT NULL DEFAULT 1,      -- numbers of another epoch are worth nothing
    mode           text NOT NULL,                   -- auto: nobody waits until the slots are full; scheduled: lobby, draw, line
    entry          text NOT NULL DEFAULT 'browser', -- email: one number for each verified address
    phase          text NOT NULL,
    version        bigint NOT NULL DEFAULT 1,       -- grows with every change of this row
    lobby_opens_at timestamptz,                     -- null: at once
    opens_at       timestamptz,                     -- when the lobby closes and numbers are drawn
    lobby          bigint NOT NULL DEFAULT 0,       -- places of the draw; it never moves again once the phase has
    line           bigint NOT NULL DEFAULT 0,       -- places after them: the k-th has number lobby + k
    serving        bigint NOT NULL DEFAULT 0,       -- numbers up to here were called
    slots          integer NOT NULL,                -- people inside at once, at most
    rate           real,                            -- numbers called in a second, at most; null: as many as there is room for
    valid          interval NOT NULL DEFAULT '10 minutes', -- how long a called number may be used
    idle           interval NOT NULL DEFAULT '5 minutes',  -- how long a slot waits for its person to do something
    stay           interval NOT NULL DEFAULT '30 minutes', -- how long a slot may be had without holding a seat
    note           text NOT NULL DEFAULT '',        -- what everybody who waits is told, such as why the room is paused
    ticked_at      timestamptz NOT NULL DEFAULT '-infinity',

    -- The draw. The secret is sealed until the numbers are drawn; its commitment is public from the beginning.
    commitment     bytea,
    committed_at   timestamptz,
    sealed         bytea,
    sealed_by      integer,                         -- the key
    closed_at      timestamptz,                     -- when the lobby closed: lobby is final
    beacon         text NOT NULL DEFAULT 'none',
    beacon_url     text,                            -- drand: where it is asked
    beacon_wait    interval NOT NULL DEFAULT '30 seconds', -- after it, the numbers are drawn without a beacon
    beacon_round   bigint,                          -- drand: the first one published after closed_at
    beacon_sign    bytea,                           -- drand: the signature of the round
    beacon_value   bytea,
    drawn_at       timestamptz,
    secret         bytea,                           -- revealed
    CONSTRAINT "a slug of a room is lower case letters, digits and dashes" CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    CONSTRAINT "a room has a name" CHECK (length(name) BETWEEN 1 AND 200),
    CONSTRAINT "a room opens by itself or at a time" CHECK (mode IN ('auto', 'scheduled')),
    CONSTRAINT "a room is entered by a browser or by an address" CHECK (entry IN ('browser', 'email')),
    CONSTRAINT "a phase is one of six" CHECK (phase IN ('through', 'lobby', 'drawing', 'open', 'paused', 'ended')),
    CONSTRAINT "a lobby closes at a time" CHECK (mode = 'auto' OR opens_at IS NOT NULL),
    CONSTRAINT "a lobby opens before it closes" CHECK (lobby_opens_at < opens_at),
    CONSTRAINT "nobody is in line before the lobby closed" CHECK (phase <> 'lobby' OR line = 0 AND serving = 0),
    CONSTRAINT "nobody is called before the numbers are drawn" CHECK (phase <> 'drawing' OR serving = 0),
    CONSTRAINT "only numbers that were given are called" CHECK (lobby >= 0 AND line >= 0 AND serving BETWEEN 0 AND lobby + line),
    CONSTRAINT "a draw has 67108864 places at most" CHECK (lobby <= 67108864),
    CONSTRAINT "a room has between 1 and 100000 slots" CHECK (slots BETWEEN 1 AND 100000),
    CONSTRAINT "a rate is more than nothing" CHECK (rate > 0),
    CONSTRAINT "times of a room are between a second and a day"
        CHECK (valid BETWEEN '1 second' AND '1 day' AND idle BETWEEN '1 second' AND '1 day' AND stay BETWEEN idle AND '1 day' AND beacon_wait BETWEEN '1 second' AND '1 day'),
    CONSTRAINT "a note is short" CHECK (length(note) <= 500),
    CONSTRAINT "a draw was committed to" CHECK (mode = 'auto' OR octet_length(commitment) = 32 AND committed_at IS NOT NULL AND sealed IS NOT NULL AND sealed_by IS NOT NULL),
    CONSTRAINT "a beacon is of a known kind" CHECK (beacon IN ('none', 'manual', 'drand')),
    CONSTRAINT "drand is asked somewhere" CHECK (beacon <> 'drand' OR beacon_url IS NOT NULL),
    CONSTRAINT "the secret is revealed with the draw" CHECK ((drawn_at IS NULL) = (secret IS NULL) AND octet_length(secret) = 32),
    CONSTRAINT "who was in a lobby has a number before anybody is called" CHECK (lobby = 0 OR serving = 0 OR drawn_at IS NOT NULL)
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- One room may cover several events: who is inside may claim in all of them.
ALTER TABLE event ADD COLUMN room_id bigint REFERENCES room;

CREATE INDEX event_by_room ON event (room_id) WHERE room_id IS NOT NULL;

-- One person inside. A slot whose time is up may be taken by the next one, and is its person's until then.
CREATE TABLE slot (
    room_id    bigint NOT NULL REFERENCES room,
    slot       integer NOT NULL,                    -- from 1; those beyond room.slots are not given again
    epoch      integer,
    number     bigint,
    holder     uuid,
    since      timestamptz,
    expires_at timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (room_id, slot),
    CONSTRAINT "a person has one slot of a room" UNIQUE (room_id, holder),
    CONSTRAINT "a slot has a person or no time left" CHECK ((holder IS NULL) = (number IS NULL) AND (holder IS NOT NULL OR expires_at = '-infinity'))
) WITH (fillfactor = 50);

-- Who was let in. One number lets one person in.
CREATE TABLE admission (
    room_id     bigint NOT NULL REFERENCES room,
    epoch       integer NOT NULL,
    number      bigint NOT NULL,
    holder      uuid NOT NULL,
    admitted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    entered     integer NOT NULL DEFAULT 1,         -- how often: a connection that dropped may come back
    left_at     timestamptz,
    outcome     text,                               -- null while it may still be used
    CONSTRAINT "one number lets one person in" PRIMARY KEY (room_id, epoch, number),
    CONSTRAINT "an admission ends in one of two ways" CHECK ((outcome IS NULL) = (left_at IS NULL) AND outcome IN ('bought', 'gave up'))
);

CREATE INDEX admission_by_time ON admission (room_id, admitted_at);

-- Each time more numbers were called. A number was called with the first row that reaches it.
CREATE TABLE called (
    room_id bigint NOT NULL REFERENCES room,
    epoch   integer NOT NULL,
    serving bigint NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (room_id, epoch, serving)
);

-- One verified person has one number of a room; only where room.entry asks for it.
CREATE TABLE entrant (
    room_id bigint NOT NULL REFERENCES room,
    epoch   integer NOT NULL,
    person  bytea NOT NULL,                         -- SHA-256 of the address
    kind    smallint NOT NULL,                      -- 1 lobby, 2 line
    index   bigint NOT NULL,
    PRIMARY KEY (room_id, epoch, person),
    CONSTRAINT "one place is one person's" UNIQUE (room_id, epoch, kind, index),
    CONSTRAINT "a place is in the lobby or in the line" CHECK (kind IN (1, 2) AND index > 0)
);

-- How many people are still there, by number, as each node counted them last: a sample, scaled up.
CREATE TABLE presence (
    room_id    bigint NOT NULL REFERENCES room,
    node       uuid NOT NULL,
    counted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    width      bigint NOT NULL,                     -- how many numbers share one of the counts
    people     real[] NOT NULL,                     -- the first is about the numbers 1…width
    PRIMARY KEY (room_id, node),
    CONSTRAINT "a count is about one number at least" CHECK (width > 0 AND cardinality(people) <= 256)
) WITH (fillfactor = 50);

-- The keys that sign places. One signs; those before it are believed until they are revoked.
CREATE TABLE place_key (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret     bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    signs      boolean NOT NULL DEFAULT true,
    revoked_at timestamptz,
    CONSTRAINT "a place is signed with 32 bytes" CHECK (octet_length(secret) = 32),
    CONSTRAINT "a revoked key signs no place" CHECK (NOT signs OR revoked_at IS NULL)
);

CREATE UNIQUE INDEX "one key signs places" ON place_key (signs) WHERE signs;

-- What organizers did to a room, and who it was.
CREATE TABLE control (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room_id bigint NOT NULL REFERENCES room,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    who     text NOT NULL,
    what    text NOT NULL,
    detail  text NOT NULL DEFAULT '',
    CONSTRAINT "it is known who did something to a room" CHECK (who <> '' AND what <> '')
);

CREATE INDEX control_by_room ON control (room_id, id);
