package subscriptions_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/demo"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// season is a team with evenings of one plan, and a node.
type season struct {
	*subscriptions.All
	db        *pgxpool.Pool
	inventory *seats.Inventory
	orders    *orders.Orders
	card      *demo.Card
	ann       organizers.Member
	slugs     []string
}

// open makes a season of so many evenings in the theatre.
func open(t *testing.T, evenings int, e events.Settings) *season {
	t.Helper()
	theatre, _ := plan.Named("theatre")
	return openIn(t, evenings, e, theatre)
}

// openIn makes a season in another house.
func openIn(t *testing.T, evenings int, e events.Settings, house *seats.Plan) *season {
	t.Helper()
	n := &season{db: seatstest.DB(t), ann: organizers.Member{Team: 1, Name: "Ann", Role: organizers.Owner}}
	for i := range evenings {
		e.Name, e.StartsAt = fmt.Sprint("Evening ", i+1), time.Date(2036, 10, 1+i, 18, 0, 0, 0, time.UTC)
		made, err := events.Create(t.Context(), n.db, e, house)
		if err != nil {
			t.Fatal(err)
		}
		n.slugs = append(n.slugs, made.Slug)
	}
	n.node(t)
	return n
}

// node runs a node of the season.
func (n *season) node(t *testing.T) {
	t.Helper()
	n.inventory = seats.NewInventory(n.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	inventory := n.inventory
	go func() { done <- inventory.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	n.orders = orders.New(n.db)
	n.card = demo.New(n.db, n.orders.Payments.Record)
	n.orders.Payments.Accept(payments.Demo, n.card)
	n.orders.Open(n.inventory, "http://localhost")
	n.All = subscriptions.New(n.db, n.inventory, n.orders, organizers.New(n.db, func() {}))
}

// defines has Ann define a subscription of all evenings.
func (n *season) defines(t *testing.T, f subscriptions.Form) *subscriptions.House {
	t.Helper()
	if f.Name == "" {
		f.Name = "Season"
	}
	if f.Events == nil {
		f.Events = n.slugs
	}
	slug, err := n.Define(t.Context(), n.ann, f, seats.NewID().String())
	if err != nil {
		t.Fatal(err)
	}
	return n.house(t, slug)
}

func (n *season) house(t *testing.T, slug string) *subscriptions.House {
	t.Helper()
	s, err := n.Find(t.Context(), slug)
	if err != nil {
		t.Fatal(err)
	}
	h, err := n.House(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// prices are the same price for each category of the theatre.
func (n *season) prices(t *testing.T, price int64) map[string]int64 {
	t.Helper()
	s, err := n.inventory.Sale(t.Context(), n.slugs[0])
	if err != nil {
		t.Fatal(err)
	}
	prices := map[string]int64{}
	for _, c := range s.Plan.Categories {
		prices[c.Key] = price
	}
	return prices
}

func form(method string) orders.Form {
	return orders.Form{Name: "Ann Ørsted", Email: "ann@example.org", Method: method, Verified: "ann@example.org"}
}

func (n *season) number(t *testing.T, sql string, args ...any) (count int64) {
	t.Helper()
	if err := n.db.QueryRow(t.Context(), sql, args...).Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

// pays tells the demo card how to answer, and has the payment go on.
func (n *season) pays(t *testing.T, p payments.Payment, way string) {
	t.Helper()
	if err := n.card.Answer(t.Context(), p.Reference, way); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := n.orders.Payments.Ask(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
}

// codes are those of all orders, by the id of their events.
func (n *season) codes(t *testing.T) []string {
	t.Helper()
	rows, err := n.db.Query(t.Context(), `SELECT code FROM orders ORDER BY event_id`)
	if err != nil {
		t.Fatal(err)
	}
	codes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

// wantBooks holds every promise against the database.
func (n *season) wantBooks(t *testing.T) {
	t.Helper()
	report, err := verify.Look(t.Context(), n.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			t.Errorf("%s: %s", p.Name, f)
		}
	}
}

// wantBroken plants a corruption, and wants a promise to tell of it.
func (n *season) wantBroken(t *testing.T, promise, sql string) {
	t.Helper()
	if _, err := n.db.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	report, err := verify.Look(t.Context(), n.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		if p.Name == promise && p.Broken == 0 {
			t.Errorf("%s did not tell of: %s", promise, sql)
		}
	}
}
