package rehearsal

import (
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments"
)

// known is what is known of the well set up event.
func (h *house) known() Known {
	return Known{People: 2000, Facts: events.Facts{
		Event: h.event, Seats: h.event.Seats, Sections: 3, Lowest: 2000, Highest: 9000, Methods: []string{payments.Card}, Pays: true,
		Described: true, Pictured: true, Terms: true, Privacy: true, Imprint: true,
	}}
}

const (
	newRoomSQL = `INSERT INTO room (slug, name, mode, phase, opens_at, slots, commitment, committed_at, sealed, sealed_by)
VALUES ('door', 'Door', 'scheduled', 'lobby', '2040-02-01 09:00Z', 500, sha256('x'), clock_timestamp(), sha256('y'), 1); UPDATE event SET room_id = (SELECT id FROM room);`
	newCodeSQL = `INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person, begins_at, ends_at, presale)
SELECT gen_random_uuid(), id, 'FRIENDS', 'Friends', percent, amount, false, '{}', '{}', 0, most, 0, begins_at, ends_at, presale FROM event,
       (SELECT 1000 AS percent, 0 AS amount, 100 AS most, NULL::timestamptz AS begins_at, NULL::timestamptz AS ends_at, false AS presale) usual WHERE true`
	newTypeSQL  = `INSERT INTO ticket_type (event_id, number, key, name, sold_to, least) SELECT id, 1, 'group', 'Group', 'everyone', 0 FROM event;`
	newPhaseSQL = `INSERT INTO phase (event_id, number, name, begins_at, ends_at) SELECT id, 1, 'Early', NULL, '2040-03-01' FROM event;`
	newHookSQL  = `INSERT INTO hook (team_id, url, kinds, failures, failing_since) SELECT team_id, 'https://example.org/hook', '{order.placed}', 0, NULL FROM event; INSERT INTO notice (hook_id, kind, data, sent_at) SELECT id, 'test', '{}', clock_timestamp() FROM hook;`
	blockSQL    = `UPDATE seat_state SET state = 5, holder = gen_random_uuid(), expires_at = 'infinity'`
)

// code is newCodeSQL with other values, such as "most = 0".
func code(values ...string) string {
	sql := newCodeSQL
	for _, v := range values {
		column, value, _ := strings.Cut(v, "=")
		columns := strings.SplitN(sql, "FROM event,", 2)
		for _, usual := range []string{"1000 AS percent", "0 AS amount", "100 AS most", "NULL::timestamptz AS begins_at", "NULL::timestamptz AS ends_at", "false AS presale"} {
			if strings.HasSuffix(usual, " AS "+column) {
				columns[1] = strings.Replace(columns[1], usual, value+" AS "+column, 1)
			}
		}
		sql = strings.Join(columns, "FROM event,")
	}
	return sql
}

// planted are mistakes, each of one kind: in the database, or in what is known besides.
var planted = []struct {
	name, sql string
	known     func(k *Known)
	says      string // in what is wrong; empty: anything
}{
	{name: "plan", known: func(k *Known) { k.Seats = 0 }},
	{name: "tables", known: func(k *Known) { k.Table = 20 }},
	{name: "prices", known: func(k *Known) { k.Highest = 0 }},
	{name: "page", known: func(k *Known) { k.Pictured = false }},
	{name: "payment", known: func(k *Known) { k.Pays = false }},
	{name: "legal", known: func(k *Known) { k.Terms = false }},
	{name: "imprint", known: func(k *Known) { k.Imprint = false }},
	{name: "mail-off"},
	{name: "room-none", known: func(k *Known) { k.People = 1_000_000 }},
	{name: "mail-stuck", sql: `INSERT INTO mail (kind, email, tries, created_at) VALUES ('security', 'bea@example.org', 5, clock_timestamp() - interval '2 hours')`},
	{name: "begun", sql: `UPDATE event SET starts_at = clock_timestamp() - interval '1 hour', opens_at = NULL`},
	{name: "opens-late", sql: `UPDATE event SET opens_at = '2040-06-01'`},
	{name: "zone", sql: `UPDATE event SET time_zone = 'UTC'`},
	{name: "types-none", sql: `UPDATE ticket_type SET sold_to = 'desk'`},
	{name: "category-unsold", sql: `DELETE FROM price WHERE category = 0`, says: "Stalls"},
	{name: "category-free", sql: `UPDATE price SET amount = 0 WHERE category = 0`, says: "Stalls"},
	{name: "type-too-many", sql: newTypeSQL + `UPDATE ticket_type SET least = 10 WHERE number = 1`, says: "Group"},
	{name: "type-locked", sql: newTypeSQL + `UPDATE ticket_type SET sold_to = 'code' WHERE number = 1`, says: "Group"},
	{name: "phase-never", sql: newPhaseSQL + `UPDATE phase SET ends_at = '2040-01-01'`, says: "Early"},
	{name: "fees", sql: `UPDATE event SET fee_ticket = 100000`},
	{name: "tax", sql: `UPDATE event SET price_rules = '{}'`},
	{name: "demo", sql: `UPDATE event SET demo = true`},
	{name: "bank", sql: `UPDATE event SET invoices = true`},
	{name: "pay-later", sql: `UPDATE event SET pay_before = '200 days'`},
	{name: "payment-short", sql: `UPDATE event SET payment_length = '1 minute'`},
	{name: "limit-capacity", sql: `UPDATE event SET seats_per_holder = 100000`},
	{name: "limit-network", sql: `INSERT INTO event_limit (event_id, seats_per_network) SELECT id, 2 FROM event`},
	{name: "unprotected", sql: `INSERT INTO event_limit (event_id, challenge) SELECT id, 'off' FROM event`},
	{name: "hold-short", sql: `UPDATE event SET hold_length = '1 minute'`},
	{name: "hold-long", sql: `UPDATE event SET hold_length = '1 hour'`},
	{name: "no-extension", sql: `UPDATE event SET extensions = 0`},
	{name: "all-blocked", sql: `UPDATE counter SET blocked = free, free = held; ` + blockSQL},
	{name: "section-blocked", sql: blockSQL + ` FROM section s WHERE s.number = 0 AND idx >= s.first AND idx < s.first + s.count`, says: "Stalls"},
	{name: "wheelchair", sql: `UPDATE event SET wheelchair = false`},
	{name: "code-late", sql: code("ends_at=timestamptz '2040-01-01'"), says: "Friends"},
	{name: "code-worth", sql: code("percent=0", "amount=1000000"), says: "Friends"},
	{name: "code-all-free", sql: code("percent=10000", "most=0"), says: "Friends"},
	{name: "presale-late", sql: code("presale=true", "begins_at=timestamptz '2040-03-01'"), says: "Friends"},
	{name: "presale-long", sql: code("presale=true", "ends_at=timestamptz '2040-03-01'"), says: "Friends"},
	{name: "room-ended", sql: newRoomSQL + `UPDATE room SET phase = 'ended'`},
	{name: "room-paused", sql: newRoomSQL + `UPDATE room SET phase = 'paused'`},
	{name: "room-early", sql: newRoomSQL + `UPDATE room SET opens_at = '2040-01-01'`},
	{name: "room-late", sql: newRoomSQL + `UPDATE room SET opens_at = '2040-02-01 10:00Z'`},
	{name: "room-small", sql: newRoomSQL + `UPDATE room SET slots = 1`, says: " hours"},
	{name: "room-slow", sql: newRoomSQL + `UPDATE room SET rate = 0.001`, says: " hours"},
	{name: "room-hurry", sql: newRoomSQL + `UPDATE room SET valid = '1 minute'`},
	{name: "waitlist-paused", sql: `INSERT INTO wait_list (event_id, paused_at) SELECT id, clock_timestamp() FROM event`},
	{name: "room-uninvited", sql: newRoomSQL + `WITH r AS (UPDATE room SET entry = 'email' RETURNING id) INSERT INTO control (room_id, who, what, detail) SELECT id, 'Ann', 'invite', '0 addresses' FROM r`},
	{name: "hook-untried", sql: newHookSQL + `UPDATE notice SET sent_at = NULL`},
	{name: "hook", sql: newHookSQL + `UPDATE hook SET failures = 3, failing_since = clock_timestamp()`},
	{name: "question", sql: `INSERT INTO question (event_id, number, kind, label, required, choices) SELECT id, 1, 'choice', 'Menu', true, '{Fish}' FROM event`, says: "Menu"},
	{name: "address", sql: `UPDATE event_page SET street = ''`},
	{name: "contact", sql: `UPDATE event_page SET email = ''`},
	{name: "doors", sql: `UPDATE event_page SET doors = 1440`},
	{name: "language", sql: `UPDATE event_text SET language = 'de'`},
	{name: "join-link", sql: `UPDATE event SET online = true`},
	{name: "reminder", sql: `UPDATE event SET starts_at = '2040-02-01 20:00Z'`},
	{name: "accessibility", sql: `ALTER TABLE legal_text DISABLE TRIGGER USER; DELETE FROM legal_text; ALTER TABLE legal_text ENABLE TRIGGER USER`},
}

// well are settings that are right, and that a check might take for a mistake.
var well = map[string]string{
	"a room":                               newRoomSQL,
	"a room of invited people":             newRoomSQL + `UPDATE room SET entry = 'email'; INSERT INTO control (room_id, who, what, detail) SELECT id, 'Ann', 'invite', '5 addresses' FROM room`,
	"a code":                               code(),
	"a code that will end":                 code("ends_at=timestamptz '2040-03-01'"),
	"a free ticket of one":                 code("percent=10000", "most=1"),
	"a presale":                            code("presale=true", "begins_at=timestamptz '2040-01-01'", "ends_at=timestamptz '2040-02-01 09:00Z'"),
	"a phase":                              newPhaseSQL,
	"another type":                         newTypeSQL,
	"a webhook":                            newHookSQL,
	"a webhook that an owner switched off": newHookSQL + `UPDATE hook SET off_at = clock_timestamp()`,
	"a limit of networks":                  `INSERT INTO event_limit (event_id, seats_per_network) SELECT id, 50 FROM event`,
	"a section half blocked":               blockSQL + ` WHERE idx < 10`,
	"online with a link":                   `UPDATE event SET online = true, join_link = 'https://example.org/join', join_link_at = clock_timestamp()`,
	"mail that was late":                   `INSERT INTO mail (kind, email, tries, sent_at, created_at) VALUES ('security', 'bea@example.org', 5, clock_timestamp(), clock_timestamp() - interval '2 hours')`,
	"a question":                           `INSERT INTO question (event_id, number, kind, label, required, choices) SELECT id, 1, 'choice', 'Menu', true, '{Fish,Pie}' FROM event`,
	"no tax, with an exemption":            `UPDATE event SET price_rules = '{}'; INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, tax_number, exemption) SELECT team_id, 'First Theatre', 'Main Street 1', '1010', 'Vienna', 'AT', '1', 'A small business' FROM event`,
	"invoices with an account":             `UPDATE event SET invoices = true; INSERT INTO bank_account (team_id, holder, iban) SELECT team_id, 'First Theatre', 'AT611904300234573201' FROM event`,
}

// faults are the names of what is found.
func (h *house) faults(t *testing.T, k Known) (names []string, list []Fault) {
	t.Helper()
	list, err := h.Check(t.Context(), h.ann, k)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names, list
}

func TestCheck_AGoodEventHasNoFault(t *testing.T) {
	t.Parallel()
	for name, sql := range well {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, "")
			if _, err := h.db.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
			if names, _ := h.faults(t, h.known()); len(names) > 0 {
				t.Errorf("found %v", names)
			}
		})
	}
}

func TestCheck_EachPlantedFaultIsFoundByItsCheckAlone(t *testing.T) {
	t.Parallel()
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			h := open(t, "")
			h.Mail = p.name != "mail-off"
			k := h.known()
			if p.known != nil {
				p.known(&k)
			}
			if _, err := h.db.Exec(t.Context(), p.sql); err != nil {
				t.Fatal(err)
			}
			names, list := h.faults(t, k)
			if !slices.Equal(names, []string{p.name}) {
				t.Fatalf("found %v", names)
			}
			if said := list[0].Wrong.String(); list[0].Point == "" && (said == "" || strings.Contains(said, "%") || !strings.Contains(said, p.says) || list[0].Do.ID == "") {
				t.Errorf("says %q", said)
			}
		})
	}
}

func TestCheck_EachCheckHasAPlantedFault(t *testing.T) {
	t.Parallel()
	has := func(name string) bool {
		return slices.ContainsFunc(planted, func(p struct {
			name, sql string
			known     func(k *Known)
			says      string
		},
		) bool {
			return p.name == name
		})
	}
	for _, c := range checks {
		if !has(c.name) {
			t.Errorf("no fault is planted for %s", c.name)
		}
	}
	for _, p := range []events.Point{events.PointPlan, events.PointTables, events.PointPrices, events.PointPage, events.PointPayment, events.PointLegal, events.PointImprint} {
		if !has(string(p)) {
			t.Errorf("no fault is planted for point %s", p)
		}
	}
}

func TestCheck_ManyThingsAreNamedInPart(t *testing.T) {
	t.Parallel()
	h := open(t, "")
	if _, err := h.db.Exec(t.Context(), code("percent=10000", "most=0")+`; UPDATE code SET name = '';
INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person) SELECT gen_random_uuid(), event_id, code || n, '', 10000, 0, false, '{}', '{}', 0, 0, 0 FROM code, generate_series(1, 20) n`); err != nil {
		t.Fatal(err)
	}
	_, list := h.faults(t, h.known())
	if len(list) != 1 || !strings.HasSuffix(list[0].Wrong.String(), ": FRIENDS, FRIENDS1, FRIENDS10, FRIENDS11, FRIENDS12, FRIENDS13, FRIENDS14, FRIENDS15 and ….") {
		t.Errorf("found %v", list)
	}
}

func TestCheck_TheWorstIsFirst(t *testing.T) {
	t.Parallel()
	h := open(t, "")
	if _, err := h.db.Exec(t.Context(), `UPDATE event SET extensions = 0, hold_length = '1 hour', demo = true`); err != nil {
		t.Fatal(err)
	}
	if names, _ := h.faults(t, h.known()); !slices.Equal(names, []string{"demo", "hold-long", "no-extension"}) {
		t.Errorf("found %v", names)
	}
}

func TestCheck_AnEventOfAnotherTeamHasNone(t *testing.T) {
	t.Parallel()
	h := open(t, "")
	if _, err := h.db.Exec(t.Context(), `UPDATE event SET demo = true`); err != nil {
		t.Fatal(err)
	}
	h.ann.Team = 99
	if names, _ := h.faults(t, h.known()); len(names) > 0 {
		t.Errorf("found %v", names)
	}
}
