-- A claim makes a seat's row half as long again, and seats that stand together are claimed together: a third of their rows found no
-- room on their page, moved to another one and wrote their key anew. Events made from now on have room for all of their seats.
ALTER TABLE seat_state SET (fillfactor = 40);
