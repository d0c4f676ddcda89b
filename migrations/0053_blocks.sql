-- What seats are kept off sale for, for whom, and until when. Written by seats.

ALTER TABLE block
    ADD COLUMN kind     text NOT NULL DEFAULT '',  -- house, promoter, press, technical, killed; empty: not said
    ADD COLUMN owner    text NOT NULL DEFAULT '',  -- who uses the seats, or decides about them
    ADD COLUMN ends_at  timestamptz,               -- from then on its seats are on sale; null: until they are unblocked
    ADD COLUMN ended_at timestamptz,               -- when that was done
    ADD CONSTRAINT "the owner of a block is short" CHECK (length(owner) <= 200),
    ADD CONSTRAINT "a block ends when its time is up" CHECK (ended_at IS NULL OR ended_at >= ends_at);

CREATE INDEX block_ends ON block (ends_at) WHERE ends_at IS NOT NULL AND ended_at IS NULL;

GRANT UPDATE (kind, owner, reason, ends_at) ON block TO usher_desk;
