-- What the page of a waiting room told somebody at each call: that this number would be called so many seconds later. From
-- it follows how right the estimates are.
ALTER TABLE called
    ADD COLUMN told_number bigint,
    ADD COLUMN told_wait   real,
    ADD CONSTRAINT "what is told is about a number and a time" CHECK ((told_number IS NULL) = (told_wait IS NULL) AND told_wait >= 0);
