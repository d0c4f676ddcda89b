-- Card readers take money at the till.

-- What a team's till session charges cards with. Sales by card in the shop are no entries of tills.
ALTER TABLE till_session ADD COLUMN reader text NOT NULL DEFAULT '', -- the card provider's name of the reader; empty: none
    ADD COLUMN reader_label text NOT NULL DEFAULT '';

ALTER TABLE till_entry DROP CONSTRAINT "it comes in a known way",
    ADD CONSTRAINT "it comes in a known way" CHECK (method IN ('cash', 'terminal', 'card', 'free', 'credit')) NOT VALID;

CREATE UNIQUE INDEX "a reader takes one payment at a time" ON payment ((form->'till'->>'reader')) WHERE form ? 'till' AND state = 'open';
