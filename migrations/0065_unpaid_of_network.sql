-- Orders to be paid later that wait for their email to be confirmed, for the limit on unpaid orders of a network.
CREATE INDEX payment_unpaid_of_network ON payment (event_id, (form->>'network')) WHERE method IN ('door', 'invoice') AND state IN ('open', 'authorized');
