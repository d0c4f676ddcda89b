-- Who got what in the sale of an event, as its organizer published it (docs/fairness.md). Written by seats/fairness. It has sums only, of 20 orders or more.
CREATE TABLE fairness_report (
    event_id bigint PRIMARY KEY REFERENCES event,
    until    timestamptz NOT NULL DEFAULT clock_timestamp() - interval '1 second', -- shortly before it was published first: later orders are in none of its versions
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),                       -- when it was published last
    report   jsonb NOT NULL
);

CALL desk_wall('fairness_report', 'EXISTS (SELECT FROM event e WHERE e.id = event_id)', 'SELECT, INSERT, UPDATE');
