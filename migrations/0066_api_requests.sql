-- A request that came with an API key, for who writes the program. Written by seats/organizers, some of a second at once, after the
-- answer. It has neither a body nor an address as it was typed. The last thousand of a key are kept, for a week.
CREATE TABLE api_request (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key_id     bigint NOT NULL REFERENCES api_key,
    at         timestamptz NOT NULL,             -- when it came
    method     text NOT NULL,
    route      text NOT NULL,                    -- such as /desk/events/{slug}
    status     smallint NOT NULL,
    took       integer NOT NULL,                 -- milliseconds
    request_id text NOT NULL,                    -- the header X-Request-Id of its answer
    once       bytea,                            -- a hash of its Idempotency-Key; null: it had none
    code       text NOT NULL DEFAULT '',         -- of the error
    words      text NOT NULL DEFAULT '',         -- the message of the error, without what fills it
    fields     text[] NOT NULL DEFAULT '{}',     -- that were wrong
    CONSTRAINT "a request has an answer" CHECK (status BETWEEN 100 AND 599 AND took >= 0)
);

CREATE INDEX api_request_by_key ON api_request (key_id, id);

CALL desk_wall('api_request', 'EXISTS (SELECT FROM api_key k WHERE k.id = api_request.key_id)');
