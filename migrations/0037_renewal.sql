-- Renewal: a subscription keeps the seats of another one's subscribers for them, until a date. A subscriber gets one mail for all orders.

ALTER TABLE subscription
    ADD COLUMN renews_id  bigint REFERENCES subscription,  -- of the season before; null: nothing is kept
    ADD COLUMN keep_until timestamptz,                     -- from then on everybody may have the seats
    ADD COLUMN kept_at    timestamptz,                     -- when the seats of all subscribers had been looked at; null: they are not yet
    ADD COLUMN renewed    integer NOT NULL DEFAULT 0,      -- seats, of those sold, of subscribers who renewed: they do not count against its places
    DROP CONSTRAINT "a subscription sells no more than its places",
    ADD CONSTRAINT "a subscription sells no more than its places" CHECK (renewed BETWEEN 0 AND sold AND sold - renewed <= places),
    ADD CONSTRAINT "a subscription renews another one until a time" CHECK ((renews_id IS NULL) = (keep_until IS NULL) AND renews_id <> id),
    ADD CONSTRAINT "seats are kept while a subscription is sold" CHECK (keep_until <= closes_at);
CREATE INDEX subscription_to_keep ON subscription (id) WHERE renews_id IS NOT NULL AND kept_at IS NULL;
CREATE INDEX subscription_by_event ON subscription_price (event_id);

-- The seats of a subscriber of the season before. Written by seats/subscriptions.
CREATE TABLE renewal (
    subscription_id bigint NOT NULL REFERENCES subscription,
    subscriber_id   uuid NOT NULL REFERENCES subscriber,   -- of the season before
    code            text NOT NULL,                         -- of the link in the mail: 128 random bits
    holder          uuid NOT NULL UNIQUE,                  -- who holds the seats
    missed          text[] NOT NULL,                       -- labels of the seats that could not be kept
    renewed_by      uuid UNIQUE REFERENCES subscriber,     -- they renewed
    PRIMARY KEY (subscription_id, subscriber_id),
    CONSTRAINT "one code is one renewal" UNIQUE (code)
);
CREATE INDEX renewal_by_subscriber ON renewal (subscriber_id);

-- A seat that is kept, in each performance. Given up, it has no row. Written by seats/subscriptions.
CREATE TABLE renewal_seat (
    holder   uuid NOT NULL REFERENCES renewal (holder),
    event_id bigint NOT NULL REFERENCES event,
    idx      integer NOT NULL,
    PRIMARY KEY (holder, event_id, idx)
);
CREATE INDEX renewal_seat_by_event ON renewal_seat (event_id);

CALL desk_wall('renewal', 'subscription_id IN (SELECT id FROM subscription)', 'SELECT');
CALL desk_wall('renewal_seat', 'event_id IN (SELECT id FROM event)', 'SELECT');

ALTER TABLE mail DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed')) NOT VALID;
