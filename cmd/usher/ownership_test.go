package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// owners names the one package that writes a table.
var owners = map[string]string{
	"migrations":          "migration",
	"seats/alerts":        "alert alert_choice alert_look",
	"seats/changes":       "team_change team_touch",
	"seats/customers":     "customer customer_address customer_note",
	"seats/bookings":      "booking deposit deposit_payment",
	"seats/fairness":      "fairness_report",
	"seats/guests":        "guest",
	"seats/memberships":   "membership membership_kind",
	"seats/events":        "category event plan question seat section",
	"seats":               "added allowance block change counter hold purchase_key ready resale seat_code seat_state terms",
	"seats/books":         "book_accounts book_day book_month book_order book_schedule book_touch event_share",
	"seats/giftcards":     "gift_card gift_card_offer",
	"seats/idempotency":   "idempotency_key",
	"seats/invoices":      "invoice invoice_due invoice_sender invoice_series",
	"seats/letters":       "event_letters letter_run mail_text unsubscribed",
	"seats/limit":         "event_limit",
	"seats/mail":          "mail",
	"seats/orders":        "cancellation consent door email_change errand errand_order exchange message order_change order_touch orders receipt resale_offer scan ticket ticket_key ticket_transfer typed",
	"seats/credit":        "account_passkey credit_account credit_hold credit_transfer credit_voucher link",
	"seats/payments":      "carried confirmation inbox intention mandate payment payment_share refund",
	"seats/pricing":       "code phase price tax_rate ticket_type",
	"seats/payments/demo": "demo_charge demo_news",

	"seats/payments/banktransfer": "bank_account statement statement_entry",

	"seats/pages":         "event_page event_picture event_text legal_text picture_file plan_picture team_branding team_picture",
	"seats/privacy":       "erasure erasure_key retention",
	"seats/organizers":    "api_key api_request attempt deed desk_device desk_session invitation member openid organizer passkey password_link plan_import plan_version recovery_code security_event setup share team team_plan totp",
	"seats/sales":         "history refusal seen tally",
	"seats/rehearsal":     "rehearsal",
	"seats/series":        "performance series",
	"seats/sessions":      "session",
	"seats/subscriptions": "renewal renewal_seat subscriber subscriber_order subscription subscription_price",
	"seats/sites":         "team_domain team_site team_site_key",
	"seats/payouts":       "payout payout_line payout_reading",
	"seats/till":          "till_entry till_session till_setting",
	"seats/publiclog":     "public_log public_log_statement public_log_seat public_log_tile",
	"seats/turns":         "push_key turn_request",
	"seats/waitingroom":   "admission called control entrant place_key presence room slot",
	"seats/waitlist":      "entry offer wait_list wait_step",
	"seats/wallets":       "wallet_device",
	"seats/webhooks":      "hook hook_secret notice",
}

// byTriggers are tables that triggers of the schema write for their owner, and no statement of it.
var byTriggers = []string{"book_month"}

// An access is a way in which the SQL of a package writes a table.
type access struct{ pkg, verb, table string }

const outbox = "a mail is queued by the statement of what it is about: both are committed, or none, in one round trip"

const shadow = "the database of a rehearsal is made of rows of another one: nothing writes there meanwhile"

// exceptions are writes by another package than the owner, each with its reason. One that is not needed any more fails the test.
var exceptions = map[access]string{
	{"seats/organizers", "INSERT", "mail"}:       outbox,
	{"seats/orders", "INSERT", "mail"}:           outbox,
	{"seats/credit", "INSERT", "mail"}:           outbox,
	{"seats/waitingroom", "INSERT", "mail"}:      outbox,
	{"seats/waitlist", "INSERT", "mail"}:         outbox,
	{"seats/turns", "INSERT", "mail"}:            outbox,
	{"seats/alerts", "INSERT", "mail"}:           outbox,
	{"seats/books", "INSERT", "mail"}:            outbox,
	{"seats/bookings", "INSERT", "mail"}:         outbox,
	{"seats/turns", "DELETE", "mail"}:            "a mail that told of a turn names no order: its row ends an hour after it was sent",
	{"seats/orders", "UPDATE", "purchase_key"}:   "the bound on unpaid orders of an email undoes the batch under the lock of its key",
	{"seats/payments", "INSERT", "mail"}:         outbox,
	{"seats/giftcards", "INSERT", "mail"}:        outbox,
	{"seats/letters", "INSERT", "mail"}:          outbox,
	{"seats/subscriptions", "INSERT", "mail"}:    outbox,
	{"seats/pricing", "INSERT", "mail"}:          outbox,
	{"seats/orders", "UPDATE", "allowance"}:      "a cancelled order does not count for its code: both are changed by one statement",
	{"seats/payments", "UPDATE", "allowance"}:    "a payment that ends frees the use of its code in the statement that ends it",
	{"seats/payments", "UPDATE", "purchase_key"}: "a payment that ends takes its seats off the count in the statement that ends it",
	{"seats/rehearsal", "COPY", ""}:              shadow,
	{"seats/rehearsal", "DELETE", "team"}:        shadow,
	{"seats/rehearsal", "INSERT", "block"}:       shadow,
	{"seats/rehearsal", "INSERT", "counter"}:     shadow,
	{"seats/rehearsal", "INSERT", "seat_state"}:  shadow,
	{"seats/rehearsal", "INSERT", "terms"}:       shadow,
	{"seats/seatstest", "DELETE", ""}:            "a database is emptied for the next test",
	{"seats/seatstest", "INSERT", ""}:            "and has the rows of the migrations again",
	{"seats/payments", "UPDATE", "orders"}:       "money that is captured, or refunded at the provider, is in the order by the statement that notes it",
}

var (
	verbs   = []string{"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "COPY"}
	writing = regexp.MustCompile(`\b(?:(FOR|KEY|DO|OR|ON|BEFORE|AFTER)\s+)?(INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE(?:\s+TABLE)?|COPY)\s+(?:ONLY\s+)?"?(\w*)`)
	created = regexp.MustCompile(`(?m)((?:^--.*\n)*)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
	writer  = regexp.MustCompile(`\bWritten by (\w+(?:/\w+)*)`)
)

// accesses lists the writes in a piece of SQL, also those inside WITH. The table is empty where the program chooses it.
func accesses(pkg, sql string) (found []access) {
	if !slices.ContainsFunc(verbs, func(verb string) bool { return strings.Contains(sql, verb) }) {
		return nil // most strings, in no time
	}
	for _, m := range writing.FindAllStringSubmatch(sql, -1) {
		if m[1] == "" { // FOR UPDATE locks, DO UPDATE belongs to an INSERT
			found = append(found, access{pkg, strings.Fields(m[2])[0], m[3]})
		}
	}
	return found
}

// misplaced lists what is against the rule: one package writes a table.
func misplaced(tables []string, writes map[access]bool, allowed map[access]string) (problems []string) {
	ownerOf, written := map[string]string{}, map[string]bool{}
	for pkg, names := range owners {
		for _, name := range strings.Fields(names) {
			ownerOf[name] = pkg
		}
	}
	for w := range writes {
		owner := ownerOf[w.table]
		written[w.table] = written[w.table] || owner == w.pkg
		if owner != w.pkg && allowed[w] == "" {
			problems = append(problems, fmt.Sprintf("%s has %s on %q, which %q owns", w.pkg, w.verb, w.table, owner))
		}
	}
	for name, owner := range ownerOf {
		if !written[name] && !slices.Contains(byTriggers, name) {
			problems = append(problems, fmt.Sprintf("%s does not write %s, which it owns", owner, name))
		}
	}
	for _, name := range tables {
		if ownerOf[name] == "" {
			problems = append(problems, name+" has no owner: write down which package writes it")
		}
	}
	for a := range allowed {
		if !writes[a] || ownerOf[a.table] == a.pkg {
			problems = append(problems, fmt.Sprintf("the exception for %s of %s by %s is not needed", a.verb, a.table, a.pkg))
		}
	}
	slices.Sort(problems)
	return problems
}

// allAccesses reads the strings of all packages.
func allAccesses(t *testing.T) map[access]bool {
	t.Helper()
	all := map[access]bool{}
	goFiles(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		pkg, _ := filepath.Rel("../..", filepath.Dir(path))
		pkg = filepath.ToSlash(pkg)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if n.Sel.Name == "CopyFrom" { // of pgx: its table is no SQL
					all[access{pkg, "COPY", ""}] = true
				}
			case *ast.BasicLit:
				sql, _ := strconv.Unquote(n.Value) // no text if it is a number
				for _, a := range accesses(pkg, sql) {
					all[a] = true
				}
			}
			return true
		})
	})
	return all
}

// schema lists the tables of the migrations, and for each the package that its comment names.
func schema(t *testing.T) (tables []string, said map[string]string) {
	t.Helper()
	names, err := filepath.Glob("../../migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	said = map[string]string{}
	for _, name := range names {
		sql, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range created.FindAllStringSubmatch(string(sql), -1) {
			tables = append(tables, m[2])
			if by := writer.FindStringSubmatch(m[1]); by != nil {
				said[m[2]] = by[1]
			}
		}
	}
	return tables, said
}

func TestTable_IsWrittenByItsOwner(t *testing.T) {
	t.Parallel()
	tables, said := schema(t)
	for _, problem := range misplaced(tables, allAccesses(t), exceptions) {
		t.Error(problem)
	}
	for _, name := range tables {
		if !slices.Contains(strings.Fields(owners[said[name]]), name) {
			t.Errorf("the comment above table %s says that %q writes it, which is not its owner", name, said[name])
		}
	}
}

func TestTable_PlantedWritersAreFound(t *testing.T) {
	t.Parallel()
	tables, _ := schema(t)
	writes := allAccesses(t)
	for _, planted := range []struct{ pkg, sql string }{
		{"handlers", `UPDATE ticket SET idx = 1`},
		{"seats/orders", "WITH won AS (\n    UPDATE\n  seat_state SET state = 4 RETURNING idx\n) SELECT idx FROM won"},
		{"seats/orders", `WITH gone AS (DELETE FROM ONLY hold RETURNING id) SELECT count(*) FROM gone`},
		{"seats/orders", `DELETE FROM mail WHERE sent_at IS NOT NULL`}, // it may queue mail, and no more
		{"seats/webhooks", `MERGE INTO "orders" USING n ON true WHEN MATCHED THEN DO NOTHING`},
		{"seats/verify", `TRUNCATE change`},
		{"seats/organizers", `INSERT INTO nothing VALUES (1)`},
		{"realtime", `INSERT INTO ` /* and a name */},
	} {
		more := maps.Clone(writes)
		for _, a := range accesses(planted.pkg, planted.sql) {
			more[a] = true
		}
		if len(misplaced(tables, more, exceptions)) != 1 {
			t.Errorf("%s may run %s", planted.pkg, planted.sql)
		}
	}
	for _, fine := range []string{`SELECT FROM seat_state FOR NO KEY UPDATE OF seat_state`, `CREATE TRIGGER x AFTER UPDATE ON orders`} {
		if found := accesses("handlers", fine); len(found) > 0 {
			t.Errorf("%s writes %v", fine, found)
		}
	}
	idle := maps.Clone(exceptions)
	idle[access{"seats/limit", "UPDATE", "orders"}] = "it was once so"
	if len(misplaced(tables, writes, idle)) != 1 {
		t.Error("an exception that is not needed was not noticed")
	}
	if len(misplaced(append(tables, "novelty"), writes, exceptions)) != 1 {
		t.Error("a table without an owner was not noticed")
	}
}
