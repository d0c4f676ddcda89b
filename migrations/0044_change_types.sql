-- Buyers change the ticket type of tickets that they have: an exchange within the event, of the same seats.

ALTER TABLE event
    ADD COLUMN types_until interval, -- before the start; buyers change ticket types until then; null: never
    ADD CONSTRAINT "ticket types are changed before the event" CHECK (types_until >= '0') NOT VALID;

-- Differences of an order that are paid for.
CREATE INDEX payment_under_way_of_holder ON payment (event_id, holder) WHERE state IN ('open', 'authorized');
