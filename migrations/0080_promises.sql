-- Waits are promises: between two times a number is called. Written by seats/waitingroom.
ALTER TABLE room ADD forecast jsonb NOT NULL DEFAULT '{}'; -- what promises are made from, remembered from one call to the next
ALTER TABLE room ADD fairness jsonb; -- the report that the organizer published (docs/waiting.md): sums only; null: none

-- Each call records the promise to one random number. Rows of before have an estimate in told_wait.
ALTER TABLE called ADD told_from timestamptz, ADD told_to timestamptz,
    DROP CONSTRAINT "what is told is about a number and a time",
    ADD CONSTRAINT "what is told is about a number and its times" CHECK ((told_number IS NULL) = (told_wait IS NULL AND told_to IS NULL)
        AND (told_from IS NULL) = (told_to IS NULL) AND told_wait >= 0 AND told_from < told_to) NOT VALID;
