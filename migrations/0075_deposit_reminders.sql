-- Reminders of deposits that are due soon: the contact of a group gets one. Written by seats/bookings.
ALTER TABLE deposit ADD COLUMN remind_at timestamptz,  -- null: no reminder goes out any more
    ADD COLUMN reminded_at timestamptz;                -- when it went out
CREATE INDEX deposit_remind ON deposit (remind_at) WHERE remind_at IS NOT NULL;
