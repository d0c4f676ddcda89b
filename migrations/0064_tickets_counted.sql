-- A count below zero would permit its person more tickets than the limit.
UPDATE purchase_key SET tickets = 0 WHERE tickets < 0;

ALTER TABLE purchase_key
    ADD CONSTRAINT "the tickets of a person are not negative" CHECK (tickets >= 0);
