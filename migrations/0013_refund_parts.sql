-- A refund over credit and a card that the card provider could not make in the end: credit gave its part back, and the rest
-- is paid out by hand.
ALTER TABLE refund ADD COLUMN by_credit bigint NOT NULL DEFAULT 0; -- of amount: credit gave it back, although the rest failed
ALTER TABLE refund ADD CONSTRAINT "only a refund by hand has a part by credit" CHECK (by_credit = 0 OR by_hand AND by_credit BETWEEN 1 AND amount - 1) NOT VALID;
