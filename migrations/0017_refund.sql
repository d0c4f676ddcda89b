-- What a cancellation gives back is a refund, written with it.
ALTER TABLE refund ADD COLUMN cancellation_id uuid REFERENCES cancellation;

CREATE UNIQUE INDEX "a cancellation is given back once" ON refund (cancellation_id) WHERE cancellation_id IS NOT NULL;

-- A checkout asks for the payments of its hold, those that are over as well.
CREATE INDEX payment_by_hold ON payment (hold_id, holder);
