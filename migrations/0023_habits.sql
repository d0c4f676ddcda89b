-- What people do who were let in, for the controller of a room and for whoever asks later: how many seats each bought, and
-- who went away without buying or giving up.
ALTER TABLE admission
    ADD COLUMN seats integer NOT NULL DEFAULT 0, -- bought
    DROP CONSTRAINT "an admission ends in one of two ways",
    ADD CONSTRAINT "an admission ends in one of three ways"
        CHECK ((outcome IS NULL) = (left_at IS NULL) AND outcome IN ('bought', 'gave up', 'went away')),
    ADD CONSTRAINT "nobody buys less than no seat" CHECK (seats >= 0);

CREATE INDEX admission_not_ended ON admission (room_id, admitted_at) WHERE outcome IS NULL;
