-- What a tally keeps stands in columns. Tallies are made again from the change log.
DELETE FROM tally;
ALTER TABLE tally
    DROP COLUMN kept,
    ADD COLUMN paid       integer NOT NULL,          -- holds of which a payment began
    ADD COLUMN first_sold timestamptz,
    ADD COLUMN last_sold  timestamptz,               -- when the three paces were as they stand here
    ADD COLUMN pace       double precision NOT NULL, -- seats a minute, over one minute
    ADD COLUMN slow_pace  double precision NOT NULL, -- over five
    ADD COLUMN money_pace double precision NOT NULL, -- minor units a minute, over five
    ADD COLUMN state      smallint[] NOT NULL,       -- of each seat, by idx
    ADD COLUMN holder     uuid[] NOT NULL,           -- null of a seat that is free or sold
    ADD COLUMN price      bigint[] NOT NULL,         -- 0 of a seat that is not sold
    ADD COLUMN hold       uuid[] NOT NULL,           -- holders of holds that have seats, and
    ADD COLUMN begun      bigint[] NOT NULL,         -- when each began, seconds since 1970
    ADD COLUMN ended      smallint[] NOT NULL,       -- 0 open, 1 ordered, 2 lapsed, 3 given back
    ADD COLUMN hold_paid  boolean[] NOT NULL;        -- a payment began
