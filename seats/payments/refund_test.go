package payments_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// buys pays for so many seats and returns the order.
func (h *shop) buys(t testing.TB, n int) orders.Order {
	t.Helper()
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, n))
	order, err := h.orders.Find(t.Context(), p.Code)
	if err != nil {
		t.Fatalf("the payment is %+v: %v", p, err)
	}
	return order
}

// untilBack waits until so much was given back for an order, and nothing is on its way.
func (h *shop) untilBack(t testing.TB, o orders.Order, want int64) orders.Order {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		o = h.again(t, o)
		if o.Back == want && o.OnItsWay == 0 {
			return o
		}
		if time.Now().After(deadline) {
			t.Fatalf("the order is %+v, want %d back", o, want)
		}
	}
}

func (h *shop) cancels(t testing.TB, o orders.Order, key string, tickets ...seats.ID) {
	t.Helper()
	if err := h.orders.Cancel(t.Context(), h.sale, o, key, tickets...); err != nil {
		t.Fatal(err)
	}
}

func TestCancel_RefundsTheWayItWasPaid(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	order := h.buys(t, 3)
	h.cancels(t, order, "k1", order.Tickets[0].ID)
	some := h.untilBack(t, order, costOf(order.Tickets[0]))
	if some.Paid != order.Total-costOf(order.Tickets[0]) || some.Due() != 0 || some.State != orders.Confirmed {
		t.Errorf("after one ticket the order is %+v", some)
	}
	h.wantMoney(t)
	h.cancels(t, some, "k2")
	all := h.untilBack(t, order, order.Total)
	if all.Paid != 0 || all.State != orders.Cancelled || h.count(t, "refund WHERE cancellation_id IS NOT NULL") != 2 {
		t.Errorf("in the end the order is %+v", all)
	}
	h.cancels(t, h.again(t, order), "k2") // a repeat
	if n := h.bank.calls["refund"]; n != 2 {
		t.Errorf("the bank was asked for %d refunds, want 2", n)
	}
	h.wantMoney(t)
}

func TestARefundIsOwedWhileTheProviderIsDownAndPaidAfter(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	order := h.buys(t, 1)
	h.bank.set(func(b *bank) { b.stuck = "refund" })
	h.cancels(t, order, "k")
	if now := h.again(t, order); now.State != orders.Cancelled || now.Back != order.Total || now.OnItsWay != order.Total {
		t.Errorf("meanwhile the order is %+v", now)
	}
	if h.sale.Snapshot().States[order.Tickets[0].Idx] != seats.Free {
		t.Error("its seat waits for the bank")
	}
	h.bank.set(func(b *bank) { b.stuck, b.lost = "", errDown }) // and the first answer is lost
	h.nudge(t, order)
	h.untilBack(t, order, order.Total)
	h.wantMoney(t)
}

// nudge makes what is meant for an order's payment due, again and again until it is done.
func (h *shop) nudge(t testing.TB, o orders.Order) {
	t.Helper()
	p, err := h.orders.Payments.Find(t.Context(), o.Code)
	for end := time.Now().Add(time.Minute); err == nil && h.count(t, "intention WHERE done_at IS NULL") > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		err = h.orders.Payments.Ask(t.Context(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestMoneyTakenAfterATicketWasCancelledGoesBackForIt(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		h := openShop(t, events.Settings{})
		h.bank.stuck = "capture"
		order := h.buys(t, 2)
		if order.Paid != 0 {
			t.Fatalf("the order is %+v, want it not paid yet", order)
		}
		back := costOf(order.Tickets[0])
		if all {
			h.cancels(t, order, "k")
			back = order.Total
		} else {
			h.cancels(t, order, "k", order.Tickets[0].ID)
		}
		h.bank.set(func(b *bank) { b.stuck = "" })
		h.nudge(t, order)
		if now := h.untilBack(t, order, back); now.Paid != order.Total-back || now.Due() != 0 {
			t.Errorf("all of it %t: the order is %+v", all, now)
		}
		h.wantMoney(t)
	}
}

func TestARefundThatIsRefusedIsToldAndTriedAgainAlsoAfterOneThatWasDone(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	order := h.buys(t, 2)
	h.cancels(t, order, "k1", order.Tickets[0].ID)
	h.untilBack(t, order, costOf(order.Tickets[0]))
	h.bank.set(func(b *bank) { b.stingy = true })
	h.cancels(t, h.again(t, order), "k2")
	for end := time.Now().Add(time.Minute); h.count(t, "payment WHERE attention LIKE '%was refused%'") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the refusal was not reported")
		}
	}
	if now := h.again(t, order); now.OnItsWay != costOf(order.Tickets[1]) {
		t.Errorf("%d is on its way, want %d", now.OnItsWay, costOf(order.Tickets[1]))
	}
	h.bank.set(func(b *bank) { b.stingy = false; clear(b.answers) })
	h.nudge(t, order)
	h.untilBack(t, order, order.Total)
	h.wantMoney(t)
}

func TestManyCancellationsAtOnceGiveEachCentBackOnce(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	order := h.buys(t, 4)
	var crowd sync.WaitGroup
	for i := range 24 {
		crowd.Go(func() {
			err := h.orders.Cancel(t.Context(), h.sale, order, fmt.Sprint(i), order.Tickets[i%4].ID)
			if err != nil && !strings.Contains(err.Error(), "cancelled") {
				t.Error(err)
			}
		})
	}
	crowd.Wait()
	if now := h.untilBack(t, order, order.Total); now.State != orders.Cancelled || h.count(t, "cancellation") != 4 {
		t.Errorf("the order is %+v after %d cancellations", now, h.count(t, "cancellation"))
	}
	h.wantMoney(t)
}

func TestCancel_UsedTicketIsRefused(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	d, order := h.door(t), h.buys(t, 2)
	if v := h.scan(t, d, orders.Scan{Key: "k", Code: order.Tickets[0].Code}); v.Word != orders.ScanIn {
		t.Fatal(v)
	}
	now := h.again(t, order)
	if now.Tickets[0].In == nil || now.Tickets[1].In != nil {
		t.Errorf("the tickets are %+v", now.Tickets)
	}
	wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, now, "all"), orders.CodeAdmitted)
	wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, order, "stale"), orders.CodeAdmitted) // looked at before the scan
	if h.count(t, "cancellation")+h.count(t, "refund") != 0 {
		t.Error("something was cancelled")
	}
	h.cancels(t, now, "other", order.Tickets[1].ID)
	h.untilBack(t, order, costOf(order.Tickets[1]))
	h.wantMoney(t)
}

func TestOfAScanAndACancellationAtOnceOneWins(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{SeatsPerHolder: 100})
	d := h.door(t)
	for i := range 12 {
		order := h.buys(t, 1)
		var both sync.WaitGroup
		both.Go(func() {
			_, _ = h.orders.Scan(context.Background(), d, orders.Scan{Key: fmt.Sprint(i), Code: order.Tickets[0].Code})
		})
		both.Go(func() { _ = h.orders.Cancel(context.Background(), h.sale, order, "k") })
		both.Wait()
	}
	in, out := h.count(t, "scan WHERE admitted"), h.count(t, "ticket WHERE revoked_at IS NOT NULL")
	if both := h.count(t, "scan s JOIN ticket t ON t.id = s.ticket_id WHERE s.admitted AND t.revoked_at IS NOT NULL"); both > 0 || in+out != 12 {
		t.Errorf("%d went in and %d were cancelled, %d of them both", in, out, both)
	}
	h.nudge(t, h.buys(t, 1))
	h.wantMoney(t)
}

func TestACheckoutFindsItsPaymentByAnIndex(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	conn, err := h.db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `SET enable_seqscan = off`); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), `EXPLAIN `+payments.PaymentByHoldSQL, seats.NewID(), seats.NewID())
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if !strings.Contains(plan.String(), "payment_by_hold") {
		t.Errorf("the plan is\n%s", &plan)
	}
}
