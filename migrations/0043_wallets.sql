-- Phones keep tickets as passes of Apple Wallet, and ask for newer ones.

-- A phone that has a pass. Written by seats/wallets. What a pass says is made of its ticket each time: no row has it.
CREATE TABLE wallet_device (
    device        text NOT NULL,                            -- the phone's own name for itself, which only it and we know
    serial        uuid NOT NULL,                            -- of the pass: the first ticket of its holder for the seat, or the transfer by which they got it
    event_id      bigint NOT NULL,
    order_id      uuid NOT NULL,
    ticket_id     uuid NOT NULL REFERENCES ticket,          -- that the pass begins with; one that moved leads to the next
    transfer_id   uuid REFERENCES ticket_transfer,          -- by which its holder got the ticket; null: they bought it
    push_token    text NOT NULL,                            -- by which Apple reaches the phone
    state         text NOT NULL,                            -- a hash of what the pass says, as far as it was seen
    registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at    timestamptz NOT NULL DEFAULT clock_timestamp(), -- when state became what it is
    next_push     timestamptz,                              -- when the phone is to be told; null: it knows
    tries         integer NOT NULL DEFAULT 0,               -- of telling it
    PRIMARY KEY (device, serial),
    CONSTRAINT "a pass is of an order of its event" FOREIGN KEY (event_id, order_id) REFERENCES orders (event_id, id),
    CONSTRAINT "a phone names itself shortly" CHECK (length(device) BETWEEN 1 AND 100 AND length(push_token) BETWEEN 1 AND 200)
);

CREATE INDEX wallet_device_by_serial ON wallet_device (serial);
CREATE INDEX wallet_device_by_event ON wallet_device (event_id);
CREATE INDEX wallet_device_to_push ON wallet_device (next_push) WHERE next_push IS NOT NULL;

CALL desk_wall('wallet_device', 'event_id IN (SELECT id FROM event)', '');
