package invoices_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv("USHER_TEST_NUMBERS"); dsn != "" { // the process that a test kills
		fmt.Fprintln(os.Stderr, numberFor(dsn))
		os.Exit(1)
	}
	seatstest.Main(m)
}

// numberFor runs the job of a database as a node does, until the process is killed.
func numberFor(dsn string) error {
	ctx := context.Background()
	db, err := database.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	job := invoices.New(db, nil).Job()
	go func() {
		for ; ; time.Sleep(time.Millisecond) {
			job.Wake()
		}
	}()
	return jobs.NewRunner(db, slog.New(slog.DiscardHandler), job).Run(ctx)
}

const price = 2500

// fixture is one event of a team that issues invoices.
type fixture struct {
	db       *pgxpool.Pool
	dsn      string
	sale     *seats.Sale
	orders   *orders.Orders
	invoices *invoices.Invoices
}

// open makes the fixture, with rules of prices and tax as JSON if there are some.
func open(t testing.TB, e events.Settings, rules ...string) *fixture {
	t.Helper()
	dsn := seatstest.DSN(t)
	db, err := database.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	h := &fixture{db: db, dsn: dsn, orders: orders.New(db)}
	h.exec(t, `INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, vat_id, exemption)
		VALUES (first_team(), 'Theatre Ltd', 'Main Street 1', '1010', 'Vienna', 'AT', 'ATU12345675', 'Small business')`)
	p, ok := plan.Named("conference")
	if !ok {
		t.Fatal("there is no plan conference")
	}
	hall := *p
	hall.Categories = append([]seats.Category(nil), hall.Categories...)
	for i := range hall.Categories {
		hall.Categories[i].Price = price
	}
	e.Name, e.StartsAt = "Evening", time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)
	if _, err := events.Create(t.Context(), db, e, &hall); err != nil {
		t.Fatal(err)
	}
	for _, one := range rules {
		if one != "" {
			h.exec(t, `UPDATE event SET price_rules = $1`, one)
		}
	}
	office := seats.NewInventory(db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.orders.Open(office, "http://localhost")
	h.invoices = invoices.New(db, organizers.New(db, func() {}))
	return h
}

func (h *fixture) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// order buys so many places, to be paid at the door.
func (h *fixture) order(t testing.TB, places int) (code string) {
	t.Helper()
	who := seats.NewID()
	_, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: places})
	if err == nil {
		code, err = seatstest.Order(t.Context(), h.db, h.sale, who)
	}
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func (h *fixture) find(t testing.TB, code string) orders.Order {
	t.Helper()
	o, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// of returns the documents of an order.
func (h *fixture) of(t testing.TB, code string) []invoices.Document {
	t.Helper()
	list, err := h.invoices.Of(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// words writes documents as "invoice 1 75.00, credit 2 25.00".
func words(list []invoices.Document) string {
	var all []string
	for _, d := range list {
		all = append(all, fmt.Sprintf("%s %d %d.%02d", d.Kind, d.Number, d.Gross/100, d.Gross%100))
	}
	return strings.Join(all, ", ")
}

// wantBooks holds every promise against the database.
func (h *fixture) wantBooks(t testing.TB) {
	t.Helper()
	report, err := verify.Look(t.Context(), h.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			t.Errorf("%s: %s", p.Name, f)
		}
	}
}
