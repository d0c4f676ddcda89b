-- Deposits of group bookings: what the contact of a group is asked to pay before its order. Written by seats/bookings.
CREATE TABLE deposit (
    booking_id       uuid PRIMARY KEY REFERENCES booking,
    event_id         bigint NOT NULL REFERENCES event,
    code             text NOT NULL UNIQUE,           -- of the link in the contact's email
    amount           bigint NOT NULL,                -- minor units, as all amounts
    due_at           timestamptz NOT NULL,
    refundable_until timestamptz,                    -- it goes back if the booking ends until then; null: the team may keep it at any time
    withdrawn_at     timestamptz,                    -- it is not asked for any more; its link says so
    paid_at          timestamptz,
    method           text NOT NULL DEFAULT '',       -- how it was paid
    rates            jsonb NOT NULL DEFAULT '[]',    -- what of it is taxed at which rate, when it was paid: [{"rate", "amount", "tax"}]
    ended_at         timestamptz,                    -- when the order took it over, it was paid back, or it was retained
    outcome          text NOT NULL DEFAULT '',
    order_id         uuid UNIQUE REFERENCES orders,  -- that took it over
    back             text NOT NULL DEFAULT '',       -- how it was paid back
    CONSTRAINT "a deposit that was withdrawn is not paid" CHECK (withdrawn_at IS NULL OR paid_at IS NULL),
    CONSTRAINT "a deposit is of something" CHECK (amount > 0),
    CONSTRAINT "a deposit is paid in a known way" CHECK (method IN ('', 'invoice', 'cash', 'terminal') AND back IN ('', 'invoice', 'cash')),
    CONSTRAINT "a paid deposit says how" CHECK ((paid_at IS NULL) = (method = '')),
    CONSTRAINT "a deposit ends in one way" CHECK (outcome IN ('', 'order', 'refunded', 'retained') AND (ended_at IS NULL) = (outcome = '')),
    CONSTRAINT "only a paid deposit ends" CHECK (ended_at IS NULL OR paid_at IS NOT NULL),
    CONSTRAINT "a deposit has the order that took it over" CHECK ((order_id IS NULL) = (outcome <> 'order')),
    CONSTRAINT "a deposit that was paid back says how" CHECK ((back = '') = (outcome <> 'refunded'))
);
CREATE INDEX deposit_paid ON deposit (event_id, paid_at) WHERE paid_at IS NOT NULL;
CREATE INDEX deposit_open ON deposit (event_id) WHERE paid_at IS NOT NULL AND ended_at IS NULL;

-- What was shown before it was paid stands. It ends once.
CREATE FUNCTION deposit_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.paid_at IS NULL THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.ended_at IS NULL AND
       (NEW.booking_id, NEW.event_id, NEW.code, NEW.amount, NEW.due_at, NEW.refundable_until, NEW.paid_at, NEW.method, NEW.rates)
       IS NOT DISTINCT FROM (OLD.booking_id, OLD.event_id, OLD.code, OLD.amount, OLD.due_at, OLD.refundable_until, OLD.paid_at, OLD.method, OLD.rates) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a paid deposit is never changed, and ends once';
END $$;
CREATE TRIGGER "a paid deposit stands" BEFORE UPDATE OR DELETE ON deposit FOR EACH ROW EXECUTE FUNCTION deposit_stands();

CALL desk_wall('deposit', 'event_id IN (SELECT id FROM event)');

-- What an order took over of a deposit is a receipt of it.
ALTER TABLE receipt ADD COLUMN deposit_id uuid,
    ADD CONSTRAINT "a receipt of a deposit has one" FOREIGN KEY (deposit_id) REFERENCES deposit NOT VALID,
    ADD CONSTRAINT "a receipt is of an entry or of a deposit" CHECK (entry_id IS NULL OR deposit_id IS NULL) NOT VALID;
CREATE UNIQUE INDEX "a deposit has one receipt" ON receipt (deposit_id) WHERE deposit_id IS NOT NULL;

-- A deposit that came into a till, or was paid back out of it, is an entry of no order.
ALTER TABLE till_entry ADD COLUMN deposit_id uuid,
    ADD CONSTRAINT "an entry of a deposit has one" FOREIGN KEY (deposit_id) REFERENCES deposit NOT VALID,
    DROP CONSTRAINT "an entry is of a kind",
    ADD CONSTRAINT "an entry is of a kind" CHECK (kind IN ('sale', 'payment', 'refund', 'in', 'out', 'deposit', 'deposit back')) NOT VALID,
    DROP CONSTRAINT "an entry of orders names one, another its reason",
    ADD CONSTRAINT "an entry names its order or deposit, another its reason"
        CHECK ((order_id IS NOT NULL) = (kind IN ('sale', 'payment', 'refund')) AND (deposit_id IS NOT NULL) = (kind IN ('deposit', 'deposit back'))
           AND (kind NOT IN ('in', 'out') OR reason <> '' AND method = 'cash')) NOT VALID;
CREATE UNIQUE INDEX "a deposit is in one session" ON till_entry (deposit_id, kind) WHERE deposit_id IS NOT NULL;
