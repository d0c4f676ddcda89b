-- Mail with a link is mail of a known kind, beside that about orders.
ALTER TABLE mail DROP CONSTRAINT "a mail is of a known kind";
ALTER TABLE mail ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'link'));
