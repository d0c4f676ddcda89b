-- What an organizer asks everybody who orders, besides name and address.
CREATE TABLE question (
    event_id bigint NOT NULL REFERENCES event,
    number   smallint NOT NULL,          -- in the order in which they are asked, from 1
    kind     text NOT NULL,
    label    text NOT NULL,
    required boolean NOT NULL,
    choices  text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (event_id, number),
    CONSTRAINT "a question is a text, a choice or a checkbox" CHECK (kind IN ('text', 'choice', 'checkbox')),
    CONSTRAINT "a choice has something to choose" CHECK ((kind = 'choice') = (cardinality(choices) > 0)),
    CONSTRAINT "a question says something" CHECK (length(label) BETWEEN 1 AND 200)
);

ALTER TABLE orders ADD COLUMN answers jsonb NOT NULL DEFAULT '{}';  -- by number of the question
