package till_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/seats/verify"
)

const goodCard = "4242424242424242"

// counter is a till with a card reader at a stand-in for Stripe. No background work runs until it is told to.
type counter struct {
	*fixture
	bank    *stripetest.Fake
	reader  string
	session till.Session
}

func openCounter(t *testing.T) *counter {
	t.Helper()
	h := &counter{fixture: open(t), bank: stripetest.New(t)}
	h.reader = h.bank.AddReader("Front desk")
	h.accept(t, h.orders)
	h.session = h.opened(t, h.dora)
	if err := till.UseReader(t.Context(), h.desk, h.dora, h.session.ID, h.reader, "Front desk", nil); err != nil {
		t.Fatal(err)
	}
	s, err := till.ReaderOf(t.Context(), h.desk, h.dora, h.session.Currency)
	if err != nil || s.Reader != h.reader || s.ID != h.session.ID {
		t.Fatalf("the session is %+v, %v", s, err)
	}
	return h
}

func (h *counter) accept(t *testing.T, o *orders.Orders) {
	t.Helper()
	o.AtTill = till.QueueCardSale
	o.Payments.Accept(payments.Card, seatstest.Watched(t, h.db, stripe.New("sk_test_1", stripetest.Secret, h.bank.URL)))
}

// anotherNode is one that does the background work.
func (h *counter) anotherNode(t *testing.T) *orders.Orders {
	t.Helper()
	office := seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	o := orders.New(h.db)
	o.Open(office, "http://localhost")
	h.accept(t, o)
	seatstest.Run(t, h.db, o.Jobs()...)
	return o
}

func (h *counter) at() payments.AtTill {
	return payments.AtTill{Reader: h.reader, Label: "Front desk", Session: h.session.ID}
}

// begins begins a sale of seats at the reader.
func (h *counter) begins(t *testing.T, key string, idxs ...int) payments.Payment {
	t.Helper()
	code, err := h.orders.PayAtOffice(t.Context(), key, []orders.OfficePart{{Sale: h.sale, Form: orders.OfficeForm{Seats: idxs}}}, h.at(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.payment(t, code)
}

func (h *counter) payment(t *testing.T, code string) payments.Payment {
	t.Helper()
	p, err := h.orders.Payments.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// asks asks the provider about a payment.
func (h *counter) asks(t *testing.T, p payments.Payment) payments.Payment {
	t.Helper()
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return h.payment(t, p.Code)
}

// until waits for the state of a payment.
func (h *counter) until(t *testing.T, code, state string) payments.Payment {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		p := h.payment(t, code)
		if p.State == state {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatalf("the payment is %+v, want it %s", p, state)
		}
		if err := seats.Sleep(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func (h *counter) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// due makes all that is due of payments due now.
func (h *counter) due(t *testing.T) {
	t.Helper()
	h.exec(t, `UPDATE intention SET next_try = now() WHERE done_at IS NULL`)
}

// wantBooks holds the books against all promises, and the stand-in's books against ours.
func (h *counter) wantBooks(t *testing.T) {
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
	for _, s := range h.bank.Sessions() {
		var paid, back int64 // without what a gift card paid
		err := h.db.QueryRow(t.Context(), `SELECT coalesce(sum(o.paid), 0)::bigint - coalesce((SELECT captured - refunded FROM credit_hold WHERE id = $1), 0),
			coalesce((SELECT sum(amount) FROM refund WHERE payment_id = $1 AND done_at IS NOT NULL), 0)::bigint - coalesce((SELECT refunded FROM credit_hold WHERE id = $1), 0)
			FROM orders o WHERE o.id IN (SELECT order_id FROM payment WHERE id = $1 UNION SELECT order_id FROM payment_share WHERE payment_id = $1)`, s.Payment).Scan(&paid, &back)
		if err != nil || s.Captured-s.Refunded != paid || s.Refunded != back || s.Captures > 1 {
			t.Errorf("the reader took %d in %d charges and gave back %d; the orders have %d, and refunds are %d, %v", s.Captured, s.Captures, s.Refunded, paid, back, err)
		}
		if s.Captured == 0 && s.Intent != "canceled" {
			t.Errorf("the intent is still %s", s.Intent)
		}
	}
}

// taken reports whether a visitor may not claim a seat.
func (h *counter) taken(t *testing.T, idx int) bool {
	t.Helper()
	who := seats.NewID()
	_, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(idx)}})
	if err == nil {
		if _, err := h.sale.Release(t.Context(), who); err != nil {
			t.Fatal(err)
		}
		return false
	}
	wantCode(t, err, seats.CodeTaken)
	return true
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *seats.Conflict
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got %v, want a refusal %q", err, code)
	}
}

func TestReader_SellsOnceItsCardIsCharged(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	p := h.begins(t, "a", 0, 1)
	if again := h.begins(t, "a", 0, 1); again.Code != p.Code || p.State != "open" || p.Amount == 0 || h.bank.Shows(h.reader) != p.Amount {
		t.Fatalf("the payment is %+v, its repeat %s, and the reader shows %d", p, again.Code, h.bank.Shows(h.reader))
	}
	if !h.taken(t, 0) {
		t.Error("a visitor got a seat while the reader waits")
	}
	_, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "b", Seats: []int{1}, Method: payments.Cash}, nil)
	wantCode(t, err, seats.CodeTaken)
	if p = h.asks(t, p); p.State != "open" {
		t.Fatalf("without a card the payment is %+v", p)
	}
	h.bank.Presents(h.reader, goodCard)
	if p = h.asks(t, p); p.State != "captured" {
		t.Fatalf("after the card the payment is %+v", p)
	}
	o, err := h.orders.Find(t.Context(), p.Code)
	if err != nil || o.Paid != p.Amount || o.Total != p.Amount || !o.AtOffice || o.Method != payments.Card || len(o.Tickets) != 2 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	closed := h.close(t, h.dora, h.session.ID, 200_00)
	if len(closed.Lines) != 1 || closed.Lines[0] != (till.Line{Kind: till.Sale, Method: payments.Card, Count: 1, Tickets: 2, Amount: p.Amount}) || closed.Expected != 200_00 || closed.Taken != p.Amount {
		t.Errorf("the report is %+v", closed)
	}
	if next := h.opened(t, h.dora); next.Reader != h.reader {
		t.Errorf("the next session has the reader %q", next.Reader)
	}
	h.wantBooks(t)
}

func TestReader_FailureFreesTheSeatsAndSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after func(h *counter)
		reason        string
	}{
		"declined":     {after: func(h *counter) { h.bank.Presents(h.reader, stripetest.Declined) }, reason: "The card reader did not take the payment: the bank declined the card. Nothing was charged."},
		"offline":      {before: func(h *counter) { h.bank.Unplugs(h.reader) }, reason: "The card reader did not take the payment: the card reader is offline. Nothing was charged."},
		"unknown":      {before: func(h *counter) { h.reader = "tmr_none" }, reason: "The card reader did not take the payment: there is no such card reader any more. Nothing was charged."},
		"customer":     {after: func(h *counter) { h.bank.Leaves(h.reader) }, reason: "The card reader did not take the payment: the customer cancelled it at the card reader. Nothing was charged."},
		"another till": {after: func(h *counter) { h.bank.Resets(h.reader) }, reason: "The card reader did not take the payment: it was ended at the card reader. Nothing was charged."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openCounter(t)
			if c.before != nil {
				c.before(h)
			}
			p := h.begins(t, "a", 0, 1)
			if c.after != nil {
				c.after(h)
				p = h.asks(t, p)
			}
			if p.State != "closed" || p.Reason != c.reason {
				t.Errorf("the payment is %+v", p)
			}
			if h.taken(t, 0) || h.taken(t, 1) {
				t.Error("a seat is still kept")
			}
			h.wantBooks(t)
		})
	}
}

func TestReader_CancelFreesTheSeats(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	p := h.begins(t, "a", 0, 1)
	p, err := h.orders.Payments.Stop(t.Context(), p.Code)
	if err != nil || p.State != "closed" || h.bank.Shows(h.reader) != 0 {
		t.Errorf("the payment is %+v, %v, and the reader shows %d", p, err, h.bank.Shows(h.reader))
	}
	if h.taken(t, 0) {
		t.Error("a seat is still kept")
	}
	p = h.begins(t, "b", 0, 1)
	h.bank.Presents(h.reader, goodCard)
	if p = h.asks(t, p); p.State != "captured" {
		t.Errorf("another try: the payment is %+v", p)
	}
	h.wantBooks(t)
}

// The provider did not answer when the sale began.
func TestReader_CancelBeforeItWasReachedShowsNothingThere(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	h.bank.Down(true)
	p := h.begins(t, "a", 0, 1)
	p, err := h.orders.Payments.Stop(t.Context(), p.Code)
	if err != nil || p.State != "lost" || p.Reference != "" {
		t.Fatalf("the payment is %+v, %v", p, err)
	}
	h.bank.Down(false)
	if p = h.asks(t, p); p.State != "closed" || h.bank.Lit(h.reader) != 0 {
		t.Errorf("the payment is %+v, and the reader showed it %d times", p, h.bank.Lit(h.reader))
	}
	h.wantBooks(t)
}

// Stripe repeats an error of its own for the key of a call for a day; the reader may show the payment or not.
func TestReader_UnclearAnswerEndsInASaleOrInNothing(t *testing.T) {
	t.Parallel()
	for _, shown := range []bool{false, true} {
		h := openCounter(t)
		h.bank.Breaks("/process_payment_intent", shown)
		p := h.begins(t, "a", 0, 1)
		if p.State != "open" || p.Reference == "" {
			t.Fatalf("shown %t: the payment is %+v", shown, p)
		}
		want := "closed"
		if shown {
			want = "captured"
			h.bank.Presents(h.reader, goodCard)
		}
		if p = h.asks(t, p); p.State != want {
			t.Errorf("shown %t: the payment is %+v", shown, p)
		}
		h.wantBooks(t)
	}
}

// The card is in the reader when the sale is cancelled: the reader does not stop, and takes the money.
func TestReader_CardReadWhileTheSaleIsCancelledGetsItsMoneyBack(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	p := h.begins(t, "a", 0, 1)
	h.bank.Inserts(h.reader)
	p, err := h.orders.Payments.Stop(t.Context(), p.Code)
	if err != nil || p.State != "lost" {
		t.Fatalf("the payment is %+v, %v", p, err)
	}
	h.bank.Presents(h.reader, goodCard)
	o := h.anotherNode(t)
	h.due(t)
	o.Payments.Wake()
	if p = h.until(t, p.Code, "closed"); p.Captured == 0 || !strings.Contains(p.Reason, "goes back") {
		t.Errorf("the payment is %+v", p)
	}
	h.wantBooks(t)
}

// The node dies after the reader took the money, and nothing is heard of it: another node asks.
func TestReader_MoneyTakenBeforeACrashBecomesTheOrder(t *testing.T) {
	t.Parallel()
	for _, news := range []bool{false, true} {
		h := openCounter(t)
		p := h.begins(t, "a", 0, 1)
		h.bank.Presents(h.reader, goodCard)
		o := h.anotherNode(t)
		if news {
			body := h.bank.ReaderEvent(h.reader, "terminal.reader.action_succeeded")
			e, err := stripe.New("sk_test_1", stripetest.Secret, h.bank.URL).ReadWebhook(t.Context(), body, stripetest.Sign(body, stripetest.Secret, time.Now()))
			if err != nil || e.Payment != p.ID {
				t.Fatalf("the webhook is %+v, %v", e, err)
			}
			if err := o.Payments.Record(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		} else {
			h.due(t)
			o.Payments.Wake()
		}
		h.until(t, p.Code, "captured")
		h.wantBooks(t)
	}
}

// Time is over, and the seats were sold to others: late money goes back.
func TestReader_LateMoneyGetsTheSeatsIfTheyAreAvailable(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		h := openCounter(t)
		p := h.begins(t, "a", 0, 1)
		h.bank.Inserts(h.reader)
		h.exec(t, `UPDATE payment SET created_at = created_at - interval '6 minutes'`)
		if p = h.asks(t, p); p.State != "lost" || !strings.HasPrefix(p.Reason, "No card was read in time") {
			t.Fatalf("the payment is %+v", p)
		}
		if taken {
			h.sold(t, h.session.ID, "", "", 1)
		}
		h.bank.Presents(h.reader, goodCard)
		o := h.anotherNode(t)
		h.due(t)
		o.Payments.Wake()
		if taken {
			p = h.until(t, p.Code, "closed")
		} else {
			p = h.until(t, p.Code, "captured")
		}
		if p.Captured == 0 {
			t.Errorf("taken %t: the payment is %+v", taken, p)
		}
		h.wantBooks(t)
	}
}

// Time is over, the seller cancels, and a card is charged after that.
func TestReader_CancelAfterItsTimeSellsNothing(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	p := h.begins(t, "a", 0, 1)
	h.bank.Inserts(h.reader)
	h.exec(t, `UPDATE payment SET created_at = created_at - interval '6 minutes'`)
	if p = h.asks(t, p); p.State != "lost" {
		t.Fatalf("the payment is %+v", p)
	}
	for range 2 {
		var err error
		if p, err = h.orders.Payments.Stop(t.Context(), p.Code); err != nil || p.State != "lost" || !strings.HasPrefix(p.Reason, "You stopped the payment") {
			t.Fatalf("cancelled, the payment is %+v, %v", p, err)
		}
	}
	h.bank.Presents(h.reader, goodCard)
	o := h.anotherNode(t)
	h.due(t)
	o.Payments.Wake()
	if p = h.until(t, p.Code, "closed"); p.Captured == 0 || h.taken(t, 0) {
		t.Errorf("the payment is %+v", p)
	}
	h.wantBooks(t)
}

// The provider is down, and no node gives its seats to anyone else meanwhile.
func TestReader_SeatsAreReleasedThoughTheProviderIsDown(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	if _, err := h.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{0}, BlockTerms: seats.BlockTerms{Kind: seats.BlockHouse}}); err != nil {
		t.Fatal(err)
	}
	p := h.begins(t, "a", 0, 1)
	h.bank.Down(true)
	h.exec(t, `UPDATE payment SET created_at = created_at - interval '6 minutes'`)
	if p = h.asks(t, p); p.State != "lost" {
		t.Errorf("the payment is %+v", p)
	}
	if states := h.sale.Snapshot().States; states[0] != seats.Blocked || states[1] != seats.Free {
		t.Errorf("the seats are %v", states[:2])
	}
	h.bank.Down(false)
	if p = h.asks(t, p); p.State != "closed" || h.bank.Shows(h.reader) != 0 {
		t.Errorf("the payment is %+v", p)
	}
	h.wantBooks(t)
}

// A node gives a payment up, and dies before its seats are free. They may have expired since.
func TestReader_SeatsOfABlockGoBackThoughANodeDies(t *testing.T) {
	t.Parallel()
	for _, expired := range []bool{false, true} {
		h := openCounter(t)
		if _, err := h.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{0, 1}, BlockTerms: seats.BlockTerms{Kind: seats.BlockHouse}}); err != nil {
			t.Fatal(err)
		}
		p := h.begins(t, "a", 0, 1)
		if expired {
			h.exec(t, `WITH h AS (UPDATE hold SET expires_at = clock_timestamp() WHERE holder = $1 RETURNING holder, expires_at)
				UPDATE seat_state s SET expires_at = h.expires_at FROM h WHERE s.holder = h.holder`, p.ID)
		}
		h.exec(t, `UPDATE payment SET state = 'lost', reason = 'No card was read in time. Nothing was charged.'`)
		h.exec(t, `UPDATE intention SET step = 'void'`)
		h.bank.Down(true) // the seats do not wait for the provider
		if p = h.asks(t, p); p.State != "lost" {
			t.Errorf("the payment is %+v", p)
		}
		if states := h.sale.Snapshot().States; states[0] != seats.Blocked || states[1] != seats.Blocked {
			t.Errorf("expired %t: the seats are %v", expired, states[:2])
		}
	}
}

func TestReader_TakesOnePaymentAtATime(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	const tills = 4
	var all sync.WaitGroup
	var mu sync.Mutex
	begun, busy := 0, 0
	for i := range tills {
		all.Go(func() {
			_, err := h.orders.PayAtOffice(t.Context(), seats.NewID().String(), []orders.OfficePart{{Sale: h.sale, Form: orders.OfficeForm{Seats: []int{i}}}}, h.at(), nil)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				begun++
				return
			}
			busy++
			wantCode(t, err, orders.CodeReader)
		})
	}
	all.Wait()
	free := 0
	for i := range tills {
		if !h.taken(t, i) {
			free++
		}
	}
	if begun != 1 || busy != tills-1 || free != tills-1 {
		t.Errorf("%d payments began, %d tills heard that it is busy, and %d seats are free", begun, busy, free)
	}
}

// Seats of a block may be sold; those that are not go back to it.
func TestReader_SeatsOfABlockGoBackToIt(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	if _, err := h.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{0, 1}, BlockTerms: seats.BlockTerms{Kind: seats.BlockHouse}}); err != nil {
		t.Fatal(err)
	}
	p := h.begins(t, "a", 0, 1, 2)
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	if states := h.sale.Snapshot().States; states[0] != seats.Blocked || states[1] != seats.Blocked || states[2] != seats.Free {
		t.Errorf("the seats are %v", states[:3])
	}
	p = h.begins(t, "b", 0)
	h.bank.Presents(h.reader, goodCard)
	if p = h.asks(t, p); p.State != "captured" {
		t.Errorf("the payment is %+v", p)
	}
	h.wantBooks(t)
}

func TestReader_RefundGoesBackToTheCard(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	p := h.begins(t, "a", 0, 1)
	h.bank.Presents(h.reader, goodCard)
	h.asks(t, p)
	h.anotherNode(t)
	o, err := h.orders.Find(t.Context(), p.Code)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Cancel(t.Context(), h.sale, o, "c", o.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); h.bank.Sessions()[0].Refunded != o.Tickets[0].Cost(); {
		if time.Now().After(deadline) {
			t.Fatalf("the card got %d back", h.bank.Sessions()[0].Refunded)
		}
		if err := seats.Sleep(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if o, err = h.orders.Find(t.Context(), p.Code); err != nil || o.ByHand != 0 {
		t.Errorf("%d are to be paid out by hand, %v", o.ByHand, err)
	}
	h.wantBooks(t)
}

// A card is charged while the sale is cancelled and asked about: it is either sold or paid back, and never both.
func TestReader_CancelAndCardAtOnceEndInOneOfBoth(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	h.anotherNode(t)
	for round := range 8 {
		p := h.begins(t, seats.NewID().String(), 2*round, 2*round+1)
		var all sync.WaitGroup
		all.Go(func() { h.bank.Presents(h.reader, goodCard) })
		for range 2 {
			all.Go(func() {
				if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		for deadline := time.Now().Add(time.Minute); ; {
			h.due(t)
			h.asks(t, p)
			var under int
			if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM intention WHERE done_at IS NULL`).Scan(&under); err != nil {
				t.Fatal(err)
			}
			if p = h.payment(t, p.Code); under == 0 && (p.State == "captured" || p.State == "closed") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("round %d: the payment is %+v, and %d attempts are open", round, p, under)
			}
		}
	}
	h.wantBooks(t)
}

func TestReader_TillIsNotClosedWhileAPaymentIsThere(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	p := h.begins(t, "a", 0)
	closing := func(key string) error {
		return till.Close(t.Context(), h.desk, h.dora, key, h.session.ID, till.Closing{Counted: 200_00})
	}
	wantCode(t, closing("a"), till.CodeReader)
	h.exec(t, `UPDATE payment SET state = 'authorized'`)
	wantCode(t, closing("b"), till.CodeReader)
	h.exec(t, `UPDATE payment SET state = 'open'`)
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	if err := closing("c"); err != nil {
		t.Fatal(err)
	}
	err := till.Begin(h.session.ID, func(open seats.TxHook) error {
		_, err := h.orders.PayAtOffice(t.Context(), "b", []orders.OfficePart{{Sale: h.sale, Form: orders.OfficeForm{Seats: []int{1}}}}, h.at(), open)
		return err
	})
	wantCode(t, err, till.CodeClosed)
	if h.taken(t, 1) || h.bank.Lit(h.reader) != 1 {
		t.Error("a payment began in a closed till")
	}
}

// A session was closed in spite of a payment: its sale is an entry of the next one, which has the reader.
func TestReader_NextSessionHasTheReaderToo(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	h.exec(t, `UPDATE till_session SET number = 1, closed_at = clock_timestamp(), day = now()::date, counted = 0, expected = 0, taken = 0`)
	h.exec(t, `SELECT till_session_for($1)`, h.session.ID)
	if s, err := till.ReaderOf(t.Context(), h.desk, h.dora, h.session.Currency); err != nil || s.ID == h.session.ID || s.Reader != h.reader || s.ReaderLabel != "Front desk" {
		t.Errorf("the session is %+v, %v", s, err)
	}
}

// The form of a sale comes again, and nothing is known of the first one.
func TestReader_RepeatWithoutAReaderBeginsNothing(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	sells := func(key string) (string, error) {
		return h.orders.PayAtOffice(t.Context(), key, []orders.OfficePart{{Sale: h.sale, Form: orders.OfficeForm{Seats: []int{0}}}}, payments.AtTill{}, nil)
	}
	p := h.begins(t, "a", 0)
	if code, err := sells("a"); err != nil || code != p.Code {
		t.Errorf("the repeat has the code %q, %v", code, err)
	}
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	_, err := sells("b")
	wantCode(t, err, orders.CodeReader)
	if h.taken(t, 0) {
		t.Error("a payment without a reader keeps the seat")
	}
}

// A discount code for one order counts while the reader waits, and no more once the sale is cancelled.
func TestReader_CodeCountsOnce(t *testing.T) {
	t.Parallel()
	h := openCounter(t)
	err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		return pricing.CreateCodes(t.Context(), tx, h.sale.Event.ID, pricing.Code{Most: 1, Discount: pricing.Discount{Percent: pricing.WholePercent / 2}}, []string{"HALF"})
	})
	if err != nil {
		t.Fatal(err)
	}
	half := func(key string, idx int) (string, error) {
		return h.orders.PayAtOffice(t.Context(), key, []orders.OfficePart{{Sale: h.sale, Form: orders.OfficeForm{Seats: []int{idx}, Code: "half"}}}, h.at(), nil)
	}
	cancelled, err := half("a", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "b", Seats: []int{1}, Method: payments.Cash, Code: "HALF"}, nil); err == nil {
		t.Error("the code was good twice")
	} else {
		wantCode(t, err, seats.CodeUsed)
	}
	if _, err := h.orders.Payments.Stop(t.Context(), cancelled); err != nil {
		t.Fatal(err)
	}
	code, err := half("c", 0)
	if err != nil {
		t.Fatal(err)
	}
	h.bank.Presents(h.reader, goodCard)
	h.asks(t, h.payment(t, code))
	o, err := h.orders.Find(t.Context(), code)
	if err != nil || o.DiscountCode != "HALF" || o.Paid != o.Total || o.Total == 0 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	h.wantBooks(t)
}
