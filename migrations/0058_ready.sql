-- What /readyz writes: a node is ready only while the database keeps what it is told, which it does not on a full or read-only disk.
CREATE TABLE ready (
    lone       boolean PRIMARY KEY DEFAULT true, -- one row
    written_at timestamptz NOT NULL,             -- when a node last asked
    CONSTRAINT "there is one row" CHECK (lone)
);
INSERT INTO ready (written_at) VALUES (clock_timestamp());

ALTER TABLE ready ENABLE ROW LEVEL SECURITY; -- the desk does not need it
