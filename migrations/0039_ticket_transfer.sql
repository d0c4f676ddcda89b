-- People send a ticket to a friend: it is replaced by another one for its seat, in the same order, with another code.

ALTER TABLE event
    ADD COLUMN transfer_until interval DEFAULT '0', -- before the start; people send tickets until then; null: never
    ADD CONSTRAINT "tickets are sent before the event" CHECK (transfer_until >= '0') NOT VALID;

-- A ticket that its holder sends to a friend. Written by seats/orders. It is offered first, and replaced when it is accepted.
CREATE TABLE ticket_transfer (
    id           uuid PRIMARY KEY,
    event_id     bigint NOT NULL,
    order_id     uuid NOT NULL,
    ticket_id    uuid NOT NULL REFERENCES ticket,           -- that is offered; once it was accepted, that of the friend
    sender_id    uuid REFERENCES ticket_transfer,           -- by which the sender got the ticket; null: they bought it
    code         text NOT NULL,                             -- of the link by which it is accepted: 128 random bits
    sent_to      text NOT NULL,                             -- the address that the link was mailed to; empty: the sender passes it on
    offered_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    withdrawn_at timestamptz,                               -- the sender took it back
    accepted_at  timestamptz,
    ticket_code  text,                                      -- of the link to the friend's ticket: 128 random bits
    name         text NOT NULL DEFAULT '',                  -- of the friend, as well as what follows
    email        text NOT NULL DEFAULT '',
    language     text NOT NULL DEFAULT '' CHECK (length(language) <= 20),
    CONSTRAINT "a sent ticket is of an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "one code is one offer" UNIQUE (code),
    CONSTRAINT "one code is one sent ticket" UNIQUE (ticket_code),
    CONSTRAINT "a ticket is accepted or taken back" CHECK (withdrawn_at IS NULL OR accepted_at IS NULL),
    CONSTRAINT "an accepted ticket has a link" CHECK ((accepted_at IS NULL) = (ticket_code IS NULL))
);

CREATE UNIQUE INDEX "a ticket is offered to one friend" ON ticket_transfer (ticket_id) WHERE accepted_at IS NULL AND withdrawn_at IS NULL;
CREATE UNIQUE INDEX "a ticket has one holder" ON ticket_transfer (ticket_id) WHERE accepted_at IS NOT NULL;
CREATE INDEX ticket_transfer_by_order ON ticket_transfer (order_id);
CREATE INDEX ticket_transfer_by_event ON ticket_transfer (event_id);
CREATE INDEX ticket_transfer_by_email ON ticket_transfer (lower(email)) WHERE email <> '';

CALL desk_wall('ticket_transfer', 'event_id IN (SELECT id FROM event)');

ALTER TABLE mail ADD COLUMN transfer_id uuid REFERENCES ticket_transfer,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed',
        'ticket-offer', 'ticket', 'ticket-void')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id, transfer_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind = 'place') = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('ticket-offer', 'ticket', 'ticket-void') OR kind IN ('message', 'upcoming', 'join') AND order_id IS NULL) = (transfer_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID,
    DROP CONSTRAINT "a message goes to who ordered",
    ADD CONSTRAINT "a message goes to who has tickets"
        CHECK ((kind IN ('message', 'message-test')) = (message_id IS NOT NULL) AND (kind <> 'message' OR order_id IS NOT NULL OR transfer_id IS NOT NULL)) NOT VALID;
CREATE INDEX mail_by_transfer ON mail (transfer_id) WHERE transfer_id IS NOT NULL;
CREATE UNIQUE INDEX "a message goes to a friend once" ON mail (message_id, transfer_id) WHERE message_id IS NOT NULL AND transfer_id IS NOT NULL;
CREATE UNIQUE INDEX "a friend is told once of the event, and that they can join" ON mail (transfer_id, kind) WHERE kind IN ('upcoming', 'join') AND transfer_id IS NOT NULL;
