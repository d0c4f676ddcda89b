-- A link by mail shows that somebody reads the mail of an address: then they may see and spend its credit.
-- One row per address, so that asking is counted by the row itself; only the newest link opens anything, and only once.

CREATE TABLE link (
    email      text PRIMARY KEY,
    token      bytea,                                             -- SHA-256 of what the mail says; null until it is written, and once it was used
    expires_at timestamptz NOT NULL,
    asked      integer NOT NULL DEFAULT 1,                        -- how often since
    since      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "one token is one link" UNIQUE (token),
    CONSTRAINT "asking is counted" CHECK (asked > 0),
    CONSTRAINT "the address of a link is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]')
);

CREATE INDEX link_by_age ON link (since);

-- Mail may be about no order. The text of a link's mail is made when it is sent, and its token with it: no row ever has
-- the token itself.
ALTER TABLE mail
    ALTER COLUMN order_id DROP NOT NULL,
    ADD COLUMN email text,                                        -- link: where it goes
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'link')),
    ADD CONSTRAINT "a mail is about an order or goes to an address" CHECK ((order_id IS NULL) = (email IS NOT NULL) AND (kind = 'link') = (email IS NOT NULL));
