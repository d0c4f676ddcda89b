-- The books that a member of a team gets by email, after each month or week. Written by seats/books.
CREATE TABLE book_schedule (
    team_id      bigint NOT NULL,
    organizer_id bigint NOT NULL,
    every        text NOT NULL CONSTRAINT "books come by month or week" CHECK (every IN ('month', 'week')),
    files        text[] NOT NULL CONSTRAINT "books come with known files" CHECK (files <@ '{report,journal,datev}'),
    mailed_to    date NOT NULL,                   -- the last day of the last mail, or the day before the days of the first one
    PRIMARY KEY (team_id, organizer_id),
    FOREIGN KEY (team_id, organizer_id) REFERENCES member ON DELETE CASCADE
);

CALL desk_wall('book_schedule', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');

-- A mail with books goes to a member.
ALTER TABLE mail
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed',
        'ticket-offer', 'ticket', 'ticket-void', 'email-allow', 'email-confirm', 'turn', 'resale-offer', 'passkey-added', 'passkey-removed', 'code', 'alert', 'books')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id, transfer_id, email_change_id, resale_offer_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test', 'turn', 'passkey-added', 'passkey-removed', 'code', 'alert', 'books')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind IN ('place', 'turn')) = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('ticket-offer', 'ticket', 'ticket-void') OR kind IN ('message', 'upcoming', 'join') AND order_id IS NULL) = (transfer_id IS NOT NULL)
           AND (kind IN ('email-allow', 'email-confirm')) = (email_change_id IS NOT NULL) AND (kind = 'resale-offer') = (resale_offer_id IS NOT NULL)
           AND (kind = 'code') = (code_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID;
