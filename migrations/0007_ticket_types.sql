-- Ticket types, phases and prices. A type and a phase are retired, never deleted: seats and tickets name them by number.
-- Nodes of the version before go on: what they hold or sell has no price here, and costs what its category does.

-- A ticket type of an event, such as adult or child. Written by seats/pricing. Number 0 is the first one, with the prices
-- of table category.
CREATE TABLE ticket_type (
    event_id        bigint NOT NULL REFERENCES event,
    number          smallint NOT NULL,                -- 0, 1, …
    key             text NOT NULL,
    name            text NOT NULL,
    position        smallint NOT NULL DEFAULT 0,      -- on pages
    sold_to         text NOT NULL DEFAULT 'everyone', -- who may buy it
    least           integer NOT NULL DEFAULT 0,       -- of one order, if it has any
    most            integer NOT NULL DEFAULT 0,       -- of one order; 0: as many as the event allows
    proof           text NOT NULL DEFAULT '',         -- to be shown at the door; empty: none
    with_type       smallint,                         -- only with a ticket of this type
    with_accessible boolean NOT NULL DEFAULT false,   -- only with a wheelchair place
    with_each       integer NOT NULL DEFAULT 0,       -- so many for each of those, at most; 0: any number
    retired         boolean NOT NULL DEFAULT false,   -- not sold any more
    PRIMARY KEY (event_id, number),
    CONSTRAINT "a key of a ticket type is used once" UNIQUE (event_id, key),
    CONSTRAINT "a ticket type has a name" CHECK (length(name) BETWEEN 1 AND 60 AND length(key) BETWEEN 1 AND 40),
    CONSTRAINT "a ticket type is sold to everyone, with a code or at the desk" CHECK (sold_to IN ('everyone', 'code', 'desk')),
    CONSTRAINT "numbers of a ticket type are not negative" CHECK (number >= 0 AND least >= 0 AND most >= 0 AND with_each >= 0),
    CONSTRAINT "a proof is short" CHECK (length(proof) <= 100)
);

-- A phase of the sale with prices of its own, such as early bird. Written by seats/pricing. Of those that run the first counts.
CREATE TABLE phase (
    event_id  bigint NOT NULL REFERENCES event,
    number    smallint NOT NULL,                -- 1, 2, …: the order in which they run, and the position in counter.quota
    name      text NOT NULL,
    begins_at timestamptz,                      -- null: from the beginning
    ends_at   timestamptz,                      -- null: not by time
    sells     integer,                          -- so many seats; null: any number
    retired   boolean NOT NULL DEFAULT false,   -- it does not run any more
    PRIMARY KEY (event_id, number),
    CONSTRAINT "a phase has a name" CHECK (length(name) BETWEEN 1 AND 60),
    CONSTRAINT "a phase sells seats" CHECK (number >= 1 AND sells >= 0),
    CONSTRAINT "a phase begins before it ends" CHECK (begins_at < ends_at)
);

-- The price lists of an event, one for each version of counter.price_version. Written by seats/pricing, and never changed.
-- A combination without a row is not sold, or costs in a phase what it costs without one.
CREATE TABLE price (
    event_id bigint NOT NULL REFERENCES event,
    version  bigint NOT NULL,
    phase    smallint NOT NULL,                 -- 0: while no phase runs
    type     smallint NOT NULL,
    category smallint NOT NULL,
    amount   bigint NOT NULL,                   -- minor units of the event's currency
    percent  integer,                           -- of the first type's price outside of phases, in hundredths; null: an amount was set
    PRIMARY KEY (event_id, version, phase, type, category),
    FOREIGN KEY (event_id, type) REFERENCES ticket_type (event_id, number),
    FOREIGN KEY (event_id, category) REFERENCES category (event_id, number),
    CONSTRAINT "a price of a list is not negative" CHECK (amount >= 0 AND percent >= 0)
);

-- A held or sold seat has the type, the phase and the price of the moment in which it was claimed. An expired one keeps its
-- type alone. The price is null where the seat has none.
ALTER TABLE seat_state
    ADD COLUMN type  smallint NOT NULL DEFAULT 0,
    ADD COLUMN phase smallint NOT NULL DEFAULT 0, -- 0: none
    ADD COLUMN price bigint;

ALTER TABLE counter
    ADD COLUMN price_version bigint NOT NULL DEFAULT 0, -- of the list in table price; a batch that computed with another one is refused
    ADD COLUMN quota         integer[],                 -- by phase, the seats it may still sell; a null: any number, or retired
    ADD CONSTRAINT "a phase sells no more than its limit" CHECK (0 <= ALL (quota));

ALTER TABLE change ADD COLUMN quota integer[]; -- the counter row as of this version

ALTER TABLE ticket ADD COLUMN type smallint NOT NULL DEFAULT 0;

INSERT INTO ticket_type (event_id, number, key, name) SELECT id, 0, 'standard', 'Standard' FROM event;
INSERT INTO price (event_id, version, phase, type, category, amount) SELECT event_id, 0, 0, 0, number, price FROM category;

UPDATE seat_state s SET price = c.price
  FROM seat d JOIN category c ON c.event_id = d.event_id AND c.number = d.category
 WHERE d.event_id = s.event_id AND d.idx = s.idx AND s.state IN (1, 3, 4) /* held, paying, sold */;

CALL desk_wall('ticket_type', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('phase', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('price', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT');
