-- Mail that a receiver refused for good is not tried again; everything else is, until it was sent.
ALTER TABLE mail
    ADD COLUMN refused_at timestamptz,   -- the receiver's server does not want it; error says why
    ADD CONSTRAINT "a mail is sent or refused" CHECK (sent_at IS NULL OR refused_at IS NULL);

DROP INDEX mail_to_send;
CREATE INDEX mail_to_send ON mail (next_try) WHERE sent_at IS NULL AND refused_at IS NULL;
CREATE INDEX mail_by_order ON mail (order_id);
