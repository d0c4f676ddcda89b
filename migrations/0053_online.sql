-- Online events: a link to join instead of a place to go to, and the organizer's own words in every confirmation.
ALTER TABLE event
    ADD COLUMN online       boolean NOT NULL DEFAULT false,
    ADD COLUMN join_link    text NOT NULL DEFAULT '',   -- where people join; empty until the organizer knows it
    ADD COLUMN join_early   interval,                   -- before the start, when tickets open the link; NULL: as soon as they are confirmed
    ADD COLUMN join_link_at timestamptz,                -- when the event got a link
    ADD COLUMN confirmation text NOT NULL DEFAULT '',   -- what the organizer adds to the confirmation, on the page and in the mail
    ADD CONSTRAINT "a link to join is a secure address" CHECK (join_link = '' OR join_link LIKE 'https://_%'),
    ADD CONSTRAINT "a link to join has a date" CHECK (join_link = '' OR join_link_at IS NOT NULL),
    ADD CONSTRAINT "a link to join opens before the start" CHECK (join_early BETWEEN interval '1 minute' AND interval '30 days'),
    ADD CONSTRAINT "texts about joining are short" CHECK (length(join_link) <= 2000 AND length(confirmation) <= 5000);

-- A ticket of an online event is checked in by its holder, without a door.
ALTER TABLE scan
    ALTER COLUMN door_id DROP NOT NULL,
    ADD CONSTRAINT "without a door one comes online" CHECK (door_id IS NOT NULL OR place = 'Online');

-- Mail that says "you can join now", once for each order.
ALTER TABLE mail
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'link', 'invitation', 'password', 'place',
        'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join'));

CREATE UNIQUE INDEX "an order is told once that it can join" ON mail (order_id) WHERE kind = 'join';
