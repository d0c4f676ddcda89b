-- Money that was given back at the provider, without being asked for here.
ALTER TABLE refund
    ADD COLUMN elsewhere boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT "what was given back elsewhere was given back" CHECK (NOT elsewhere OR done_at IS NOT NULL);
