-- Gift cards pay at the box office. What is left on a card stays in an account of its own, until a person redeems its code. Each new
-- constraint allows what the old one did, so no row is checked.

ALTER TABLE credit_account DROP CONSTRAINT "an account is of a known kind",
    ADD CONSTRAINT "an account is of a known kind" CHECK (kind IN ('attendee', 'card', 'issued', 'held', 'sales')) NOT VALID,
    DROP CONSTRAINT "attendees have an address and a balance, the house has neither",
    ADD CONSTRAINT "attendees and cards have a name and a balance, the house has neither"
        CHECK ((kind IN ('attendee', 'card')) = (email IS NOT NULL) AND (kind IN ('attendee', 'card')) = (balance IS NOT NULL)) NOT VALID;

COMMENT ON COLUMN credit_account.email IS 'of the attendee; of a card, the word card and the id of its voucher';

-- A move is the rest of a card that goes to the account of the person who redeems its code.
ALTER TABLE credit_transfer DROP CONSTRAINT "a transfer is of a known kind",
    ADD CONSTRAINT "a transfer is of a known kind" CHECK (kind IN ('load', 'move', 'grant', 'hold', 'capture', 'void', 'refund')) NOT VALID;

ALTER TABLE till_entry DROP CONSTRAINT "it comes in a known way",
    ADD CONSTRAINT "it comes in a known way" CHECK (method IN ('cash', 'terminal', 'free', 'credit')) NOT VALID;

-- A sale that is paid in two ways has an entry of each.
DROP INDEX "a sale is in one session";
CREATE UNIQUE INDEX "a sale has one entry of a way to pay" ON till_entry (order_id, method) WHERE kind = 'sale';
