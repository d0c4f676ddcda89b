-- The wait list of an event that is sold out (seats/waitlist): who waits for what, what they were offered, and why.

-- While somebody waits, what comes back is kept for them (seats/kept.go): every batch of commands reads this.
ALTER TABLE event ADD COLUMN wait_list boolean NOT NULL DEFAULT false;

CREATE INDEX event_waited_for ON event (id) WHERE wait_list;

-- What an organizer said of the list of an event; the first entry makes the row.
CREATE TABLE wait_list (
    event_id   bigint PRIMARY KEY REFERENCES event,
    paused_at  timestamptz,              -- nothing is offered; what comes back is kept
    note       text NOT NULL DEFAULT '', -- why, for everybody who waits
    room_since timestamptz,              -- when the first person came from the event's waiting room: where its numbers begin
    CONSTRAINT "a note of a wait list is short" CHECK (length(note) <= 500)
);

CREATE TABLE entry (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    bigint NOT NULL REFERENCES event,
    code        text NOT NULL UNIQUE,    -- whoever knows it may take offers, change the entry and leave: 128 random bits
    email       text NOT NULL,
    quantity    smallint NOT NULL,
    sections    smallint[] NOT NULL DEFAULT '{}', -- numbers of those that will do, and
    categories  smallint[] NOT NULL DEFAULT '{}', -- of categories; both empty: anything
    together    boolean NOT NULL,
    fewer       boolean NOT NULL,        -- one seat is better than none
    until       timestamptz,             -- nothing is offered after that; null: until the sale ends
    state       text NOT NULL DEFAULT 'new',
    rank        bigint NOT NULL,         -- who is next: the smallest; microseconds of the time they joined, unless a step says why not
    misses      smallint NOT NULL DEFAULT 0, -- offers that nobody answered
    joined_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    waits_since timestamptz,             -- waiting: since when, without a break, for the same seats
    passed      text,                    -- why it was passed over since then; null: it was not
    had         integer,                 -- how many seats that would do there were at that time
    passed_at   timestamptz,
    gather_until timestamptz,            -- seats for a group are gathered, or were, until then
    asked       smallint NOT NULL DEFAULT 1, -- mails with its link, since
    asked_since timestamptz NOT NULL DEFAULT clock_timestamp(),
    asked_key   text,                    -- of the form that asked last
    CONSTRAINT "an entry is in one of six states" CHECK (state IN ('new', 'waiting', 'offered', 'served', 'left', 'over')),
    CONSTRAINT "an entry waits for one seat at least" CHECK (quantity BETWEEN 1 AND 100),
    CONSTRAINT "it is known since when an entry waits" CHECK (state <> 'waiting' OR waits_since IS NOT NULL),
    CONSTRAINT "why an entry was passed over is one of five" CHECK (passed IN ('none', 'few', 'apart', 'missed', 'gathered')),
    CONSTRAINT "it is known when an entry was passed over" CHECK ((passed IS NULL) = (passed_at IS NULL)),
    CONSTRAINT "the address of an entry is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]')
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX "a person has one place in the wait list of an event" ON entry (event_id, email) WHERE state IN ('new', 'waiting', 'offered');
CREATE INDEX entry_not_verified ON entry (joined_at) WHERE state = 'new';
CREATE INDEX entry_by_rank ON entry (event_id, rank, id) WHERE state = 'waiting';

-- Seats held for an entry. Its seats are those of the hold; here stands which they were, and what became of it.
CREATE TABLE offer (
    id         uuid PRIMARY KEY,         -- also the holder it was made for
    event_id   bigint NOT NULL REFERENCES event,
    entry_id   bigint NOT NULL REFERENCES entry,
    holder     uuid NOT NULL,            -- whoever took it, with the browser they were at
    hold_id    uuid NOT NULL,            -- the hold the seats are in
    seats      integer[] NOT NULL,
    rank       bigint NOT NULL,          -- of the entry at that time
    looked_at  timestamptz NOT NULL,     -- when the list was read
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    until      timestamptz NOT NULL,
    by_hand    boolean NOT NULL DEFAULT false, -- out of turn, by an organizer; its step says why
    declined_at timestamptz,             -- they said no
    state      text NOT NULL DEFAULT 'open',
    ended_at   timestamptz,
    CONSTRAINT "an offer has seats" CHECK (cardinality(seats) > 0),
    CONSTRAINT "an offer ends after it was made" CHECK (until > looked_at),
    CONSTRAINT "an offer is open or ended in one of four ways" CHECK (state IN ('open', 'accepted', 'declined', 'missed', 'withdrawn')),
    CONSTRAINT "it is known when an offer ended" CHECK ((state = 'open') = (ended_at IS NULL))
);

CREATE UNIQUE INDEX "an entry has one open offer" ON offer (entry_id) WHERE state = 'open';
CREATE INDEX offer_open ON offer (event_id, until) WHERE state = 'open';
CREATE INDEX offer_by_event ON offer (event_id, at);

-- What happened to an entry or a list, and who did it: nothing is changed without a row here.
CREATE TABLE wait_step (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES event,
    entry_id bigint REFERENCES entry,    -- null: it is about the whole list
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    what     text NOT NULL,
    detail   text NOT NULL DEFAULT '',
    who      text NOT NULL DEFAULT '',   -- an organizer; empty: the person who waits, or the list itself
    CONSTRAINT "a step says what happened" CHECK (what <> '')
);

CREATE INDEX wait_step_by_entry ON wait_step (entry_id, id);
CREATE INDEX wait_step_by_event ON wait_step (event_id, id);

-- Mail about an entry. Its text is made when it is sent, of how the entry stands then.
ALTER TABLE mail
    ADD COLUMN entry_id bigint REFERENCES entry,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'link', 'invitation', 'password', 'place',
        'wait-verify', 'wait-offer', 'wait-missed', 'wait-left')),
    DROP CONSTRAINT "a mail is about an order or a payment, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id) = 1 AND (kind IN ('link', 'invitation', 'password', 'place')) = (email IS NOT NULL)
           AND (kind = 'lost') = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind = 'place') = (room_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL));

CALL desk_wall('wait_list', 'event_id IN (SELECT id FROM event)');
CALL desk_wall('offer', 'event_id IN (SELECT id FROM event)');
CALL desk_wall('wait_step', 'event_id IN (SELECT id FROM event)');
-- With the code of an entry one could take its offers: nobody at the desk needs it.
CALL desk_wall('entry', 'event_id IN (SELECT id FROM event)', '');
GRANT SELECT (id, event_id, email, quantity, sections, categories, together, fewer, until, state, rank, misses, joined_at, waits_since, passed, had, passed_at, gather_until) ON entry TO usher_desk;
