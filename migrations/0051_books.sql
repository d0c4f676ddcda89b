-- The books of a team: what reports over all events find orders by.

CREATE INDEX cancellation_by_time ON cancellation (created_at);
CREATE INDEX refund_by_time ON refund (created_at);
CREATE INDEX receipt_by_time ON receipt (at);
CREATE INDEX exchange_by_time ON exchange (at);
CREATE INDEX intention_captured ON intention (done_at) WHERE step = 'capture' AND done_at IS NOT NULL;
CREATE INDEX payment_without_order ON payment (event_id) WHERE captured > 0 AND state IN ('lost', 'closed');

-- Who has a share in what a performance earned: royalties and the like. Written by seats/books. A performance of a series without a row of its own has
-- the shares of the leading one.
CREATE TABLE event_share (
    event_id bigint PRIMARY KEY REFERENCES event,
    shares   jsonb NOT NULL   -- seats/books.Share
);

CALL desk_wall('event_share', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');

-- The account numbers that a team's accountant books to. Written by seats/books.
CREATE TABLE book_accounts (
    team_id    bigint PRIMARY KEY REFERENCES team,
    accounts   jsonb NOT NULL,                   -- number by what is booked there (seats/books.AccountKey)
    consultant integer NOT NULL DEFAULT 0,       -- DATEV: Beraternummer; 0: none
    client     integer NOT NULL DEFAULT 0,       -- DATEV: Mandantennummer; 0: none
    digits     smallint NOT NULL DEFAULT 4,      -- of an account
    year_month smallint NOT NULL DEFAULT 1,      -- in which the business year begins
    CONSTRAINT "DATEV numbers are in their bounds"
        CHECK (consultant BETWEEN 0 AND 9999999 AND client BETWEEN 0 AND 99999 AND digits BETWEEN 4 AND 8 AND year_month BETWEEN 1 AND 12)
);

CALL desk_wall('book_accounts', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
