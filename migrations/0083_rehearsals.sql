-- Rehearsals of the sale of an event. Written by seats/rehearsal. The crowd is made up: a report has figures and names of sections, and no person.
CREATE TABLE rehearsal (
    id         uuid PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES event,
    crowd      jsonb NOT NULL,                                   -- who comes, as an organizer expects it
    state      text NOT NULL DEFAULT 'asked',
    asked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),   -- when the node that runs it last said so
    ended_at   timestamptz,
    report     jsonb,                                            -- the newest one; null: there is none yet
    CONSTRAINT "a rehearsal is in one of seven states" CHECK (state IN ('asked', 'running', 'stopping', 'done', 'failed', 'stopped', 'broken')),
    CONSTRAINT "a rehearsal that is over has an end" CHECK ((ended_at IS NULL) = (state IN ('asked', 'running', 'stopping'))),
    CONSTRAINT "a rehearsal that is done has a report" CHECK (state <> 'done' OR report IS NOT NULL)
);

CREATE UNIQUE INDEX "one sale is rehearsed at a time" ON rehearsal ((true)) WHERE ended_at IS NULL;
CREATE INDEX rehearsal_by_event ON rehearsal (event_id, asked_at);

CALL desk_wall('rehearsal', 'event_id IN (SELECT id FROM event)', 'SELECT, INSERT, UPDATE');
