package guests_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is a team with an event, and the guest list of one node.
type fixture struct {
	db     *pgxpool.Pool
	sale   *seats.Sale
	office *seats.Inventory
	orders *orders.Orders
	guests *guests.Guests
	ann    organizers.Member
}

func open(t *testing.T) *fixture {
	t.Helper()
	p, _ := plan.Named("theatre")
	return openPlan(t, p)
}

func openPlan(t *testing.T, p *seats.Plan) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t), ann: organizers.Member{Name: "Ann"}}
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)}, p); err != nil {
		t.Fatal(err)
	}
	h.office = seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = h.office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.orders = orders.New(h.db)
	h.orders.Open(h.office, "http://localhost")
	if err := h.db.QueryRow(t.Context(), `SELECT first_team()`).Scan(&h.ann.Team); err != nil {
		t.Fatal(err)
	}
	h.guests = h.node()
	return h
}

// node is the guest list as another node has it.
func (h *fixture) node() *guests.Guests {
	desk := organizers.New(h.db, func() {})
	return guests.New(h.db, desk, h.orders, blocks.New(h.office, desk))
}

func (h *fixture) add(t *testing.T, lines ...string) []guests.Guest {
	t.Helper()
	list, err := guests.Read(strings.Join(lines, "\n"), "")
	if err == nil {
		_, err = h.guests.Add(t.Context(), h.ann, seats.NewID().String(), h.sale.Event, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h.list(t)
}

func (h *fixture) list(t *testing.T) []guests.Guest {
	t.Helper()
	list, err := h.guests.List(t.Context(), h.ann, h.sale.Event.ID)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// block blocks seats until a time, and returns the block.
func (h *fixture) block(t *testing.T, ends time.Time, idxs ...int) (id seats.ID) {
	t.Helper()
	if _, err := h.sale.Block(t.Context(), seats.BlockRequest{Seats: idxs, BlockTerms: seats.BlockTerms{Owner: "Guests", EndsAt: ends}}); err != nil {
		t.Fatal(err)
	}
	if err := h.db.QueryRow(t.Context(), `SELECT id FROM block ORDER BY at DESC LIMIT 1`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

func (h *fixture) count(t *testing.T, of string, args ...any) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM `+of, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRead_TakesALineForEachGuest(t *testing.T) {
	t.Parallel()
	list, err := guests.Read("Ann Lee, ann@example.org, 2, critic, Max\r\n\n  Bob  Ray;+1\nCid\tcid@example.org\nDora; VIP, front row; 3; ; Eva\nEli,,,,Max", "House")
	want := []guests.Guest{
		{Name: "Ann Lee", Email: "ann@example.org", Places: 2, Note: "critic", InvitedBy: "Max"},
		{Name: "Bob Ray", Places: 2, InvitedBy: "House"},
		{Name: "Cid", Email: "cid@example.org", Places: 1, InvitedBy: "House"},
		{Name: "Dora", Places: 3, Note: "VIP, front row", InvitedBy: "Eva"},
		{Name: "Eli", Places: 1, InvitedBy: "Max"},
	}
	if err != nil || len(list) != len(want) {
		t.Fatalf("read %+v, %v", list, err)
	}
	for i := range want {
		if got := list[i]; got.Name != want[i].Name || got.Email != want[i].Email || got.Places != want[i].Places || got.Note != want[i].Note || got.InvitedBy != want[i].InvitedBy {
			t.Errorf("line %d is %+v", i+1, got)
		}
	}
	for wrong, says := range map[string]string{
		"Ann\nBob, bob@": "Line 2", "ann@example.org": "begins with the name", "Ann, 0": "1 to 50", "Ann, 51": "1 to 50", "Ann, +50": "1 to 50", "a,b,c,d,e": "more on it", strings.Repeat("x", 201): "200", "Ann, \x00": "500",
		strings.Repeat("A\n", guests.MostLines+1): "at most",
	} {
		var invalid *seats.ValidationError
		if _, err := guests.Read(wrong, ""); !errors.As(err, &invalid) || !strings.Contains(invalid.Error(), says) {
			t.Errorf("%.20q: %v", wrong, err)
		}
	}
}

func TestGuests_GetTicketsOnceHoweverOftenTheyAreIssued(t *testing.T) {
	t.Parallel()
	h := open(t)
	list := h.add(t, "Ann, ann@example.org, 2", "Bob, 1", "Cid, cid@example.org, +1")
	if again := h.add(t, "ann, ANN@example.org", "Bob"); len(again) != 3 {
		t.Fatalf("the list has %d guests", len(again))
	}
	var clicks sync.WaitGroup
	for i := range 8 { // of two nodes, for the list and for single guests
		node, in := h.guests, guests.Issuing{Key: seats.NewID().String()}
		if i%2 > 0 {
			node, in.Guests = h.node(), []seats.ID{list[i%3].ID}
		}
		clicks.Go(func() {
			if _, err := node.Issue(context.Background(), h.ann, h.sale, in); err != nil {
				t.Errorf("click %d: %v", i, err)
			}
		})
	}
	clicks.Wait()
	if n, tickets, mails := h.count(t, "orders"), h.count(t, "ticket"), h.count(t, "mail WHERE kind = 'confirmation'"); n != 3 || tickets != 5 || mails != 2 {
		t.Errorf("there are %d orders, %d tickets and %d mails", n, tickets, mails)
	}
	if n := h.count(t, "deed WHERE what LIKE 'gave complimentary%'"); n != 3 {
		t.Errorf("the log has %d entries", n)
	}
	for _, g := range h.list(t) {
		o, err := h.orders.Find(t.Context(), g.Order)
		if err != nil || len(g.Seats) != g.Places || o.Name != g.Name || o.Total != 0 || o.Method != payments.Free || !o.AtOffice || len(g.Seats) == 2 && g.Seats[1] != g.Seats[0]+1 {
			t.Errorf("%+v has %+v, %v", g, o, err)
		}
	}
	if done, err := h.guests.Issue(t.Context(), h.ann, h.sale, guests.Issuing{Key: "late"}); err != nil || done.Guests != 0 {
		t.Errorf("all have tickets, and got %+v, %v", done, err)
	}
}

func TestGuests_WhoDoNotFitTheTablesAreToldWhy(t *testing.T) {
	t.Parallel()
	read, err := plan.Read(strings.NewReader(`{"format": "usher-plan/1", "name": "Dinner", "categories": [{"key": "A", "name": "Dinner", "price": 100}], "sections": [{"name": "Hall", "category": "A",
		"tables": [{"table": "Table 1", "whole": true, "center": [200, 200], "radius": 40, "count": 4}, {"table": "Table 2", "shared": {"least": 3, "most": 4}, "center": [400, 200], "radius": 40, "count": 6}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	h := openPlan(t, read.Plan)
	h.add(t, "Ann, 2", "Bob, 1")
	var refusal *seats.Conflict
	if _, err := h.guests.Issue(t.Context(), h.ann, h.sale, guests.Issuing{Key: "none"}); !errors.As(err, &refusal) || refusal.Code != seats.CodeWholeTable || !strings.Contains(refusal.Error(), "There are enough seats") {
		t.Errorf("of tables for other parties: %v", err)
	}
	h.add(t, "Cid, 4", "Dora, 3")
	done, err := h.guests.Issue(t.Context(), h.ann, h.sale, guests.Issuing{Key: "some"})
	if err != nil || done.Guests != 2 || done.Tickets != 7 || len(done.Left) != 2 || done.Tables != 2 {
		t.Errorf("issued %+v, %v", done, err)
	}
}

func TestGuests_WhoDoNotFitTheBlockWait(t *testing.T) {
	t.Parallel()
	h := open(t)
	block := h.block(t, time.Time{}, 10, 11, 12)
	h.add(t, "Ann, 2", "Bob, 2", "Cid, 1", "Dora, 1")
	in := guests.Issuing{Key: "k", Block: block}
	done, err := h.guests.Issue(t.Context(), h.ann, h.sale, in)
	if err != nil || done.Guests != 2 || done.Tickets != 3 || len(done.Left) != 2 {
		t.Fatalf("issued %+v, %v", done, err)
	}
	list := h.list(t)
	if len(list[0].Seats) != 2 || list[0].Seats[0] < 10 || list[0].Seats[1] > 12 || !list[1].Waits() || len(list[2].Seats) != 1 || !list[3].Waits() {
		t.Errorf("the list is %+v", list)
	}
	if again, err := h.guests.Issue(t.Context(), h.ann, h.sale, in); err != nil || again.Guests != 2 || len(again.Left) != 2 {
		t.Errorf("the form once more: %+v, %v", again, err)
	}
	var refusal *seats.Conflict
	if _, err := h.guests.Issue(t.Context(), h.ann, h.sale, guests.Issuing{Key: "again", Block: block}); !errors.As(err, &refusal) || refusal.Code != seats.CodeSoldOut {
		t.Errorf("of a block without seats: %v", err)
	}
	if n := h.count(t, "orders"); n != 2 {
		t.Errorf("there are %d orders", n)
	}
	if done, err := h.guests.Issue(t.Context(), h.ann, h.sale, guests.Issuing{Key: "best", Guests: []seats.ID{list[1].ID}}); err != nil || done.Guests != 1 {
		t.Errorf("the best seats: %+v, %v", done, err)
	}
}

func TestGuests_SeatsOfThoseStruckOffGoBackToTheBlock(t *testing.T) {
	t.Parallel()
	h := open(t)
	block := h.block(t, time.Now().Add(time.Hour), 10, 11, 12)
	h.add(t, "Ann, ann@example.org, 2", "Bob, 1", "Cid, 1")
	if _, err := h.guests.Issue(t.Context(), h.ann, h.sale, guests.Issuing{Key: "k", Block: block}); err != nil {
		t.Fatal(err)
	}
	list := h.list(t)
	var clicks sync.WaitGroup
	for range 4 {
		clicks.Go(func() {
			if err := h.node().Strike(context.Background(), h.ann, "off", h.sale, list[0].ID); err != nil {
				t.Errorf("strike: %v", err)
			}
		})
	}
	clicks.Wait()
	if n := h.count(t, "seat_state WHERE state = 5 AND holder = $1", block); n != 2 {
		t.Errorf("%d seats are in the block again", n)
	}
	if n := h.count(t, "ticket WHERE revoked_at IS NOT NULL"); n != 2 {
		t.Errorf("%d tickets are revoked", n)
	}
	if n := h.count(t, "mail WHERE kind = 'cancellation'"); n != 1 {
		t.Errorf("%d mails say so", n)
	}
	// Once the time of the block is up, a seat is on sale.
	if _, err := h.db.Exec(t.Context(), `UPDATE block SET ends_at = clock_timestamp()`); err != nil {
		t.Fatal(err)
	}
	if done, err := h.office.EndBlock(t.Context(), block); err != nil || !done {
		t.Fatal(done, err)
	}
	if err := h.guests.Strike(t.Context(), h.ann, "bob", h.sale, list[1].ID); err != nil {
		t.Fatal(err)
	}
	if n := h.count(t, "seat_state WHERE state = 5"); n != 0 {
		t.Errorf("%d seats are blocked after the block ended", n)
	}
	// Nothing is left of a guest who had no tickets.
	if err := h.guests.Strike(t.Context(), h.ann, "cid", h.sale, list[2].ID); err != nil || h.count(t, "guest") != 2 {
		t.Errorf("the list is %+v, %v", h.list(t), err)
	}
	if done, err := h.guests.Issue(t.Context(), h.ann, h.sale, guests.Issuing{Key: "after"}); err != nil || done.Guests != 0 {
		t.Errorf("those struck off got %+v, %v", done, err)
	}
}

func TestGuests_AreOfTheTeamAndErasedWithThePerson(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(t, "Ann, ann@example.org", "Bob, bob@example.org")
	other := organizers.Member{Name: "Eve"}
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&other.Team); err != nil {
		t.Fatal(err)
	}
	if list, err := h.guests.List(t.Context(), other, h.sale.Event.ID); err != nil || len(list) > 0 {
		t.Errorf("another team reads %+v, %v", list, err)
	}
	if err := h.guests.Strike(t.Context(), other, "k", h.sale, h.list(t)[0].ID); !errors.Is(err, guests.ErrNone) {
		t.Errorf("another team strikes: %v", err)
	}
	if _, err := h.guests.Issue(t.Context(), h.ann, h.sale, guests.Issuing{Key: "k", Guests: []seats.ID{h.list(t)[0].ID}}); err != nil {
		t.Fatal(err)
	}
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		if list, err := guests.Export(t.Context(), tx, []int64{h.sale.Event.ID}, "bob@example.org"); err != nil || !strings.Contains(string(list), "Bob") || strings.Contains(string(list), "Ann") {
			t.Errorf("the export is %s, %v", list, err)
		}
		return guests.Erase(t.Context(), tx, []int64{h.sale.Event.ID}, "ann@example.org")
	}); err != nil {
		t.Fatal(err)
	}
	if list := h.list(t); len(list) != 2 || list[0].Name != "" || list[0].Email != "" || len(list[0].Seats) != 1 || list[1].Name != "Bob" {
		t.Errorf("the list is %+v", list)
	}
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		return guests.Erase(t.Context(), tx, []int64{h.sale.Event.ID}, "")
	}); err != nil || h.count(t, "guest WHERE name <> '' OR order_id IS NULL") != 0 {
		t.Errorf("the list is %+v, %v", h.list(t), err)
	}
}
