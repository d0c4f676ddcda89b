-- Invoices of teams. The trigger on orders notes what is to be invoiced in the order's transaction; one job numbers it after
-- the commit. So no sale waits for a number, and no number is taken by a sale that is rolled back.

-- The seller on a team's invoices. Written by seats/invoices. Orders of a team without a row get no invoice.
CREATE TABLE invoice_sender (
    team_id    bigint PRIMARY KEY REFERENCES team,
    name       text NOT NULL,                        -- the legal name
    street     text NOT NULL,
    postcode   text NOT NULL,
    city       text NOT NULL,
    country    text NOT NULL,                        -- ISO 3166-1 alpha-2
    vat_id     text NOT NULL DEFAULT '',
    tax_number text NOT NULL DEFAULT '',             -- of the local tax office, for a team without a VAT id
    register   text NOT NULL DEFAULT '',             -- such as "Companies House 01234567"
    email      text NOT NULL DEFAULT '',
    exemption  text NOT NULL DEFAULT '',             -- why no tax is charged at the rate 0
    prefix     text NOT NULL DEFAULT '',             -- of the numbers
    paused     boolean NOT NULL DEFAULT false,       -- orders placed meanwhile get no invoice
    CONSTRAINT "a sender has a name and an address" CHECK (name <> '' AND street <> '' AND city <> ''),
    CONSTRAINT "a country has two letters" CHECK (country ~ '^[A-Z]{2}$'),
    CONSTRAINT "a sender has a VAT id or a tax number" CHECK (vat_id <> '' OR tax_number <> ''),
    CONSTRAINT "texts of a sender are short"
        CHECK (length(name) <= 200 AND length(street) <= 200 AND length(postcode) <= 20 AND length(city) <= 100 AND length(vat_id) <= 20
               AND length(tax_number) <= 40 AND length(register) <= 200 AND length(email) <= 254 AND length(exemption) <= 300 AND length(prefix) <= 10)
);

-- The last number of a team in a year. Written by seats/invoices. Its lock is the one under which documents are numbered.
CREATE TABLE invoice_series (
    team_id bigint NOT NULL REFERENCES team,
    year    integer NOT NULL,
    last    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (team_id, year),
    CONSTRAINT "numbers count from 1" CHECK (last >= 0)
);

-- A change of an order that needs a document which has no number yet. Inserted by triggers, deleted by seats/invoices in
-- the transaction that numbers the document. Written by seats/invoices.
CREATE TABLE invoice_due (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id         bigint NOT NULL,
    order_id        uuid NOT NULL,
    change          xid8 NOT NULL DEFAULT pg_current_xact_id(), -- rows of one transaction and order make one document
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    placed          boolean NOT NULL DEFAULT false, -- the order was placed
    cancellation_id uuid,                           -- tickets were cancelled
    kept            bigint NOT NULL DEFAULT 0,      -- so much more is kept of cancelled tickets
    waived          bigint NOT NULL DEFAULT 0       -- so much more went back although the tickets are valid
);

CREATE INDEX invoice_due_by_team ON invoice_due (team_id, id);
CREATE INDEX invoice_due_by_order ON invoice_due (order_id);

-- An invoice or credit note. Written by seats/invoices, and never changed or deleted: a correction is another document.
CREATE TABLE invoice (
    team_id   bigint NOT NULL REFERENCES team,
    year      integer NOT NULL,
    number    bigint NOT NULL,                 -- from 1, without a gap
    label     text NOT NULL,                   -- the number as it is written, such as 2030-000017
    kind      text NOT NULL,
    event_id  bigint NOT NULL,
    order_id  uuid NOT NULL,
    due_id    bigint NOT NULL,                 -- the first row of invoice_due that it is made of
    issued_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    issued_on date NOT NULL,                   -- the day in the time zone of the event
    currency  text NOT NULL,                   -- ISO 4217
    net       bigint NOT NULL,                 -- minor units, as all amounts; those of a credit note are positive, too
    tax       bigint NOT NULL,
    gross     bigint NOT NULL,
    content   jsonb NOT NULL,                  -- seller, buyer, lines and the rest, as of the day (seats/invoices/document.go)
    PRIMARY KEY (team_id, year, number),
    CONSTRAINT "an invoice belongs to an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "a change is invoiced once" UNIQUE (due_id),
    CONSTRAINT "a document is an invoice or a credit note" CHECK (kind IN ('invoice', 'credit')),
    CONSTRAINT "net and tax are the gross amount" CHECK (net + tax = gross),
    CONSTRAINT "a document has an amount" CHECK (gross > 0 AND net >= 0 AND tax >= 0)
);

CREATE INDEX invoice_by_order ON invoice (order_id);

-- The company and address of a buyer who asked for them on the invoice (orders.Billing).
ALTER TABLE orders ADD COLUMN billing jsonb NOT NULL DEFAULT '{}';

CREATE FUNCTION invoice_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an invoice is never changed: correct it with another document';
END $$;
CREATE TRIGGER "an invoice is never changed" BEFORE UPDATE OR DELETE OR TRUNCATE ON invoice FOR EACH STATEMENT EXECUTE FUNCTION invoice_stands();

-- An order is noted if its team issues invoices. A later change is noted if the order has an invoice, or is to get one.
CREATE FUNCTION note_to_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'cancellation' THEN
        INSERT INTO invoice_due (team_id, order_id, cancellation_id)
        SELECT e.team_id, NEW.order_id, NEW.id FROM event e
         WHERE e.id = NEW.event_id AND NEW.amount > 0 AND (EXISTS (SELECT FROM invoice WHERE order_id = NEW.order_id) OR EXISTS (SELECT FROM invoice_due WHERE order_id = NEW.order_id));
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO invoice_due (team_id, order_id, kept, waived)
        SELECT e.team_id, NEW.id, NEW.kept - OLD.kept, NEW.waived - OLD.waived FROM event e
         WHERE e.id = NEW.event_id AND (EXISTS (SELECT FROM invoice WHERE order_id = NEW.id) OR EXISTS (SELECT FROM invoice_due WHERE order_id = NEW.id));
    ELSE
        INSERT INTO invoice_due (team_id, order_id, placed)
        SELECT s.team_id, NEW.id, true FROM event e JOIN invoice_sender s ON s.team_id = e.team_id
         WHERE e.id = NEW.event_id AND NOT e.demo AND NOT s.paused;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "an order is to be invoiced" AFTER INSERT ON orders FOR EACH ROW WHEN (NEW.total > 0) EXECUTE FUNCTION note_to_invoice();
CREATE TRIGGER "a changed order is to be invoiced" AFTER UPDATE OF kept, waived ON orders
    FOR EACH ROW WHEN (NEW.kept <> OLD.kept OR NEW.waived <> OLD.waived) EXECUTE FUNCTION note_to_invoice();
CREATE TRIGGER "a cancellation is to be credited" AFTER INSERT ON cancellation FOR EACH ROW EXECUTE FUNCTION note_to_invoice();

CALL desk_wall('invoice_sender', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('invoice', 'team_id = desk_team()');
CALL desk_wall('invoice_due', 'team_id = desk_team()');
CALL desk_wall('invoice_series', 'team_id = desk_team()');
