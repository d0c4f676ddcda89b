package payments_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

func TestAPaidOrderIsSoldThenCaptured(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 2))
	order, err := h.orders.Find(t.Context(), p.Code)
	if err != nil || p.State != "captured" || order.Paid != p.Amount || order.Due() != 0 || len(order.Tickets) != 2 || p.Amount == 0 {
		t.Errorf("the payment is %+v and the order %+v, %v", p, order, err)
	}
	h.wantMoney(t)
}

func TestMoneyTheAttendeeHasToConfirmComesByNews(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.next = payments.Pending
	who := seats.NewID()
	form := h.claims(t, who, 2)
	p := h.pays(t, who, form)
	if p.State != "open" || p.Page != "/bank" {
		t.Fatalf("the payment is %+v", p)
	}
	if again := h.pays(t, who, form); again.Code != p.Code {
		t.Errorf("the form again is payment %s, want %s", again.Code, p.Code)
	}
	form.Email = "eve@example.org"
	var refusal *seats.Conflict
	if _, err := h.orders.Pay(t.Context(), h.sale, who, form); !errors.As(err, &refusal) || refusal.Code != orders.CodeUnderWay {
		t.Errorf("other details got %v", err)
	}
	h.bank.moves(p.ID, payments.Authorized)
	for _, event := range []string{"b", "a", "a", "b", "a"} {
		h.webhook(t, p, event)
	}
	h.until(t, p.Code, "captured")
	h.webhook(t, p, "a")
	if n := h.count(t, "inbox"); n != 2 {
		t.Errorf("%d events are in the inbox, want 2", n)
	}
	h.wantMoney(t)
}

func TestFiftyPostsOfOneFormMakeOnePayment(t *testing.T) {
	t.Parallel()
	crowd := func(h *shop, stand payments.Stand) (charged int) {
		h.bank.next = stand
		who := seats.NewID()
		form := h.claims(t, who, 2)
		before := len(h.bank.stands)
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 50 {
			all.Go(func() {
				<-start
				if _, err := h.orders.Pay(t.Context(), h.sale, who, form); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		all.Wait()
		return len(h.bank.stands) - before
	}
	for _, stand := range []payments.Stand{payments.Authorized, payments.Pending} {
		if n := crowd(openShop(t, events.Settings{}), stand); n != 1 {
			t.Errorf("%d payments were begun while one is %s, want 1", n, stand)
		}
	}
	h := openShop(t, events.Settings{Extensions: 100, SeatsPerHolder: 500})
	h.exec(t, `DROP INDEX "one hold has one payment under way"`)
	for tries := 0; crowd(h, payments.Pending) < 2; tries++ { // it is a race, and often the first is fast enough
		if tries == 40 {
			t.Fatal("without the key one payment was begun each time: this test sees nothing")
		}
	}
}

func TestADeclinedPaymentChargesNothingAndKeepsTheSeats(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.next = payments.Declined
	who := seats.NewID()
	form := h.claims(t, who, 1)
	if p := h.pays(t, who, form); p.State != "closed" || !strings.Contains(p.Reason, "declined") {
		t.Errorf("the payment is %+v", p)
	}
	h.bank.next = payments.Authorized
	if p := h.pays(t, who, form); p.State != "captured" {
		t.Errorf("another card: the payment is %+v", p)
	}
	h.wantMoney(t)
}

// holdsExpire ends the time of everybody who pays.
func (h *shop) holdsExpire(t testing.TB) {
	h.exec(t, `WITH h AS (UPDATE hold SET expires_at = now() - interval '1 second')
		UPDATE seat_state SET expires_at = now() - interval '1 second' WHERE state IN (1, 3)`)
}

func TestPayment_LateMoneyBuysTheSeatsIfAvailable(t *testing.T) {
	t.Parallel()
	for _, stand := range []payments.Stand{payments.Authorized, payments.Captured} {
		for _, taken := range []bool{false, true} {
			h := openShop(t, events.Settings{})
			h.bank.next = payments.Pending
			who := seats.NewID()
			p := h.pays(t, who, h.claims(t, who, 2))
			h.holdsExpire(t)
			if taken {
				if _, err := h.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(p.Seats[0])}}); err != nil {
					t.Fatal(err)
				}
			}
			h.bank.moves(p.ID, stand)
			h.webhook(t, p, "late")
			if !taken {
				h.until(t, p.Code, "captured")
			} else if p = h.until(t, p.Code, "closed"); !strings.Contains(p.Reason, "taken by someone else") || stand == payments.Captured && p.Attention == "" {
				t.Errorf("money %s, seats taken %t: the reason is %q, the organizer reads %q", stand, taken, p.Reason, p.Attention)
			}
			h.wantMoney(t)
		}
	}
}

func TestMoneyThatComesAfterAPaymentWasGivenUpIsSoldOrGoesBack(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]bool{"stopped": true, "time over": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openShop(t, events.Settings{})
			h.bank.next = payments.Pending
			who := seats.NewID()
			p := h.pays(t, who, h.claims(t, who, 1))
			if stop {
				if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
					t.Fatal(err)
				}
				h.until(t, p.Code, "closed") // the office may be at it already
			} else {
				h.holdsExpire(t)
				h.exec(t, `UPDATE payment SET created_at = created_at - interval '2 hours'`)
				h.webhook(t, p, "nothing yet")
				h.until(t, p.Code, "closed")
			}
			h.bank.moves(p.ID, payments.Captured)
			h.webhook(t, p, "very late")
			if stop {
				h.untilRefunded(t, p)
			} else {
				h.until(t, p.Code, "captured")
			}
			h.wantMoney(t)
		})
	}
}

func (h *shop) untilRefunded(t testing.TB, p payments.Payment) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); h.count(t, `refund WHERE done_at IS NOT NULL`) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was refunded")
		}
	}
	h.until(t, p.Code, "closed")
}

func TestAmountsAndCurrencyAreCheckedOnBothSides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, says string
		wrong      int64
		foreign    string
		next       payments.Stand
	}{
		{"a cent less", "and the order is ", -1, "", payments.Authorized},
		{"a cent more", "and the order is ", 1, "", payments.Authorized},
		{"another currency", " JPY, and the order is ", 0, "JPY", payments.Authorized},
		{"another currency, taken at once", " JPY, and the order is ", 0, "JPY", payments.Captured},
	} {
		h := openShop(t, events.Settings{})
		h.bank.wrong, h.bank.foreign, h.bank.next = c.wrong, c.foreign, c.next
		who := seats.NewID()
		p := h.pays(t, who, h.claims(t, who, 1))
		if p = h.until(t, p.Code, "closed"); !strings.Contains(p.Attention, c.says) || h.count(t, "orders") != 0 {
			t.Errorf("%s: the payment is %+v", c.what, p)
		}
		h.wantMoney(t)
	}
}

// What was promised may be taken as something else: the order stands, and the organizer is told.
func TestMoneyThatIsTakenAsAnotherCurrencyIsTold(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.stuck = "capture"
	order := h.buys(t, 1)
	p := h.payment(t, order)
	h.bank.set(func(b *bank) { b.stuck, b.stands[p.ID].Currency = "", "JPY" })
	h.nudge(t, order)
	if p = h.until(t, p.Code, "captured"); !strings.Contains(p.Attention, "The provider took") || !strings.Contains(p.Attention, " JPY for an order of ") {
		t.Errorf("the payment is %+v", p)
	}
}

func TestAProviderThatIsDownIsAskedAgain(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.down = errDown
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	if p.State != "open" || h.count(t, `intention WHERE error LIKE '%does not answer%'`) != 1 {
		t.Errorf("the payment is %+v", p)
	}
	h.bank.set(func(b *bank) { b.down, b.lost = nil, errDown })
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.until(t, p.Code, "captured")
	if n := len(h.bank.stands); n != 1 {
		t.Errorf("the bank has %d payments, want 1", n)
	}
	h.wantMoney(t)
}

func TestInvoice_IsDueUntilMarkedPaid(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{Invoices: true})
	who := seats.NewID()
	form := h.claims(t, who, 2)
	form.Method = payments.Invoice
	code, err := h.orders.Place(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	order, err := h.orders.Find(t.Context(), code)
	if err != nil || order.State != orders.Confirmed || order.Due() == 0 {
		t.Fatal(order, err)
	}
	if amount, currency, err := h.orders.MarkPaid(t.Context(), code, nil); err != nil || amount != order.Total || currency != "EUR" {
		t.Errorf("%d %s were marked, %v; want %d", amount, currency, err, order.Total)
	}
	if _, _, err := h.orders.MarkPaid(t.Context(), code, nil); !errors.Is(err, orders.ErrNotDue) {
		t.Errorf("marked again: %v", err)
	}
	if _, _, err := h.orders.MarkPaid(t.Context(), "none", nil); !errors.Is(err, orders.ErrNoOrder) {
		t.Errorf("an order that is not there: %v", err)
	}
}

func TestAttention_ListsFailures(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	who := seats.NewID()
	h.bank.wrong = 1
	odd := h.pays(t, who, h.claims(t, who, 1))
	h.bank.set(func(b *bank) { b.wrong, b.down = 0, errDown })
	stuck := h.pays(t, who, h.claims(t, who, 1))
	if list, err := h.orders.Payments.Alerts(t.Context()); err != nil || len(list) != 1 || list[0].Code != odd.Code {
		t.Errorf("attention is asked for %+v, %v; want the odd amount", list, err)
	}
	h.exec(t, `UPDATE intention SET tries = 7, error = 'the bank does not answer' WHERE done_at IS NULL`)
	if list, err := h.orders.Payments.Alerts(t.Context()); err != nil || len(list) != 2 || list[0].Code != stuck.Code || !strings.Contains(list[0].Why, "7 times") {
		t.Errorf("attention is asked for %+v, %v; want the one that is stuck first", list, err)
	}
}

func TestMoneyThatTwoNodesLearnOfGoesBackOnce(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	h.bank.moves(p.ID, payments.Captured)
	h.bank.set(func(b *bank) { b.stuck = "refund" })
	h.orders.Payments.Lose(t, p)                                                                                                 // one node hears of the money
	h.orders.Payments.Lose(t, p)                                                                                                 // and so does another one
	h.orders.Payments.Late(t, p)                                                                                                 // and one that would rather sell the seats
	h.orders.Payments.Close(t, p)                                                                                                // and one comes back that had stood still since the bank had nothing
	if _, err := h.db.Exec(t.Context(), `INSERT INTO intention (payment_id, step) SELECT id, 'void' FROM payment`); err != nil { // and one means to void it still
		t.Fatal(err)
	}
	h.bank.set(func(b *bank) { b.stuck = "" })
	// settles asks until nothing is to be done. The node's own loop may have a step under way: then a question finds nothing to do.
	settles := func() bool {
		end := time.Now().Add(time.Minute)
		for h.count(t, "refund WHERE done_at IS NULL")+h.count(t, "intention WHERE done_at IS NULL") > 0 {
			if time.Now().After(end) {
				return false
			}
			if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		return true
	}
	settles()
	if p = h.until(t, p.Code, "closed"); h.orders.Payments.Lose(t, p) {
		t.Error("something follows from money that went back already")
	}
	h.until(t, p.Code, "closed")
	h.exec(t, `UPDATE intention SET done_at = NULL, next_try = clock_timestamp() WHERE step = 'void'`) // and one read a webhook of it when it went back
	if !settles() {
		t.Error("something is meant for ever with money that went back")
	}
	if n := h.count(t, "refund WHERE done_at IS NOT NULL"); n != 1 {
		t.Errorf("%d refunds were done, want 1", n)
	}
	h.wantMoney(t)
}
