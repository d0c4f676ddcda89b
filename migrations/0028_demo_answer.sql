-- What the demo card was told for a charge: the first answer counts, and another one is refused.
ALTER TABLE demo_charge ADD COLUMN answer text NOT NULL DEFAULT '';
