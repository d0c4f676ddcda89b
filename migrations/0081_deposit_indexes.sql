-- Indexes of what 0078 added to tables that there were. While they are built, those tables are read, and not written.

CREATE INDEX invoice_by_booking ON invoice (booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX invoice_due_by_booking ON invoice_due (booking_id) WHERE booking_id IS NOT NULL;
CREATE UNIQUE INDEX "a deposit is paid online once" ON payout_line (deposit_payment_id) WHERE deposit_payment_id IS NOT NULL AND kind = 'charge';

-- Gift cards whose money went back and is looked at again, as their provider told of it. Written by seats/giftcards.
CREATE INDEX gift_card_looked_at ON gift_card (next_try) WHERE state = 'refunded' AND next_try > refunded_at;
