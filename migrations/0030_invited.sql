-- Mail that invites somebody to a waiting room which is entered by address: once for each address, unless it is sent again.
ALTER TABLE mail
    ADD COLUMN room_id bigint REFERENCES room,
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind"
        CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'lost', 'link', 'invitation', 'password', 'place')),
    DROP CONSTRAINT "a mail is about an order or a payment, or goes to an address",
    ADD CONSTRAINT "a mail is about an order or a payment, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email) = 1 AND (kind IN ('link', 'invitation', 'password', 'place')) = (email IS NOT NULL)
           AND (kind = 'lost') = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind = 'place') = (room_id IS NOT NULL));

CREATE UNIQUE INDEX "an address is invited to a room by one mail" ON mail (room_id, email) WHERE kind = 'place';
