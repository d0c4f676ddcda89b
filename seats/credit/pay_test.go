package credit_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// shop is a theatre that sells for credit.
type shop struct {
	*fixture
	sale   *seats.Sale
	orders *orders.Orders
}

func openShop(t testing.TB) *shop {
	t.Helper()
	h := &shop{fixture: open(t)}
	theatre, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0), PaidAhead: true, SeatsPerHolder: 100}, theatre); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	office := seats.NewInventory(h.db, log)
	h.orders = orders.New(h.db)
	h.orders.Open(office, "http://localhost")
	h.orders.Payments.Accept(payments.Credit, seatstest.Watched(t, h.db, credit.Payments{Ledger: h.Ledger}))
	ctx, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = office.Run(ctx) })
	loops.Go(func() { _ = jobs.NewRunner(h.db, log, h.orders.Jobs()...).Run(ctx) })
	t.Cleanup(func() { stop(); loops.Wait() })
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	return h
}

// claims holds the best seats and fills in the form to pay them with the credit of an address.
func (h *shop) claims(t testing.TB, who seats.ID, n int, account string) orders.Form {
	t.Helper()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: n, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	return orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: "ann.at.work@example.org", Method: payments.Credit, Account: account}
}

func (h *shop) pays(t testing.TB, who seats.ID, f orders.Form) payments.Payment {
	t.Helper()
	p, err := h.orders.Pay(t.Context(), h.sale, who, f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (h *shop) wantEverything(t testing.TB) {
	t.Helper()
	h.wantBooks(t)
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

func TestAnOrderIsPaidWithCreditAndItsRefundIsCreditAgain(t *testing.T) {
	t.Parallel()
	h, who := openShop(t), seats.NewID()
	f := h.claims(t, who, 2, ann)
	total := pricing.Of(h.sale, f.Seats).Total
	h.load(t, ann, euros(total+500))
	p := h.pays(t, who, f)
	order, err := h.orders.Find(t.Context(), p.Code)
	if err != nil || order.Paid != total || order.Method != payments.Credit || len(order.Tickets) != 2 || order.Due() != 0 {
		t.Fatalf("the order is %+v, %v", order, err)
	}
	h.has(t, ann, "EUR", 500)
	if err := h.orders.Refund(t.Context(), order, "k", total/2, "one of two"); err != nil {
		t.Fatal(err)
	}
	h.eventually(t, `SELECT count(*) FROM credit_transfer WHERE kind = 'refund'`, 1)
	h.has(t, ann, "EUR", 500+total/2)
	list, err := h.Statements(t.Context(), ann)
	if err != nil || len(list) != 1 || len(list[0].Lines) != 3 || list[0].Lines[0].Order != p.Code || list[0].Lines[1].Kind != "paid" || list[0].Lines[1].Event != "Evening" {
		t.Errorf("the statement is %+v, %v", list, err)
	}
	var sum int64
	for _, line := range list[0].Lines {
		sum += line.Amount
	}
	if sum != list[0].Balance {
		t.Errorf("the lines sum to %d, the balance is %d", sum, list[0].Balance)
	}
	h.wantEverything(t)
}

// eventually waits until a question has an answer.
func (h *shop) eventually(t testing.TB, sql string, want int64) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); h.number(t, sql) != want; <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: got %d, want %d", sql, h.number(t, sql), want)
		}
	}
}

func TestTooLittleCreditSellsNothingAndTheSeatsStayHeld(t *testing.T) {
	t.Parallel()
	h, who := openShop(t), seats.NewID()
	f := h.claims(t, who, 2, ann)
	h.load(t, ann, euros(pricing.Of(h.sale, f.Seats).Total-1))
	for _, account := range []string{ann, bob} { // bob never had credit
		f.Account = account
		if p := h.pays(t, who, f); !p.Over() || p.Reason == "" {
			t.Errorf("%s: the payment is %+v", account, p)
		}
	}
	hold, err := h.sale.Hold(t.Context(), who)
	if err != nil || len(hold.Seats) != 2 {
		t.Errorf("held are %v, %v", hold.Seats, err)
	}
	h.load(t, ann, euros(1))
	f.Account = ann
	if p := h.pays(t, who, f); !p.Done() {
		t.Errorf("with enough the payment is %+v", p)
	}
	h.has(t, ann, "EUR", 0)
	h.wantEverything(t)
}

func TestTwoTabsAndADoubleClickPayOnce(t *testing.T) {
	t.Parallel()
	h, who := openShop(t), seats.NewID()
	f := h.claims(t, who, 1, ann)
	total := pricing.Of(h.sale, f.Seats).Total
	h.load(t, ann, euros(10*total))
	var tabs sync.WaitGroup
	for range 20 {
		tabs.Go(func() {
			if _, err := h.orders.Pay(t.Context(), h.sale, who, f); err != nil {
				t.Error(err)
			}
		})
	}
	tabs.Wait()
	h.eventually(t, `SELECT count(*) FROM payment WHERE state = 'captured'`, 1)
	h.has(t, ann, "EUR", 9*total)
	if n := h.number(t, `SELECT count(*) FROM orders`); n != 1 {
		t.Errorf("there are %d orders", n)
	}
	h.wantEverything(t)
}

func TestCreditForOneOrderPaysOneOfManyAtOnce(t *testing.T) {
	t.Parallel()
	h := openShop(t)
	people := make([]seats.ID, 12)
	forms := make([]orders.Form, len(people))
	for i := range people {
		people[i] = seats.NewID()
		forms[i] = h.claims(t, people[i], 1, ann)
	}
	h.load(t, ann, euros(pricing.Of(h.sale, forms[0].Seats).Total))
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			if _, err := h.orders.Pay(t.Context(), h.sale, people[i], forms[i]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.eventually(t, `SELECT count(*) FROM payment WHERE state IN ('captured', 'closed')`, int64(len(people)))
	if n := h.number(t, `SELECT count(*) FROM orders`); n != 1 {
		t.Errorf("credit for one order paid %d", n)
	}
	h.has(t, ann, "EUR", 0)
	h.wantEverything(t)
}

func TestSeatsThatAreLostGiveTheCreditBack(t *testing.T) {
	t.Parallel()
	h, who := openShop(t), seats.NewID()
	f := h.claims(t, who, 1, ann)
	total := pricing.Of(h.sale, f.Seats).Total
	h.load(t, ann, euros(total))
	h.orders.Payments.Accept(payments.Credit, late{credit.Payments{Ledger: h.Ledger}, func() {
		h.exec(t, `UPDATE seat_state SET expires_at = now() - interval '1 second' WHERE state = 3`)
		if _, err := h.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(f.Seats[0])}}); err != nil {
			t.Error(err)
		}
	}})
	if p := h.pays(t, who, f); !p.Over() {
		t.Errorf("the payment is %+v", p)
	}
	h.has(t, ann, "EUR", total)
	if n := h.number(t, `SELECT count(*) FROM credit_hold WHERE state = 'voided'`); n != 1 {
		t.Error("the credit's hold was not voided")
	}
	h.wantBooks(t)
}

// late lets something happen between the credit's hold and the sale.
type late struct {
	credit.Payments
	meanwhile func()
}

func (l late) Authorize(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	s, err := l.Payments.Authorize(ctx, c)
	l.meanwhile()
	return s, err
}

func TestSpend_LatePaymentOfAnOrderKeepsItsCredit(t *testing.T) {
	t.Parallel()
	h, who := openShop(t), seats.NewID()
	f := h.claims(t, who, 1, ann)
	h.load(t, ann, euros(pricing.Of(h.sale, f.Seats).Total))
	p := h.pays(t, who, f)
	open := holdRequest(ann, euros(100))
	h.load(t, ann, euros(100))
	open.ID, open.Length = seats.NewID(), -time.Minute
	if err := h.Hold(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, state)
		SELECT $1, event_id, gen_random_uuid(), 'other', holder, gen_random_uuid(), form, method, currency, 100, 'sold' FROM payment WHERE id = $2`, open.ID, p.ID)
	if n := seatstest.Do(t.Context(), t, h.db, h.Jobs()...); n != 0 {
		t.Errorf("%d ended", n)
	}
	h.exec(t, `UPDATE payment SET state = 'closed' WHERE id = $1`, open.ID)
	if n := seatstest.Do(t.Context(), t, h.db, h.Jobs()...); n != 1 {
		t.Errorf("%d ended", n)
	}
}
