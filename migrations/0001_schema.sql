-- The schema of Usher, whole, grouped by noun. Later migrations add to it.
--
-- How to read it
--   * A comment above each table says what a row is, which package writes it, and what a reader must know.
--   * Constraints have sentences as names. The sentence is the rule, and the error that a violation reports.
--   * Money is in minor units of an ISO 4217 currency. Times are the database's: clock_timestamp(), never a node's clock.
--   * A secret that a link or cookie carries is stored as its SHA-256. The secret itself is in no row.
--   * Every writer locks in one order: hold by holder, slot by holder, seat_state by idx, the counter row last.
--   * Every table has row-level security. The last part says what organizers see and change.
--
--   1 team, plan, event      5 session      9 credit           13 organizers      17 readiness
--   2 seat                   6 order       10 waiting room     14 desk            18 rights of the desk
--   3 hold                   7 ticket      11 waiting list     15 mail
--   4 counts and change log  8 payment     12 limits           16 webhooks


-- 1 Team, plan, event --------------------------------------------------------------------------------------------------

-- A team of organizers, which owns events. Written by seats/organizers. The first team is there from the beginning.
CREATE TABLE team (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    second_factor boolean NOT NULL DEFAULT false,  -- every member has to show one
    CONSTRAINT "a team has a name" CHECK (length(name) BETWEEN 1 AND 100)
);

INSERT INTO team (name) VALUES ('Box office');

-- The owner of an event that is created without a team, as by the command line.
CREATE FUNCTION first_team() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT min(id) FROM team';

-- The drawing that events were made of. Written by seats/events, once for each different plan, and never changed.
-- Plans that a team edits are in team_plan.
CREATE TABLE plan (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL,
    hash       text NOT NULL UNIQUE,  -- of drawing and seats
    drawing    jsonb NOT NULL,        -- size, outlines of sections, shapes, texts, generators (docs/plan-format.md)
    created_at timestamptz NOT NULL DEFAULT now()
);

-- An event on sale and its rules. Written by seats/events.
-- Rarely written: what a crowd changes is in seat_state, hold and counter. A change of its rules adds a row to terms.
CREATE TABLE event (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    plan_id          bigint NOT NULL REFERENCES plan,
    slug             text NOT NULL UNIQUE,
    name             text NOT NULL,
    venue            text NOT NULL DEFAULT '',
    starts_at        timestamptz NOT NULL,
    time_zone        text NOT NULL DEFAULT 'UTC',           -- of the venue, IANA name
    currency         text NOT NULL DEFAULT 'EUR',           -- ISO 4217

    -- Claims and holds.
    hold_length      interval NOT NULL DEFAULT '8 minutes', -- from the first seat of a hold to its end
    seats_per_holder integer NOT NULL DEFAULT 6,            -- what one person holds and has bought, at most
    extensions       integer NOT NULL DEFAULT 10,           -- of one hold, at most
    seats            integer NOT NULL,                      -- number of seat rows
    created_at       timestamptz NOT NULL DEFAULT now(),
    strict           boolean NOT NULL DEFAULT false,        -- a hold that expires frees its seats at once
    no_lone_seats    boolean NOT NULL DEFAULT false,        -- a claim may not leave a single free seat, if it can avoid that

    -- Checkout.
    asks_birth       boolean NOT NULL DEFAULT false,        -- every order has a date of birth
    pay_at_door      boolean NOT NULL DEFAULT true,
    payment_length   interval NOT NULL DEFAULT '15 minutes', -- seats are kept so long while a payment runs
    demo             boolean NOT NULL DEFAULT false,        -- takes the demo card, which moves no money
    invoices         boolean NOT NULL DEFAULT false,        -- may be paid by invoice

    room_id          bigint,                                -- its waiting room; one room may cover several events
    team_id          bigint NOT NULL DEFAULT first_team() REFERENCES team,

    status           text NOT NULL DEFAULT 'on sale',
    opens_at         timestamptz,                           -- on sale from then on; null: at once
    reason           text NOT NULL DEFAULT '',              -- of a pause or cancellation, for attendees
    wait_list        boolean NOT NULL DEFAULT false,        -- an entry waits: seats that come back are reserved for the waiting list

    -- Fees besides the prices.
    fee_ticket       bigint  NOT NULL DEFAULT 0,            -- for each ticket with a price, minor units
    fee_order        bigint  NOT NULL DEFAULT 0,            -- once for each order, minor units
    fee_percent      integer NOT NULL DEFAULT 0,            -- of the prices, in hundredths of a percent
    fee_kept         boolean NOT NULL DEFAULT false,        -- a cancelled ticket's fee is not refunded

    language         text NOT NULL DEFAULT 'en',            -- of texts that organizers write, BCP 47

    -- Online events: a link to join instead of a venue.
    online           boolean NOT NULL DEFAULT false,
    join_link        text NOT NULL DEFAULT '',              -- empty until the organizer knows it
    join_early       interval,                              -- before the start, when tickets open the link; null: once confirmed
    join_link_at     timestamptz,                           -- when the event got its link
    confirmation     text NOT NULL DEFAULT '',              -- the organizer's words in the confirmation, on page and in mail

    -- Cancelling, and paying later.
    cancel_until     interval DEFAULT '7 days',             -- before the start; attendees cancel until then. Null: never
    cancel_fee       bigint NOT NULL DEFAULT 0,             -- kept for each cancelled ticket, minor units
    cancel_percent   integer NOT NULL DEFAULT 0,            -- kept of its price, in hundredths of a percent
    pay_later        interval NOT NULL DEFAULT '3 days',    -- an order paid at the door or by invoice is due after it
    pay_before       interval NOT NULL DEFAULT '1 hour',    -- before the start; such an order is due then at the latest
    confirm_email    text,                                  -- free orders confirm the email first; null: if the limit is two tickets or less

    CONSTRAINT "a slug is lower case letters, digits and dashes" CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    CONSTRAINT "a hold lasts between a second and a week" CHECK (hold_length BETWEEN '1 second' AND '7 days'),
    CONSTRAINT "a holder may have at least one seat" CHECK (seats_per_holder >= 1),
    CONSTRAINT "extensions are not negative" CHECK (extensions >= 0),
    CONSTRAINT "an event has between 1 and 100000 seats" CHECK (seats BETWEEN 1 AND 100000),
    CONSTRAINT "a payment may take between a second and a day" CHECK (payment_length BETWEEN '1 second' AND '1 day'),
    CONSTRAINT "an event has one of five statuses" CHECK (status IN ('draft', 'on sale', 'paused', 'closed', 'cancelled')),
    CONSTRAINT "a reason is short" CHECK (length(reason) <= 500),
    CONSTRAINT "fees are not negative" CHECK (fee_ticket >= 0 AND fee_order >= 0 AND fee_percent BETWEEN 0 AND 10000),
    CONSTRAINT "a language has a tag" CHECK (language ~ '^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$'),
    CONSTRAINT "a link to join is a secure address" CHECK (join_link = '' OR join_link LIKE 'https://_%'),
    CONSTRAINT "a link to join has a date" CHECK (join_link = '' OR join_link_at IS NOT NULL),
    CONSTRAINT "a link to join opens before the start" CHECK (join_early BETWEEN interval '1 minute' AND interval '30 days'),
    CONSTRAINT "texts about joining are short" CHECK (length(join_link) <= 2000 AND length(confirmation) <= 5000),
    CONSTRAINT "a policy is not negative"
        CHECK (cancel_until >= '0' AND cancel_fee >= 0 AND cancel_percent BETWEEN 0 AND 10000 AND pay_later >= '1 minute' AND pay_before >= '0'),
    CONSTRAINT "free orders confirm the email always, never or by the limit" CHECK (confirm_email IN ('always', 'never'))
);

CREATE INDEX event_by_room ON event (room_id) WHERE room_id IS NOT NULL;
CREATE INDEX event_by_team ON event (team_id);
CREATE INDEX event_waited_for ON event (id) WHERE wait_list;

-- A category of seats of an event, and its price. Written by seats/events.
-- number is dense, 0…k-1, and the position in every array of counts.
CREATE TABLE category (
    event_id bigint NOT NULL REFERENCES event,
    number   smallint NOT NULL,
    key      text NOT NULL,
    name     text NOT NULL,
    price    bigint NOT NULL,  -- minor units of the event's currency
    PRIMARY KEY (event_id, number),
    UNIQUE (event_id, key),
    CONSTRAINT "a price is not negative" CHECK (price >= 0)
);

-- A section of an event: rows of seats, or an area of seats without labels. Written by seats/events, once.
-- Its seats are idx first…first+count-1.
CREATE TABLE section (
    event_id bigint NOT NULL REFERENCES event,
    number   smallint NOT NULL,
    name     text NOT NULL,
    area     boolean NOT NULL DEFAULT false,  -- general admission
    first    integer NOT NULL,
    count    integer NOT NULL,
    PRIMARY KEY (event_id, number),
    UNIQUE (event_id, name),
    CONSTRAINT "a section has seats" CHECK (count > 0)
);

-- A question that every order of an event answers, besides name and email. Written by seats/events.
CREATE TABLE question (
    event_id bigint NOT NULL REFERENCES event,
    number   smallint NOT NULL,          -- position on the page, from 1
    kind     text NOT NULL,
    label    text NOT NULL,
    required boolean NOT NULL,
    choices  text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (event_id, number),
    CONSTRAINT "a question is a text, a choice or a checkbox" CHECK (kind IN ('text', 'choice', 'checkbox')),
    CONSTRAINT "a choice has something to choose" CHECK ((kind = 'choice') = (cardinality(choices) > 0)),
    CONSTRAINT "a question says something" CHECK (length(label) BETWEEN 1 AND 200)
);


-- 2 Seat ---------------------------------------------------------------------------------------------------------------

-- The drawing of a seat: label, place, category. Written by seats/events when the event is made or its plan changes.
-- idx is dense, 0…n-1, so that a bitmap is the map. The state of the seat is in seat_state.
CREATE TABLE seat (
    event_id    bigint NOT NULL REFERENCES event,
    idx         integer NOT NULL,
    section     smallint NOT NULL,
    category    smallint NOT NULL,
    flags       smallint NOT NULL DEFAULT 0,  -- 1 accessible, 2 companion, 4 restricted view, 8 an aisle follows
    x           real NOT NULL,
    y           real NOT NULL,
    row         text NOT NULL,                -- empty in an area
    number      text NOT NULL,
    external_id text NOT NULL,                -- the seat's id in the plan it came from
    PRIMARY KEY (event_id, idx),
    FOREIGN KEY (event_id, section) REFERENCES section (event_id, number),
    FOREIGN KEY (event_id, category) REFERENCES category (event_id, number),
    CONSTRAINT "one label is one seat" UNIQUE (event_id, section, row, number)
);

-- The state of a seat, and the only judge of it. Written by seats, in batches, under one guard:
-- holder IS NULL OR expires_at <= clock_timestamp(). Narrow and hot: no column that a claim changes is indexed, so that
-- updates stay HOT, and each page has room for the new versions of all of its rows.
CREATE TABLE seat_state (
    event_id   bigint NOT NULL,
    idx        integer NOT NULL,
    state      smallint NOT NULL DEFAULT 0,  -- 0 free, 1 held, 2 expired, 3 paying, 4 sold, 5 blocked
    holder     uuid,                         -- held, expired, paying: the visitor; sold: the order; blocked: the block
    expires_at timestamptz,                  -- held, expired, paying: the end of its time; sold, blocked: infinity
    PRIMARY KEY (event_id, idx),
    FOREIGN KEY (event_id, idx) REFERENCES seat (event_id, idx),
    CONSTRAINT "a seat's state is one of six" CHECK (state BETWEEN 0 AND 5),
    CONSTRAINT "a free seat has no holder, every other seat has one" CHECK ((state = 0) = (holder IS NULL)),
    CONSTRAINT "a seat has a time exactly when it has a holder" CHECK ((holder IS NULL) = (expires_at IS NULL)),
    -- A seat in payment may expire: nothing is captured before the seats are sold, and the authorization is then voided.
    CONSTRAINT "held, lapsed and paying seats have an end" CHECK (expires_at IS NULL OR isfinite(expires_at) = (state IN (1, 2, 3)))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, fillfactor = 40);

-- Seats added to an event after it was made: so many behind those before, free from that version on. Written by seats.
CREATE TABLE added (
    event_id bigint NOT NULL REFERENCES event,
    version  bigint NOT NULL,
    seats    integer NOT NULL,
    PRIMARY KEY (event_id, version),
    CONSTRAINT "seats are added, never taken away" CHECK (seats > 0)
);

-- Seats blocked by an organizer at once, and the reason. Written by seats.
-- Its id is the holder of its seats in seat_state, until they are unblocked or sold at the box office.
CREATE TABLE block (
    id       uuid PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES event,
    seats    integer[] NOT NULL,
    reason   text NOT NULL DEFAULT '',
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a block has seats" CHECK (cardinality(seats) > 0),
    CONSTRAINT "the reason of a block is short" CHECK (length(reason) <= 500)
);

CREATE INDEX block_by_event ON block (event_id, at);


-- 3 Hold ---------------------------------------------------------------------------------------------------------------

-- The hold of one visitor in one event: seats, end, extensions, and the answers to claims that won. Written by seats.
-- seats says where to look, and seat_state is the truth. An expired hold keeps its seats until another visitor claims them.
-- A hold that lost its last seat stays for a day, so that a repeated claim finds its first answer.
-- It has no foreign key to event, which would cost as much as the row; usher verify checks it.
CREATE TABLE hold (
    event_id     bigint NOT NULL,
    holder       uuid NOT NULL,                  -- the visitor
    id           uuid NOT NULL,
    seats        integer[] NOT NULL,
    expires_at   timestamptz NOT NULL,
    extensions   integer NOT NULL DEFAULT 0,
    lapsed       boolean NOT NULL DEFAULT false, -- its end has been announced
    answers      text,                           -- JSON: [{"key", "wish", "hold", "seats", "expires_at"}], the latest last; null: none
    bought       integer NOT NULL DEFAULT 0,     -- live tickets of the visitor in the event, except those of the box office
    best         integer[],                      -- seats that the last request for best seats chose; null: none
    session_ends timestamptz,                    -- the session lasts until then at least; null: of no session, as an offer
    PRIMARY KEY (event_id, holder),
    CONSTRAINT "a hold without seats has ended" CHECK (cardinality(seats) > 0 OR lapsed),
    CONSTRAINT "a hold has an end" CHECK (isfinite(expires_at)),
    CONSTRAINT "a hold counts its extensions" CHECK (extensions >= 0),
    CONSTRAINT "nobody bought less than nothing" CHECK (bought >= 0),
    CONSTRAINT "a hold ends no later than its session" CHECK (expires_at <= session_ends)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX hold_next_to_lapse ON hold (expires_at) WHERE NOT lapsed;


-- 4 Counts and change log ----------------------------------------------------------------------------------------------

-- The counts of an event, one number per category in each array. Written by seats.
-- Every writer locks this row last and until commit, so that version order is commit order.
-- Expired seats count as free, and seats in payment as held.
CREATE TABLE counter (
    event_id    bigint PRIMARY KEY REFERENCES event,
    version     bigint NOT NULL DEFAULT 0,
    free        integer[] NOT NULL,
    held        integer[] NOT NULL,
    sold        integer[] NOT NULL,
    blocked     integer[] NOT NULL,
    claims_from timestamptz NOT NULL DEFAULT '-infinity', -- of the event's status: claims win from then on; infinity: never
    sells       boolean NOT NULL DEFAULT true,            -- of the event's status: held seats may be sold
    CONSTRAINT "remaining is never negative" CHECK (0 <= ALL (free)),
    CONSTRAINT "no count is negative" CHECK (0 <= ALL (held) AND 0 <= ALL (sold) AND 0 <= ALL (blocked))
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- The change log: one row per batch of commands. Written by seats, and never changed.
-- It has no gaps: it is the feed of the live map, the audit, the timeline of every seat, and a replay.
-- It has no foreign key to event, which would cost as much as the row; usher verify checks it.
CREATE TABLE change (
    event_id bigint NOT NULL,
    version  bigint NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    idx      integer[] NOT NULL,
    state    smallint[] NOT NULL,
    holder   uuid[] NOT NULL,        -- null where the seat became free
    free     integer[] NOT NULL,     -- the counter row as of this version
    held     integer[] NOT NULL,
    sold     integer[] NOT NULL,
    blocked  integer[] NOT NULL,
    batch    uuid NOT NULL,          -- by which a writer finds its own row when the answer to COMMIT was lost
    passed   integer NOT NULL,       -- seats that passed the guard of the UPDATE in the same statement
    PRIMARY KEY (event_id, version),
    CONSTRAINT "every seat of a change passed the guard" CHECK (passed = cardinality(idx)),
    CONSTRAINT "a change names a state and a holder for each seat"
        CHECK (cardinality(state) = cardinality(idx) AND cardinality(holder) = cardinality(idx))
);

-- Random numbers do not compress: the writer does not try while it has the counter row locked.
ALTER TABLE change ALTER COLUMN holder SET STORAGE EXTERNAL, ALTER COLUMN idx SET STORAGE EXTERNAL, ALTER COLUMN state SET STORAGE EXTERNAL;

-- The rules of an event from a version on. Written by seats.
-- Its version names no seat in the change log: every node reads the event again when it meets one.
CREATE TABLE terms (
    event_id         bigint NOT NULL REFERENCES event,
    version          bigint NOT NULL,
    at               timestamptz NOT NULL DEFAULT clock_timestamp(),
    status           text NOT NULL,
    opens_at         timestamptz,
    reason           text NOT NULL,
    hold_length      interval NOT NULL,
    payment_length   interval NOT NULL,
    seats_per_holder integer NOT NULL,
    extensions       integer NOT NULL,
    strict           boolean NOT NULL,
    PRIMARY KEY (event_id, version)
);


-- 5 Session ------------------------------------------------------------------------------------------------------------

-- A browser session. Written by seats/sessions. A row is inserted once and never brought back after its end.
-- A visitor who only looks has none.
CREATE TABLE session (
    token      text PRIMARY KEY,             -- SHA-256 of what the cookie carries
    data       bytea NOT NULL,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 80);

-- A request that was done, so that a repeat with its key is not done again, for 30 days. Written by seats/idempotency in
-- the transaction of the change. A key of the desk has the scope desk/team/organizer.
CREATE TABLE idempotency_key (
    scope      text NOT NULL,            -- the sender, or the thing that the request is about
    key        text NOT NULL,            -- chosen by the sender
    request    bytea NOT NULL,           -- SHA-256 of what was asked for
    answer     bytea,                    -- for repeats; null: they need none
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (scope, key),
    CONSTRAINT "an idempotency key is short" CHECK (length(key) BETWEEN 1 AND 200)
);

CREATE INDEX idempotency_key_by_age ON idempotency_key (created_at);

-- What a visitor typed at a checkout that made no order, and its answer, for a day or until the order.
-- Written by seats/orders.
CREATE TABLE typed (
    event_id bigint NOT NULL REFERENCES event,
    holder   uuid NOT NULL,
    answer   json NOT NULL,              -- not jsonb, which refuses zero bytes
    since    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, holder)
);

CREATE INDEX typed_by_age ON typed (since);


-- 6 Order --------------------------------------------------------------------------------------------------------------

-- fold writes a text for comparison: small letters, no accents, letters that do not decompose written plainly.
-- ANE finds Åne, Strasse finds Straße. It does not depend on the collation of the database.
CREATE FUNCTION fold(words text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT replace(replace(replace(replace(replace(replace(replace(replace(
           translate(lower(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g') COLLATE "C"),
               'øØđĐðÐłŁħĦŧŦŋŊıĸςəƏͰͲͶͿΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩϏϘϚϜϞϠϢϤϦϨϪϬϮϷϺϽϾϿЂЄЅІЈЉЊЋЏАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӃӅӇӉӋӍӔӘӠӨӶӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖႠႡႢႣႤႥႦႧႨႩႪႫႬႭႮႯႰႱႲႳႴႵႶႷႸႹႺႻႼႽႾႿჀჁჂჃჄჅჇჍ',
               'ooddddllhhttnnikσeeͱͳͷϳαβγδεζηθικλμνξοπρστυφχψωϗϙϛϝϟϡϣϥϧϩϫϭϯϸϻͻͼͽђєѕіјљњћџабвгдежзиклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӄӆӈӊӌӎӕәӡөӷӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆⴀⴁⴂⴃⴄⴅⴆⴇⴈⴉⴊⴋⴌⴍⴎⴏⴐⴑⴒⴓⴔⴕⴖⴗⴘⴙⴚⴛⴜⴝⴞⴟⴠⴡⴢⴣⴤⴥⴧⴭ'),
           'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'Æ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'þ', 'th'), 'Þ', 'th')
$$;

-- An order. Written by seats/orders in the transaction that sells its seats; its id is their holder in seat_state.
CREATE TABLE orders (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    code       text NOT NULL,                        -- 128 random bits: they open the order's page
    state      text NOT NULL DEFAULT 'confirmed',
    holder     uuid NOT NULL,                        -- the visitor of the hold
    hold_id    uuid NOT NULL,                        -- the hold it came from: the key by which a repeat finds it
    wish       bytea NOT NULL,                       -- SHA-256 of what was asked for
    name       text NOT NULL,
    email      text NOT NULL,
    born       date,
    method     text NOT NULL,                        -- how it is paid
    currency   text NOT NULL,                        -- ISO 4217
    total      bigint NOT NULL,                      -- minor units, as all amounts
    paid       bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    answers    jsonb NOT NULL DEFAULT '{}',          -- by number of the question
    received   bigint NOT NULL DEFAULT 0,            -- at the door or by invoice; refunds are not subtracted
    waived     bigint NOT NULL DEFAULT 0,            -- refunded although the tickets stay valid: not asked for again
    at_office  boolean NOT NULL DEFAULT false,       -- sold at the box office
    found_by   text NOT NULL GENERATED ALWAYS AS (fold(name) || E'\n' || fold(email)) STORED,
    fee        bigint NOT NULL DEFAULT 0,            -- of total: the sum of its tickets' fees
    fee_kept   boolean NOT NULL DEFAULT false,       -- the event's rule when the order was placed
    kept       bigint NOT NULL DEFAULT 0,            -- of paid: not refunded with cancelled tickets
    keys       uuid[] NOT NULL DEFAULT '{}',         -- its live tickets count for these purchase_keys; none at the box office
    due_at     timestamptz,                          -- the order is cancelled then if it is unpaid; null: nothing to pay later
    remind_at  timestamptz,                          -- when a mail reminds of it; null: sent, or none
    network    text NOT NULL DEFAULT '',             -- of an order paid later, such as 203.0.113.0/24; empty: not counted
    UNIQUE (event_id, id),
    CONSTRAINT "one code is one order" UNIQUE (code),
    CONSTRAINT "one hold makes one order" UNIQUE (hold_id),
    CONSTRAINT "an order is confirmed or cancelled" CHECK (state IN ('confirmed', 'cancelled')),
    CONSTRAINT "an order is paid in a known way"
        CHECK (method IN ('free', 'door', 'invoice', 'card', 'demo', 'credit') OR at_office AND method IN ('cash', 'terminal')),
    CONSTRAINT "only an order without a price is free" CHECK ((method = 'free') = (total = 0)),
    CONSTRAINT "amounts are not negative" CHECK (total >= 0 AND paid >= 0),
    CONSTRAINT "nobody pays more than the total" CHECK (paid <= total),
    CONSTRAINT "no more comes than the total" CHECK (received BETWEEN 0 AND total),
    CONSTRAINT "what is waived is not negative" CHECK (waived >= 0),
    CONSTRAINT "a fee is a part of the total" CHECK (fee BETWEEN 0 AND total),
    CONSTRAINT "what is kept of cancelled tickets is not negative" CHECK (kept >= 0),
    CONSTRAINT "an order has a name and an address" CHECK (name <> '' AND (email <> '' OR at_office)),
    CONSTRAINT "texts of an order are short" CHECK (length(name) <= 200 AND length(email) <= 254)
);

CREATE INDEX orders_by_event ON orders (event_id, created_at, id);
CREATE INDEX order_with_waived ON orders (event_id) INCLUDE (waived, kept) WHERE waived > 0 OR kept > 0;
CREATE INDEX orders_due ON orders (least(remind_at, due_at)) WHERE due_at IS NOT NULL;
CREATE INDEX orders_by_network ON orders (event_id, network) WHERE network <> '';
CREATE INDEX orders_unpaid_of_key ON orders (event_id, (keys[1])) WHERE method IN ('door', 'invoice');

-- The cancellation of tickets of an order, all or some. Written by seats/orders. Nothing is deleted.
CREATE TABLE cancellation (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL,
    order_id   uuid NOT NULL,
    tickets    uuid[] NOT NULL,          -- revoked by it
    amount     bigint NOT NULL,          -- what they cost, minor units of the order's currency
    back       bigint NOT NULL,          -- to refund: what was paid beyond the price of the other tickets
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    fee        bigint NOT NULL DEFAULT 0, -- of the event's policy; kept of what was paid, as far as that suffices
    CONSTRAINT "a cancellation belongs to an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "a cancellation is of tickets" CHECK (cardinality(tickets) > 0),
    CONSTRAINT "nobody gets back more than was paid" CHECK (amount >= 0 AND back >= 0)
);

CREATE INDEX cancellation_by_order ON cancellation (order_id);

-- The number of tickets that a person has in an event, for the limit per person. Written by seats and seats/orders.
-- A key stands for a person as orders name them (normalized email, account, card): 16 bytes of a SHA-256.
CREATE TABLE purchase_key (
    event_id bigint NOT NULL,   -- no foreign key, which would cost as much as the row
    key      uuid NOT NULL,
    tickets  integer NOT NULL,  -- live tickets of orders with this key, and seats of payments under way
    PRIMARY KEY (event_id, key),
    CONSTRAINT "the tickets of a person are not negative" CHECK (tickets >= 0)
) WITH (fillfactor = 80);

-- A message of an organizer to the people who ordered. Written by seats/orders.
CREATE TABLE message (
    id       uuid PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES event,
    subject  text NOT NULL,
    text     text NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a message says something" CHECK (length(subject) BETWEEN 1 AND 200 AND length(text) BETWEEN 1 AND 10000)
);

CREATE INDEX message_by_event ON message (event_id, at);

-- A bulk job over the orders of an event. Written by seats/orders. Any node continues it where the last one stopped.
CREATE TABLE errand (
    id          uuid PRIMARY KEY,
    event_id    bigint NOT NULL REFERENCES event,
    kind        text NOT NULL,               -- cancel: cancel their tickets; message: write to them
    message_id  uuid REFERENCES message,
    begun_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    taken_until timestamptz NOT NULL DEFAULT '-infinity', -- a node works on it
    done        integer NOT NULL DEFAULT 0,  -- orders that it was done to
    refused     integer NOT NULL DEFAULT 0,  -- orders that it could not be done to, such as orders with scanned tickets
    ended_at    timestamptz,
    CONSTRAINT "an errand is of a known kind" CHECK (kind IN ('cancel', 'message')),
    CONSTRAINT "an errand writes what it is given" CHECK ((kind = 'message') = (message_id IS NOT NULL))
);

CREATE INDEX errand_by_event ON errand (event_id, begun_at);
CREATE INDEX errand_not_ended ON errand (taken_until) WHERE ended_at IS NULL;

-- An order that a bulk job has processed. Written by seats/orders.
CREATE TABLE errand_order (
    errand_id uuid NOT NULL REFERENCES errand,
    order_id  uuid NOT NULL REFERENCES orders,
    refused   text NOT NULL DEFAULT '',    -- why it could not be done
    PRIMARY KEY (errand_id, order_id)
);


-- 7 Ticket -------------------------------------------------------------------------------------------------------------

-- A ticket: one seat of one order. Written by seats/orders with the order, and revoked instead of deleted.
CREATE TABLE ticket (
    id            uuid PRIMARY KEY,
    event_id      bigint NOT NULL,
    order_id      uuid NOT NULL,
    idx           integer NOT NULL,
    price         bigint NOT NULL,           -- minor units of the order's currency
    revoked_at    timestamptz,               -- from then on its code opens no door
    leaving_until timestamptz,               -- a cancellation is under way: no door admits it until then
    leaving_by    uuid,                      -- the cancellation that set leaving_until; null if several did
    moved_to      uuid,                      -- the ticket of the same order that replaced it, at the same price
    fee           bigint NOT NULL DEFAULT 0, -- its share of the order's fee, minor units
    CONSTRAINT "a ticket belongs to an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "a ticket is for a seat of its event" FOREIGN KEY (event_id, idx) REFERENCES seat (event_id, idx),
    CONSTRAINT "a ticket's price is not negative" CHECK (price >= 0),
    CONSTRAINT "a ticket that moved is revoked" CHECK (moved_to IS NULL OR revoked_at IS NOT NULL),
    CONSTRAINT "a ticket moves to another one" FOREIGN KEY (moved_to) REFERENCES ticket,
    CONSTRAINT "only a ticket with a price has a fee" CHECK (fee = 0 OR fee > 0 AND price > 0)
);

CREATE UNIQUE INDEX "one live ticket is there for a seat" ON ticket (event_id, idx) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX "a ticket comes of one other" ON ticket (moved_to) WHERE moved_to IS NOT NULL;
CREATE INDEX ticket_by_order ON ticket (order_id, idx);
CREATE INDEX ticket_by_seat ON ticket (event_id, idx);

-- A key that signs ticket codes. Written by seats/orders. One signs; older ones are valid until they are revoked.
CREATE TABLE ticket_key (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seed       bytea NOT NULL,           -- Ed25519, RFC 8032; secret, sealed (seats/seal) if the operator set a key
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    signs      boolean NOT NULL DEFAULT true,
    revoked_at timestamptz,
    CONSTRAINT "a seed has 32 bytes, or 80 sealed" CHECK (octet_length(seed) IN (32, 80)),
    CONSTRAINT "a revoked key signs nothing" CHECK (NOT signs OR revoked_at IS NULL)
);

CREATE UNIQUE INDEX "one key signs" ON ticket_key (signs) WHERE signs;

-- A link for people who scan tickets at an entrance. Written by seats/orders.
CREATE TABLE door (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    secret     bytea NOT NULL,           -- SHA-256 of what the link carries
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz,              -- from then on the link opens nothing
    CONSTRAINT "one link is one door" UNIQUE (secret)
);

CREATE INDEX door_by_event ON door (event_id);

-- A scan of a ticket, also one that was refused. Written by seats/orders, and never changed.
CREATE TABLE scan (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    bigint NOT NULL REFERENCES event,
    door_id     bigint REFERENCES door,  -- null: an online event, checked in by the attendee
    ticket_id   uuid NOT NULL REFERENCES ticket,
    key         text NOT NULL,           -- chosen by the scanner: a repeat is the same scan
    place       text NOT NULL,           -- the entrance, in the words of its people
    scanned_at  timestamptz NOT NULL,    -- by the scanner's clock, if it was offline
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    admitted    boolean NOT NULL,        -- the first of its ticket
    CONSTRAINT "a scan is sent once" UNIQUE (event_id, key),
    CONSTRAINT "texts of a scan are short" CHECK (length(key) BETWEEN 1 AND 200 AND length(place) <= 60),
    CONSTRAINT "without a door one comes online" CHECK (door_id IS NOT NULL OR place = 'Online')
);

CREATE UNIQUE INDEX "a ticket lets one person in" ON scan (ticket_id) WHERE admitted;
CREATE INDEX scan_by_event ON scan (event_id, ticket_id);
CREATE INDEX scan_by_door ON scan (door_id, received_at);


-- 8 Payment ------------------------------------------------------------------------------------------------------------
-- Every call to a provider has its row in intention, committed before the call and made with no transaction open.
-- Webhooks of providers are in inbox before anything acts on them. Captured money is in exactly one of order and refund.

-- A card that a provider stores for an order of a waiting list. Written by seats/payments.
-- It exists before the provider is asked, and the provider deletes the card once the entry has ended.
CREATE TABLE mandate (
    id         uuid PRIMARY KEY,
    method     text NOT NULL,            -- the provider
    email      text NOT NULL,            -- of the card's owner; email, what and back are empty once the card was deleted
    what       text NOT NULL,            -- the text that the owner agreed to
    back       text NOT NULL,            -- our page that the provider returns to
    state      text NOT NULL DEFAULT 'asked',
    reference  text NOT NULL DEFAULT '', -- the provider's name of the page on which the card is given
    page       text NOT NULL DEFAULT '', -- address of that page, while it is open
    token      text NOT NULL DEFAULT '', -- the provider's name of the card
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries      integer NOT NULL DEFAULT 0, -- to have the card deleted
    next_try   timestamptz NOT NULL DEFAULT clock_timestamp(),
    error      text NOT NULL DEFAULT '', -- of the last try
    CONSTRAINT "a mandate is in one of four states" CHECK (state IN ('asked', 'given', 'ending', 'ended')),
    CONSTRAINT "a mandate that was given has a token" CHECK (state <> 'given' OR token <> ''),
    CONSTRAINT "of a mandate that ended nothing is kept" CHECK (state <> 'ended' OR token || email || what || back || page = '')
);

CREATE INDEX mandate_due ON mandate (next_try) WHERE state = 'ending';

-- A payment attempt for a hold, and the order it becomes. Written by seats/payments.
-- An order that waits for its email to be confirmed is a payment without money: a click in a mail authorizes it.
CREATE TABLE payment (
    id           uuid PRIMARY KEY,
    event_id     bigint NOT NULL REFERENCES event,
    order_id     uuid NOT NULL UNIQUE,     -- of the order, which exists once the seats are sold
    code         text NOT NULL UNIQUE,     -- of that order: it opens the payment's page
    holder       uuid NOT NULL,
    hold_id      uuid NOT NULL,
    form         jsonb NOT NULL,           -- what the order will be made of
    method       text NOT NULL,            -- the provider
    currency     text NOT NULL,            -- ISO 4217
    amount       bigint NOT NULL,          -- minor units
    state        text NOT NULL DEFAULT 'open',
    reference    text NOT NULL DEFAULT '', -- the provider's name of it; empty until it answered
    page         text NOT NULL DEFAULT '', -- the provider's page where the attendee pays, if there is one
    captured     bigint NOT NULL DEFAULT 0,
    reason       text NOT NULL DEFAULT '', -- why it failed, for the attendee
    attention    text NOT NULL DEFAULT '', -- why a person has to look at it, for the organizer
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    mandate      uuid REFERENCES mandate,
    keys         uuid[] NOT NULL DEFAULT '{}',   -- purchase_keys known before it began: email, account
    card         uuid,                           -- purchase_key of the card; known once it was authorized
    counted      boolean NOT NULL DEFAULT false, -- its seats are counted for its keys
    confirmed_at timestamptz,                    -- when the email was confirmed; null: it was not, or need not be
    CONSTRAINT "a payment is in a known state" CHECK (state IN ('open', 'authorized', 'sold', 'captured', 'lost', 'closed')),
    CONSTRAINT "a payment is of something" CHECK (amount > 0 OR method = 'free' AND amount = 0),
    CONSTRAINT "what is captured is not negative" CHECK (captured >= 0),
    CONSTRAINT "no money moves for a confirmation" CHECK (method NOT IN ('free', 'door', 'invoice') OR captured = 0 AND state <> 'sold'),
    CONSTRAINT "an order is not placed before its email is confirmed"
        CHECK (method NOT IN ('free', 'door', 'invoice') OR state NOT IN ('authorized', 'captured') OR confirmed_at IS NOT NULL)
);

CREATE UNIQUE INDEX "one hold has one payment under way" ON payment (hold_id) WHERE state IN ('open', 'authorized');
CREATE UNIQUE INDEX "one reference is one payment" ON payment (method, reference) WHERE reference <> '';
CREATE INDEX payment_to_look_at ON payment (id) WHERE attention <> '';
CREATE INDEX payment_by_hold ON payment (hold_id, holder);
CREATE INDEX payment_by_event ON payment (event_id, created_at);
CREATE INDEX payment_by_mandate ON payment (mandate) WHERE mandate IS NOT NULL;
CREATE INDEX payment_confirmed ON payment (holder) WHERE confirmed_at IS NOT NULL;
CREATE INDEX payment_unpaid_of_key ON payment (event_id, (keys[1])) WHERE method IN ('door', 'invoice') AND state IN ('open', 'authorized');
CREATE INDEX payment_unpaid_of_network ON payment (event_id, (form->>'network')) WHERE method IN ('door', 'invoice') AND state IN ('open', 'authorized');

-- The link in a mail that asks to confirm an order. Written by seats/payments. Each mail has its own.
CREATE TABLE confirmation (
    hash       bytea PRIMARY KEY,                 -- SHA-256 of 128 random bits
    payment_id uuid NOT NULL REFERENCES payment,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX confirmation_by_payment ON confirmation (payment_id);

-- A refund, whatever the order was paid with. Written by seats/payments.
CREATE TABLE refund (
    id              uuid PRIMARY KEY,
    payment_id      uuid REFERENCES payment,          -- null: paid at the door or by invoice
    amount          bigint NOT NULL,                  -- minor units
    reason          text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at         timestamptz,                      -- when the provider did it, or a person said so
    cancellation_id uuid REFERENCES cancellation,
    order_id        uuid NOT NULL,                    -- of the payment's order, which may never have been placed
    by_hand         boolean NOT NULL DEFAULT false,   -- a person pays it out
    failed          text NOT NULL DEFAULT '',         -- why the provider did not refund it
    elsewhere       boolean NOT NULL DEFAULT false,   -- made at the provider, not asked for here
    CONSTRAINT "a refund is of something" CHECK (amount > 0),
    CONSTRAINT "what no provider took goes back by hand" CHECK (payment_id IS NOT NULL OR by_hand),
    CONSTRAINT "what was given back elsewhere was given back" CHECK (NOT elsewhere OR done_at IS NOT NULL)
);

CREATE UNIQUE INDEX "a cancellation is given back once" ON refund (cancellation_id) WHERE cancellation_id IS NOT NULL;
CREATE INDEX refund_by_payment ON refund (payment_id);
CREATE INDEX refund_by_order ON refund (order_id);
CREATE INDEX refund_to_pay_out ON refund (created_at) WHERE by_hand AND done_at IS NULL;

-- A call to a provider. Written by seats/payments before the call, and open until its answer is stored.
CREATE TABLE intention (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id uuid NOT NULL REFERENCES payment,
    step       text NOT NULL,
    refund_id  uuid REFERENCES refund,
    tries      integer NOT NULL DEFAULT 0,
    tried_at   timestamptz,              -- when a try began that has not ended: other nodes wait for a while
    next_try   timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at    timestamptz,
    error      text NOT NULL DEFAULT '', -- of the last try
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a step is a known one" CHECK (step IN ('authorize', 'capture', 'void', 'refund', 'look')),
    CONSTRAINT "a refund is refunded, and nothing else" CHECK ((step = 'refund') = (refund_id IS NOT NULL)),
    CONSTRAINT "tries of a step are counted" CHECK (tries >= 0)
);

CREATE INDEX intention_due ON intention (next_try) WHERE done_at IS NULL;
CREATE UNIQUE INDEX "each step of a payment is meant once" ON intention (payment_id, step) WHERE step <> 'refund';
CREATE UNIQUE INDEX "each refund is meant once" ON intention (refund_id) WHERE refund_id IS NOT NULL;

-- An event that a provider sent by webhook. Written by seats/payments, once, however often and in whatever order it comes.
CREATE TABLE inbox (
    method      text NOT NULL,
    event       text NOT NULL,           -- the provider's name of its event
    payment_id  uuid NOT NULL,           -- stored by the provider for us; without a row if it is not ours
    kind        text NOT NULL,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at     timestamptz,
    PRIMARY KEY (method, event)
);

CREATE INDEX inbox_due ON inbox (received_at) WHERE done_at IS NULL;

-- A charge of the demo card, as a provider would keep it. Written by seats/payments/demo. No money moves.
CREATE TABLE demo_charge (
    payment_id uuid PRIMARY KEY,
    reference  text NOT NULL UNIQUE,
    amount     bigint NOT NULL,         -- minor units
    currency   text NOT NULL,           -- ISO 4217
    what       text NOT NULL,
    back       text NOT NULL,           -- our page that the attendee returns to
    stand      text NOT NULL DEFAULT 'pending',
    captured   bigint NOT NULL DEFAULT 0,
    refunds    jsonb NOT NULL DEFAULT '{}', -- amount by the key of the call
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    answer     text NOT NULL DEFAULT '', -- the attendee's answer: the first one counts
    CONSTRAINT "the demo card stands in a known way" CHECK (stand IN ('pending', 'authorized', 'captured', 'voided', 'declined')),
    CONSTRAINT "the demo card charges something" CHECK (amount > 0)
);

-- An event that the demo card will send, maybe twice. Written by seats/payments/demo.
CREATE TABLE demo_news (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id uuid NOT NULL REFERENCES demo_charge,
    event      text NOT NULL,
    stand      text NOT NULL,           -- the charge's state from then on, if it is pending
    due_at     timestamptz NOT NULL,
    told_at    timestamptz
);

CREATE INDEX demo_news_due ON demo_news (due_at) WHERE told_at IS NULL;


-- 9 Credit -------------------------------------------------------------------------------------------------------------
-- Money of attendees that the house keeps, by email and currency: a double-entry ledger. One transfer is one row with
-- both accounts and one amount, so that its two entries sum to zero by construction.

-- An account of an attendee or of the house. Written by seats/credit.
CREATE TABLE credit_account (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind     text NOT NULL,      -- attendee; of the house: issued, held, sales
    email    text,               -- of the attendee
    currency text NOT NULL,      -- ISO 4217
    balance  bigint,             -- of the attendee, minor units
    CONSTRAINT "an address has one account of a currency" UNIQUE NULLS NOT DISTINCT (kind, email, currency),
    UNIQUE (id, currency),
    CONSTRAINT "an account is of a known kind" CHECK (kind IN ('attendee', 'issued', 'held', 'sales')),
    CONSTRAINT "a currency has three letters" CHECK (currency ~ '^[A-Z]{3}$'),
    -- A balance of the house would be a row that every payment locks. It is the sum of the account's entries instead.
    CONSTRAINT "attendees have an address and a balance, the house has neither"
        CHECK ((kind = 'attendee') = (email IS NOT NULL) AND (kind = 'attendee') = (balance IS NOT NULL)),
    CONSTRAINT "nobody has less than nothing" CHECK (balance >= 0),
    CONSTRAINT "an address is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]')
) WITH (fillfactor = 70);

-- Credit reserved for an order, captured or voided after its seats are sold or not. Written by seats/credit.
CREATE TABLE credit_hold (
    id         uuid PRIMARY KEY,             -- chosen by the caller: a repeat finds it
    account_id bigint NOT NULL,
    currency   text NOT NULL,
    order_id   uuid NOT NULL,                -- the order it is to pay, which may never be placed
    amount     bigint NOT NULL,              -- minor units
    state      text NOT NULL DEFAULT 'open',
    captured   bigint NOT NULL DEFAULT 0,
    refunded   bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL,         -- an open one is voided some time after
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a hold is of the account's currency" FOREIGN KEY (account_id, currency) REFERENCES credit_account (id, currency),
    CONSTRAINT "a hold is open, captured or voided" CHECK (state IN ('open', 'captured', 'voided')),
    CONSTRAINT "what is held is more than nothing" CHECK (amount > 0),
    CONSTRAINT "a hold is captured exactly if something was" CHECK ((state = 'captured') = (captured > 0)),
    CONSTRAINT "nothing more is captured than was held" CHECK (captured BETWEEN 0 AND amount),
    CONSTRAINT "nothing more is refunded than was captured" CHECK (refunded BETWEEN 0 AND captured)
) WITH (fillfactor = 70);

CREATE INDEX credit_hold_by_end ON credit_hold (expires_at) WHERE state = 'open';
CREATE INDEX credit_hold_by_account ON credit_hold (account_id, created_at);

-- A voucher, which loads credit once. Written by seats/credit.
CREATE TABLE credit_voucher (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    code        bytea NOT NULL UNIQUE,       -- SHA-256 of what is printed on it
    currency    text NOT NULL,
    amount      bigint NOT NULL,             -- minor units
    expires_at  timestamptz,                 -- null: never
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    redeemed_at timestamptz,                 -- its transfer names the account
    CONSTRAINT "a voucher's currency has three letters" CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT "a voucher is worth something" CHECK (amount > 0)
);

-- A transfer between two accounts. Written by seats/credit, and never changed: a mistake is corrected by another one.
CREATE TABLE credit_transfer (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind       text NOT NULL,
    from_id    bigint NOT NULL,
    to_id      bigint NOT NULL,
    currency   text NOT NULL,
    amount     bigint NOT NULL,              -- minor units
    hold_id    uuid REFERENCES credit_hold,  -- of a hold, capture, void or refund
    voucher_id bigint REFERENCES credit_voucher,
    key        text,                         -- of a refund or grant, chosen by the caller: a repeat finds it
    order_id   uuid,                         -- of a grant: the order it is about, if any
    CONSTRAINT "money comes from an account of its currency" FOREIGN KEY (from_id, currency) REFERENCES credit_account (id, currency),
    CONSTRAINT "money goes to an account of its currency" FOREIGN KEY (to_id, currency) REFERENCES credit_account (id, currency),
    CONSTRAINT "a transfer is of a known kind" CHECK (kind IN ('load', 'grant', 'hold', 'capture', 'void', 'refund')),
    CONSTRAINT "a transfer moves something" CHECK (amount > 0 AND from_id <> to_id),
    CONSTRAINT "one key is one transfer" UNIQUE (key),
    CONSTRAINT "a voucher is loaded once" UNIQUE (voucher_id),
    CONSTRAINT "a transfer says what it is about" CHECK (
        (kind IN ('hold', 'capture', 'void', 'refund')) = (hold_id IS NOT NULL) AND
        (kind = 'load') = (voucher_id IS NOT NULL) AND (kind IN ('refund', 'grant')) = (key IS NOT NULL))
);

CREATE INDEX credit_transfer_from ON credit_transfer (from_id);
CREATE INDEX credit_transfer_to ON credit_transfer (to_id);
CREATE INDEX credit_transfer_by_hold ON credit_transfer (hold_id);

CREATE FUNCTION credit_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a transfer is never changed and never taken away'; END $$;
CREATE TRIGGER "what was booked stands" BEFORE UPDATE OR DELETE OR TRUNCATE ON credit_transfer
    FOR EACH STATEMENT EXECUTE FUNCTION credit_stands();

-- The two entries of each transfer.
CREATE VIEW credit_entry AS
SELECT id AS transfer_id, from_id AS account_id, currency, -amount AS amount FROM credit_transfer
 UNION ALL
SELECT id, to_id, currency, amount FROM credit_transfer;

-- A link by mail that proves an email address, which then sees and spends its credit. Written by seats/credit.
-- One row per address counts the requests. Only the newest link opens anything, and only once.
CREATE TABLE link (
    email      text PRIMARY KEY,
    token      bytea,                                             -- SHA-256 of what the mail carries; null until it is sent, and once it was used
    expires_at timestamptz NOT NULL,
    asked      integer NOT NULL DEFAULT 1,                        -- requests since
    since      timestamptz NOT NULL DEFAULT clock_timestamp(),
    opened     bytea,                                             -- SHA-256 of the token used last and of the key of the form that used it
    opened_at  timestamptz,
    CONSTRAINT "one token is one link" UNIQUE (token),
    CONSTRAINT "asking is counted" CHECK (asked > 0),
    CONSTRAINT "the address of a link is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]')
);

CREATE INDEX link_by_age ON link (since);


-- 10 Waiting room ------------------------------------------------------------------------------------------------------
-- Visitors who wait have no rows: a queue ticket is a signed cookie, and its number follows from the room's row.

-- A waiting room and its state. Written by seats/waitingroom. It may cover several events (event.room_id).
CREATE TABLE room (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug           text NOT NULL UNIQUE,
    name           text NOT NULL,
    epoch          integer NOT NULL DEFAULT 1,      -- numbers of another epoch are void
    mode           text NOT NULL,                   -- auto: no wait until the slots are full; scheduled: lobby, draw, line
    entry          text NOT NULL DEFAULT 'browser', -- email: one number for each verified address
    phase          text NOT NULL,
    version        bigint NOT NULL DEFAULT 1,       -- grows with every change of this row
    lobby_opens_at timestamptz,                     -- null: at once
    opens_at       timestamptz,                     -- when the lobby closes and numbers are drawn
    lobby          bigint NOT NULL DEFAULT 0,       -- places in the draw; final once the lobby closed
    line           bigint NOT NULL DEFAULT 0,       -- places after them: the k-th has number lobby + k
    serving        bigint NOT NULL DEFAULT 0,       -- numbers up to this one were called
    slots          integer NOT NULL,                -- people inside at once, at most
    rate           real,                            -- numbers called per second, at most; null: as there is room
    valid          interval NOT NULL DEFAULT '10 minutes', -- how long a called number may be used
    idle           interval NOT NULL DEFAULT '5 minutes',  -- how long a slot stays with a visitor who does nothing
    stay           interval NOT NULL DEFAULT '30 minutes', -- how long a slot stays with a visitor who holds no seat
    note           text NOT NULL DEFAULT '',        -- for everyone who waits, such as why the room is paused
    ticked_at      timestamptz NOT NULL DEFAULT '-infinity',

    -- The draw. The secret is sealed until the numbers are drawn; its commitment is public from the beginning.
    commitment     bytea,
    committed_at   timestamptz,
    sealed         bytea,
    sealed_by      integer,                         -- the place_key
    closed_at      timestamptz,                     -- when the lobby closed
    beacon         text NOT NULL DEFAULT 'none',
    beacon_url     text,                            -- drand: its address
    beacon_wait    interval NOT NULL DEFAULT '30 seconds', -- after it, the numbers are drawn without a beacon
    beacon_round   bigint,                          -- drand: the first round published after closed_at
    beacon_sign    bytea,                           -- drand: the signature of the round
    beacon_value   bytea,
    drawn_at       timestamptz,
    secret         bytea,                           -- revealed with the draw

    -- The controller's memory, and the estimates that every node shows. Written by the node that calls numbers.
    pace           jsonb NOT NULL DEFAULT '{}',
    outlook        jsonb NOT NULL DEFAULT '{}',
    work           integer NOT NULL DEFAULT 0,      -- rounds of proof of work before joining; 0: none
    CONSTRAINT "a slug of a room is lower case letters, digits and dashes" CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    CONSTRAINT "a room has a name" CHECK (length(name) BETWEEN 1 AND 200),
    CONSTRAINT "a room opens by itself or at a time" CHECK (mode IN ('auto', 'scheduled')),
    CONSTRAINT "a room is entered by a browser or by an address" CHECK (entry IN ('browser', 'email')),
    CONSTRAINT "a phase is one of six" CHECK (phase IN ('through', 'lobby', 'drawing', 'open', 'paused', 'ended')),
    CONSTRAINT "a lobby closes at a time" CHECK (mode = 'auto' OR opens_at IS NOT NULL),
    CONSTRAINT "a lobby opens before it closes" CHECK (lobby_opens_at < opens_at),
    CONSTRAINT "nobody is in line before the lobby closed" CHECK (phase <> 'lobby' OR line = 0 AND serving = 0),
    CONSTRAINT "nobody is called before the numbers are drawn" CHECK (phase <> 'drawing' OR serving = 0),
    CONSTRAINT "only numbers that were given are called" CHECK (lobby >= 0 AND line >= 0 AND serving BETWEEN 0 AND lobby + line),
    CONSTRAINT "a draw has 67108864 places at most" CHECK (lobby <= 67108864),
    CONSTRAINT "a room has between 1 and 100000 slots" CHECK (slots BETWEEN 1 AND 100000),
    CONSTRAINT "a rate is more than nothing" CHECK (rate > 0),
    CONSTRAINT "times of a room are between a second and a day"
        CHECK (valid BETWEEN '1 second' AND '1 day' AND idle BETWEEN '1 second' AND '1 day' AND stay BETWEEN idle AND '1 day' AND beacon_wait BETWEEN '1 second' AND '1 day'),
    CONSTRAINT "a note is short" CHECK (length(note) <= 500),
    CONSTRAINT "a draw was committed to" CHECK (mode = 'auto' OR octet_length(commitment) = 32 AND committed_at IS NOT NULL AND sealed IS NOT NULL AND sealed_by IS NOT NULL),
    CONSTRAINT "a beacon is of a known kind" CHECK (beacon IN ('none', 'manual', 'drand')),
    CONSTRAINT "drand is asked somewhere" CHECK (beacon <> 'drand' OR beacon_url IS NOT NULL),
    CONSTRAINT "the secret is revealed with the draw" CHECK ((drawn_at IS NULL) = (secret IS NULL) AND octet_length(secret) = 32),
    CONSTRAINT "who was in a lobby has a number before anybody is called" CHECK (lobby = 0 OR serving = 0 OR drawn_at IS NOT NULL),
    CONSTRAINT "work has between nothing and 100000 rounds" CHECK (work BETWEEN 0 AND 100000)
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

ALTER TABLE event ADD FOREIGN KEY (room_id) REFERENCES room;

-- A slot of a room: one visitor inside. Written by seats/waitingroom; seats renews it with a claim and ends it with a sale.
-- A slot that expired may be given to the next visitor, and belongs to its visitor until then.
CREATE TABLE slot (
    room_id    bigint NOT NULL REFERENCES room,
    slot       integer NOT NULL,                    -- from 1; those beyond room.slots are not given again
    epoch      integer,
    number     bigint,
    holder     uuid,
    since      timestamptz,
    expires_at timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (room_id, slot),
    CONSTRAINT "a person has one slot of a room" UNIQUE (room_id, holder),
    CONSTRAINT "a slot has a person or no time left" CHECK ((holder IS NULL) = (number IS NULL) AND (holder IS NOT NULL OR expires_at = '-infinity'))
) WITH (fillfactor = 50);

-- An admission: the number that a visitor entered with, and its outcome. Written by seats/waitingroom; seats writes a purchase.
CREATE TABLE admission (
    room_id     bigint NOT NULL REFERENCES room,
    epoch       integer NOT NULL,
    number      bigint NOT NULL,
    holder      uuid NOT NULL,
    admitted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    entered     integer NOT NULL DEFAULT 1,         -- how often: a visitor who lost the connection may come back
    left_at     timestamptz,
    outcome     text,                               -- null while it may still be used
    seats       integer NOT NULL DEFAULT 0,         -- bought
    CONSTRAINT "one number lets one person in" PRIMARY KEY (room_id, epoch, number),
    CONSTRAINT "an admission ends in one of three ways"
        CHECK ((outcome IS NULL) = (left_at IS NULL) AND outcome IN ('bought', 'gave up', 'went away')),
    CONSTRAINT "nobody buys less than no seat" CHECK (seats >= 0)
);

CREATE INDEX admission_by_time ON admission (room_id, admitted_at);
CREATE INDEX admission_not_ended ON admission (room_id, admitted_at) WHERE outcome IS NULL;

-- A call of more numbers. Written by seats/waitingroom. A number was called with the first row that reaches it.
-- What the page estimated then for one number shows later how right the estimates were.
CREATE TABLE called (
    room_id     bigint NOT NULL REFERENCES room,
    epoch       integer NOT NULL,
    serving     bigint NOT NULL,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    told_number bigint,                             -- the number that the estimate was about
    told_wait   real,                               -- the estimate, in seconds
    PRIMARY KEY (room_id, epoch, serving),
    CONSTRAINT "what is told is about a number and a time" CHECK ((told_number IS NULL) = (told_wait IS NULL) AND told_wait >= 0)
);

-- A verified person who joined a room, where the room asks for an address or for work. Written by seats/waitingroom.
-- One person has one number.
CREATE TABLE entrant (
    room_id bigint NOT NULL REFERENCES room,
    epoch   integer NOT NULL,
    person  bytea NOT NULL,                         -- SHA-256 of the address or of the work
    kind    smallint NOT NULL,                      -- 1 lobby, 2 line
    index   bigint NOT NULL,
    came_by text NOT NULL DEFAULT 'address',
    PRIMARY KEY (room_id, epoch, person),
    CONSTRAINT "one place is one person's" UNIQUE (room_id, epoch, kind, index),
    CONSTRAINT "a place is in the lobby or in the line" CHECK (kind IN (1, 2) AND index > 0),
    CONSTRAINT "a person came by address, work or patience" CHECK (came_by IN ('address', 'work', 'patience'))
);

-- How many visitors of a room are still connected to a node, by number: a sample, scaled up. Written by seats/waitingroom.
CREATE TABLE presence (
    room_id    bigint NOT NULL REFERENCES room,
    node       uuid NOT NULL,
    counted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    width      bigint NOT NULL,                     -- numbers per count
    people     real[] NOT NULL,                     -- the first is about the numbers 1…width
    PRIMARY KEY (room_id, node),
    CONSTRAINT "a count is about one number at least" CHECK (width > 0 AND cardinality(people) <= 256)
) WITH (fillfactor = 50);

-- A key that signs queue tickets. Written by seats/waitingroom. One signs; older ones are valid until they are revoked.
CREATE TABLE place_key (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret     bytea NOT NULL,                      -- sealed (seats/seal) if the operator set a key
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    signs      boolean NOT NULL DEFAULT true,
    revoked_at timestamptz,
    CONSTRAINT "a place is signed with 32 bytes, or 80 sealed" CHECK (octet_length(secret) IN (32, 80)),
    CONSTRAINT "a revoked key signs no place" CHECK (NOT signs OR revoked_at IS NULL)
);

CREATE UNIQUE INDEX "one key signs places" ON place_key (signs) WHERE signs;

-- An organizer's action in a room. Written by seats/waitingroom, and never changed.
CREATE TABLE control (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room_id bigint NOT NULL REFERENCES room,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    who     text NOT NULL,
    what    text NOT NULL,
    detail  text NOT NULL DEFAULT '',
    CONSTRAINT "it is known who did something to a room" CHECK (who <> '' AND what <> '')
);

CREATE INDEX control_by_room ON control (room_id, id);


-- 11 Waiting list ------------------------------------------------------------------------------------------------------

-- An organizer's settings of the waiting list of an event. Written by seats/waitlist. The first entry makes the row.
CREATE TABLE wait_list (
    event_id   bigint PRIMARY KEY REFERENCES event,
    paused_at  timestamptz,              -- nothing is offered; seats that come back stay reserved
    note       text NOT NULL DEFAULT '', -- why, for everyone who waits
    room_since timestamptz,              -- when the first person came from the event's waiting room: where its numbers begin
    CONSTRAINT "a note of a wait list is short" CHECK (length(note) <= 500)
);

-- An entry: a person who waits for seats of a sold-out event. Written by seats/waitlist.
-- Entries are served by rank. waits_in and passed_in are transactions: what one snapshot saw of another tells who
-- waited first, and clocks do not (promise W5 of seats/waitlist). They are null, or unseen, after a restore.
CREATE TABLE entry (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    bigint NOT NULL REFERENCES event,
    code        text NOT NULL UNIQUE,    -- 128 random bits: they take offers, change the entry and leave the list
    email       text NOT NULL,
    quantity    smallint NOT NULL,
    sections    smallint[] NOT NULL DEFAULT '{}', -- numbers of acceptable sections, and
    categories  smallint[] NOT NULL DEFAULT '{}', -- of acceptable categories; both empty: any
    together    boolean NOT NULL,
    fewer       boolean NOT NULL,        -- one seat is better than none
    until       timestamptz,             -- nothing is offered after that; null: until the sale ends
    state       text NOT NULL DEFAULT 'new',
    rank        bigint NOT NULL,         -- the smallest is next: microseconds of the time they joined, unless a step changed it
    misses      smallint NOT NULL DEFAULT 0, -- offers without an answer
    joined_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    waits_since timestamptz,             -- waiting for the same seats, without a break
    passed      text,                    -- why it was passed over since then; null: it was not
    had         integer,                 -- how many acceptable seats there were at that time
    passed_at   timestamptz,
    gather_until timestamptz,            -- seats for a group are gathered, or were, until then
    asked       smallint NOT NULL DEFAULT 1, -- mails with its link, since asked_since
    asked_since timestamptz NOT NULL DEFAULT clock_timestamp(),

    -- Consent: what is offered is ordered at once.
    method      text,                    -- how it is paid; null: the person is asked
    name        text,                    -- for the order
    most        bigint,                  -- minor units: what costs more is only offered

    waits_in    xid8,                    -- the transaction that wrote waits_since
    passed_in   xid8,                    -- the transaction that wrote passed_at
    mandate     uuid REFERENCES mandate, -- the card that pays for it
    CONSTRAINT "an entry is in one of six states" CHECK (state IN ('new', 'waiting', 'offered', 'served', 'left', 'over')),
    CONSTRAINT "an entry waits for one seat at least" CHECK (quantity BETWEEN 1 AND 100),
    CONSTRAINT "it is known since when an entry waits" CHECK (state <> 'waiting' OR waits_since IS NOT NULL),
    CONSTRAINT "why an entry was passed over is one of five" CHECK (passed IN ('none', 'few', 'apart', 'missed', 'gathered')),
    CONSTRAINT "it is known when an entry was passed over" CHECK ((passed IS NULL) = (passed_at IS NULL)),
    CONSTRAINT "the address of an entry is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]'),
    CONSTRAINT "a consent is whole" CHECK (num_nonnulls(method, name, most) IN (0, 3)),
    CONSTRAINT "a consent is to an amount" CHECK (most >= 0)
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX "a person has one place in the wait list of an event" ON entry (event_id, email) WHERE state IN ('new', 'waiting', 'offered');
CREATE UNIQUE INDEX "a mandate is of one entry" ON entry (mandate) WHERE mandate IS NOT NULL;
CREATE INDEX entry_not_verified ON entry (joined_at) WHERE state = 'new';
CREATE INDEX entry_by_rank ON entry (event_id, rank, id) WHERE state = 'waiting';

CREATE FUNCTION end_mandate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mandate SET state = 'ending', next_try = clock_timestamp() WHERE id = OLD.mandate AND state IN ('asked', 'given');
    RETURN NULL;
END $$;

CREATE TRIGGER "a mandate ends with its entry" AFTER UPDATE OF state, mandate ON entry FOR EACH ROW
  WHEN (OLD.mandate IS NOT NULL AND (NEW.mandate IS DISTINCT FROM OLD.mandate OR NEW.state IN ('served', 'left', 'over')))
  EXECUTE FUNCTION end_mandate();

-- An offer: a hold made for an entry, and what became of it. Written by seats/waitlist.
CREATE TABLE offer (
    id          uuid PRIMARY KEY,         -- also the holder it was made for
    event_id    bigint NOT NULL REFERENCES event,
    entry_id    bigint NOT NULL REFERENCES entry,
    holder      uuid NOT NULL,            -- the visitor who took it
    hold_id     uuid NOT NULL,            -- the hold the seats are in
    seats       integer[] NOT NULL,
    rank        bigint NOT NULL,          -- of the entry at that time
    looked_at   timestamptz NOT NULL,     -- when the list was read
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    until       timestamptz NOT NULL,
    by_hand     boolean NOT NULL DEFAULT false, -- out of turn, by an organizer; its step says why
    declined_at timestamptz,
    state       text NOT NULL DEFAULT 'open',
    ended_at    timestamptz,
    ordering_at timestamptz,              -- a node began to order it, by the entry's consent
    saw         pg_snapshot,              -- what was committed before the list was read
    made_in     xid8 DEFAULT pg_current_xact_id(), -- the transaction that made it
    unordered   text NOT NULL DEFAULT '', -- why it was not ordered in spite of the consent
    CONSTRAINT "an offer has seats" CHECK (cardinality(seats) > 0),
    CONSTRAINT "an offer ends after it was made" CHECK (until > looked_at),
    CONSTRAINT "an offer is open or ended in one of four ways" CHECK (state IN ('open', 'accepted', 'declined', 'missed', 'withdrawn')),
    CONSTRAINT "it is known when an offer ended" CHECK ((state = 'open') = (ended_at IS NULL))
);

CREATE UNIQUE INDEX "an entry has one open offer" ON offer (entry_id) WHERE state = 'open';
CREATE INDEX offer_open ON offer (event_id, until) WHERE state = 'open';
CREATE INDEX offer_by_event ON offer (event_id, at);

-- A step: what happened to an entry or a list. Written by seats/waitlist with every change of either, and never changed.
CREATE TABLE wait_step (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES event,
    entry_id bigint REFERENCES entry,    -- null: about the whole list
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    what     text NOT NULL,
    detail   text NOT NULL DEFAULT '',
    who      text NOT NULL DEFAULT '',   -- an organizer; empty: the person who waits, or the list itself
    CONSTRAINT "a step says what happened" CHECK (what <> '')
);

CREATE INDEX wait_step_by_entry ON wait_step (entry_id, id);
CREATE INDEX wait_step_by_event ON wait_step (event_id, id);


-- 12 Limits ------------------------------------------------------------------------------------------------------------

-- The limits of an event against programs that claim and order, and its alarm. Written by seats/limit.
-- An event without a row has the defaults.
CREATE TABLE event_limit (
    event_id           bigint PRIMARY KEY REFERENCES event,
    challenge          text NOT NULL DEFAULT 'automatic',  -- when visitors do proof of work before they claim seats
    seats_per_network  integer,                            -- claimed without work within the length of a hold; null: the default
    unpaid_per_network integer,                            -- unpaid orders without work; null: the default
    unpaid_per_email   integer,                            -- unpaid orders; null: the default
    alarm_since        timestamptz,                        -- when the last attack was first noticed; null: none was
    alarm_until        timestamptz,                        -- it is over then, unless it is noticed again
    alarm_reason       text NOT NULL DEFAULT '',           -- what was noticed, for the desk
    alarm_everyone     boolean NOT NULL DEFAULT false,     -- all visitors do work, not only those of busy networks
    CONSTRAINT "a challenge is off, automatic or always" CHECK (challenge IN ('off', 'automatic', 'always')),
    CONSTRAINT "limits are positive" CHECK (least(seats_per_network, unpaid_per_network, unpaid_per_email) > 0),
    CONSTRAINT "an alarm begins and ends" CHECK ((alarm_since IS NULL) = (alarm_until IS NULL))
);

-- How often claims of an event were refused, by reason. Written by seats/sales every few seconds: nodes count in memory.
CREATE TABLE refusal (
    event_id bigint NOT NULL REFERENCES event,
    code     text NOT NULL,
    n        bigint NOT NULL,
    PRIMARY KEY (event_id, code),
    CONSTRAINT "refusals are counted" CHECK (n > 0)
);


-- 13 Organizers --------------------------------------------------------------------------------------------------------

-- An organizer's account. Written by seats/organizers.
CREATE TABLE organizer (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email      text NOT NULL,
    name       text NOT NULL,
    password   text NOT NULL DEFAULT '',     -- argon2id, in the PHC string format; empty: no password
    epoch      integer NOT NULL DEFAULT 1,   -- sessions of another epoch are signed out
    handle     bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()), -- the organizer's name for passkeys
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "one address is one organizer" UNIQUE (email),
    CONSTRAINT "one handle is one organizer" UNIQUE (handle),
    CONSTRAINT "the address of an organizer is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]'),
    CONSTRAINT "an organizer has a name" CHECK (length(name) BETWEEN 1 AND 200)
);

-- An organizer's role in a team. Written by seats/organizers.
CREATE TABLE member (
    team_id      bigint NOT NULL REFERENCES team,
    organizer_id bigint NOT NULL REFERENCES organizer,
    role         text NOT NULL,
    since        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team_id, organizer_id),
    CONSTRAINT "a role is one of four" CHECK (role IN ('owner', 'manager', 'door', 'viewer'))
);

CREATE INDEX member_by_organizer ON member (organizer_id);

-- The lock makes two owners who remove each other at once take turns. The function runs with its owner's rights.
CREATE FUNCTION team_keeps_owner() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM FROM team WHERE id = OLD.team_id FOR UPDATE;
    IF NOT EXISTS (SELECT FROM member WHERE team_id = OLD.team_id AND role = 'owner') THEN
        RAISE EXCEPTION 'a team keeps an owner' USING ERRCODE = 'check_violation', CONSTRAINT = 'a team keeps an owner';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a team keeps an owner" AFTER UPDATE OR DELETE ON member
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION team_keeps_owner();

-- It finds tables where they are, and not in a schema that its caller made.
DO $$ BEGIN EXECUTE format('ALTER FUNCTION team_keeps_owner() SET search_path = %I, pg_temp', current_schema()); END $$;

-- A link that makes the first organizer, as long as no team has an owner. Written by seats/organizers.
CREATE TABLE setup (
    token      bytea PRIMARY KEY,            -- SHA-256 of what the link carries
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at    timestamptz
);

-- An invitation to a team, by mail. Written by seats/organizers.
CREATE TABLE invitation (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id     bigint NOT NULL REFERENCES team,
    email       text NOT NULL,
    role        text NOT NULL,
    token       bytea,                       -- SHA-256 of what the mail carries; null until it is sent
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at  timestamptz NOT NULL DEFAULT clock_timestamp() + interval '7 days',
    accepted_at timestamptz,
    revoked_at  timestamptz,
    CONSTRAINT "one token is one invitation" UNIQUE (token),
    CONSTRAINT "an invitation is for one of four roles" CHECK (role IN ('owner', 'manager', 'door', 'viewer')),
    CONSTRAINT "the address of an invitation is written in one way" CHECK (email <> '' AND length(email) <= 254 AND email !~ '[A-Z]'),
    CONSTRAINT "an invitation is accepted or revoked" CHECK (accepted_at IS NULL OR revoked_at IS NULL)
);

CREATE UNIQUE INDEX "an address has one open invitation to a team" ON invitation (team_id, email)
    WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- A passkey of an organizer (WebAuthn). Written by seats/organizers.
CREATE TABLE passkey (
    id           bytea PRIMARY KEY,          -- the authenticator's name of it
    organizer_id bigint NOT NULL REFERENCES organizer,
    name         text NOT NULL,
    credential   jsonb NOT NULL,             -- public key, counter, and what is known of the authenticator
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at      timestamptz,
    CONSTRAINT "a passkey has a name" CHECK (length(name) BETWEEN 1 AND 100)
);

CREATE INDEX passkey_by_organizer ON passkey (organizer_id);

-- A link by mail that sets a new password. Written by seats/organizers. One row per organizer counts the requests.
CREATE TABLE password_link (
    organizer_id bigint PRIMARY KEY REFERENCES organizer,
    token        bytea,                      -- SHA-256 of what the mail carries; null until it is sent, and once it was used
    expires_at   timestamptz NOT NULL,
    asked        integer NOT NULL DEFAULT 1, -- requests since
    since        timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "one token is one password link" UNIQUE (token)
);

-- Attempts to sign in, by typed address and by network. Written by seats/organizers.
CREATE TABLE attempt (
    who   bytea PRIMARY KEY,                 -- SHA-256 of address or network
    tries integer NOT NULL DEFAULT 1,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

CREATE INDEX attempt_by_age ON attempt (since);

-- A session of an organizer at the desk. Written by seats/organizers. The browser's session names it: deleting the row signs
-- out on all nodes with the next request.
CREATE TABLE desk_session (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organizer_id bigint NOT NULL REFERENCES organizer,
    agent        text NOT NULL,              -- browser and system in words, such as "Firefox on Linux"
    network      text NOT NULL,              -- truncated address of the last use noted, such as 192.0.2.0/24
    second       boolean NOT NULL,           -- a second factor was shown: an app's code, a passkey or a recovery code
    started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- last use, noted every five minutes
    proved_at    timestamptz NOT NULL DEFAULT clock_timestamp()  -- last time a password, passkey or code was shown
) WITH (fillfactor = 80);

CREATE INDEX desk_session_by_organizer ON desk_session (organizer_id);
CREATE INDEX desk_session_by_age ON desk_session (started_at);

-- A browser in which an organizer signed in before. Written by seats/organizers. Wrong passwords elsewhere do not slow it down.
CREATE TABLE desk_device (
    token        bytea NOT NULL,             -- SHA-256 of what the cookie carries
    organizer_id bigint NOT NULL REFERENCES organizer,
    used_at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- last sign-in; deleted half a year later
    PRIMARY KEY (token, organizer_id)
);

CREATE INDEX desk_device_by_age ON desk_device (used_at);

-- An app that makes codes for an organizer (TOTP, RFC 6238). Written by seats/organizers.
CREATE TABLE totp (
    organizer_id bigint PRIMARY KEY REFERENCES organizer,
    secret       bytea NOT NULL,             -- sealed (seats/seal) if the operator set a key
    confirmed_at timestamptz,                -- when the app showed its first code; null: it is not in use yet
    step         bigint NOT NULL DEFAULT 0,  -- of the last code that was accepted: it and earlier ones are void
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A code that replaces a second factor, once. Written by seats/organizers.
CREATE TABLE recovery_code (
    organizer_id bigint NOT NULL REFERENCES organizer,
    hash         bytea NOT NULL,             -- SHA-256 of 120 random bits
    used_at      timestamptz,
    PRIMARY KEY (organizer_id, hash)
);

-- A key by which a program works at the desk, with the rights of the organizer who made it at most. Written by seats/organizers.
CREATE TABLE api_key (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id      bigint NOT NULL REFERENCES team,
    organizer_id bigint NOT NULL REFERENCES organizer, -- valid as long as this organizer is in the team
    name         text NOT NULL,
    scopes       text[] NOT NULL,
    hash         bytea NOT NULL,                       -- SHA-256 of it
    start        text NOT NULL,                        -- its first letters, to recognize it
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at      timestamptz,                          -- noted once an hour
    revoked_at   timestamptz,
    expires_at   timestamptz NOT NULL DEFAULT clock_timestamp() + interval '1 year',
    warned_at    timestamptz,                          -- when a mail said that it expires soon
    networks     text[] NOT NULL DEFAULT '{}',         -- the last ten that used it
    CONSTRAINT "one key is one row" UNIQUE (hash),
    CONSTRAINT "a key has a name" CHECK (length(name) BETWEEN 1 AND 100),
    CONSTRAINT "a key opens something" CHECK (cardinality(scopes) > 0 AND scopes <@ '{look,sell,manage}'),
    CONSTRAINT "a key expires after it was made" CHECK (expires_at > created_at)
);

CREATE INDEX api_key_by_team ON api_key (team_id);

-- A security event: sign-ins, refusals, changes of factors. Written by seats/organizers. Equal ones of a minute are one row.
CREATE TABLE security_event (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    minute       timestamptz NOT NULL,       -- in which it happened
    last_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind         text NOT NULL,              -- such as sign_in_failed
    organizer_id bigint NOT NULL DEFAULT 0,  -- of the account; 0: of no account here
    team_id      bigint NOT NULL DEFAULT 0,  -- of the team; 0: of the account, and so of all of its teams
    network      text NOT NULL DEFAULT '',   -- truncated address
    agent        text NOT NULL DEFAULT '',
    detail       text NOT NULL DEFAULT '',
    n            integer NOT NULL,           -- how often
    CONSTRAINT "a security event happened" CHECK (n > 0 AND kind <> ''),
    CONSTRAINT "equal security events of a minute are one" UNIQUE (minute, kind, organizer_id, team_id, network, agent, detail)
);

CREATE INDEX security_event_by_organizer ON security_event (organizer_id, id);
CREATE INDEX security_event_by_team ON security_event (team_id, id);

-- An audit entry: what an organizer did. Written by seats/organizers in the transaction of the deed, and never changed.
-- It names the organizer in words, so that it stays readable after they have left.
CREATE TABLE deed (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    team_id      bigint NOT NULL REFERENCES team,
    organizer_id bigint,                     -- null: the operator, by the command line
    who          text NOT NULL,
    email        text NOT NULL DEFAULT '',
    what         text NOT NULL,              -- such as "invited"
    subject      text NOT NULL DEFAULT '',   -- an address below /desk, such as events/seagull
    detail       jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT "it is known who did what" CHECK (who <> '' AND what <> '')
);

CREATE INDEX deed_by_team ON deed (team_id, id);
CREATE INDEX deed_by_subject ON deed (team_id, subject, id);

CREATE FUNCTION deed_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'what was done is never changed and never taken away'; END $$;
CREATE TRIGGER "what was done stands" BEFORE UPDATE OR DELETE OR TRUNCATE ON deed
    FOR EACH STATEMENT EXECUTE FUNCTION deed_stands();
ALTER TABLE deed ENABLE ALWAYS TRIGGER "what was done stands";


-- 14 Desk --------------------------------------------------------------------------------------------------------------

-- A seating plan of a team. Written by seats/organizers. Its content is in plan_version; events are made of copies (plan).
CREATE TABLE team_plan (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id    bigint NOT NULL REFERENCES team,
    versions   integer NOT NULL DEFAULT 0,   -- how many there are, which is the number of the newest
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "versions are counted" CHECK (versions >= 0)
);

CREATE INDEX team_plan_by_team ON team_plan (team_id);

-- A saved version of a seating plan. Written by seats/organizers, and never changed.
CREATE TABLE plan_version (
    plan_id      bigint NOT NULL REFERENCES team_plan,
    version      integer NOT NULL,           -- 1, 2, 3 …
    document     text COMPRESSION pglz NOT NULL, -- docs/plan-format.md, complete
    name         text NOT NULL,              -- of the plan; with seats and sections, for lists
    seats        integer NOT NULL,
    sections     integer NOT NULL,
    note         text NOT NULL DEFAULT '',   -- its origin or change, in the organizer's words
    organizer_id bigint NOT NULL REFERENCES organizer,
    saved_by     text NOT NULL,              -- the organizer's name then
    saved_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (plan_id, version),
    CONSTRAINT "versions are numbered from 1" CHECK (version >= 1)
);

-- A file between the steps of its import, for a day. Written by seats/organizers.
CREATE TABLE plan_import (
    id         uuid PRIMARY KEY,
    team_id    bigint NOT NULL REFERENCES team,
    name       text NOT NULL,                -- of the file
    content    bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- It is read in parts: compressed, each part would unpack the file from its beginning.
ALTER TABLE plan_import ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE INDEX plan_import_by_age ON plan_import (created_at);

-- What the dashboard keeps of the change log of an event, up to a version. Written by seats/sales; the log can make it again.
CREATE TABLE tally (
    event_id   bigint PRIMARY KEY REFERENCES event,
    version    bigint NOT NULL,
    paid       integer NOT NULL,          -- holds of which a payment began
    first_sold timestamptz,
    last_sold  timestamptz,               -- the time that the three paces are of
    pace       double precision NOT NULL, -- seats a minute, over one minute
    slow_pace  double precision NOT NULL, -- over five
    money_pace double precision NOT NULL, -- minor units a minute, over five
    state      smallint[] NOT NULL,       -- of each seat, by idx
    holder     uuid[] NOT NULL,           -- null of a seat that is free or sold
    price      bigint[] NOT NULL,         -- 0 of a seat that is not sold
    hold       uuid[] NOT NULL,           -- holders of holds that have seats, and
    begun      bigint[] NOT NULL,         -- when each began, seconds since 1970
    ended      smallint[] NOT NULL,       -- 0 open, 1 ordered, 2 expired, 3 released
    hold_paid  boolean[] NOT NULL         -- a payment began
);

-- The sale of an event in one minute or hour in which something changed. Written by seats/sales; the log can make it again.
CREATE TABLE history (
    event_id       bigint NOT NULL REFERENCES event,
    span           smallint NOT NULL,    -- minutes
    at             timestamptz NOT NULL, -- its beginning
    free           integer NOT NULL,     -- at its end
    held           integer NOT NULL,
    sold           integer NOT NULL,
    blocked        integer NOT NULL,
    seats_sold     integer NOT NULL,     -- in it
    seats_returned integer NOT NULL,     -- cancelled in it
    revenue        bigint NOT NULL,      -- of the seats sold, minor units
    orders         integer NOT NULL,
    begun          integer NOT NULL,     -- holds that began in it, and their outcomes:
    ordered        integer NOT NULL,
    lapsed         integer NOT NULL,
    given_back     integer NOT NULL,
    PRIMARY KEY (event_id, span, at),
    CONSTRAINT "a span is a minute or an hour" CHECK (span IN (1, 60))
);

-- An alert of an event that an organizer has seen. Written by seats/sales.
CREATE TABLE seen (
    event_id bigint NOT NULL REFERENCES event,
    concern  text NOT NULL,
    who      text NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, concern),
    CONSTRAINT "a concern has a short name" CHECK (length(concern) BETWEEN 1 AND 200)
);

CREATE INDEX seen_by_time ON seen (event_id, at);

-- A link that shows the dashboard of one event to others: figures, and no names. Written by seats/organizers.
CREATE TABLE share (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    token      bytea NOT NULL,                -- SHA-256 of what the link carries
    name       text NOT NULL,                 -- of the person it is for
    maker      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT "one link is one share" UNIQUE (token),
    CONSTRAINT "a share is for somebody" CHECK (length(name) BETWEEN 1 AND 100)
);

CREATE INDEX share_by_event ON share (event_id, id);


-- 15 Mail --------------------------------------------------------------------------------------------------------------

-- A mail to send. Written by seats/mail. Other packages queue one in the statement of what it is about.
-- Its text is made when it is sent, so that no personal data is stored twice. It is tried until it was sent or refused.
CREATE TABLE mail (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id      uuid REFERENCES orders,
    kind          text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries         integer NOT NULL DEFAULT 0,
    next_try      timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_at       timestamptz,
    error         text NOT NULL DEFAULT '',     -- of the last try
    refused_at    timestamptz,                  -- the receiver's server refused it for good; error says why
    email         text,                         -- the receiver, if it is about no order, payment or entry
    payment_id    uuid REFERENCES payment,      -- without an order: the seats were lost, or the email is to be confirmed
    invitation_id bigint REFERENCES invitation,
    room_id       bigint REFERENCES room,
    message_id    uuid REFERENCES message,
    entry_id      bigint REFERENCES entry,
    about         text NOT NULL DEFAULT '',     -- kind security: what happened
    sent_to       bytea,                        -- SHA-256 of the address, for the limit on mails of one address
    CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm',
        'link', 'security', 'invitation', 'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder')),
    CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind = 'place') = (room_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)),
    CONSTRAINT "a message goes to who ordered" CHECK ((kind = 'message') = (message_id IS NOT NULL) AND (message_id IS NULL OR order_id IS NOT NULL)),
    CONSTRAINT "a mail is sent or refused" CHECK (sent_at IS NULL OR refused_at IS NULL),
    CONSTRAINT "tries are counted" CHECK (tries >= 0)
);

CREATE UNIQUE INDEX "a payment is told lost once" ON mail (payment_id) WHERE kind = 'lost';
CREATE UNIQUE INDEX "an address is invited to a room by one mail" ON mail (room_id, email) WHERE kind = 'place';
CREATE UNIQUE INDEX "a message goes to an order once" ON mail (message_id, order_id) WHERE message_id IS NOT NULL;
CREATE UNIQUE INDEX "an order is told once that it can join" ON mail (order_id) WHERE kind = 'join';
CREATE INDEX mail_to_send ON mail (next_try) WHERE sent_at IS NULL AND refused_at IS NULL;
CREATE INDEX mail_by_order ON mail (order_id);
CREATE INDEX mail_sent_to ON mail (sent_to, sent_at) WHERE sent_to IS NOT NULL;


-- 16 Webhooks ----------------------------------------------------------------------------------------------------------

-- A webhook: an address of a team's own that is told what happens. Written by seats/webhooks.
CREATE TABLE hook (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id       bigint NOT NULL REFERENCES team,
    url           text NOT NULL,
    kinds         text[] NOT NULL,             -- what it is told of
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    removed_at    timestamptz,
    off_at        timestamptz,                 -- nothing is told to it from then on
    off_why       text NOT NULL DEFAULT '',    -- empty: an owner switched it off
    failures      integer NOT NULL DEFAULT 0,  -- in a row, one for each pause after a failure
    failing_since timestamptz,
    rests_until   timestamptz NOT NULL DEFAULT '-infinity',
    CONSTRAINT "a hook has an address" CHECK (length(url) BETWEEN 10 AND 500),
    CONSTRAINT "a hook is told of something" CHECK (cardinality(kinds) > 0),
    CONSTRAINT "a hook fails since its first failure" CHECK ((failures > 0) = (failing_since IS NOT NULL))
);

CREATE INDEX hook_by_team ON hook (team_id) WHERE removed_at IS NULL;

-- A secret that signs the deliveries of a webhook. Written by seats/webhooks. While one replaces another both sign.
CREATE TABLE hook_secret (
    hook_id bigint NOT NULL REFERENCES hook,
    secret  bytea NOT NULL,                    -- sealed (seats/seal) if the operator set a key
    since   timestamptz NOT NULL DEFAULT clock_timestamp(),
    until   timestamptz,
    PRIMARY KEY (hook_id, since),
    CONSTRAINT "a secret cannot be guessed" CHECK (octet_length(secret) BETWEEN 24 AND 112)
);

CREATE UNIQUE INDEX "a hook has one newest secret" ON hook_secret (hook_id) WHERE until IS NULL;

-- A webhook delivery. Written by seats/webhooks, and by the functions below in the transaction of what it tells of.
-- It holds no personal data: programs ask for that with a key.
CREATE TABLE notice (
    id       uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    hook_id  bigint NOT NULL REFERENCES hook,
    kind     text NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    data     jsonb NOT NULL,
    tries    integer NOT NULL DEFAULT 0,
    next_try timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_at  timestamptz,                      -- the receiver accepted it
    ended_at timestamptz,                      -- no receiver accepted it for so long that it is not tried again
    answers  jsonb NOT NULL DEFAULT '[]',      -- of each try: when, the status or 0, the milliseconds, the error
    CONSTRAINT "tries of a notice are counted" CHECK (tries >= 0)
);

CREATE INDEX notice_due ON notice (hook_id, next_try) WHERE sent_at IS NULL AND ended_at IS NULL;
CREATE INDEX notice_by_hook ON notice (hook_id, at, id);
CREATE INDEX notice_by_age ON notice (at);

-- Triggers write deliveries in the transaction of what they tell of. A team without a webhook for it costs one look at an index.
CREATE FUNCTION listens(event bigint, kind text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM hook h WHERE h.team_id = (SELECT team_id FROM event e WHERE e.id = $1)
                                        AND h.off_at IS NULL AND h.removed_at IS NULL AND $2 = ANY (h.kinds))
$$;

CREATE FUNCTION tell(event bigint, kind text, said jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO notice (hook_id, kind, data)
    SELECT h.id, $2, jsonb_build_object('event', e.slug) || $3
      FROM event e JOIN hook h ON h.team_id = e.team_id
     WHERE e.id = $1 AND h.off_at IS NULL AND h.removed_at IS NULL AND $2 = ANY (h.kinds)
$$;

CREATE FUNCTION tell_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND listens(NEW.event_id, 'order.confirmed') THEN
        PERFORM tell(NEW.event_id, 'order.confirmed', jsonb_build_object('order', NEW.code, 'method', NEW.method, 'currency', NEW.currency,
            'total', NEW.total, 'paid', NEW.paid, 'tickets', (SELECT count(*) FROM ticket WHERE order_id = NEW.id), 'at_office', NEW.at_office));
    END IF;
    IF NEW.paid > (CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD.paid END) AND listens(NEW.event_id, 'order.paid') THEN
        PERFORM tell(NEW.event_id, 'order.paid', jsonb_build_object('order', NEW.code, 'method', NEW.method, 'currency', NEW.currency,
            'total', NEW.total, 'paid', NEW.paid));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a new order is told" AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION tell_order();
CREATE TRIGGER "a paid order is told" AFTER UPDATE OF paid ON orders FOR EACH ROW WHEN (NEW.paid > OLD.paid) EXECUTE FUNCTION tell_order();

CREATE FUNCTION tell_cancellation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF listens(NEW.event_id, 'order.cancelled') THEN
        PERFORM tell(NEW.event_id, 'order.cancelled', (SELECT jsonb_build_object('order', code, 'state', state, 'currency', currency,
            'tickets', to_jsonb(NEW.tickets), 'amount', NEW.amount, 'back', NEW.back) FROM orders WHERE id = NEW.order_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a cancellation is told" AFTER INSERT ON cancellation FOR EACH ROW EXECUTE FUNCTION tell_cancellation();

-- A refund of a payment without an order names the payment's code.
CREATE FUNCTION tell_refund() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    about record;
BEGIN
    SELECT coalesce(o.event_id, p.event_id) AS event, coalesce(o.code, p.code) AS code, coalesce(o.currency, p.currency) AS currency INTO about
      FROM (SELECT NEW.order_id, NEW.payment_id) r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.id = r.payment_id;
    IF listens(about.event, 'order.refunded') THEN
        PERFORM tell(about.event, 'order.refunded', jsonb_build_object('order', about.code, 'currency', about.currency, 'amount', NEW.amount, 'by_hand', NEW.by_hand));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a refund that is done at once is told" AFTER INSERT ON refund FOR EACH ROW WHEN (NEW.done_at IS NOT NULL) EXECUTE FUNCTION tell_refund();
CREATE TRIGGER "a refund that was done is told" AFTER UPDATE OF done_at ON refund
    FOR EACH ROW WHEN (OLD.done_at IS NULL AND NEW.done_at IS NOT NULL) EXECUTE FUNCTION tell_refund();

CREATE FUNCTION tell_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF listens(NEW.event_id, 'ticket.moved') THEN
        PERFORM tell(NEW.event_id, 'ticket.moved', (SELECT jsonb_build_object('order', code, 'ticket', NEW.id, 'to', NEW.moved_to) FROM orders WHERE id = NEW.order_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "a ticket that moved is told" AFTER UPDATE OF moved_to ON ticket FOR EACH ROW WHEN (NEW.moved_to IS NOT NULL) EXECUTE FUNCTION tell_move();

CREATE FUNCTION tell_scan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF listens(NEW.event_id, 'ticket.scanned') THEN
        PERFORM tell(NEW.event_id, 'ticket.scanned', (SELECT jsonb_build_object('order', o.code, 'ticket', t.id, 'place', NEW.place, 'scanned_at', NEW.scanned_at)
            FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.id = NEW.ticket_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "who came is told" AFTER INSERT ON scan FOR EACH ROW WHEN (NEW.admitted) EXECUTE FUNCTION tell_scan();


-- 17 Readiness ---------------------------------------------------------------------------------------------------------

-- The row that /readyz writes. Written by seats. A node is ready only while the database stores what it writes, which it
-- does not on a full or read-only disk.
CREATE TABLE ready (
    lone       boolean PRIMARY KEY DEFAULT true, -- one row
    written_at timestamptz NOT NULL,             -- when a node last asked
    CONSTRAINT "there is one row" CHECK (lone)
);

INSERT INTO ready (written_at) VALUES (clock_timestamp());


-- 18 Rights of the desk ------------------------------------------------------------------------------------------------
-- The second wall. Statements of the desk run as the role usher_desk, which owns nothing and sees only rows of the team
-- in the setting usher.team; without it, none. Attendees' requests run as the owner of the tables, whom no policy limits.

DO $$
DECLARE
    may text := CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'usher_desk') THEN
        BEGIN
            CREATE ROLE usher_desk NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server made it at the same moment
        END;
    END IF;
    IF NOT pg_has_role(current_user, 'usher_desk', may) THEN
        EXECUTE format('GRANT usher_desk TO %I', current_user);
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'organizers work as the role usher_desk, which % may not make. Nothing was changed. Have an administrator of this PostgreSQL run: CREATE ROLE usher_desk NOLOGIN; GRANT usher_desk TO %; then start usher again', current_user, quote_ident(current_user);
END $$;

DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO usher_desk', current_schema()); END $$;

-- Row-level security is on for every table. Without a policy the desk sees no row.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT c.oid::regclass AS name FROM pg_class c
                WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', one.name);
    END LOOP;
END $$;

-- desk_wall opens a table to the desk: the rows for which shown is true, with the rights named. Migrations that create a
-- table for the desk call it. A test fails on a table with event_id, team_id or room_id and no policy.
CREATE PROCEDURE desk_wall(name regclass, shown text, rights text DEFAULT 'SELECT') LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY "what the team may see" ON %s TO usher_desk USING (%s)', name, shown);
    IF rights <> '' THEN
        EXECUTE format('GRANT %s ON %s TO usher_desk', rights, name);
    END IF;
END $$;

CREATE FUNCTION desk_team() RETURNS bigint LANGUAGE sql STABLE AS
    $$SELECT nullif(current_setting('usher.team', true), '')::bigint$$;

-- Rows of the team itself.
CALL desk_wall('team', 'id = desk_team()', 'SELECT, UPDATE (name, second_factor)');
CALL desk_wall('event', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('member', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE (role), DELETE');
CALL desk_wall('invitation', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('deed', 'team_id = desk_team()', 'SELECT, INSERT');
CALL desk_wall('team_plan', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE (versions)');
CALL desk_wall('plan_import', 'team_id = desk_team()', 'SELECT, INSERT, DELETE');
CALL desk_wall('hook', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('api_key', 'team_id = desk_team()',
    'SELECT (id, team_id, organizer_id, name, scopes, start, created_at, used_at, revoked_at, expires_at), INSERT, UPDATE (revoked_at)');

-- Rows of the team's events. Seats and their states are changed by package seats alone.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{section,seat,seat_state,added,block,hold,counter,change,terms,orders,cancellation,message,errand,ticket,door,scan,payment,
                            wait_list,offer,wait_step,event_limit,refusal}'::text[] LOOP
        CALL desk_wall(name::regclass, 'event_id IN (SELECT id FROM event)');
    END LOOP;
END $$;
CALL desk_wall('category', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('question', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE, DELETE');
CALL desk_wall('tally', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('history', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
CALL desk_wall('seen', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT');
CALL desk_wall('share', 'event_id IN (SELECT id FROM event)',
    'SELECT (id, event_id, name, maker, created_at, expires_at, revoked_at), INSERT, UPDATE (revoked_at)');
-- The code of an entry takes its offers: the desk does not see it.
CALL desk_wall('entry', 'event_id IN (SELECT id FROM event)',
    'SELECT (id, event_id, email, quantity, sections, categories, together, fewer, until, state, rank, misses, joined_at, waits_since, passed, had, passed_at, gather_until)');
CALL desk_wall('typed', 'event_id IN (SELECT id FROM event)', '');
CALL desk_wall('purchase_key', 'event_id IN (SELECT id FROM event)', '');

-- Rows of the rooms of the team's events. The secret of a room stays sealed.
CALL desk_wall('room', 'EXISTS (SELECT FROM event e WHERE e.room_id = room.id)',
    'SELECT (id, slug, name, epoch, mode, entry, phase, version, lobby_opens_at, opens_at, lobby, line, serving, slots, rate, valid, idle, stay, note,
             ticked_at, commitment, committed_at, sealed_by, closed_at, beacon, beacon_url, beacon_wait, beacon_round, beacon_sign, beacon_value,
             drawn_at, pace, outlook)');
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{slot,admission,called,entrant,presence,control}'::text[] LOOP
        CALL desk_wall(name::regclass, 'room_id IN (SELECT room_id FROM event)');
    END LOOP;
END $$;

-- Rows that belong to those.
CALL desk_wall('plan', 'EXISTS (SELECT FROM event e WHERE e.plan_id = plan.id)');
CALL desk_wall('plan_version', 'plan_id IN (SELECT id FROM team_plan)', 'SELECT, INSERT');
CALL desk_wall('refund', 'EXISTS (SELECT FROM orders o WHERE o.id = refund.order_id) OR EXISTS (SELECT FROM payment p WHERE p.id = refund.payment_id)');
CALL desk_wall('intention', 'EXISTS (SELECT FROM payment p WHERE p.id = intention.payment_id)');
CALL desk_wall('errand_order', 'EXISTS (SELECT FROM errand e WHERE e.id = errand_order.errand_id)');
CALL desk_wall('organizer', 'EXISTS (SELECT FROM member m WHERE m.organizer_id = organizer.id)', 'SELECT (id, email, name, created_at)');
CALL desk_wall('idempotency_key', 'starts_with(scope, ''desk/'' || desk_team() || ''/'')', 'SELECT, INSERT, UPDATE (answer)');
CALL desk_wall('security_event', 'desk_team() IS NOT NULL AND (team_id = desk_team() OR team_id = 0 AND organizer_id = 0
    OR team_id = 0 AND EXISTS (SELECT FROM member m WHERE m.organizer_id = security_event.organizer_id))');
CALL desk_wall('mail', 'EXISTS (SELECT FROM orders o WHERE o.id = mail.order_id) OR EXISTS (SELECT FROM payment p WHERE p.id = mail.payment_id)
    OR EXISTS (SELECT FROM invitation i WHERE i.id = mail.invitation_id)
    OR kind = ''security'' AND EXISTS (SELECT FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE o.email = mail.email)', 'SELECT, INSERT');
CALL desk_wall('hook_secret', 'EXISTS (SELECT FROM hook h WHERE h.id = hook_secret.hook_id)', 'SELECT (hook_id, since, until), INSERT, UPDATE (until)');
CALL desk_wall('notice', 'EXISTS (SELECT FROM hook h WHERE h.id = notice.hook_id)', 'SELECT, INSERT, UPDATE (next_try, sent_at, ended_at, tries)');
