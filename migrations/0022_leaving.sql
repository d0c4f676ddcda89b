-- Two cancellations of one ticket at once: the one that comes to nothing does not take the other's mark away.
ALTER TABLE ticket ADD COLUMN leaving_by uuid;  -- the cancellation that set leaving_until; null if several did

-- A form that is sent twice asks for one mail, and opens a link once, with the same answer.
ALTER TABLE link
    ADD COLUMN asked_key text,         -- of the form that asked last
    ADD COLUMN opened    bytea,        -- SHA-256 of the token used last and of the key of the form that used it
    ADD COLUMN opened_at timestamptz;

CREATE INDEX link_by_key ON link (asked_key) WHERE asked_key IS NOT NULL;
