package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/usherbox/usher/"

// layers is the whole rule: what a package may import of ours. A new package needs a line here.
var layers = map[string][]string{
	"seats":                            {"seats/text", "seats/tracing"},
	"seats/tracing":                    {},
	"seats/database":                   {"seats"},
	"seats/pricing":                    {"seats/text", "seats", "seats/organizers", "seats/paging"},
	"seats/events":                     {"seats/text", "seats", "seats/pricing"},
	"seats/idempotency":                {},
	"seats/jobs":                       {"seats/tracing", "seats"},
	"seats/sessions":                   {"seats", "seats/idempotency"},
	"seats/paging":                     {"seats"},
	"seats/passkeys":                   {"seats/idempotency"},
	"seats/openid":                     {"seats/outbound", "seats/idempotency"},
	"seats/openid/openidtest":          {},
	"seats/plan":                       {"seats/text", "seats"},
	"seats/seatstest":                  {"seats", "seats/jobs", "seats/database", "seats/plan", "seats/orders", "migrations", "cmd/usher/postgres", "seats/payments", "seats/seatstest/race"},
	"seats/seatstest/race":             {},
	"seats/seatstest/scale":            {},
	"seats/verify":                     {"seats", "seats/database", "seats/books", "seats/seal"},
	"seats/books":                      {"seats/text", "seats", "seats/database", "seats/jobs", "seats/organizers", "seats/payments", "seats/plan", "seats/pricing"},
	"seats/blocks":                     {"seats/text", "seats", "seats/jobs", "seats/organizers"},
	"seats/bookings":                   {"seats/paging", "seats", "seats/blocks", "seats/jobs", "seats/orders", "seats/organizers", "seats/payments", "seats/pricing", "seats/seal", "seats/text"},
	"seats/guests":                     {"seats/paging", "seats", "seats/blocks", "seats/orders", "seats/organizers", "seats/payments", "seats/text"},
	"seats/arena":                      {},
	"seats/alerts":                     {"seats", "seats/jobs", "seats/orders", "seats/organizers", "seats/overview", "seats/payments", "seats/text"},
	"seats/memberships":                {"seats/lists", "seats", "seats/organizers", "seats/paging", "seats/pricing", "seats/text"},
	"seats/customers":                  {"seats/changes", "seats/lists", "seats", "seats/organizers", "seats/text", "seats/paging"},
	"seats/changes":                    {"seats", "seats/paging"},
	"seats/seal":                       {},
	"seats/orders":                     {"seats/tracing", "seats/text", "seats", "seats/jobs", "seats/seal", "seats/idempotency", "seats/payments", "seats/events", "seats/pricing", "seats/paging"},
	"seats/payments":                   {"seats/tracing", "seats/text", "seats", "seats/jobs", "seats/seal", "seats/events", "seats/pricing"},
	"seats/waitingroom":                {"seats/outbound", "seats/fairness", "seats/text", "seats", "seats/database", "seats/seal", "seats/events"},
	"seats/limit":                      {"seats/text", "seats"},
	"seats/letters":                    {"seats/text", "seats", "seats/jobs", "seats/organizers"},
	"seats/mail":                       {"seats/tracing", "seats", "seats/jobs"},
	"seats/organizers":                 {"seats/openid", "seats/passkeys", "seats/text", "seats", "seats/seal", "seats/plan", "seats/idempotency", "seats/paging"},
	"seats/sales":                      {"seats/text", "seats", "seats/payments", "seats/organizers"},
	"seats/waitlist":                   {"seats/text", "seats", "seats/events", "seats/pricing", "seats/paging"},
	"seats/invoices":                   {"seats/outbound", "seats/text", "seats", "seats/jobs", "seats/organizers", "seats/payments", "seats/pricing", "seats/paging"},
	"seats/privacy":                    {"seats/memberships", "seats", "seats/guests", "seats/bookings", "seats/customers", "seats/turns", "seats/wallets", "seats/letters", "seats/text", "seats/seal", "seats/invoices", "seats/payments/banktransfer", "seats/giftcards", "seats/credit", "seats/idempotency", "seats/mail", "seats/orders", "seats/organizers", "seats/payments", "seats/waitingroom", "seats/waitlist"},
	"seats/giftcards":                  {"seats/text", "seats", "seats/credit", "seats/jobs", "seats/organizers", "seats/payments", "seats/pricing", "seats/seal", "seats/paging"},
	"seats/pages":                      {"seats/text", "seats", "seats/organizers"},
	"seats/sites":                      {"seats/text", "seats", "seats/organizers"},
	"seats/text":                       {"seats/text/po"},
	"seats/text/po":                    {},
	"seats/outbound":                   {},
	"seats/overview":                   {"seats/changes", "seats", "seats/database", "seats/orders", "seats/organizers", "seats/payments", "seats/paging"},
	"seats/rehearsal":                  {"seats/text", "seats", "seats/events", "seats/jobs", "seats/organizers", "seats/sales", "seats/waitingroom"},
	"seats/series":                     {"seats/text", "seats", "seats/events", "seats/limit", "seats/organizers", "seats/pages", "seats/pricing"},
	"seats/lists":                      {"seats", "seats/text"},
	"seats/testsale":                   {"seats", "seats/events", "seats/jobs", "seats/limit", "seats/organizers", "seats/pages", "seats/text"},
	"seats/subscriptions":              {"seats/text", "seats", "seats/events", "seats/jobs", "seats/seal", "seats/orders", "seats/organizers", "seats/payments", "seats/pricing"},
	"seats/programme":                  {"seats/text", "seats", "seats/pages", "seats/pricing"},
	"seats/wallets":                    {"seats/outbound", "seats", "seats/jobs", "seats/seal"},
	"seats/turns":                      {"seats/text", "seats", "seats/jobs", "seats/seal", "seats/waitingroom", "seats/webhooks"},
	"seats/wallets/wallettest":         {},
	"seats/till":                       {"seats/text", "seats", "seats/organizers"},
	"seats/fairness":                   {"seats", "seats/organizers", "seats/text"},
	"seats/publiclog":                  {"seats/outbound", "seats", "seats/jobs", "seats/organizers", "seats/seal", "seats/text"},
	"seats/webhooks":                   {"seats/outbound", "seats/text", "seats", "seats/jobs", "seats/seal", "seats/organizers", "seats/paging"},
	"seats/credit":                     {"seats/passkeys", "seats/text", "seats", "seats/jobs", "seats/payments", "seats/seal", "seats/idempotency"},
	"seats/payments/demo":              {"seats", "seats/jobs", "seats/payments"},
	"seats/payments/banktransfer":      {"seats/text", "seats", "seats/orders", "seats/organizers", "seats/pricing"},
	"seats/payments/stripe":            {"seats/outbound", "seats", "seats/payments", "seats/payouts", "seats/pricing"},
	"seats/payouts":                    {"seats", "seats/jobs", "seats/organizers", "seats/paging", "seats/payments", "seats/text"},
	"seats/payments/stripe/standin":    {},
	"seats/payments/stripe/stripetest": {"seats/payments/stripe/standin"},
	"realtime":                         {"seats", "seats/database"},
	"views":                            {"seats/text", "seats/pages", "seats", "seats/orders", "seats/organizers", "static", "seats/payments", "seats/pricing"},
	"views/pdf":                        {"static"},
	"views/shop":                       {"seats/fairness", "seats/arena", "seats/publiclog", "seats/bookings", "seats/books", "views/pdf", "seats/passkeys", "seats/wallets", "seats/letters", "seats/subscriptions", "seats/series", "seats/programme", "seats/text", "seats/giftcards", "seats/invoices", "seats/pages", "seats/payments/banktransfer", "seats", "seats/plan", "seats/orders", "seats/credit", "seats/waitingroom", "seats/waitlist", "static", "views", "seats/payments", "seats/events", "seats/pricing"},
	"views/desk":                       {"seats/fairness", "seats/rehearsal", "seats/publiclog", "seats/memberships", "seats/payouts", "seats/overview", "seats/blocks", "seats/guests", "seats/bookings", "seats/books", "seats/customers", "seats/till", "seats/subscriptions", "seats/sites", "seats/letters", "seats/series", "seats/text", "seats/giftcards", "seats/invoices", "seats/privacy", "seats/pages", "seats/payments/banktransfer", "seats", "seats/limit", "seats/plan", "seats/orders", "seats/organizers", "seats/sales", "seats/waitingroom", "seats/waitlist", "seats/webhooks", "views", "views/shop", "seats/payments", "seats/events", "seats/pricing", "seats/alerts"},
	"views/mail":                       {"seats/pricing", "seats/bookings", "seats/letters", "seats/subscriptions", "seats/text", "seats/invoices", "seats/giftcards", "seats/pages", "seats/payments/banktransfer", "seats/orders", "seats/organizers", "seats/waitlist", "views", "views/shop", "seats/payments"},
	"handlers":                         {"seats/fairness", "seats/arena", "seats/rehearsal", "seats/publiclog", "seats/tracing", "seats/testsale", "seats/memberships", "seats/payouts", "seats/overview", "seats/blocks", "seats/guests", "seats/bookings", "seats/books", "seats/customers", "seats/turns", "seats/wallets", "seats/subscriptions", "seats/sites", "seats/letters", "seats/series", "seats/programme", "seats/text", "seats/giftcards", "seats/invoices", "seats/privacy", "seats/pages", "seats/payments/banktransfer", "views", "seats", "seats/sessions", "seats/plan", "seats/waitingroom", "seats/waitlist", "seats/orders", "seats/credit", "seats/payments/demo", "seats/limit", "seats/mail", "seats/organizers", "seats/sales", "seats/webhooks", "realtime", "views/desk", "views/mail", "views/shop", "static", "handlers/web", "handlers/shop", "handlers/desk", "seats/payments", "seats/events", "seats/pricing", "seats/alerts"},
	"handlers/web":                     {"seats/fairness", "seats/arena", "seats/rehearsal", "seats/publiclog", "seats/tracing", "seats/testsale", "seats/memberships", "seats/payouts", "seats/overview", "seats/blocks", "seats/guests", "seats/bookings", "seats/books", "seats/customers", "seats/turns", "seats/wallets", "seats/subscriptions", "seats/sites", "seats/letters", "seats/series", "seats/programme", "seats/text", "seats/giftcards", "seats/invoices", "seats/privacy", "seats/pages", "seats/payments/banktransfer", "realtime", "seats", "seats/idempotency", "seats/limit", "seats/orders", "seats/credit", "seats/payments/demo", "seats/organizers", "seats/sales", "seats/sessions", "seats/waitingroom", "seats/waitlist", "seats/webhooks", "static", "views", "views/desk", "views/shop", "seats/payments", "seats/events", "seats/pricing", "seats/paging", "seats/alerts"},
	"handlers/shop":                    {"seats/fairness", "seats/arena", "seats/publiclog", "seats/bookings", "seats/turns", "seats/wallets", "seats/passkeys", "seats/letters", "seats/subscriptions", "seats/series", "seats/programme", "seats/text", "seats/giftcards", "seats/invoices", "seats/pages", "seats/payments/banktransfer", "handlers/web", "seats", "seats/limit", "seats/orders", "seats/credit", "seats/payments/demo", "seats/waitingroom", "seats/waitlist", "static", "views", "views/shop", "seats/payments", "seats/events", "seats/pricing"},
	"handlers/desk":                    {"seats/fairness", "seats/rehearsal", "seats/publiclog", "seats/changes", "seats/lists", "seats/memberships", "seats/openid", "seats/payouts", "seats/overview", "seats/blocks", "seats/guests", "seats/bookings", "seats/books", "seats/customers", "seats/till", "seats/subscriptions", "seats/sites", "seats/letters", "seats/series", "seats/programme", "seats/text", "seats/giftcards", "seats/invoices", "seats/privacy", "seats/pages", "seats/payments/banktransfer", "handlers/web", "seats", "seats/limit", "seats/orders", "seats/organizers", "seats/plan", "seats/sales", "seats/waitingroom", "seats/waitlist", "seats/webhooks", "static", "views", "views/desk", "views/shop", "seats/payments", "seats/idempotency", "seats/events", "seats/pricing", "seats/paging", "seats/alerts"},
	"migrations":                       {},
	"static":                           {"seats/text"},
	"cmd/usher/postgres":               {},
	"cmd/usher/audit":                  {"seats", "seats/publiclog", "seats/waitingroom"},
	"cmd/usher/rush":                   {"seats", "seats/plan", "realtime"},
	"cmd/usher":                        {"seats/outbound", "seats/fairness", "seats/arena", "seats/rehearsal", "cmd/usher/audit", "seats/publiclog", "seats/changes", "seats/tracing", "seats/testsale", "seats/till", "seats/memberships", "seats/openid", "seats/payouts", "seats/blocks", "seats/guests", "seats/bookings", "seats/books", "seats/customers", "seats/turns", "seats/wallets", "seats/subscriptions", "seats/sites", "seats/letters", "seats/series", "seats/programme", "seats/giftcards", "seats/privacy", "seats/pages", "seats/payments/banktransfer", "seats/database", "seats/sessions", "seats/seal", "cmd/usher/postgres", "cmd/usher/rush", "seats", "seats/plan", "seats/waitingroom", "seats/waitlist", "seats/orders", "seats/credit", "seats/payments/demo", "seats/payments/stripe", "seats/limit", "seats/mail", "seats/organizers", "seats/sales", "seats/webhooks", "seats/invoices", "seats/verify", "seats/jobs", "realtime", "handlers", "handlers/desk", "handlers/shop", "handlers/web", "static", "migrations", "seats/payments", "seats/events", "seats/pricing", "seats/alerts"},
	"e2e":                              {},
}

// outside is what a package must not import of others.
var outside = map[string][]string{
	"handlers":            {"seats/fairness", "seats/overview", "seats/books", "seats/wallets", "github.com/jackc/pgx"},
	"handlers/web":        {"seats/fairness", "seats/overview", "seats/books", "seats/wallets", "github.com/jackc/pgx"},
	"handlers/shop":       {"seats/fairness", "seats/wallets", "github.com/jackc/pgx"},
	"handlers/desk":       {"seats/fairness", "seats/overview", "seats/books", "github.com/jackc/pgx"},
	"views":               {"github.com/jackc/pgx", "net/http"},
	"views/shop":          {"seats/fairness", "seats/books", "seats/wallets", "github.com/jackc/pgx", "net/http"},
	"views/pdf":           {"github.com/jackc/pgx", "net/http"},
	"views/desk":          {"seats/fairness", "seats/overview", "seats/books", "github.com/jackc/pgx", "net/http"},
	"views/mail":          {"github.com/jackc/pgx", "net/http"},
	"seats":               {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/events":        {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/pricing":       {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/mail":          {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/letters":       {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/orders":        {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/waitlist":      {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/organizers":    {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/sales":         {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/payments":      {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/programme":     {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/subscriptions": {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/overview":      {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/series":        {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/sites":         {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/pages":         {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/till":          {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/payouts":       {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
	"seats/credit":        {"net/http", "github.com/a-h/templ", "github.com/coder/websocket"},
}

// inTests is what tests may import besides.
var inTests = []string{"seats/fairness", "seats/arena", "seats/rehearsal", "seats/publiclog", "seats/changes", "seats/lists", "seats/testsale", "seats/memberships", "seats/openid", "seats/openid/openidtest", "seats/payouts", "seats/overview", "seats/blocks", "seats/guests", "seats/bookings", "seats/books", "seats/customers", "seats/till", "seats/passkeys", "seats/turns", "seats/wallets/wallettest", "seats/wallets", "seats/text/po", "seats/subscriptions", "seats/letters", "seats/series", "seats/programme", "seats/text", "seats/giftcards", "seats/privacy", "seats/invoices", "seats/events", "seats/pricing", "views/shop", "views/desk", "views/mail", "seats/database", "seats/idempotency", "seats/jobs", "seats/sessions", "seats/seatstest", "seats/seatstest/race", "seats/seatstest/scale", "seats/plan", "seats/waitingroom", "seats/waitlist", "seats/organizers", "seats/sales", "seats/orders", "seats/payments", "seats/credit", "seats/payments/demo", "seats/payments/banktransfer", "seats/payments/stripe", "seats/payments/stripe/stripetest", "seats/verify", "migrations", "cmd/usher/postgres", "seats/paging", "seats/alerts"}

// wrong lists what is against the rule in a package's imports.
func wrong(pkg string, imports []string, test bool) (problems []string) {
	may, known := layers[pkg]
	if !known {
		return []string{fmt.Sprintf("%s is not in the table: write down what it may import", pkg)}
	}
	for _, path := range imports {
		ours, isOurs := strings.CutPrefix(path, module)
		if isOurs && !slices.Contains(may, ours) && ours != pkg && !(test && slices.Contains(inTests, ours)) {
			problems = append(problems, fmt.Sprintf("%s must not import %s", pkg, ours))
		}
		for _, banned := range outside[pkg] {
			if !test && strings.HasPrefix(path, banned) {
				problems = append(problems, fmt.Sprintf("%s must not import %s", pkg, path))
			}
		}
	}
	return problems
}

// goFiles calls visit for every Go file of the project.
func goFiles(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "data" || d.Name() == "tools" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLayers_PackagesImportOnlyAllowedOnes(t *testing.T) {
	t.Parallel()
	goFiles(t, func(path string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		var imports []string
		for _, i := range file.Imports {
			name, _ := strconv.Unquote(i.Path.Value) // the parser checked it
			imports = append(imports, name)
		}
		pkg, _ := filepath.Rel("../..", filepath.Dir(path))
		for _, problem := range wrong(filepath.ToSlash(pkg), imports, strings.HasSuffix(path, "_test.go")) {
			t.Errorf("%s: %s", path, problem)
		}
	})
}

func TestTheImportRuleCatchesPlantedImports(t *testing.T) {
	t.Parallel()
	for _, planted := range []struct{ pkg, path string }{
		{"seats", module + "realtime"},
		{"seats", "net/http"},
		{"handlers", "github.com/jackc/pgx/v5"},
		{"realtime", module + "views"},
		{"views", module + "handlers"},
		{"views", module + "views/shop"},
		{"views/shop", module + "views/desk"},
		{"handlers/shop", module + "handlers/desk"},
		{"handlers/web", module + "handlers/shop"},
		{"services", "fmt"},
	} {
		if len(wrong(planted.pkg, []string{planted.path}, false)) == 0 {
			t.Errorf("%s may import %s", planted.pkg, planted.path)
		}
	}
}

func TestTheDatabaseIsTheClockOfSeats(t *testing.T) {
	t.Parallel()
	goFiles(t, func(path string) {
		if filepath.Dir(path) != "../../seats" || strings.HasSuffix(path, "_test.go") {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "time."+"Now()") {
			t.Errorf("%s asks this machine's clock; only the database knows the time", path)
		}
	})
}
