-- Payments that the provider confirms days later, such as a SEPA debit. From then on the payment itself holds its seats.
ALTER TABLE payment ADD COLUMN awaited_until timestamptz; -- the attendee paid, and the provider says until then whether the money comes
ALTER TABLE payment ADD CONSTRAINT "only money is awaited" CHECK (awaited_until IS NULL OR method NOT IN ('free', 'door', 'invoice'));
