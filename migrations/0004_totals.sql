-- What tickets cost, all-in: fees by the ticket alone, tax, and discounts.

-- A fee for each order cannot be inside of the price of a ticket, and is gone.
ALTER TABLE event
    DROP COLUMN fee_order,
    ADD COLUMN fee_absorbed boolean NOT NULL DEFAULT false, -- fees are inside of the prices, instead of coming to them
    ADD COLUMN price_rules  jsonb NOT NULL DEFAULT '{}',    -- tax and offers, as seats.PriceRules
    ADD CONSTRAINT "fees per ticket are not negative" CHECK (fee_ticket >= 0 AND fee_percent BETWEEN 0 AND 10000);

ALTER TABLE orders
    ADD COLUMN discount bigint NOT NULL DEFAULT 0,          -- what its tickets would have cost more without it
    ADD COLUMN offer    text NOT NULL DEFAULT '',           -- the name of the offer that it is for; empty: a code, or none
    ADD CONSTRAINT "a discount is not negative" CHECK (discount >= 0);

-- The price and the fee contain their taxes. Rates are in thousandths of a percent.
ALTER TABLE ticket
    DROP CONSTRAINT "only a ticket with a price has a fee",
    ADD COLUMN discount bigint NOT NULL DEFAULT 0,          -- what the price and the fee would be more without it
    ADD COLUMN tax      bigint NOT NULL DEFAULT 0,          -- contained in the price
    ADD COLUMN fee_tax  bigint NOT NULL DEFAULT 0,          -- contained in the fee
    ADD COLUMN tax_rate integer NOT NULL DEFAULT 0,
    ADD COLUMN fee_rate integer NOT NULL DEFAULT 0,
    ADD CONSTRAINT "fee and discount of a ticket are not negative" CHECK (fee >= 0 AND discount >= 0),
    ADD CONSTRAINT "a tax is contained in its amount" CHECK (tax BETWEEN 0 AND price AND fee_tax BETWEEN 0 AND fee);
