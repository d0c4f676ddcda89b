-- Bookings of groups: an option on seats until a date, then an order on account. Written by seats/bookings.
CREATE TABLE booking (
    id           uuid PRIMARY KEY REFERENCES block, -- that keeps its seats, until the option ends
    event_id     bigint NOT NULL REFERENCES event,
    n            bigint GENERATED ALWAYS AS IDENTITY, -- the order in which they were made
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    name         text NOT NULL,                    -- the contact
    email        text NOT NULL DEFAULT '',         -- empty: no mail goes out
    organisation text NOT NULL DEFAULT '',
    note         text NOT NULL DEFAULT '',
    places       integer NOT NULL,                 -- seats, the last time it changed
    prices       jsonb NOT NULL DEFAULT '[]',      -- [{"type": its key, "count": tickets of it, "each": at most, minor units}]
    remind_at    timestamptz,                      -- when the contact is told that the option ends soon; null: not, or they were
    order_id     uuid UNIQUE REFERENCES orders,    -- null: it is not confirmed
    cancelled_at timestamptz,
    CONSTRAINT "a group has some seats" CHECK (places BETWEEN 1 AND 500),
    CONSTRAINT "a booking is said in short" CHECK (length(name) <= 200 AND length(email) <= 254 AND length(organisation) <= 200 AND length(note) <= 1000),
    CONSTRAINT "a booking is confirmed or cancelled" CHECK (order_id IS NULL OR cancelled_at IS NULL)
);
CREATE INDEX booking_by_event ON booking (event_id, n);
CREATE INDEX booking_by_email ON booking (lower(email));
CREATE INDEX booking_reminders ON booking (remind_at) WHERE remind_at IS NOT NULL;

ALTER TABLE block ADD CONSTRAINT "a group keeps seats until a time" CHECK (kind <> 'group' OR ends_at IS NOT NULL) NOT VALID;
CREATE INDEX block_of_groups ON block (event_id) WHERE kind = 'group' AND ended_at IS NULL;

CALL desk_wall('booking', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');

-- A mail about an option goes to its contact; about is the id of the booking.
CREATE INDEX mail_of_options ON mail (about) WHERE kind IN ('option', 'option-ends');
ALTER TABLE mail
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed',
        'ticket-offer', 'ticket', 'ticket-void', 'email-allow', 'email-confirm', 'turn', 'resale-offer', 'passkey-added', 'passkey-removed', 'code', 'alert', 'books', 'option', 'option-ends')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id, transfer_id, email_change_id, resale_offer_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test', 'turn', 'passkey-added', 'passkey-removed', 'code', 'alert', 'books', 'option', 'option-ends')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind IN ('place', 'turn')) = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('ticket-offer', 'ticket', 'ticket-void') OR kind IN ('message', 'upcoming', 'join') AND order_id IS NULL) = (transfer_id IS NOT NULL)
           AND (kind IN ('email-allow', 'email-confirm')) = (email_change_id IS NOT NULL) AND (kind = 'resale-offer') = (resale_offer_id IS NOT NULL)
           AND (kind = 'code') = (code_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID;
