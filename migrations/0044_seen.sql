-- Who waited before whom is told by what one transaction saw of another, and not by clocks (promise W5 of seats/waitlist).
-- Of what was written before, and in another cluster, nothing is known: null, or what no snapshot of this one saw.

ALTER TABLE entry
    ADD COLUMN waits_in  xid8, -- in which transaction waits_since was written
    ADD COLUMN passed_in xid8; -- and passed_at

ALTER TABLE offer
    ADD COLUMN saw     pg_snapshot, -- what was committed before the list was read
    ADD COLUMN made_in xid8;        -- in which transaction it was made
ALTER TABLE offer ALTER COLUMN made_in SET DEFAULT pg_current_xact_id();
