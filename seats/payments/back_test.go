package payments_test

import (
	"context"
	"errors"
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

// paidOutside places an order of two seats that is paid outside, and notes that it was.
func (h *shop) paidOutside(t testing.TB, method string) orders.Order {
	t.Helper()
	who := seats.NewID()
	form := h.claims(t, who, 2)
	form.Method = method
	code, err := h.orders.Place(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.orders.MarkPaid(t.Context(), code, nil); err != nil {
		t.Fatal(err)
	}
	return h.again(t, orders.Order{Code: code})
}

func (h *shop) revokes(t testing.TB, o orders.Order, tickets ...seats.ID) orders.Order {
	t.Helper()
	if err := h.orders.Revoke(t.Context(), h.sale, h.again(t, o), false, tickets...); err != nil {
		t.Fatal(err)
	}
	return h.again(t, o)
}

func TestRefund_OfManualPaymentsIsTheOrganizers(t *testing.T) {
	t.Parallel()
	for _, method := range []string{payments.Door, payments.Invoice} {
		h := openShop(t, events.Settings{Invoices: true})
		h.sale.Event.PayAtDoor = true
		order := h.paidOutside(t, method)
		one := costOf(order.Tickets[0])
		wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, order, "k"), orders.CodePaid)
		some := h.revokes(t, order, order.Tickets[0].ID)
		if some.Paid != order.Total-one || some.Back != one || some.ByHand != one || some.Due() != 0 || some.State != orders.Confirmed {
			t.Errorf("%s: after one ticket the order is %+v", method, some)
		}
		all := h.revokes(t, order)
		if all.Paid != 0 || all.ByHand != order.Total || all.State != orders.Cancelled {
			t.Errorf("%s: in the end the order is %+v", method, all)
		}
		if h.sale.Snapshot().States[order.Tickets[1].Idx] != seats.Free {
			t.Errorf("%s: the seats are not free again", method)
		}
		wantRefusal(t, h.orders.Revoke(t.Context(), h.sale, all, false), orders.CodeCancelled)
		list, err := h.orders.Payments.Alerts(t.Context())
		if err != nil || len(list) != 2 || list[0].Code != order.Code || list[0].State != payments.ToPayOut || list[0].Amount+list[1].Amount != order.Total {
			t.Errorf("%s: attention is asked for %+v, %v", method, list, err)
		}
		h.wantMoney(t)
		if amount, currency, err := h.orders.Payments.PaidOut(t.Context(), order.Code, nil); err != nil || amount != order.Total || currency != "EUR" {
			t.Errorf("%s: %d %s were paid out, %v", method, amount, currency, err)
		}
		if amount, _, err := h.orders.Payments.PaidOut(t.Context(), order.Code, nil); err != nil || amount != 0 {
			t.Errorf("%s: paid out again: %d, %v", method, amount, err)
		}
		if _, _, err := h.orders.Payments.PaidOut(t.Context(), "none", nil); !errors.Is(err, payments.ErrNoPayment) {
			t.Errorf("%s: an order that is not there: %v", method, err)
		}
		if now := h.again(t, order); now.Back != order.Total || now.OnItsWay != 0 || now.ByHand != 0 {
			t.Errorf("%s: then the order is %+v", method, now)
		}
		if list, err := h.orders.Payments.Alerts(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%s: then attention is asked for %+v, %v", method, list, err)
		}
		if n := h.count(t, "mail WHERE kind = 'cancellation'"); n != 2 {
			t.Errorf("%s: %d mails tell of it, want 2", method, n)
		}
		h.wantMoney(t)
	}
}

func TestCancel_OrganizerCancelsPaidAndUsedTickets(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	order, d := h.buys(t, 2), h.door(t)
	h.exec(t, `UPDATE event SET starts_at = now() - interval '1 minute'`)
	if v := h.scan(t, d, orders.Scan{Key: "k", Code: order.Tickets[0].Code}); v.Word != orders.ScanIn {
		t.Fatal(v)
	}
	wantRefusal(t, h.orders.Revoke(t.Context(), h.sale, h.again(t, order), false), orders.CodeAdmitted)
	wantRefusal(t, h.orders.Revoke(t.Context(), h.sale, order, false), orders.CodeAdmitted) // looked at before the scan
	h.revokes(t, order, order.Tickets[1].ID)
	h.untilBack(t, order, costOf(order.Tickets[1]))
	if err := h.orders.Revoke(t.Context(), h.sale, h.again(t, order), true); err != nil {
		t.Fatal(err)
	}
	h.untilBack(t, order, order.Total)
	h.wantMoney(t)
}

func TestAPartGoesBackOnceForEachKeyAndTheTicketsHold(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{Invoices: true})
	card, bill := h.buys(t, 2), h.paidOutside(t, payments.Invoice)
	for _, order := range []orders.Order{card, bill} {
		for range 2 {
			if err := h.orders.Refund(t.Context(), order, "k", 700, "bad view"); err != nil {
				t.Fatal(err)
			}
		}
		wantRefusal(t, h.orders.Refund(t.Context(), order, "k", 800, "bad view"), orders.CodeKey)
		for _, amount := range []int64{0, -1, order.Total - 699} {
			if err := h.orders.Refund(t.Context(), order, fmt.Sprint(amount), amount, ""); !errors.Is(err, orders.ErrNotPaid) {
				t.Errorf("%d of %d gave %v", amount, order.Total-700, err)
			}
		}
		now := h.again(t, order)
		if now.Back != 700 || now.Due() != 0 || now.Paid != order.Total-700 || now.Tickets[0].Revoked || now.State != orders.Confirmed {
			t.Errorf("%s: the order is %+v", order.Method, now)
		}
		if _, _, err := h.orders.MarkPaid(t.Context(), order.Code, nil); !errors.Is(err, orders.ErrNotDue) {
			t.Errorf("%s: what was given back is due again: %v", order.Method, err)
		}
	}
	if err := h.orders.Refund(t.Context(), card, "once more", card.Total, ""); !errors.Is(err, orders.ErrNotPaid) {
		t.Errorf("a refund of more than was paid got %v", err)
	}
	if err := h.orders.Refund(t.Context(), card, "once more", 100, ""); err != nil {
		t.Errorf("the key of a refund that was rolled back got %v", err)
	}
	h.untilBack(t, card, 800)
	h.revokes(t, card)
	h.untilBack(t, card, card.Total)
	if now := h.revokes(t, bill); now.Back != bill.Total {
		t.Errorf("in the end the order is %+v", now)
	}
	if n := h.count(t, "mail WHERE kind = 'refund'"); n != 3 {
		t.Errorf("%d mails tell of it, want 3", n)
	}
	h.wantMoney(t)
}

// Other people's claims travel in the batch of a cancellation. That a door was faster is found before.
func TestCancel_LosingToAScanFailsNoOtherCommand(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	d := h.door(t)
	order := h.buys(t, 1)
	h.scan(t, d, orders.Scan{Key: "k", Code: order.Tickets[0].Code})
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // it may have ended
	if _, err := tx.Exec(t.Context(), `SELECT FROM counter FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	var crowd sync.WaitGroup
	claim := func() {
		if _, err := h.sale.Claim(context.Background(), seats.NewID(), "", seats.ClaimRequest{Best: 1, Category: "A"}); err != nil {
			t.Error(err)
		}
	}
	crowd.Go(claim) // waits for the counter, and everybody after it gathers in the next batch
	for waits := false; !waits; time.Sleep(5 * time.Millisecond) {
		if err := h.db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	crowd.Go(func() {
		wantRefusal(t, h.orders.Cancel(context.Background(), h.sale, order, "stale"), orders.CodeAdmitted)
	})
	for range 8 {
		crowd.Go(claim)
	}
	time.Sleep(100 * time.Millisecond) // they are in the lane; if not, this test only sees less
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	crowd.Wait()
	h.wantMoney(t)
}

func TestScan_TicketInCancellationIsRefused(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	d := h.door(t)
	order := h.buys(t, 1)
	h.exec(t, `UPDATE ticket SET leaving_until = now() + interval '1 minute'`)
	if v := h.scan(t, d, orders.Scan{Key: "k", Code: order.Tickets[0].Code}); v.Word != orders.ScanRevoked {
		t.Errorf("a ticket that is being cancelled is %q", v.Word)
	}
	h.exec(t, `UPDATE ticket SET leaving_until = now() - interval '1 second'`)
	if v := h.scan(t, d, orders.Scan{Key: "k2", Code: order.Tickets[0].Code}); v.Word != orders.ScanIn {
		t.Errorf("after a failed cancellation the ticket is %q", v.Word)
	}
}

func TestMail_LostSeatsIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, stand := range []payments.Stand{payments.Authorized, payments.Captured} {
		h := openShop(t, events.Settings{})
		h.bank.next = payments.Pending
		who := seats.NewID()
		p := h.pays(t, who, h.claims(t, who, 1))
		h.holdsExpire(t)
		if _, err := h.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(p.Seats[0])}}); err != nil {
			t.Fatal(err)
		}
		h.bank.moves(p.ID, stand)
		for _, event := range []string{"a", "b", "c"} {
			h.webhook(t, p, event)
		}
		p = h.until(t, p.Code, "closed")
		h.webhook(t, p, "d")
		if n := h.count(t, "mail WHERE kind = 'lost' AND payment_id IS NOT NULL"); n != 1 || !strings.Contains(p.Reason, "taken by someone else") {
			t.Errorf("%s: %d mails tell of it, want 1; the reason is %q", stand, n, p.Reason)
		}
		h.wantMoney(t)
	}
	h := openShop(t, events.Settings{})
	h.bank.next = payments.Declined
	who := seats.NewID()
	h.pays(t, who, h.claims(t, who, 1))
	if n := h.count(t, "mail"); n != 0 {
		t.Errorf("%d mails tell of a card that was declined", n)
	}
}

func TestRefunds_AtOnceGiveNoMoreThanWasPaid(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.sale.Event.PayAtDoor = true
	order := h.buys(t, 2)
	part := order.Total * 6 / 10
	answers := make([]error, 12)
	var crowd sync.WaitGroup
	for i := range answers {
		crowd.Go(func() { answers[i] = h.orders.Refund(t.Context(), order, fmt.Sprint(i), part, "bad view") })
	}
	crowd.Wait()
	done := 0
	for _, err := range answers {
		if err == nil {
			done++
		} else if !errors.Is(err, orders.ErrNotPaid) {
			t.Errorf("a refund got %v", err)
		}
	}
	if done != 1 {
		t.Errorf("%d refunds of %d each were given of %d", done, part, order.Total)
	}
	h.untilBack(t, order, part)
	who := seats.NewID()
	form := h.claims(t, who, 1)
	form.Method = payments.Door
	code, err := h.orders.Place(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Refund(t.Context(), h.again(t, orders.Order{Code: code}), "k", 100, ""); !errors.Is(err, orders.ErrNotPaid) {
		t.Errorf("a refund of what is due at the door got %v", err)
	}
	h.wantMoney(t)
}
