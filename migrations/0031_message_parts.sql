-- Messages go to a part of the orders, at a time, and may tell what an event changed.
ALTER TABLE message
    ADD COLUMN segment text NOT NULL DEFAULT 'all',  -- all orders, those with a ticket of a type, or those that were checked in or not
    ADD COLUMN type    integer,                      -- number of the ticket type
    ADD COLUMN was     jsonb,                        -- what held before a change: {"starts_at": …, "venue": …, "doors": minutes}
    DROP CONSTRAINT "a message says something",
    ADD CONSTRAINT "a message says something" CHECK (length(subject) BETWEEN 1 AND 200 AND length(text) <= 10000 AND (text <> '' OR was IS NOT NULL)),
    ADD CONSTRAINT "a message goes to a known part" CHECK (segment IN ('all', 'type', 'scanned', 'unscanned') AND (segment = 'type') = (type IS NOT NULL));

ALTER TABLE errand
    ADD COLUMN send_at    timestamptz,  -- a message that waits until then
    ADD COLUMN stopped_at timestamptz,  -- it was taken back before
    ADD CONSTRAINT "what was taken back has ended" CHECK (stopped_at IS NULL OR ended_at IS NOT NULL AND done = 0);

-- A test goes to the member who wrote the message. NOT VALID: every row that was there before satisfies them.
ALTER TABLE mail DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind = 'place') = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID,
    DROP CONSTRAINT "a message goes to who ordered",
    ADD CONSTRAINT "a message goes to who ordered"
        CHECK ((kind IN ('message', 'message-test')) = (message_id IS NOT NULL) AND (kind <> 'message' OR order_id IS NOT NULL)) NOT VALID;
