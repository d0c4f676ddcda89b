package bookings_test

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
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is a team with an event, and the bookings of one node.
type fixture struct {
	db       *pgxpool.Pool
	sale     *seats.Sale
	office   *seats.Inventory
	orders   *orders.Orders
	blocks   *blocks.Blocks
	bookings *bookings.Bookings
	ann      organizers.Member
	until    time.Time
}

func open(t *testing.T) *fixture {
	p, _ := plan.Named("theatre")
	return openWith(t, p)
}

func openWith(t *testing.T, p *seats.Plan) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t), ann: organizers.Member{Name: "Ann"}, until: time.Date(2030, 4, 1, 12, 0, 0, 0, time.UTC)}
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
	h.bookings = h.node()
	return h
}

// node are the bookings as another node has them.
func (h *fixture) node() *bookings.Bookings {
	desk := organizers.New(h.db, func() {})
	h.blocks = blocks.New(h.office, desk)
	return bookings.New(h.db, desk, h.orders, h.blocks)
}

func key() string { return seats.NewID().String() }

// take takes an option of seats.
func (h *fixture) take(t *testing.T, r bookings.Request) bookings.Booking {
	t.Helper()
	r.Contact, r.Until = bookings.Contact{Name: "Eva Roth", Email: "eva@example.org", Organisation: "School"}, h.until
	id, err := h.bookings.Take(t.Context(), h.ann, key(), h.sale, r)
	if err != nil {
		t.Fatal(err)
	}
	return h.find(t, id)
}

func (h *fixture) find(t *testing.T, id seats.ID) bookings.Booking {
	t.Helper()
	k, err := h.bookings.Find(t.Context(), h.ann, h.sale.Event.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (h *fixture) confirm(t *testing.T, id seats.ID) string {
	t.Helper()
	code, err := h.bookings.Confirm(t.Context(), h.ann, key(), h.sale, id, bookings.Confirming{Due: h.until})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// sound fails if the books of the database do not agree.
func (h *fixture) sound(t *testing.T) {
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

func (h *fixture) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func (h *fixture) count(t *testing.T, of string, args ...any) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM `+of, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (h *fixture) sell(t *testing.T, idxs ...int) error {
	t.Helper()
	_, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: key(), Seats: idxs, Method: payments.Cash}, nil)
	return err
}

func TestOption_KeepsItsSeatsFromEverybodyElse(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.take(t, bookings.Request{Seats: []int{10, 11, 12}})
	var taken *seats.Conflict
	if err := h.sell(t, 11); !errors.As(err, &taken) || taken.Code != seats.CodeTaken {
		t.Errorf("the box office sells it: %v", err)
	}
	for _, of := range []seats.ID{{}, k.ID} { // as the pages of seats and of blocks ask
		if _, err := h.sale.Unblock(t.Context(), seats.BlockRequest{Seats: []int{10, 11, 12}, Of: of, Rest: true}); !errors.As(err, &taken) {
			t.Errorf("it is unblocked: %v", err)
		}
	}
	var invalid *seats.ValidationError
	for _, kind := range []seats.BlockKind{"", seats.BlockHouse, seats.BlockGroup} {
		if err := h.blocks.Change(t.Context(), h.ann, key(), h.sale.Event, k.ID, seats.BlockTerms{Kind: kind}); !errors.As(err, &invalid) {
			t.Errorf("its block changes to %q: %v", kind, err)
		}
	}
	if _, err := h.sale.Claim(t.Context(), seats.NewID(), key(), seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(12)}}); !errors.As(err, &taken) {
		t.Errorf("a visitor claims it: %v", err)
	}
	if err := h.sell(t, 20); err != nil {
		t.Fatal(err)
	}
	var order seats.ID
	if err := h.db.QueryRow(t.Context(), `SELECT id FROM orders`).Scan(&order); err != nil {
		t.Fatal(err)
	}
	if err := h.sale.Move(t.Context(), order, []int{20}, []int{10}, nil); !errors.As(err, &taken) {
		t.Errorf("a ticket moves to it: %v", err)
	}
	if _, err := h.bookings.Take(t.Context(), h.ann, key(), h.sale, bookings.Request{Contact: k.Contact, Seats: []int{12, 13}, Until: h.until}); !errors.As(err, &taken) {
		t.Errorf("another group takes it: %v", err)
	}
	if k = h.find(t, k.ID); k.State != bookings.Option || len(k.Seats) != 3 {
		t.Errorf("the option is %+v", k)
	}
	h.sound(t)
}

func TestOption_HasNoSeatsThatTheirBuyerMayTakeBack(t *testing.T) {
	t.Parallel()
	h := open(t)
	if err := h.sell(t, 20, 21); err != nil {
		t.Fatal(err)
	}
	offer := seats.Resale{ID: seats.NewID(), Seat: 20}
	if err := h.db.QueryRow(t.Context(), `SELECT id, order_id FROM ticket WHERE idx = 20`).Scan(&offer.Ticket, &offer.Order); err != nil {
		t.Fatal(err)
	}
	if err := h.sale.OfferBack(t.Context(), seats.ID{}, []seats.Resale{offer}, nil, nil); err != nil {
		t.Fatal(err)
	}
	var taken *seats.Conflict
	r := bookings.Request{Contact: bookings.Contact{Name: "Eva"}, Seats: []int{20}, Until: h.until}
	if _, err := h.bookings.Take(t.Context(), h.ann, key(), h.sale, r); !errors.As(err, &taken) {
		t.Errorf("an option is taken of a seat that is offered back: %v", err)
	}
}

func TestOption_ComesBackOnSaleWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.take(t, bookings.Request{Count: 4, Category: -1})
	h.exec(t, `UPDATE block SET ends_at = clock_timestamp()`)
	h.exec(t, `UPDATE booking SET remind_at = clock_timestamp()`)
	if state := h.find(t, k.ID).State; state != bookings.Expired {
		t.Errorf("the option is %s", state)
	}
	var refused *seats.Conflict
	if _, err := h.bookings.Confirm(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Confirming{Due: h.until}); !errors.As(err, &refused) {
		t.Errorf("it is confirmed: %v", err)
	}
	for i := range 2 {
		if ended, err := h.office.EndBlock(t.Context(), k.ID); err != nil || ended != (i == 0) {
			t.Errorf("end %d: %v, %v", i, ended, err)
		}
	}
	if err := h.sell(t, k.Seats...); err != nil {
		t.Error(err)
	}
	if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); !errors.As(err, &refused) {
		t.Errorf("it is cancelled: %v", err)
	}
	if n := h.count(t, "ticket"); n != 4 {
		t.Errorf("%d tickets", n)
	}
	h.sound(t)
}

func TestBooking_MakesOneOrderHoweverOftenItIsConfirmed(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.take(t, bookings.Request{Seats: []int{10, 11, 12, 13, 14}})
	if err := h.bookings.Reduce(t.Context(), h.ann, key(), h.sale, k.ID, nil, 4); err != nil {
		t.Fatal(err)
	}
	k = h.find(t, k.ID)
	_, cost, err := k.Quote(h.sale)
	if err != nil || len(k.Seats) != 4 || k.Places != 4 || h.count(t, "seat_state WHERE state = 5") != 4 {
		t.Fatalf("%+v, %v", k, err)
	}
	var clicks sync.WaitGroup
	codes := make([]string, 8)
	for i := range codes {
		node := h.bookings
		if i%2 > 0 {
			node = h.node()
		}
		clicks.Go(func() {
			var err error
			if codes[i], err = node.Confirm(context.Background(), h.ann, key(), h.sale, k.ID, bookings.Confirming{Due: h.until, Total: &cost.Total}); err != nil {
				t.Errorf("click %d: %v", i, err)
			}
		})
	}
	clicks.Wait()
	for _, code := range codes {
		if code != codes[0] || code == "" {
			t.Errorf("the orders are %v", codes)
		}
	}
	o, err := h.orders.Find(t.Context(), codes[0])
	if err != nil || o.Method != payments.Invoice || o.Due() != cost.Total || o.Total != cost.Total || o.Paid != 0 || o.DueAt == nil || !o.DueAt.Equal(h.until) || o.Email != "eva@example.org" || len(o.Tickets) != 4 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	if n, tickets := h.count(t, "orders"), h.count(t, "ticket"); n != 1 || tickets != 4 {
		t.Errorf("%d orders, %d tickets", n, tickets)
	}
	if k = h.find(t, k.ID); k.State != bookings.Confirmed || k.Order != codes[0] || k.Due != cost.Total {
		t.Errorf("the booking is %+v", k)
	}
	var refused *seats.Conflict
	for what, err := range map[string]error{
		"cancel": h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID), "reduce": h.bookings.Reduce(t.Context(), h.ann, key(), h.sale, k.ID, nil, 1),
	} {
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	h.sound(t)
}

func TestBooking_IsCancelledOnceAndItsSeatsAreOnSale(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.take(t, bookings.Request{Seats: []int{10, 11}})
	again := key()
	for range 2 {
		if err := h.bookings.Cancel(t.Context(), h.ann, again, h.sale, k.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.sell(t, 10, 11); err != nil {
		t.Error(err)
	}
	if k = h.find(t, k.ID); k.State != bookings.Cancelled || len(k.Seats) != 0 || h.count(t, "deed WHERE what LIKE 'cancelled the option%'") != 1 {
		t.Errorf("the booking is %+v", k)
	}
	h.sound(t)
}

func TestBooking_CostsWhatWasAgreed(t *testing.T) {
	t.Parallel()
	h := open(t)
	each := int64(500)
	k := h.take(t, bookings.Request{Seats: []int{10, 11, 12}, Prices: []bookings.Price{{Type: h.sale.Prices.Types[0].Key, Count: 3, Each: &each}}})
	if _, cost, err := k.Quote(h.sale); err != nil || cost.Total != 1500 {
		t.Fatalf("it costs %+v, %v", cost, err)
	}
	o, err := h.orders.Find(t.Context(), h.confirm(t, k.ID))
	if err != nil || o.Total != 1500 || o.Due() != 1500 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	dear := int64(1_000_000) // more than the list says: the list holds
	k = h.take(t, bookings.Request{Seats: []int{20}, Prices: []bookings.Price{{Type: h.sale.Prices.Types[0].Key, Each: &dear}}})
	lines, cost, err := k.Quote(h.sale)
	if err != nil || cost.Total != lines[0].Price {
		t.Errorf("it costs %+v, %v", cost, err)
	}
	var invalid *seats.ValidationError
	if err := h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until, Prices: []bookings.Price{{Type: h.sale.Prices.Types[0].Key, Count: 2}}}); !errors.As(err, &invalid) {
		t.Errorf("two tickets for one seat: %v", err)
	}
	h.sound(t)
}

func TestOption_RemindsItsContactOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.take(t, bookings.Request{Seats: []int{10}})
	if n := h.count(t, "mail WHERE kind = 'option' AND email = 'eva@example.org' AND about = $1", k.ID.String()); n != 1 {
		t.Errorf("%d mails", n)
	}
	h.exec(t, `UPDATE booking SET remind_at = clock_timestamp()`)
	for range 2 {
		seatstest.Do(t.Context(), t, h.db, h.bookings.Job())
	}
	if n := h.count(t, "mail WHERE kind = 'option-ends'"); n != 1 {
		t.Errorf("%d reminders", n)
	}
}

func TestBookings_AreOfTheTeamAndErasedWithThePerson(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.take(t, bookings.Request{Seats: []int{10, 11}})
	var other organizers.Member
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&other.Team); err != nil {
		t.Fatal(err)
	}
	if list, _, err := h.bookings.List(t.Context(), other, h.sale.Event.ID, paging.Page{Limit: 10}); err != nil || len(list) != 0 {
		t.Errorf("another team sees %+v, %v", list, err)
	}
	for what, err := range map[string]error{
		"cancel": h.bookings.Cancel(t.Context(), other, key(), h.sale, k.ID), "reduce": h.bookings.Reduce(t.Context(), other, key(), h.sale, k.ID, nil, 1),
		"change": h.bookings.Change(t.Context(), other, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until}),
	} {
		if !errors.Is(err, bookings.ErrNone) {
			t.Errorf("another team's %s: %v", what, err)
		}
	}
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		list, err := bookings.Export(t.Context(), tx, []int64{h.sale.Event.ID}, "eva@example.org")
		if err == nil && !strings.Contains(string(list), "Eva Roth") {
			t.Errorf("exported is %s", list)
		}
		if err != nil {
			return err
		}
		return bookings.Erase(t.Context(), tx, []int64{h.sale.Event.ID}, "eva@example.org")
	}); err != nil {
		t.Fatal(err)
	}
	if k = h.find(t, k.ID); k.Contact != (bookings.Contact{}) || len(k.Seats) != 2 || k.State != bookings.Option {
		t.Errorf("erased, it is %+v", k)
	}
}
