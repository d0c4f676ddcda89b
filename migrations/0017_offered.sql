-- A cancellation prices the tickets that stay by the offer that their order got.
ALTER TABLE orders ADD COLUMN offered jsonb;
COMMENT ON COLUMN orders.offered IS 'the offer that the order was priced by, with the fees and taxes of that time (seats/pricing.Terms); null: none';
ALTER TABLE cancellation ADD COLUMN difference bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN cancellation.difference IS 'what the order keeps more, because the tickets that stay cost more without the offer; negative: a part of an earlier one that goes back';
