-- Who has which seat. Narrow and hot: no column that a claim changes is indexed, so that updates stay HOT.

CREATE TABLE seat_state (
    event_id   bigint NOT NULL,
    idx        integer NOT NULL,
    state      smallint NOT NULL DEFAULT 0,  -- 0 free, 1 held, 2 lapsed, 3 paying, 4 sold, 5 blocked
    holder     uuid,                         -- held, lapsed, paying: the attendee; sold: the order; blocked: the house
    expires_at timestamptz,                  -- held, lapsed: when its time is or was up; the rest: infinity
    PRIMARY KEY (event_id, idx),
    FOREIGN KEY (event_id, idx) REFERENCES seat (event_id, idx),
    CONSTRAINT "a seat's state is one of six" CHECK (state BETWEEN 0 AND 5),
    CONSTRAINT "a free seat has no holder, every other seat has one" CHECK ((state = 0) = (holder IS NULL)),
    CONSTRAINT "a seat has a time exactly when it has a holder" CHECK ((holder IS NULL) = (expires_at IS NULL)),
    CONSTRAINT "only held and lapsed seats have an end" CHECK (expires_at IS NULL OR isfinite(expires_at) = (state IN (1, 2)))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);

-- The seats one attendee has in one event, and until when. seats tells where to look; seat_state tells the truth.
CREATE TABLE hold (
    event_id   bigint NOT NULL REFERENCES event,
    holder     uuid NOT NULL,
    id         uuid NOT NULL UNIQUE,
    seats      integer[] NOT NULL,
    expires_at timestamptz NOT NULL,
    extensions integer NOT NULL DEFAULT 0,
    lapsed     boolean NOT NULL DEFAULT false, -- its end has been announced
    PRIMARY KEY (event_id, holder),
    CONSTRAINT "a hold has seats" CHECK (cardinality(seats) > 0),
    CONSTRAINT "a hold has an end" CHECK (isfinite(expires_at)),
    CONSTRAINT "a hold counts its extensions" CHECK (extensions >= 0)
) WITH (fillfactor = 70);

CREATE INDEX hold_next_to_lapse ON hold (expires_at) WHERE NOT lapsed;

-- The answer to a claim that won and carried an idempotency key: a repeat gets the same one.
CREATE TABLE claim (
    event_id   bigint NOT NULL REFERENCES event,
    holder     uuid NOT NULL,
    key        text NOT NULL,
    wish       bytea NOT NULL,        -- SHA-256 of what was asked for
    hold_id    uuid NOT NULL,
    seats      integer[] NOT NULL,    -- the hold's seats as the answer named them
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, holder, key)
);

CREATE INDEX claim_by_age ON claim USING brin (created_at);

-- One row per event, locked last by every writer and until commit: version order is commit order.
-- The arrays have one number per category. Seats that lapsed count as free, seats in payment as held.
CREATE TABLE counter (
    event_id bigint PRIMARY KEY REFERENCES event,
    version  bigint NOT NULL DEFAULT 0,
    free     integer[] NOT NULL,
    held     integer[] NOT NULL,
    sold     integer[] NOT NULL,
    blocked  integer[] NOT NULL,
    CONSTRAINT "remaining is never negative" CHECK (0 <= ALL (free)),
    CONSTRAINT "no count is negative" CHECK (0 <= ALL (held) AND 0 <= ALL (sold) AND 0 <= ALL (blocked))
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0);

-- The change log, one row per batch of commands: a feed without gaps, an audit, every seat's timeline, a replay.
CREATE TABLE change (
    event_id bigint NOT NULL REFERENCES event,
    version  bigint NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    idx      integer[] NOT NULL,
    state    smallint[] NOT NULL,
    holder   uuid[] NOT NULL,        -- null where the seat became free
    free     integer[] NOT NULL,     -- the counter row as of this version
    held     integer[] NOT NULL,
    sold     integer[] NOT NULL,
    blocked  integer[] NOT NULL,
    batch    uuid NOT NULL,          -- made up by the writer, who finds its own row by it when the answer to COMMIT was lost
    passed   integer NOT NULL,       -- seats that passed the guard of the UPDATE in the same statement
    PRIMARY KEY (event_id, version),
    CONSTRAINT "every seat of a change passed the guard" CHECK (passed = cardinality(idx)),
    CONSTRAINT "a change names a state and a holder for each seat"
        CHECK (cardinality(state) = cardinality(idx) AND cardinality(holder) = cardinality(idx))
);
