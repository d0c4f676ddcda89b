-- The buyer changes the email of an order; both addresses agree to it first.

-- A request to change the email of an order. Written by seats/orders.
CREATE TABLE email_change (
    id           uuid PRIMARY KEY,
    event_id     bigint NOT NULL,
    order_id     uuid NOT NULL,
    old_email    text NOT NULL,                             -- that the order had; empty once it was erased
    new_email    text NOT NULL,
    allow_code   text NOT NULL,                             -- of the link that the old address gets: 128 random bits
    confirm_code text NOT NULL,                             -- of the link that the new one gets
    asked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    ends_at      timestamptz NOT NULL DEFAULT clock_timestamp() + interval '24 hours',
    allowed_at   timestamptz,                               -- when the old address agreed
    confirmed_at timestamptz,                               -- when the new one did
    done_at      timestamptz,                               -- when the order got the new email
    over_at      timestamptz,                               -- it was stopped, or another request took its place
    CONSTRAINT "a change of an email is of an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "one code allows one change of an email" UNIQUE (allow_code),
    CONSTRAINT "one code confirms one email" UNIQUE (confirm_code),
    CONSTRAINT "an email changes once both addresses agreed" CHECK (done_at IS NULL OR (allowed_at IS NOT NULL AND confirmed_at IS NOT NULL)),
    CONSTRAINT "a change of an email that is over was not done" CHECK (done_at IS NULL OR over_at IS NULL)
);

CREATE UNIQUE INDEX "an order has one change of its email under way" ON email_change (order_id) WHERE done_at IS NULL AND over_at IS NULL;
CREATE INDEX email_change_by_order ON email_change (order_id);
CREATE INDEX email_change_by_event ON email_change (event_id);

CALL desk_wall('email_change', 'event_id IN (SELECT id FROM event)');

ALTER TABLE mail ADD COLUMN email_change_id uuid REFERENCES email_change,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed',
        'ticket-offer', 'ticket', 'ticket-void', 'email-allow', 'email-confirm')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id, transfer_id, email_change_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind = 'place') = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('ticket-offer', 'ticket', 'ticket-void') OR kind IN ('message', 'upcoming', 'join') AND order_id IS NULL) = (transfer_id IS NOT NULL)
           AND (kind IN ('email-allow', 'email-confirm')) = (email_change_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID;
CREATE INDEX mail_by_email_change ON mail (email_change_id) WHERE email_change_id IS NOT NULL;
