-- The sessions that attendees signed in with, which they may list and end. Most sessions are of no account.
CREATE INDEX session_account ON session (token) WHERE position('"account"'::bytea IN data) > 0;
