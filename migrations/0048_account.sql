-- An account lists the waiting-list entries of its address, and may be opened with a passkey.
CREATE INDEX entry_by_email ON entry (email) WHERE state IN ('new', 'waiting', 'offered');

-- A passkey of an attendee (WebAuthn), for the account of an address. Written by seats/credit.
CREATE TABLE account_passkey (
    id         bytea PRIMARY KEY,          -- the authenticator's name of it
    email      text NOT NULL,
    handle     bytea NOT NULL,             -- random: what authenticators know the address by, the same for all of its passkeys
    name       text NOT NULL,
    credential jsonb NOT NULL,             -- public key, counter, and what is known of the authenticator
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at    timestamptz,
    CONSTRAINT "a passkey of an account has a name" CHECK (length(name) BETWEEN 1 AND 100),
    CONSTRAINT "the address of a passkey is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]')
);

ALTER TABLE account_passkey ENABLE ROW LEVEL SECURITY; -- the desk does not need it

CREATE INDEX account_passkey_by_email ON account_passkey (email);
CREATE INDEX account_passkey_by_handle ON account_passkey (handle);
