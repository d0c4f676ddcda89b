-- A code that is mailed to a person.

ALTER TABLE mail ADD COLUMN code_id uuid REFERENCES code,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed',
        'ticket-offer', 'ticket', 'ticket-void', 'email-allow', 'email-confirm', 'turn', 'resale-offer', 'passkey-added', 'passkey-removed', 'code')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id, transfer_id, email_change_id, resale_offer_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test', 'turn', 'passkey-added', 'passkey-removed', 'code')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind IN ('place', 'turn')) = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('ticket-offer', 'ticket', 'ticket-void') OR kind IN ('message', 'upcoming', 'join') AND order_id IS NULL) = (transfer_id IS NOT NULL)
           AND (kind IN ('email-allow', 'email-confirm')) = (email_change_id IS NOT NULL) AND (kind = 'resale-offer') = (resale_offer_id IS NOT NULL)
           AND (kind = 'code') = (code_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID;
CREATE INDEX mail_by_code ON mail (code_id) WHERE code_id IS NOT NULL;
COMMENT ON COLUMN mail.code_id IS 'kind code: the code that is for who reads it';
