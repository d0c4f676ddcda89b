-- Limits against those who claim and order by program (seats/limit). An event without a row has the usual ones.

CREATE TABLE event_limit (
    event_id           bigint PRIMARY KEY REFERENCES event,
    challenge          text NOT NULL DEFAULT 'automatic', -- when visitors do work before they claim seats
    seats_per_network  integer,                     -- that visitors of one network claim without work within the length of a hold; NULL: the usual
    unpaid_per_network integer,                     -- unpaid orders of one network without work; NULL: the usual
    unpaid_per_email   integer,                     -- unpaid orders of one email address; NULL: the usual
    alarm_since        timestamptz,                 -- when the last attack was noticed first; NULL: none was
    alarm_until        timestamptz,                 -- it is over then, unless it is noticed again
    alarm_reason       text NOT NULL DEFAULT '',    -- what was noticed, in words for the desk
    alarm_everyone     boolean NOT NULL DEFAULT false, -- everybody does work, not only visitors of busy networks
    CONSTRAINT "a challenge is off, automatic or always" CHECK (challenge IN ('off', 'automatic', 'always')),
    CONSTRAINT "limits are positive" CHECK (least(seats_per_network, unpaid_per_network, unpaid_per_email) > 0),
    CONSTRAINT "an alarm begins and ends" CHECK ((alarm_since IS NULL) = (alarm_until IS NULL))
);

CALL desk_wall('event_limit', 'event_id IN (SELECT id FROM event)');

-- Where an order came from that is paid later, for the limit on unpaid orders of a network.
ALTER TABLE orders ADD COLUMN network text NOT NULL DEFAULT '';  -- such as 203.0.113.0/24; empty: it is not counted

CREATE INDEX orders_by_network ON orders (event_id, network) WHERE network <> '';
CREATE INDEX orders_paid_later ON orders (event_id, lower(email)) WHERE method IN ('door', 'invoice');

-- To whom a mail about an order went, for the limit on mails of one address: no address, but the SHA-256 of one.
ALTER TABLE mail ADD COLUMN sent_to bytea;

CREATE INDEX mail_sent_to ON mail (sent_to, sent_at) WHERE sent_to IS NOT NULL;
