-- A hold never outlasts the session that it was claimed in. The batch that writes a hold renews its session first.
ALTER TABLE hold
    ADD COLUMN session_ends timestamptz, -- the session lasts until then at least; null if the hold is of no session, such as an offer
    ADD CONSTRAINT "a hold ends no later than its session" CHECK (expires_at <= session_ends);
