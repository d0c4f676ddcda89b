package verify_test

// aCode is a code for one order, and one of each person. anotherOrder is like the one of the evening. gone is the erasure of a
// person that is over.
const (
	aCode = `INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person)
		SELECT '00000000-0000-0000-0000-00000000c0de', id, 'CODE', '', 1000, 0, false, '{}', '{}', 0, 1, 1 FROM event;`
	anotherOrder = `INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total, keys, discount_code, uses)
		SELECT gen_random_uuid(), event_id, 'other', holder, gen_random_uuid(), wish, name, email, method, currency, total, keys, discount_code, uses FROM orders`
	gone = `INSERT INTO erasure_key (secret) VALUES (decode(repeat('00', 64), 'hex'));
		INSERT INTO erasure (team_id, person, complete, orders, at)
		SELECT id, sha256(decode(repeat('5c', 64), 'hex') || sha256(decode(repeat('36', 64), 'hex') || 'gone@example.org'::bytea)), true, 1, now() + interval '1 minute' FROM team;`
)

// plantedCorruptions are told in terms of plantedEvening.
var plantedCorruptions = []struct {
	name    string
	promise string
	says    string // a part of a finding
	sql     string
}{
	{
		"a seat has two rows", "P1", "has two rows",
		`INSERT INTO seat_state SELECT * FROM seat_state WHERE idx = 0`,
	},
	{
		"a held seat went to a visitor without a hold", "P1", "who has no hold",
		`UPDATE seat_state SET holder = gen_random_uuid() WHERE idx = 0`,
	},
	{
		"two live holds have one seat", "P1", "stands in the hold of",
		`UPDATE hold SET seats = seats || 2 WHERE 0 = ANY(seats)`,
	},
	{
		"a seat is held by a visitor, and the hold does not name it", "P1", "does not name it",
		`UPDATE hold SET seats = '{0}' WHERE 0 = ANY(seats)`,
	},
	{
		"a sold seat has no ticket", "O1", "has no live ticket",
		`DELETE FROM ticket WHERE idx = 3`,
	},
	{
		"a ticket is of another order", "O1", "its ticket is of",
		`UPDATE ticket SET order_id = gen_random_uuid() WHERE idx = 3`,
	},
	{
		"a free seat has a live ticket", "O1", "is free and has a live ticket",
		`UPDATE ticket SET idx = 20 WHERE idx = 3`,
	},
	{
		"an order costs something else than its tickets", "O4", "and its tickets cost",
		`UPDATE ticket SET price = price + 1`,
	},
	{
		"a sold seat has no order", "P1", "is sold without an order",
		`UPDATE seat_state SET holder = NULL, expires_at = NULL WHERE idx = 3`,
	},
	{
		"a seat is sold to a hold", "P1", "and no order",
		`UPDATE seat_state SET state = 4, expires_at = 'infinity' WHERE idx = 2`,
	},
	{
		"a sold seat has an end, so that the guard would sell it again", "P1", "is sold and may end",
		`UPDATE seat_state SET expires_at = now() + interval '1 day' WHERE idx = 3`,
	},
	{
		"the log sold a seat twice", "P1", "was sold to",
		`UPDATE change SET state = '{4}', holder = ARRAY[gen_random_uuid()], idx = '{3}' WHERE idx = '{4}'`,
	},
	{
		"a live hold names a seat that it never got", "P2", "which lasts, and is free",
		`UPDATE hold SET seats = seats || 7 WHERE 0 = ANY(seats)`,
	},
	{
		"a change passed the guard in part", "P2", "of which 1 passed",
		`UPDATE change SET passed = 1 WHERE version = 1`,
	},
	{
		"a claim was promised a seat that it never got", "P2", "no version gave it",
		`UPDATE hold SET answers = ('[{"key": "first", "hold": "' || id || '", "seats": [0, 7], "expires_at": "2030-01-01T00:00:00Z"}]') WHERE 0 = ANY(seats)`,
	},
	{
		"a held seat never ends", "P3", "without an end",
		`UPDATE seat_state SET expires_at = 'infinity' WHERE idx = 0`,
	},
	{
		"a hold never ends", "P3", "has no end",
		`UPDATE hold SET expires_at = 'infinity' WHERE 0 = ANY(seats)`,
	},
	{
		"a seat outlasts its hold by a microsecond", "P3", "and its hold at",
		`UPDATE seat_state SET expires_at = expires_at + interval '1 microsecond' WHERE idx = 1`,
	},
	{
		"a seat lost its row", "P4", "has no row",
		`DELETE FROM seat_state WHERE idx = 8`,
	},
	{
		"the last seats are gone without a trace", "P4", "by its own row",
		`DELETE FROM seat_state WHERE idx > 50; DELETE FROM seat WHERE idx > 50`,
	},
	{
		"a free seat kept its holder", "P4", "the guard refuses it",
		`UPDATE seat_state SET holder = gen_random_uuid(), expires_at = 'infinity' WHERE idx = 8`,
	},
	{
		"an expired seat ends tomorrow", "P4", "the guard refuses it until",
		`UPDATE seat_state SET expires_at = 'tomorrow' WHERE idx = 5; UPDATE hold SET expires_at = 'tomorrow' WHERE 5 = ANY(seats)`,
	},
	{
		"an expired seat still counts as held", "P4", "was announced",
		`UPDATE seat_state SET state = 1 WHERE idx = 5`,
	},
	{
		"the counter lost a seat", "P5", "says free",
		`UPDATE counter SET free[1] = free[1] - 1`,
	},
	{
		"the counter has a category too few", "P5", "counts of sold seats",
		`UPDATE counter SET sold = sold[2:]`,
	},
	{
		"there is no counter", "P5", "no counter row",
		`DELETE FROM counter`,
	},
	{
		"an old version told another count", "P5", "version 2: category",
		`UPDATE change SET held[1] = held[1] + 1 WHERE version = 2`,
	},
	{
		"a version is missing", "P6", "version 2 is missing",
		`DELETE FROM change WHERE version = 2`,
	},
	{
		"some versions are missing", "P6", "versions 2 to 4 are missing",
		`DELETE FROM change WHERE version IN (2, 3, 4)`,
	},
	{
		"the newest version is missing", "P6", "the counter row says",
		`DELETE FROM change WHERE version = (SELECT max(version) FROM change)`,
	},
	{
		"a version was given twice", "P6", "out of order",
		`INSERT INTO change SELECT * FROM change WHERE version = 2`,
	},
	{
		"a seat changed behind the log", "P6", "and by the log",
		`UPDATE seat_state SET state = 5, holder = gen_random_uuid(), expires_at = 'infinity' WHERE idx = 9`,
	},
	{
		"the log forgot a seat", "P6", "and by the log free",
		`UPDATE change SET idx = idx[2:], state = state[2:], holder = holder[2:], passed = 1 WHERE version = 1`,
	},
	{
		"there are changes of no event", "P6", "rows in table change",
		`INSERT INTO change SELECT event_id + 1, version, at, idx, state, holder, free, held, sold, blocked, batch, passed FROM change`,
	},
	{
		"there are holds of no event", "P6", "rows in table hold",
		`INSERT INTO hold SELECT event_id + 1, holder, id, seats, expires_at FROM hold`,
	},
	{
		"a version names a seat twice", "P6", "stands twice",
		`UPDATE change SET idx = '{0,0}' WHERE version = 1`,
	},
	{
		"one key has two answers", "P7", "has two answers",
		`UPDATE hold SET answers = json_build_array(answers::json->0, answers::json->0) WHERE 0 = ANY(seats)`,
	},
	{
		"a key answers with another visitor's hold", "P7", "not a hold of theirs",
		`UPDATE hold SET answers = (SELECT answers FROM hold WHERE 2 = ANY(seats)) WHERE 0 = ANY(seats)`,
	},
	{
		"a key answers with nothing", "P7", "names no seat",
		`UPDATE hold SET answers = replace(answers, '[0,1]', '[]') WHERE 0 = ANY(seats)`,
	},
	{
		"answers cannot be read", "P7", "cannot be read",
		`UPDATE hold SET answers = '"none"' WHERE 0 = ANY(seats)`,
	},
	{
		"two holds have one id", "P7", "have one id",
		`UPDATE hold SET id = (SELECT id FROM hold WHERE 2 = ANY(seats)) WHERE 0 = ANY(seats)`,
	},
	{
		"a visitor has more than the limit", "P8", "and the limit is 1",
		`UPDATE event SET seats_per_holder = 1`,
	},
	{
		"a visitor got too many extensions", "P8", "got 11 extensions",
		`UPDATE hold SET extensions = 11 WHERE 0 = ANY(seats)`,
	},
	{
		"a hold lasts too long", "P8", "later than a hold or a payment that begins now",
		`UPDATE hold SET expires_at = expires_at + interval '1 hour' WHERE 0 = ANY(seats); UPDATE seat_state SET expires_at = expires_at + interval '1 hour' WHERE idx IN (0, 1)`,
	},
	{
		"more seats reset the clock", "P8", "2 ends of one hold with 0",
		`UPDATE hold SET answers = ('[{"key": "1", "hold": "' || id || '", "seats": [0], "expires_at": "2030-01-01T00:00:00Z"},
			{"key": "2", "hold": "' || id || '", "seats": [0, 1], "expires_at": "2030-01-01T00:00:01Z"}]')::json WHERE 0 = ANY(seats)`,
	},
	{
		"a hold row counts fewer tickets than its visitor bought", "O1", "tickets bought, and their orders have",
		`UPDATE hold SET bought = bought + 1 WHERE 0 = ANY(seats)`,
	},
	{
		"a hold outlives its session", "P13", "and its session at",
		`UPDATE hold SET session_ends = expires_at - interval '1 second' WHERE 0 = ANY(seats)`,
	},
	{
		"a visitor has two holds", "P8", "has two holds",
		`INSERT INTO hold SELECT event_id, holder, gen_random_uuid(), seats, expires_at FROM hold WHERE 0 = ANY(seats)`,
	},
	{
		"a phase sold more seats than its limit", "P14", "sells 1 seats, and 2 have its price",
		`INSERT INTO phase (event_id, number, name, sells) SELECT id, 1, 'Early', 1 FROM event; UPDATE counter SET quota = '{0}'; UPDATE seat_state SET phase = 1 WHERE idx IN (0, 1)`,
	},
	{
		"a row that is sold whole has a buyer of some of its seats", "P16", "2 of its",
		`UPDATE seat_state SET state = 0, holder = NULL, expires_at = NULL, price = NULL WHERE idx > 1;
			UPDATE plan SET drawing = jsonb_set(drawing, '{Whole}', jsonb_build_array(jsonb_build_object('Section', d.section, 'Row', d.row))) FROM seat d WHERE d.idx = 0`,
	},
	{
		"a row that is sold whole has two buyers", "P16", "by 2",
		`UPDATE plan SET drawing = jsonb_set(drawing, '{Whole}', jsonb_build_array(jsonb_build_object('Section', d.section, 'Row', d.row))) FROM seat d WHERE d.idx = 0;
			UPDATE seat_state SET state = 4, expires_at = 'infinity', holder = (SELECT holder FROM seat_state WHERE idx = 0 LIMIT 1); UPDATE seat_state SET holder = gen_random_uuid() WHERE idx = 1`,
	},
	{
		"a seat of a phase was not counted", "P14", "has 5 of 5 seats left by its quota, and 4 by the rows",
		`INSERT INTO phase (event_id, number, name, sells) SELECT id, 1, 'Early', 5 FROM event; UPDATE counter SET quota = '{5}'; UPDATE seat_state SET phase = 1 WHERE idx = 0`,
	},
	{
		"a phase lost its limit", "P14", "and its quota says any number",
		`INSERT INTO phase (event_id, number, name, sells) SELECT id, 1, 'Early', 5 FROM event`,
	},
	{
		"a seat has a price of no list", "P14", "which no price list of the event had for it",
		`UPDATE seat_state SET price = price + 1 WHERE idx = 0`,
	},
	{
		"an available seat has a price", "P14", "which no price list of the event had for it",
		`UPDATE seat_state SET price = 0 WHERE idx = 8`,
	},
	{
		"a code was counted for no order", "O14", "was used 1 times of 1, and orders and payments have it 0 times",
		`INSERT INTO allowance (event_id, key, used, most) SELECT id, gen_random_uuid(), 1, 1 FROM event`,
	},
	{
		"an order has a code that does not count", "O14", "was used 0 times of 0, and orders and payments have it 1 times",
		`UPDATE orders SET uses = ARRAY[gen_random_uuid()]`,
	},
	{
		"a code is used more often than it may be", "O14", "was used 1 times of 0",
		`UPDATE orders SET uses = ARRAY['00000000-0000-0000-0000-000000000001'::uuid]; INSERT INTO allowance (event_id, key, used, most) SELECT id, '00000000-0000-0000-0000-000000000001', 1, 0 FROM event`,
	},
	{
		"a code is in more orders than it may be", "O14", "is for 1 orders, and 2 have it",
		aCode + `UPDATE orders SET discount_code = 'CODE', uses = ARRAY['00000000-0000-0000-0000-00000000c0de'::uuid]; ` + anotherOrder,
	},
	{
		"a person has more orders with a code than it allows", "O14", "is for 1 orders of one person, who has 2",
		aCode + `UPDATE orders SET discount_code = 'CODE'; ` + anotherOrder,
	},
	{
		"an order with a code does not count for it", "O14", "has code CODE, and does not count for it",
		aCode + `UPDATE orders SET discount_code = 'CODE'`,
	},
	{
		"a seat that was bought with a code does not count for it", "O14", "has code CODE, and does not count for it",
		aCode + `INSERT INTO seat_code (event_id, idx, holder, code, early) SELECT event_id, 3, id, '00000000-0000-0000-0000-00000000c0de', false FROM orders`,
	},
	{
		"a code has another limit than its allowance", "O14", "is for 1 orders, and its allowance for 7",
		aCode + `INSERT INTO allowance (event_id, key, used, most) SELECT id, '00000000-0000-0000-0000-00000000c0de', 0, 7 FROM event`,
	},
	{
		"a ticket costs less than its seat", "O4", "and its ticket costs",
		`UPDATE seat_state SET price = price + 1 WHERE idx = 3`,
	},
	{
		"a ticket costs more than its seat", "O4", "and its ticket costs",
		`UPDATE seat_state SET price = price - 3 WHERE idx = 3`,
	},
	{
		"a phase was over when a seat was claimed", "P14", "which did not run from its claim",
		`INSERT INTO phase (event_id, number, name, ends_at) SELECT id, 1, 'Early', now() - interval '1 day' FROM event; UPDATE seat_state SET phase = 1 WHERE idx = 0`,
	},
	{
		"a phase had not begun when a seat was bought", "P14", "which did not run from its claim",
		`INSERT INTO phase (event_id, number, name, begins_at) SELECT id, 1, 'Late', now() + interval '1 day' FROM event; UPDATE seat_state SET phase = 1 WHERE idx = 3`,
	},
	{
		"a picture lost a file", "L4", "has no file of 960 pixels",
		`INSERT INTO picture_file (hash, width, content) VALUES (repeat('a', 32), 480, 'x');
			INSERT INTO event_picture (event_id, kind, section, hash, widths, width, height, alt) SELECT id, 'header', '', repeat('a', 32), '{480,960}', 960, 600, 'A lake' FROM event`,
	},
	{
		"a logo lost its file", "L4", "has no file of 300 pixels",
		`INSERT INTO team_picture (team_id, kind, hash, widths, width, height, alt) SELECT id, 'logo', repeat('b', 32), '{300}', 300, 100, 'Playhouse' FROM team LIMIT 1`,
	},
	{
		"an order has the address of a person who was erased", "E1", "order",
		gone + `UPDATE orders SET email = 'gone@example.org'`,
	},
	{
		"a gift card has the address of its erased buyer", "E1", "gift card",
		gone + `INSERT INTO gift_card (id, team_id, code, currency, amount, buyer, recipient, giver, message, method, state)
			SELECT gen_random_uuid(), id, 'g', 'EUR', 1, 'Gone@example.org', '', '', '', 'card', 'closed' FROM team LIMIT 1`,
	},
	{
		"a gift card has the address of its erased recipient", "E1", "gift card",
		gone + `INSERT INTO gift_card (id, team_id, code, currency, amount, buyer, recipient, giver, message, method, state)
			SELECT gen_random_uuid(), id, 'g', 'EUR', 1, '', 'gone@example.org', '', '', 'card', 'closed' FROM team LIMIT 1`,
	},
	{
		"an empty credit account has the address of an erased person", "E1", "credit account",
		gone + `INSERT INTO credit_account (kind, email, currency, balance) VALUES ('attendee', 'gone@example.org', 'EUR', 0);
			INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount) SELECT 'capture', id, id, 'EUR', 1 FROM credit_account WHERE email = 'gone@example.org'`,
	},
	{
		"a passkey opens the account of an erased person", "E1", "a passkey of an account",
		gone + `INSERT INTO account_passkey (id, email, handle, name, credential, created_at) VALUES ('gone', 'gone@example.org', 'gone', 'Phone', '{}', now() - interval '10 years')`,
	},
	{
		"a checkout has what an erased person typed", "E1", "the checkout of",
		gone + `INSERT INTO typed (event_id, holder, answer) SELECT id, gen_random_uuid(), '{"form": {"email": "gone@example.org"}}'::json FROM event
			UNION ALL SELECT id, gen_random_uuid(), '{"form": {"email": "\u0000"}}'::json FROM event`,
	},
	{
		"a card of an erased person is stored", "E1", "stored card",
		gone + `INSERT INTO mandate (id, method, email, what, back, state) VALUES ('00000000-0000-0000-0000-00000000cafe', 'card', 'gone@example.org', '', '', 'ending');
			INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, mandate, keys, counted)
			SELECT gen_random_uuid(), id, gen_random_uuid(), 'p', gen_random_uuid(), gen_random_uuid(), '{"email": ""}', 'card', 'EUR', 1, '00000000-0000-0000-0000-00000000cafe', '{}', false FROM event`,
	},
	{
		"an erased order has the person's name", "E2", "has something of the person",
		gone + `UPDATE orders SET erased_at = now()`,
	},
	{
		"the payment of an erased order has the name", "E2", "and its payment has the name",
		gone + `UPDATE orders SET erased_at = now(), name = '', email = '', born = NULL, answers = '{}', network = '', keys = '{}', wish = '';
			INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, keys, counted)
			SELECT gen_random_uuid(), event_id, id, 'p', gen_random_uuid(), gen_random_uuid(), '{"name": "Ann"}', 'card', 'EUR', 1, '{}', false FROM orders`,
	},
	{
		"the log shows a seat that no map has", "P9", "no map can",
		`UPDATE change SET idx = '{999999}' WHERE idx = '{4}'`,
	},
	{
		"the newest version shows other counts than the counter", "P9", "other counts",
		`UPDATE change SET sold[1] = sold[1] + 1 WHERE version = (SELECT max(version) FROM change)`,
	},
	{
		"a version has states for half of its seats", "P9", "2 seats, 1 states",
		`UPDATE change SET state = '{1}' WHERE version = 1`,
	},
}

// plantedTerms are told in terms of plantedEvening, too.
var plantedTerms = []struct {
	name    string
	promise string
	says    string // a part of a finding
	sql     string
}{
	{
		"seats were claimed while the event was paused", "P10", "when the event was paused",
		`UPDATE terms SET status = 'paused'`,
	},
	{
		"seats were claimed before the event was on sale", "P10", "before the event was on sale",
		`UPDATE terms SET opens_at = now() + interval '1 hour'`,
	},
	{
		"a seat of a cancelled event was sold", "P10", "was sold in version",
		`INSERT INTO terms SELECT event_id, (SELECT version FROM change WHERE state = '{4}'), at, 'cancelled', NULL, '', hold_length, payment_length, seats_per_holder, extensions, strict FROM terms`,
	},
	{
		"a ticket of a type that is sold with a code was claimed without one", "P15", "without a code for it",
		`UPDATE ticket_type SET sold_to = 'code', coded_from = 0`,
	},
	{
		"a seat was claimed before the sale without a code for that", "P15", "before the sale, without a code for that",
		`UPDATE terms SET opens_at = now() + interval '1 hour'`,
	},
	{
		"a reserved seat was claimed without a code", "P15", "was reserved, and was claimed",
		`UPDATE change SET idx = idx || 2, state = state || 5::smallint, holder = holder || gen_random_uuid() WHERE version = 1`,
	},
	{
		"a seat expired where holds are strict", "P11", "holds of this event are strict",
		`UPDATE event SET strict = true`,
	},
}
