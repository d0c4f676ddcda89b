-- Seeds and secrets may be sealed with a key outside the database (seats/seal): 48 bytes more than the secret.
ALTER TABLE ticket_key DROP CONSTRAINT "a seed has 32 bytes",
    ADD CONSTRAINT "a seed has 32 bytes, or 80 sealed" CHECK (octet_length(seed) IN (32, 80));
ALTER TABLE place_key DROP CONSTRAINT "a place is signed with 32 bytes",
    ADD CONSTRAINT "a place is signed with 32 bytes, or 80 sealed" CHECK (octet_length(secret) IN (32, 80));
ALTER TABLE hook_secret DROP CONSTRAINT "a secret cannot be guessed",
    ADD CONSTRAINT "a secret cannot be guessed" CHECK (octet_length(secret) BETWEEN 24 AND 112);
