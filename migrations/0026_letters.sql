-- Emails that an event sends by itself: a reminder before it, and thanks after it.

-- What an event sends. Written by seats/letters. A performance without a row has that of its series, other events the standard.
CREATE TABLE event_letters (
    event_id    bigint PRIMARY KEY REFERENCES event,
    version     integer NOT NULL DEFAULT 1,  -- counts the saves
    remind      boolean NOT NULL,
    hours       integer NOT NULL,            -- before the start
    note        text NOT NULL,               -- what attendees should bring or know; empty: nothing
    thanks      text NOT NULL,               -- off, scanned (orders with a scanned ticket), or all
    thanks_text text NOT NULL,               -- what the organizer says then; Markdown
    CONSTRAINT "a reminder goes out within two weeks" CHECK (hours BETWEEN 1 AND 336),
    CONSTRAINT "thanks go to some" CHECK (thanks IN ('off', 'scanned', 'all') AND (thanks = 'off' OR thanks_text <> '')),
    CONSTRAINT "texts of letters are no books" CHECK (length(note) <= 2000 AND length(thanks_text) <= 5000)
);

-- Letters of an event that were written to all orders. Written by seats/letters.
CREATE TABLE letter_run (
    event_id bigint NOT NULL REFERENCES event,
    kind     text NOT NULL,
    ended_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, kind),
    CONSTRAINT "a run is of reminders or thanks" CHECK (kind IN ('upcoming', 'thanks'))
);

CREATE INDEX event_by_moment ON event (starts_at) WHERE status NOT IN ('draft', 'cancelled');

-- NOT VALID: every row that was there before satisfies them.
ALTER TABLE mail DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks')) NOT VALID;
CREATE UNIQUE INDEX "an order is reminded of its event once" ON mail (order_id) WHERE kind = 'upcoming';
CREATE UNIQUE INDEX "an order is thanked once" ON mail (order_id) WHERE kind = 'thanks';

CALL desk_wall('event_letters', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('letter_run', 'event_id IN (SELECT id FROM event)');
