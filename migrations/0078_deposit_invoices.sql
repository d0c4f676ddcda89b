-- Invoices of deposits of group bookings, payments of deposits on their page, and gift cards that a refused sale set aside. Indexes of tables that
-- there were are in 0081: reads of those tables wait for this migration.

-- A document is of an order, or of a deposit. One of a deposit follows from what is asked for, and from no single change.
ALTER TABLE invoice
    ALTER order_id DROP NOT NULL,
    ALTER due_id DROP NOT NULL,
    ADD COLUMN booking_id uuid,        -- of the deposit
    ADD CONSTRAINT "a document of a deposit has one" FOREIGN KEY (booking_id) REFERENCES deposit NOT VALID,
    ADD CONSTRAINT "a document is of an order or of a deposit"
        CHECK (num_nonnulls(order_id, booking_id) = 1 AND (order_id IS NULL) = (due_id IS NULL) AND (kind <> 'deposit' OR booking_id IS NOT NULL)) NOT VALID,
    DROP CONSTRAINT "a document is an invoice or a credit note",
    ADD CONSTRAINT "a document is an invoice or a credit note" CHECK (kind IN ('invoice', 'credit', 'deposit')) NOT VALID;

ALTER TABLE invoice_due
    ALTER order_id DROP NOT NULL,
    ADD COLUMN booking_id uuid,        -- of a deposit that may need a document
    ADD CONSTRAINT "what is due is of an order or of a deposit" CHECK (num_nonnulls(order_id, booking_id) = 1) NOT VALID;

-- What changes a deposit or ends its booking is noted if the team issues invoices, or if the deposit has one.
CREATE FUNCTION note_deposit_to_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    booking uuid := (to_jsonb(NEW)->>TG_ARGV[0])::uuid;
BEGIN
    INSERT INTO invoice_due (team_id, booking_id)
    SELECT e.team_id, d.booking_id FROM deposit d JOIN event e ON e.id = d.event_id LEFT JOIN invoice_sender s ON s.team_id = e.team_id
     WHERE d.booking_id = booking
       AND (NOT e.demo AND NOT s.paused OR EXISTS (SELECT FROM invoice WHERE booking_id = booking) OR EXISTS (SELECT FROM invoice_due WHERE booking_id = booking));
    RETURN NULL;
END $$;
CREATE TRIGGER "a deposit is to be invoiced" AFTER INSERT OR UPDATE OF amount, rates, withdrawn_at, paid_at, ended_at ON deposit
    FOR EACH ROW EXECUTE FUNCTION note_deposit_to_invoice('booking_id');
CREATE TRIGGER "a deposit of a booking that ends is to be invoiced" AFTER UPDATE OF order_id, cancelled_at ON booking
    FOR EACH ROW EXECUTE FUNCTION note_deposit_to_invoice('id');
CREATE TRIGGER "a deposit of an option that expired is to be invoiced" AFTER UPDATE OF ended_at ON block
    FOR EACH ROW WHEN (NEW.kind = 'group') EXECUTE FUNCTION note_deposit_to_invoice('id');

CREATE FUNCTION note_deposits_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO invoice_due (team_id, booking_id)
    SELECT NEW.team_id, d.booking_id FROM deposit d LEFT JOIN invoice_sender s ON s.team_id = NEW.team_id
     WHERE d.event_id = NEW.id AND d.paid_at IS NULL
       AND (NOT NEW.demo AND NOT s.paused OR EXISTS (SELECT FROM invoice i WHERE i.booking_id = d.booking_id) OR EXISTS (SELECT FROM invoice_due u WHERE u.booking_id = d.booking_id));
    RETURN NULL;
END $$;
CREATE TRIGGER "deposits of a cancelled event are to be invoiced" AFTER UPDATE OF status ON event
    FOR EACH ROW WHEN ((NEW.status = 'cancelled') <> (OLD.status = 'cancelled')) EXECUTE FUNCTION note_deposits_of_event();

-- A payment of a deposit on its page. Written by seats/bookings. What is captured is the deposit, or goes back.
CREATE TABLE deposit_payment (
    id          uuid PRIMARY KEY,              -- the payment's name at the provider
    booking_id  uuid NOT NULL REFERENCES deposit,
    event_id    bigint NOT NULL REFERENCES event,
    method      text NOT NULL,
    currency    text NOT NULL,                 -- ISO 4217
    amount      bigint NOT NULL,               -- minor units
    rates       jsonb NOT NULL,                -- what of it is taxed at which rate, as in deposit
    language    text NOT NULL,                 -- of the payer
    state       text NOT NULL DEFAULT 'open',
    reference   text NOT NULL DEFAULT '',      -- the provider's name of the payment
    page        text NOT NULL DEFAULT '',      -- where it is paid
    reason      text NOT NULL DEFAULT '',      -- why it was not paid, or goes back
    error       text NOT NULL DEFAULT '',      -- of the last call to the provider; empty if it did what was asked for
    tries       integer NOT NULL DEFAULT 0,
    next_try    timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    captured_at timestamptz,
    refunded_at timestamptz,
    CONSTRAINT "a payment of a deposit is of something" CHECK (amount > 0),
    CONSTRAINT "a payment of a deposit is by card" CHECK (method IN ('card', 'demo')),
    CONSTRAINT "a payment of a deposit is in a known state" CHECK (state IN ('open', 'paid', 'refunding', 'refunded', 'closed')),
    CONSTRAINT "a payment of a deposit that was captured says when"
        CHECK ((captured_at IS NOT NULL) = (state IN ('paid', 'refunding', 'refunded')) AND (refunded_at IS NOT NULL) = (state = 'refunded')),
    CONSTRAINT "a language of a payer is a short tag" CHECK (length(language) <= 20)
);
CREATE UNIQUE INDEX "a deposit has one payment under way" ON deposit_payment (booking_id) WHERE state = 'open';
CREATE INDEX deposit_payment_by_booking ON deposit_payment (booking_id);
CREATE INDEX deposit_payment_due ON deposit_payment (next_try) WHERE state IN ('open', 'refunding');
CREATE INDEX deposit_payment_looked_at ON deposit_payment (next_try) WHERE state = 'refunded' AND next_try > refunded_at;
CREATE INDEX deposit_payment_captured ON deposit_payment (event_id) WHERE captured_at IS NOT NULL;
CALL desk_wall('deposit_payment', 'event_id IN (SELECT id FROM event)');

-- deposit.rates is what is taxed at which rate from when the deposit is asked for, and as it was when it came.
ALTER TABLE deposit
    ADD COLUMN payment_id uuid UNIQUE,         -- that paid it online
    ADD CONSTRAINT "a deposit that was paid online has its payment" FOREIGN KEY (payment_id) REFERENCES deposit_payment,
    ADD CONSTRAINT "only online a deposit has a payment" CHECK ((payment_id IS NULL) = (method NOT IN ('card', 'demo'))) NOT VALID,
    ADD CONSTRAINT "a deposit goes back to a card by which it was paid" CHECK (back NOT IN ('card', 'demo') OR back = method) NOT VALID,
    DROP CONSTRAINT "a deposit is paid in a known way",
    ADD CONSTRAINT "a deposit is paid in a known way"
        CHECK (method IN ('', 'invoice', 'cash', 'terminal', 'card', 'demo') AND back IN ('', 'invoice', 'cash', 'card', 'demo')) NOT VALID;

CREATE OR REPLACE FUNCTION deposit_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.paid_at IS NULL THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.ended_at IS NULL AND
       (NEW.booking_id, NEW.event_id, NEW.code, NEW.amount, NEW.due_at, NEW.refundable_until, NEW.paid_at, NEW.method, NEW.rates, NEW.payment_id)
       IS NOT DISTINCT FROM (OLD.booking_id, OLD.event_id, OLD.code, OLD.amount, OLD.due_at, OLD.refundable_until, OLD.paid_at, OLD.method, OLD.rates, OLD.payment_id) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a paid deposit is never changed, and ends once';
END $$;

-- A line of a payout may be of such a payment.
ALTER TABLE payout_line
    ADD COLUMN deposit_payment_id uuid REFERENCES deposit_payment,
    ADD CONSTRAINT "a line of a deposit is of nothing else, and a team's"
        CHECK (deposit_payment_id IS NULL OR payment_id IS NULL AND gift_card_id IS NULL AND team_id IS NOT NULL) NOT VALID;

-- A gift card that a refused sale at the till set aside is paid back as one that was never used: what it loaded is unloaded.
ALTER TABLE credit_transfer DROP CONSTRAINT "a transfer is of a known kind",
    ADD CONSTRAINT "a transfer is of a known kind" CHECK (kind IN ('load', 'unload', 'move', 'grant', 'hold', 'capture', 'void', 'refund')) NOT VALID;
