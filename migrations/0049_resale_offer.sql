-- Buyers offer tickets back to a friend: the friend alone may buy the seats, until a time. Accounts are told by mail of a passkey that was
-- added or removed.

-- What is offered back to a friend. Written by seats/orders. The seats are a hold.
CREATE TABLE resale_offer (
    id         uuid PRIMARY KEY,                  -- the holder of the seats, until a browser takes them
    event_id   bigint NOT NULL,
    order_id   uuid NOT NULL,                     -- of the buyer who offers
    resales    uuid[] NOT NULL,                   -- of its tickets
    code       text NOT NULL,                     -- of the link that the friend gets: 128 random bits
    sent_to    text NOT NULL,                     -- the address of the friend; empty once it was erased
    holder     uuid NOT NULL,                     -- that the seats are held for: this offer, or the browser that took them last
    hold_id    uuid NOT NULL,                     -- the hold that they are in
    offered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    until      timestamptz NOT NULL,              -- when others may claim the seats; a browser that took them may have longer
    CONSTRAINT "tickets offered to a friend are of an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "one code is one offer to a friend" UNIQUE (code)
);

CREATE INDEX resale_offer_by_order ON resale_offer (order_id);
CREATE INDEX resale_offer_by_event ON resale_offer (event_id);

CALL desk_wall('resale_offer', 'event_id IN (SELECT id FROM event)');

ALTER TABLE mail ADD COLUMN resale_offer_id uuid REFERENCES resale_offer,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed',
        'ticket-offer', 'ticket', 'ticket-void', 'email-allow', 'email-confirm', 'turn', 'resale-offer', 'passkey-added', 'passkey-removed')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id, transfer_id, email_change_id, resale_offer_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test', 'turn', 'passkey-added', 'passkey-removed')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind IN ('place', 'turn')) = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('ticket-offer', 'ticket', 'ticket-void') OR kind IN ('message', 'upcoming', 'join') AND order_id IS NULL) = (transfer_id IS NOT NULL)
           AND (kind IN ('email-allow', 'email-confirm')) = (email_change_id IS NOT NULL) AND (kind = 'resale-offer') = (resale_offer_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID;
CREATE INDEX mail_by_resale_offer ON mail (resale_offer_id) WHERE resale_offer_id IS NOT NULL;
