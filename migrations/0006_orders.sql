-- What follows a hold: an order, its tickets, the keys that sign them, and the mail that tells of it.
-- Orders and tickets are written in the transaction that sells the seats (seats/orders); an order's id is the holder of
-- its seats in seat_state.

ALTER TABLE event
    ADD COLUMN asks_birth  boolean NOT NULL DEFAULT false,  -- every order says a date of birth
    ADD COLUMN pay_at_door boolean NOT NULL DEFAULT true;   -- who has something to pay may pay when they come

CREATE TABLE orders (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    code       text NOT NULL,            -- whoever knows it may see the order: 128 random bits
    state      text NOT NULL DEFAULT 'confirmed',
    holder     uuid NOT NULL,            -- the attendee whose hold it was
    hold_id    uuid NOT NULL,            -- the hold it came from: the key by which a repeat finds it
    wish       bytea NOT NULL,           -- SHA-256 of what was asked for
    name       text NOT NULL,
    email      text NOT NULL,
    born       date,
    method     text NOT NULL,            -- how it is paid: free, door
    currency   text NOT NULL,            -- ISO 4217
    total      bigint NOT NULL,          -- minor units
    paid       bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (event_id, id),
    CONSTRAINT "one code is one order" UNIQUE (code),
    CONSTRAINT "one hold makes one order" UNIQUE (hold_id),
    CONSTRAINT "an order is confirmed or cancelled" CHECK (state IN ('confirmed', 'cancelled')),
    CONSTRAINT "an order is paid in a known way" CHECK (method IN ('free', 'door')),
    CONSTRAINT "only an order without a price is free" CHECK ((method = 'free') = (total = 0)),
    CONSTRAINT "amounts are not negative" CHECK (total >= 0 AND paid >= 0),
    CONSTRAINT "nobody pays more than the total" CHECK (paid <= total),
    CONSTRAINT "an order has a name and an address" CHECK (name <> '' AND email <> ''),
    CONSTRAINT "texts of an order are short" CHECK (length(name) <= 200 AND length(email) <= 254)
);

CREATE TABLE ticket (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL,
    order_id   uuid NOT NULL,
    idx        integer NOT NULL,
    price      bigint NOT NULL,          -- minor units of the order's currency
    revoked_at timestamptz,              -- from then on its code opens no door
    CONSTRAINT "a ticket belongs to an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "a ticket is for a seat of its event" FOREIGN KEY (event_id, idx) REFERENCES seat (event_id, idx),
    CONSTRAINT "a ticket's price is not negative" CHECK (price >= 0)
);

CREATE UNIQUE INDEX "one live ticket is there for a seat" ON ticket (event_id, idx) WHERE revoked_at IS NULL;
CREATE INDEX ticket_by_order ON ticket (order_id, idx);

-- The keys that sign ticket codes. One signs; those before it are still believed until they are revoked.
CREATE TABLE ticket_key (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seed       bytea NOT NULL,           -- Ed25519, RFC 8032; secret
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    signs      boolean NOT NULL DEFAULT true,
    revoked_at timestamptz,
    CONSTRAINT "a seed has 32 bytes" CHECK (octet_length(seed) = 32),
    CONSTRAINT "a revoked key signs nothing" CHECK (NOT signs OR revoked_at IS NULL)
);

CREATE UNIQUE INDEX "one key signs" ON ticket_key (signs) WHERE signs;

-- Mail that is to go out. Its text is made of the order when it is sent, so nothing of a person stands here twice.
CREATE TABLE mail (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id   uuid NOT NULL REFERENCES orders,
    kind       text NOT NULL,            -- confirmation
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries      integer NOT NULL DEFAULT 0,
    next_try   timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_at    timestamptz,
    error      text NOT NULL DEFAULT '', -- of the last try
    CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation')),
    CONSTRAINT "tries are counted" CHECK (tries >= 0)
);

CREATE INDEX mail_to_send ON mail (next_try) WHERE sent_at IS NULL;
