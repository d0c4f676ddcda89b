package rehearsal

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func dial(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := database.Dial(t.Context(), seatstest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

func value[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// smallHall makes an event of a small hall in a database of its own.
func smallHall(t *testing.T) *pgx.Conn {
	t.Helper()
	hall, known := plan.Named("conference")
	if !known {
		t.Fatal("there is no plan conference")
	}
	conn := dial(t)
	if _, err := events.Create(t.Context(), conn, events.Settings{Name: "Evening", StartsAt: time.Unix(4e9, 0)}, hall); err != nil {
		t.Fatal(err)
	}
	return conn
}

const tablesSQL = `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`

func tablesOf(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, _ := conn.Query(t.Context(), tablesSQL)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestCopy_EachTableIsCopiedOrLeftOutByName(t *testing.T) {
	t.Parallel()
	conn := dial(t)
	all, names := dispositions(), tablesOf(t, conn)
	if len(all) != len(copied)+len(made)+len(leftOut) {
		t.Errorf("%d tables have %d entries: one is named twice", len(all), len(copied)+len(made)+len(leftOut))
	}
	for _, name := range names {
		if all[name] == "" && name != "rehearsal" {
			t.Errorf("table %s: say whether a rehearsal copies it, or why not", name)
		}
		delete(all, name)
	}
	for name := range all {
		t.Errorf("there is no table %s", name)
	}
}

// public are columns with text that comes into the shadow as it is: the pages of the sale show it, or it is a word of ours.
var public = strings.Fields(`allowance.key block.id category.key category.name code.id code.membership_id code.unlocks_blocks
	event.currency event.found_by event.gates event.language event.name event.price_rules event.slug event.time_zone event.venue
	event_limit.challenge event_page.category event_page.country event_page.found_by event_page.map_link event_page.postal_code event_page.street event_page.town event_page.website
	event_picture.alt event_picture.hash event_picture.kind event_picture.section event_text.access event_text.description event_text.language event_text.subtitle event_text.travel
	phase.name picture_file.content picture_file.hash plan.drawing plan.hash plan.name plan_picture.content plan_picture.hash question.choices question.kind question.label
	seat.external_id seat.number seat.row section.name tax_rate.country tax_rate.name team.name
	team_branding.accent team_branding.button team_branding.font team_branding.layout team_branding.office_paper team_branding.paper team_branding.sponsor team_branding.theme
	team_picture.alt team_picture.hash team_picture.kind ticket_type.key ticket_type.name ticket_type.sold_to`)

const textsSQL = `
SELECT attname::text, atttypid::regtype::text FROM pg_attribute
 WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND atttypid::regtype::text IN ('text', 'text[]', 'bytea', 'json', 'jsonb', 'uuid', 'uuid[]')`

func TestCopy_EachColumnWithTextIsPublicOrReplaced(t *testing.T) {
	t.Parallel()
	conn := dial(t)
	known := map[string]bool{}
	for _, name := range public {
		known[name] = true
	}
	for _, table := range copied {
		rows, _ := conn.Query(t.Context(), textsSQL, table.name)
		var column, kind string
		if _, err := pgx.ForEachRow(rows, []any{&column, &kind}, func() error {
			name := table.name + "." + column
			if _, replaced := table.as[column]; replaced == known[name] {
				t.Errorf("%s: say that it is public, or what stands in its place", name)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

const leak = "Ingeborg-Leak"

// plant puts persons and secrets into a house: into each column that a copy replaces, and into tables that it leaves out.
func plant(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	run(
		t, conn, `SET session_replication_role = replica`,
		`INSERT INTO block (id, event_id, seats, reason, owner, kind) VALUES ('11111111-1111-1111-1111-111111111111', 1, '{7}', '`+leak+`', '`+leak+`', 'press')`,
		`INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person) VALUES
		        ('22222222-2222-2222-2222-222222222222', 1, 'INGEBORGLEAK', '`+leak+`', 1000, 0, false, '{}', '{}', 0, 5, 0)`,
		`INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person, membership_id) VALUES
		        ('33333333-3333-3333-3333-333333333333', 1, 'INGEBORGLEAK2', '`+leak+`', 1000, 0, false, '{}', '{}', 0, 5, 0, '33333333-3333-3333-3333-333333333333')`,
		`INSERT INTO event_page (event_id, version, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
		 VALUES (1, 1, 'play', 0, 0, 0, 0, '', '', '', '', '', '`+leak+`', '`+leak+`', '`+leak+`', '')`,
		`INSERT INTO team_branding (team_id, version, button, accent, font, theme, sender, links, layout) VALUES (1, 1, '', '', 'poster', 'auto', '`+leak+`', '["`+leak+`"]', 'classic')`,
		`UPDATE event SET join_link = 'https://`+leak+`', join_link_at = now(), confirmation = '`+leak+`', promoter = '`+leak+`', reason = '`+leak+`'`,
		`UPDATE ticket_type SET proof = '`+leak+`'`,
		`INSERT INTO wait_list (event_id, note) VALUES (1, '`+leak+`')`,
		`INSERT INTO event_limit (event_id, challenge, seats_per_network, held_per_network, unpaid_per_network, unpaid_per_email, alarm_reason) VALUES (1, 'off', 100, 100, 100, 100, '`+leak+`')`,
		`INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total)
		 VALUES ('44444444-4444-4444-4444-444444444444', 1, 'LEAKCODE', '44444444-4444-4444-4444-444444444444', '44444444-4444-4444-4444-444444444444', '`+leak+`', '`+leak+`', '`+leak+`@example.org', 'door', 'EUR', 100)`,
		`INSERT INTO ticket (id, event_id, order_id, idx, price) SELECT gen_random_uuid(), 1, '44444444-4444-4444-4444-444444444444', n, 100 FROM generate_series(0, 2) n`,
		`UPDATE seat_state SET state = 4, holder = '44444444-4444-4444-4444-444444444444', expires_at = 'infinity' WHERE idx < 3`,
		`UPDATE seat_state SET state = 5, holder = '11111111-1111-1111-1111-111111111111', expires_at = 'infinity' WHERE idx = 7`,
		`UPDATE seat_state SET state = 1, holder = '55555555-5555-5555-5555-555555555555', expires_at = now() + interval '8 minutes' WHERE idx = 9`,
		`INSERT INTO hook (team_id, url, kinds) VALUES (1, 'https://`+leak+`', '{order.placed}')`,
		`INSERT INTO hook_secret (hook_id, secret, since) VALUES (1, rpad('`+leak+`', 32, 'x')::bytea, now())`,
		`INSERT INTO ticket_key (seed) VALUES (rpad('`+leak+`', 32, 'x')::bytea)`,
		`INSERT INTO organizer (email, name, password) VALUES (lower('`+leak+`@example.org'), '`+leak+`', '`+leak+`')`,
		`INSERT INTO member (team_id, organizer_id, role, since) VALUES (1, 1, 'owner', now())`,
		`SET session_replication_role = origin`,
	)
}

// leaks lists the tables of a database with the bytes of a planted person or secret.
func leaks(t *testing.T, conn *pgx.Conn) (found []string) {
	t.Helper()
	inHex := hex.EncodeToString([]byte(leak))
	for _, name := range tablesOf(t, conn) {
		sql := fmt.Sprintf(`SELECT count(*)::int FROM %q t WHERE t::text ILIKE '%%' || $1 || '%%' OR t::text ILIKE '%%' || $2 || '%%' OR t::text ILIKE '%%ingeborgleak%%' OR t::text LIKE '%%44444444-4444%%'`, name)
		if value[int](t, conn, sql, leak, inHex) > 0 {
			found = append(found, name)
		}
	}
	return found
}

func TestCopy_LeavesPersonsAndSecretsInTheHouse(t *testing.T) {
	t.Parallel()
	from, to := smallHall(t), dial(t)
	plant(t, from)
	if planted := leaks(t, from); len(planted) < 14 {
		t.Fatalf("only %v have something to leak", planted)
	}
	if _, err := Copy(t.Context(), from, to, "evening", 1); err != nil {
		t.Fatal(err)
	}
	if found := leaks(t, to); found != nil {
		t.Errorf("persons or secrets came into the shadow: %v", found)
	}
	for name, reason := range leftOut {
		if n := value[int](t, to, fmt.Sprintf(`SELECT count(*)::int FROM %q`, name)); n > 0 {
			t.Errorf("table %s is left out (%s), and %d rows came over", name, reason, n)
		}
	}
	run(t, to, `UPDATE event SET promoter = '`+leak+`'`)
	if found := leaks(t, to); !slices.Equal(found, []string{"event"}) {
		t.Errorf("a leak that was planted in the shadow is found in %v", found)
	}
}

func TestCopy_WhatCannotBeBoughtInTheHouseCannotInTheShadow(t *testing.T) {
	t.Parallel()
	from, to := smallHall(t), dial(t)
	plant(t, from)
	if _, err := Copy(t.Context(), from, to, "evening", 1); err != nil {
		t.Fatal(err)
	}
	const blockedSQL = `SELECT array_agg(idx ORDER BY idx) FROM seat_state WHERE state = 5 AND holder IN (SELECT id FROM block) AND expires_at = 'infinity'`
	if blocked := value[[]int32](t, to, blockedSQL); !slices.Equal(blocked, []int32{0, 1, 2, 7}) {
		t.Errorf("seats %v are blocked", blocked)
	}
	all := value[int](t, from, `SELECT seats FROM event`)
	if free := value[int](t, to, `SELECT count(*)::int FROM seat_state WHERE state = 0 AND holder IS NULL`); free != all-4 {
		t.Errorf("%d seats are available of %d; a hold is no sale", free, all)
	}
	if free := value[int](t, to, `SELECT (SELECT sum(n) FROM unnest(free) n)::int FROM counter WHERE 4 = (SELECT sum(n) FROM unnest(blocked) n)`); free != all-4 {
		t.Errorf("the counter has %d available seats of %d", free, all)
	}
}

func TestCopy_OpensTheSaleWithTheDemoCardOnly(t *testing.T) {
	t.Parallel()
	from, to := smallHall(t), dial(t)
	run(
		t, from, `UPDATE event SET status = 'draft', opens_at = now() + interval '30 days', pay_at_door = true, invoices = true, hold_length = '8 minutes'`,
		`INSERT INTO phase (event_id, number, name, begins_at, ends_at, sells) SELECT 1, 1, 'Early', '-infinity', opens_at + interval '10 minutes', 0 FROM event`,
		`INSERT INTO phase (event_id, number, name, begins_at, ends_at, sells) SELECT 1, 2, 'Later', opens_at + interval '10 minutes', 'infinity', 0 FROM event`,
	)
	if _, err := Copy(t.Context(), from, to, "evening", 10); err != nil {
		t.Fatal(err)
	}
	if !value[bool](t, to, `SELECT demo AND NOT pay_at_door AND NOT invoices AND status = 'on sale' AND opens_at IS NULL AND hold_length = '48 seconds' FROM event`) {
		t.Error("the event of the shadow is not on sale, or takes money")
	}
	const laterSQL = `SELECT abs(extract(epoch FROM begins_at - now()) - 60)::float8 FROM phase WHERE number = 2`
	if off := value[float64](t, to, laterSQL); off > 30 {
		t.Errorf("a phase that begins 10 minutes after the opening is %g s off in a shadow that is 10 times as fast", off)
	}
	if !value[bool](t, to, `SELECT begins_at = '-infinity' FROM phase WHERE number = 1`) {
		t.Error("a phase without a beginning has one in the shadow")
	}
	if !value[bool](t, to, `SELECT claims_from = '-infinity' AND sells FROM counter`) {
		t.Error("the counter does not let people claim")
	}
}

func TestCopy_ChangesNothingInTheHouse(t *testing.T) {
	t.Parallel()
	from, to := smallHall(t), dial(t)
	plant(t, from)
	sum := func() (all string) {
		for _, name := range tablesOf(t, from) {
			all += fmt.Sprintf("%s %s\n", name, value[string](t, from, fmt.Sprintf(`SELECT concat(count(*), ' ', md5(string_agg(t::text, ',' ORDER BY t::text))) FROM %q t`, name)))
		}
		return all
	}
	before := sum()
	if _, err := Copy(t.Context(), from, to, "evening", 1); err != nil {
		t.Fatal(err)
	}
	if after := sum(); after != before {
		t.Errorf("the house had\n%s\nand has\n%s", before, after)
	}
}

func TestCopy_RefusesAnotherVersionAndAnUnknownEvent(t *testing.T) {
	t.Parallel()
	from, to := smallHall(t), dial(t)
	if _, err := Copy(t.Context(), from, to, "morning", 1); !errors.Is(err, ErrNoEvent) {
		t.Errorf("an event that is not there: %v", err)
	}
	run(t, to, `DELETE FROM migration WHERE number = (SELECT max(number) FROM migration)`)
	if _, err := Copy(t.Context(), from, to, "evening", 1); !errors.Is(err, ErrVersion) {
		t.Errorf("databases with other migrations: %v", err)
	}
}
