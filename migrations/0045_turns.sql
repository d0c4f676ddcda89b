-- Attendees ask to be told when it is their turn: in a waiting room by email or web push, on a waiting list by web push.

-- A request to be told. Written by seats/turns. One of a waiting room is deleted once it was told; one of a waiting list
-- lasts as long as its entry.
CREATE TABLE turn_request (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room_id    bigint REFERENCES room,                      -- of a waiting room: its place there
    epoch      integer,
    kind       smallint,
    index      bigint,
    number     bigint,                                      -- null until the lobby is drawn
    team_id    bigint NOT NULL DEFAULT 0,                   -- the team with the domain where it was asked; 0: that of the box office
    entry_id   bigint REFERENCES entry,                     -- of a waiting list
    offer_id   uuid,                                        -- the last offer that it was told of
    email      text,                                        -- where to: an address, or
    endpoint   text,                                        -- a push subscription of a browser (RFC 8030)
    host       text,                                        -- of the endpoint
    p256dh     bytea,                                       -- the browser's public key (RFC 8291)
    auth       bytea,                                       -- and its secret for it
    language   text NOT NULL DEFAULT '' CONSTRAINT "a language is a short tag" CHECK (length(language) <= 20),
    asked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries      integer NOT NULL DEFAULT 0,
    next_try   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a request is of a place or of an entry" CHECK (num_nonnulls(room_id, entry_id) = 1
        AND num_nonnulls(room_id, epoch, kind, index) IN (0, 4) AND (room_id IS NOT NULL OR number IS NULL)),
    CONSTRAINT "a request names an address or a browser" CHECK (num_nonnulls(email, endpoint) = 1 AND num_nonnulls(endpoint, host, p256dh, auth) IN (0, 4)),
    CONSTRAINT "a browser has keys" CHECK (octet_length(p256dh) = 65 AND octet_length(auth) = 16 AND length(endpoint) <= 2000)
);

CREATE UNIQUE INDEX "a place asks for one email and one push message" ON turn_request (room_id, epoch, kind, index, (email IS NULL)) WHERE room_id IS NOT NULL;
CREATE UNIQUE INDEX "a browser is told of an entry once" ON turn_request (entry_id, endpoint) WHERE entry_id IS NOT NULL;
CREATE INDEX turn_request_by_number ON turn_request (room_id, epoch, number) WHERE room_id IS NOT NULL;
CREATE INDEX turn_request_by_email ON turn_request (email) WHERE email IS NOT NULL;

-- The desk counts the requests of a room, and reads no address.
CALL desk_wall('turn_request', 'room_id IN (SELECT room_id FROM event)', 'SELECT (id, room_id)');

-- The key pair by which push services know the box office (VAPID, RFC 8292). Written by seats/turns.
CREATE TABLE push_key (
    id         integer PRIMARY KEY CONSTRAINT "a box office has one push key" CHECK (id = 1),
    public     bytea NOT NULL CONSTRAINT "a public push key is a point" CHECK (octet_length(public) = 65),
    secret     bytea NOT NULL CONSTRAINT "a push key has 32 bytes, or 80 sealed" CHECK (octet_length(secret) IN (32, 80)),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

ALTER TABLE push_key ENABLE ROW LEVEL SECURITY;

-- The address of a mail of kind turn is emptied once the mail was sent or refused.
ALTER TABLE mail
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed',
        'ticket-offer', 'ticket', 'ticket-void', 'email-allow', 'email-confirm', 'turn')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id, transfer_id, email_change_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test', 'turn')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind IN ('place', 'turn')) = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('ticket-offer', 'ticket', 'ticket-void') OR kind IN ('message', 'upcoming', 'join') AND order_id IS NULL) = (transfer_id IS NOT NULL)
           AND (kind IN ('email-allow', 'email-confirm')) = (email_change_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID;
CREATE INDEX mail_turn ON mail (created_at) WHERE kind = 'turn';
