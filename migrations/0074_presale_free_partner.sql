-- How many tickets one person may have with a code before the event is on sale.

ALTER TABLE code
    ADD COLUMN person_tickets integer NOT NULL DEFAULT 0, -- 0: as many as the event lets them have
    ADD CONSTRAINT "a limit of tickets is that of a presale" CHECK (person_tickets >= 0 AND (person_tickets = 0 OR presale)) NOT VALID;

-- Why the tickets of an order cost nothing, as the box office noted it; empty: they cost something, or it noted nothing.
ALTER TABLE orders ADD COLUMN free_reason text NOT NULL DEFAULT '' CONSTRAINT "a reason for free tickets is short" CHECK (length(free_reason) <= 200);

-- The code of the reserved seats that a program may sell with a key, and no others; null: the key is not that of a partner.
ALTER TABLE api_key ADD COLUMN code_id uuid REFERENCES code;
GRANT SELECT (code_id) ON api_key TO usher_desk;
