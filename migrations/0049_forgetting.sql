-- Why the provider did not forget a card the last time it was asked to.
ALTER TABLE mandate ADD COLUMN error text NOT NULL DEFAULT '';
