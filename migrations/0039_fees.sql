-- What an order costs besides the prices of its seats. Each ticket carries its share, so that it takes it along when it is
-- cancelled; the order says what the shares come to.

ALTER TABLE event
    ADD COLUMN fee_ticket  bigint  NOT NULL DEFAULT 0,      -- for each ticket with a price, minor units
    ADD COLUMN fee_order   bigint  NOT NULL DEFAULT 0,      -- once for each order, minor units
    ADD COLUMN fee_percent integer NOT NULL DEFAULT 0,      -- of the prices, in hundredths of a percent
    ADD COLUMN fee_kept    boolean NOT NULL DEFAULT false,  -- fees do not go back with a cancelled ticket
    ADD CONSTRAINT "fees are not negative" CHECK (fee_ticket >= 0 AND fee_order >= 0 AND fee_percent BETWEEN 0 AND 10000);

ALTER TABLE orders
    ADD COLUMN fee      bigint  NOT NULL DEFAULT 0,         -- of total: the shares of its tickets
    ADD COLUMN fee_kept boolean NOT NULL DEFAULT false,     -- as the event said when it was placed
    ADD COLUMN kept     bigint  NOT NULL DEFAULT 0,         -- of paid: fees of cancelled tickets that did not go back
    ADD CONSTRAINT "a fee is a part of the total" CHECK (fee BETWEEN 0 AND total),
    ADD CONSTRAINT "what is kept of fees was paid" CHECK (kept >= 0 AND (kept = 0 OR fee_kept));

ALTER TABLE ticket
    ADD COLUMN fee bigint NOT NULL DEFAULT 0,               -- its share, minor units
    ADD CONSTRAINT "only a ticket with a price has a fee" CHECK (fee = 0 OR fee > 0 AND price > 0);

DROP INDEX order_with_waived;
CREATE INDEX order_with_waived ON orders (event_id) INCLUDE (waived, kept) WHERE waived > 0 OR kept > 0;
