-- Documents of an order are written in the language that its buyer reads.
ALTER TABLE orders ADD COLUMN language text NOT NULL DEFAULT '' CONSTRAINT "a language is a short tag" CHECK (length(language) <= 20);
COMMENT ON COLUMN orders.language IS 'of the buyer, as BCP 47 writes it; empty: not known';
