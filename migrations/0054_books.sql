-- The books of a team: what reports over all events find orders by.

CREATE INDEX cancellation_by_time ON cancellation (created_at);
CREATE INDEX refund_by_time ON refund (created_at);
CREATE INDEX receipt_by_time ON receipt (at);
CREATE INDEX exchange_by_time ON exchange (at);
CREATE INDEX intention_captured ON intention (done_at) WHERE step = 'capture' AND done_at IS NOT NULL;
CREATE INDEX payment_without_order ON payment (event_id) WHERE captured > 0 AND state IN ('lost', 'closed');
