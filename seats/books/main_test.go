package books_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// bank is a card provider that takes and gives back whatever it is asked for.
type bank struct {
	mu     sync.Mutex
	stands map[seats.ID]*payments.Standing
	keys   map[string]bool
}

func (b *bank) do(c payments.Charge, act func(s *payments.Standing)) (payments.Standing, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stands[c.Payment] == nil {
		b.stands[c.Payment] = &payments.Standing{Stand: payments.Authorized, Reference: "bank-" + c.Payment.String(), Amount: c.Amount, Currency: c.Currency}
	}
	if !b.keys[c.Key] {
		act(b.stands[c.Payment])
	}
	b.keys[c.Key] = true
	return *b.stands[c.Payment], nil
}

func (b *bank) Authorize(_ context.Context, c payments.Charge) (payments.Standing, error) {
	return b.do(c, func(*payments.Standing) {})
}

func (b *bank) Lookup(_ context.Context, c payments.Charge) (payments.Standing, error) {
	c.Key = ""
	return b.do(c, func(*payments.Standing) {})
}

func (b *bank) Capture(_ context.Context, c payments.Charge) (payments.Standing, error) {
	return b.do(c, func(s *payments.Standing) { s.Stand, s.Captured = payments.Captured, c.Amount })
}

func (b *bank) Void(_ context.Context, c payments.Charge) (payments.Standing, error) {
	return b.do(c, func(s *payments.Standing) { s.Stand = payments.Voided })
}

func (b *bank) Refund(_ context.Context, c payments.Charge) (payments.Standing, error) {
	return b.do(c, func(s *payments.Standing) { s.Refunded += c.Refund })
}

// house is a series of two performances with several ticket types, fees, two tax rates and a code, that are paid at a bank and with credit.
type house struct {
	db     *pgxpool.Pool
	office *seats.Inventory
	orders *orders.Orders
	books  *books.Books
	bank   *bank
	member organizers.Member
}

// half is the terms of the code HALF.
var half = pricing.Code{Discount: pricing.Discount{Percent: 50_00}, Most: 10}

func openHouse(t testing.TB) *house {
	t.Helper()
	h := &house{db: seatstest.DB(t), bank: &bank{stands: map[seats.ID]*payments.Standing{}, keys: map[string]bool{}}}
	p, _ := plan.Named("theatre")
	list := seats.Prices{Types: []seats.TicketType{{Key: "standard", Name: "Standard", SoldTo: seats.SoldToEveryone}, {Key: "youth", Name: "Youth", SoldTo: seats.SoldToEveryone, Position: 1}}}
	for i, c := range p.Categories {
		list.Amounts = append(list.Amounts, seats.Amount{Category: i, Amount: c.Price}, seats.Amount{Type: 1, Category: i, Amount: c.Price*2/3 + 1})
	}
	policy := seats.DefaultPolicy
	policy.Exchanging, policy.ExchangeUntil, policy.ExchangeFee, policy.CancelFee = true, 24*time.Hour, 200, 333
	rules := seats.PriceRules{Tax: seats.Tax{Rate: 7000, FeeRate: 19000, Types: []seats.TypeRate{{Type: 1, Rate: 10000}}, ByTotal: true}, Extras: seats.Extras{Donations: []int64{500, 1000}, Postage: 390, PostageRate: 19000}}
	for i, slug := range []string{"evening", "evening-2"} {
		e := events.Settings{Name: "Evening", Slug: slug, StartsAt: time.Date(2030, 5, 1+i, 19, 0, 0, 0, time.UTC), TimeZone: "Europe/Berlin", SeatsPerHolder: 50, Invoices: true, Fees: seats.Fees{Ticket: 150, Percent: 333}, Policy: &policy, Prices: &list, Rules: &rules}
		if _, err := events.Create(t.Context(), h.db, e, p); err != nil {
			t.Fatal(err)
		}
	}
	h.office = seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	h.orders = orders.New(h.db)
	h.orders.Open(h.office, "http://localhost")
	h.orders.Payments.Accept(payments.Card, seatstest.Watched(t, h.db, h.bank))
	ledger := credit.New(h.db)
	h.orders.Payments.Accept(payments.Credit, seatstest.Watched(t, h.db, credit.Payments{Ledger: ledger}))
	if err := ledger.Grant(t.Context(), "gift", "ann@example.org", credit.Amount{Minor: 2000, Currency: "EUR"}, seats.ID{}); err != nil {
		t.Fatal(err)
	}
	seatstest.Run(t, h.db, h.orders.Jobs()...)
	h.exec(t, `INSERT INTO series (team_id, slug, lead_id) SELECT team_id, 'run', id FROM event WHERE slug = 'evening'`)
	for _, slug := range []string{"evening", "evening-2"} {
		if _, err := h.office.ChangeEvent(t.Context(), slug, nil, func(tx pgx.Tx, e seats.Event) (bool, error) {
			return true, events.Join(t.Context(), tx, e.ID, 1)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		return pricing.CreateCodes(t.Context(), tx, h.sale(t, "evening").Event.ID, half, []string{"HALF"})
	}); err != nil {
		t.Fatal(err)
	}
	h.member = organizers.Member{Team: h.sale(t, "evening").Event.Team, Role: organizers.Owner}
	h.books = books.New(h.db, organizers.New(h.db, func() {}))
	return h
}

func (h *house) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *house) number(t testing.TB, sql string, args ...any) (n int64) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (h *house) sale(t testing.TB, slug string) *seats.Sale {
	t.Helper()
	s, err := h.office.Sale(t.Context(), slug)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// form has a new visitor hold seats of a category, the first of them as a youth, and fills in the form to order them.
func (h *house) form(t testing.TB, who seats.ID, category string, n int, method string) orders.Form {
	t.Helper()
	hold, err := h.sale(t, "evening").Claim(t.Context(), who, "", seats.ClaimRequest{Best: n, Category: category})
	if err != nil {
		t.Fatal(err)
	}
	email := who.String() + "@example.org"
	return orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Verified: email, Method: method}
}

// pays orders and waits until it is paid.
func (h *house) pays(t testing.TB, who seats.ID, f orders.Form) orders.Order {
	t.Helper()
	p, err := h.orders.Pay(t.Context(), h.sale(t, "evening"), who, f)
	if err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	return h.find(t, p.Code)
}

// places orders what is paid later.
func (h *house) places(t testing.TB, who seats.ID, f orders.Form) orders.Order {
	t.Helper()
	code, err := h.orders.Place(t.Context(), h.sale(t, "evening"), who, f)
	if err != nil {
		t.Fatal(err)
	}
	return h.find(t, code)
}

func (h *house) find(t testing.TB, code string) orders.Order {
	t.Helper()
	o, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// settle waits until no money is on its way.
func (h *house) settle(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); h.number(t, `SELECT count(*) FROM intention WHERE done_at IS NULL`) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("money is still on its way")
		}
	}
}

// wantPromises holds every promise against the database.
func (h *house) wantPromises(t testing.TB) {
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

func (h *house) report(t testing.TB, f books.Filter, by string) books.Report {
	t.Helper()
	list, err := h.books.Report(t.Context(), h.member, f, by)
	if err != nil || len(list) != 1 {
		t.Fatalf("the reports by %s are %+v, %v", by, list, err)
	}
	return list[0]
}

// openMixed is a house with an evening of everything: cards, a part by credit, a code, two types, a donation and postage, tickets cancelled and a part
// given back, an exchange, orders by bank transfer that are paid in part, in full and not at all, and sales of the box office.
func openMixed(t testing.TB) *house {
	t.Helper()
	h := openHouse(t)
	who := seats.NewID()
	paid := h.form(t, who, "A", 3, payments.Card)
	paid.Donation = 500
	order := h.pays(t, who, paid)
	if err := h.orders.Cancel(t.Context(), h.sale(t, "evening"), order, "c1", order.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	order = h.find(t, order.Code)
	if err := h.orders.Refund(t.Context(), order, "r1", 777, "Loud neighbours"); err != nil {
		t.Fatal(err)
	}
	who = seats.NewID()
	partly := h.form(t, who, "B", 2, payments.Card)
	partly.Account, partly.Credit = "ann@example.org", 1500
	gifted := h.pays(t, who, partly)
	if err := h.orders.Revoke(t.Context(), h.sale(t, "evening"), gifted, false, gifted.Tickets[1].ID); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	who = seats.NewID()
	coded := h.form(t, who, "A", 2, payments.Card)
	coded.Code = "HALF"
	h.pays(t, who, coded)
	who = seats.NewID()
	moves := h.pays(t, who, h.form(t, who, "A", 3, payments.Card))
	hold, err := h.sale(t, "evening-2").Claim(t.Context(), who, "", seats.ClaimRequest{Best: 2, Category: "B"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.orders.Exchange(t.Context(), h.sale(t, "evening-2"), who, moves, orders.ExchangeForm{Hold: hold.ID, Seats: hold.Seats, Tickets: []seats.ID{moves.Tickets[0].ID, moves.Tickets[1].ID}, Method: payments.Card}); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	who = seats.NewID()
	transferred := h.places(t, who, h.form(t, who, "A", 2, payments.Invoice))
	for _, amount := range []int64{1000, transferred.Total - 1000 + 55} {
		if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
			_, err := h.orders.Receive(t.Context(), tx, transferred.Code, orders.Receipt{Amount: amount})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	who = seats.NewID()
	half := h.places(t, who, h.form(t, who, "B", 3, payments.Invoice))
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		_, err := h.orders.Receive(t.Context(), tx, half.Code, orders.Receipt{Amount: half.Total / 2})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	who = seats.NewID()
	h.places(t, who, h.form(t, who, "B", 1, payments.Invoice))
	for i, method := range []string{payments.Cash, payments.Terminal, payments.Free} {
		s := h.sale(t, "evening")
		idx := len(s.Plan.Seats) - 1 - i
		if _, err := h.orders.SellAtOffice(t.Context(), s, orders.OfficeForm{Key: method, Seats: []int{idx}, Method: method, Types: map[int]string{idx: "youth"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	h.atReader(t, "evening")
	h.settle(t)
	return h
}

// atReader sells two seats of an event at the card reader of a till.
func (h *house) atReader(t testing.TB, slug string) {
	t.Helper()
	var session int64
	if err := h.db.QueryRow(t.Context(), `INSERT INTO till_session (team_id, organizer_id, who, currency, zone, opening) VALUES (first_team(), 1, 'Ann', 'EUR', 'UTC', 0) RETURNING id`).Scan(&session); err != nil {
		t.Fatal(err)
	}
	h.orders.AtTill = till.QueueCardSale
	s := h.sale(t, slug)
	last := len(s.Plan.Seats) - 1
	if _, err := h.orders.PayAtOffice(t.Context(), "reader", []orders.OfficePart{{Sale: s, Form: orders.OfficeForm{Seats: []int{last - 8, last - 9}}}}, payments.AtTill{Reader: "tmr_1", Label: "Front desk", Session: session}, nil); err != nil {
		t.Fatal(err)
	}
}

// asValidation reports whether an error says that something is not valid.
func asValidation(err error, wrong **seats.ValidationError) bool { return errors.As(err, wrong) }
