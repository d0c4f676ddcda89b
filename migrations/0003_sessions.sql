-- Browser sessions. token is a hash of what the cookie carries; a row is inserted once and never brought back.

CREATE TABLE session (
    token      text PRIMARY KEY,
    data       bytea NOT NULL,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX session_by_end ON session (expires_at);
