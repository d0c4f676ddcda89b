-- Orders whose email is confirmed before they are placed. Such an order is a payment without money: what authorizes it is the
-- click in a mail, and everything else is as with a payment (seats/orders/confirm.go).
ALTER TABLE event
    ADD COLUMN confirm_email text,  -- free orders confirm the email first: always or never; null: if one person gets two tickets at most
    ADD CONSTRAINT "free orders confirm the email always, never or by the limit" CHECK (confirm_email IN ('always', 'never'));

ALTER TABLE payment
    ADD COLUMN confirmed_at timestamptz,  -- when the email was confirmed; null: it was not, or did not have to be
    DROP CONSTRAINT "a payment is of something",
    ADD CONSTRAINT "a payment is of something" CHECK (amount > 0 OR method = 'free' AND amount = 0),
    ADD CONSTRAINT "no money moves for a confirmation" CHECK (method NOT IN ('free', 'door', 'invoice') OR captured = 0 AND state <> 'sold'),
    ADD CONSTRAINT "an order is not placed before its email is confirmed"
        CHECK (method NOT IN ('free', 'door', 'invoice') OR state NOT IN ('authorized', 'captured') OR confirmed_at IS NOT NULL);

-- A visitor who confirmed an address need not again.
CREATE INDEX payment_confirmed ON payment (holder) WHERE confirmed_at IS NOT NULL;

-- Links in the mails that ask for a confirmation: each mail has its own.
CREATE TABLE confirmation (
    hash       bytea PRIMARY KEY,                 -- SHA-256 of 128 random bits
    payment_id uuid NOT NULL REFERENCES payment,  -- what it confirms
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX confirmation_by_payment ON confirmation (payment_id);

ALTER TABLE confirmation ENABLE ROW LEVEL SECURITY; -- the desk does not need it

-- What is unpaid of one email address: orders by its key, the first of theirs, and confirmations under way.
CREATE INDEX orders_unpaid_of_key ON orders (event_id, (keys[1])) WHERE method IN ('door', 'invoice');
CREATE INDEX payment_unpaid_of_key ON payment (event_id, (keys[1])) WHERE method IN ('door', 'invoice') AND state IN ('open', 'authorized');
DROP INDEX orders_paid_later;

-- Mail that asks to confirm an order. Other kinds stay as they are, whichever there are by now.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT conname, pg_get_constraintdef(oid) AS rule FROM pg_constraint
                WHERE conrelid = 'mail'::regclass AND conname IN ('a mail is of a known kind', 'a mail is about one thing, or goes to an address') LOOP
        EXECUTE format('ALTER TABLE mail DROP CONSTRAINT %I, ADD CONSTRAINT %I %s', one.conname, one.conname,
            replace(replace(one.rule, '(kind = ''lost''::text)', '(kind = ANY (ARRAY[''lost''::text, ''confirm''::text]))'),
                    '''message''::text, ''lost''::text', '''message''::text, ''lost''::text, ''confirm''::text'));
    END LOOP;
END $$;
