-- The desk says of each link of a door whom it let in and when it was used last.
CREATE INDEX scan_by_door ON scan (door_id, received_at);
