-- Mails are written in the language of their reader. orders.language has that of an order.
ALTER TABLE entry ADD COLUMN language text NOT NULL DEFAULT '' CONSTRAINT "a language is a short tag" CHECK (length(language) <= 20);
ALTER TABLE gift_card ADD COLUMN language text NOT NULL DEFAULT '' CONSTRAINT "a language is a short tag" CHECK (length(language) <= 20);
ALTER TABLE mail ADD COLUMN language text NOT NULL DEFAULT '' CONSTRAINT "a language is a short tag" CHECK (length(language) <= 20);
COMMENT ON COLUMN entry.language IS 'of the person, as BCP 47 writes it; empty: that of the event';
COMMENT ON COLUMN gift_card.language IS 'of the buyer, as BCP 47 writes it; empty: not known';
COMMENT ON COLUMN mail.language IS 'of a mail with a link, as BCP 47 writes it; others have that of their order, payment, entry or gift card';
