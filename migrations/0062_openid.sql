-- Organizers sign in at a provider of OpenID Connect.

-- Who an organizer is at a provider. Written by seats/organizers. The subject decides who signs in, whatever the email is later.
CREATE TABLE openid (
    organizer_id bigint NOT NULL REFERENCES organizer,
    issuer       text NOT NULL,              -- address of the provider
    subject      text NOT NULL,              -- the provider's name of the account: never another person's
    email        text NOT NULL,              -- that the provider named when it was connected; only to show
    connected_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at      timestamptz,
    PRIMARY KEY (organizer_id, issuer),
    CONSTRAINT "one identity is one organizer" UNIQUE (issuer, subject),
    CONSTRAINT "an identity has a subject" CHECK (length(subject) BETWEEN 1 AND 255)
);

ALTER TABLE openid ENABLE ROW LEVEL SECURITY; -- the desk does not need it
