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
