package payments_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
)

var someFees = seats.Fees{Ticket: 150, Percent: 333}

func TestFeesThatGoBackGoWithTheirTicket(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{Fees: someFees})
	order := h.buys(t, 3)
	if c := pricing.Of(h.sale, []int{order.Tickets[0].Idx, order.Tickets[1].Idx, order.Tickets[2].Idx}); order.Fee == 0 || order.Fee != c.Fee || order.Total != c.Total {
		t.Fatalf("the order is %+v, want the cost %+v", order, c)
	}
	if s := h.bank.stands[h.payment(t, order).ID]; s.Captured != order.Total {
		t.Errorf("the bank took %d for %d", s.Captured, order.Total)
	}
	h.cancels(t, order, "k", order.Tickets[1].ID)
	if now := h.untilBack(t, order, costOf(order.Tickets[1])); now.Due() != 0 || now.Kept != 0 || now.Paid != order.Total-costOf(order.Tickets[1]) {
		t.Errorf("without one ticket the order is %+v", now)
	}
	h.cancels(t, h.again(t, order), "k2")
	h.untilBack(t, order, order.Total)
	h.wantMoney(t)
}

func TestFeesThatAreKeptStayWithEachCancelledTicketThatWasPaid(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		kept := someFees
		kept.Kept = true
		h := openShop(t, events.Settings{Fees: kept})
		if late { // the money is taken after tickets were cancelled
			h.bank.stuck = "capture"
		}
		order := h.buys(t, 3)
		h.exec(t, `UPDATE event SET fee_kept = false, fee_ticket = 0`) // what was agreed to holds
		first := order.Tickets[0]
		h.cancels(t, order, "k1", first.ID)
		if !late {
			if now := h.untilBack(t, order, first.Price); now.Kept != first.Fee || now.Due() != 0 || now.Paid != order.Total-first.Price {
				t.Errorf("without one ticket the order is %+v", now)
			}
			h.wantMoney(t)
		}
		h.cancels(t, h.again(t, order), "k2")
		h.bank.set(func(b *bank) { b.stuck = "" })
		h.nudge(t, order)
		all := h.untilBack(t, order, order.Total-order.Fee)
		if all.State != orders.Cancelled || all.Paid != order.Fee || all.Kept != order.Fee || all.Due() != 0 {
			t.Errorf("taken late %t: in the end the order is %+v", late, all)
		}
		h.wantMoney(t)
	}
}

func TestFeesGoBackWhenTheEventIsCalledOff(t *testing.T) {
	t.Parallel()
	kept := someFees
	kept.Kept = true
	h := openShop(t, events.Settings{Fees: kept})
	order := h.buys(t, 2)
	h.exec(t, `UPDATE event SET status = 'cancelled'`)
	h.revokes(t, order)
	if now := h.untilBack(t, order, order.Total); now.Paid != 0 || now.Kept != 0 {
		t.Errorf("the order is %+v", now)
	}
	h.wantMoney(t)
}

func TestFeesOfThePolicyAreNotKeptOfMoneyTakenAfterTheEventWasCalledOff(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.CancelFee = 500
	h := openShop(t, events.Settings{Policy: &policy})
	h.bank.set(func(b *bank) { b.stuck = "capture" })
	order := h.buys(t, 2)
	h.exec(t, `UPDATE event SET status = 'cancelled'`)
	h.cancels(t, h.again(t, order), "k")
	h.bank.set(func(b *bank) { b.stuck = "" })
	h.nudge(t, order)
	if now := h.untilBack(t, order, order.Total); now.Paid != 0 || now.Kept != 0 {
		t.Errorf("the order is %+v", now)
	}
	h.wantMoney(t)
}

func TestFees_OfUnpaidTicketsAreNotOwed(t *testing.T) {
	t.Parallel()
	kept := someFees
	kept.Kept = true
	h := openShop(t, events.Settings{Fees: kept, Invoices: true})
	who := seats.NewID()
	form := h.claims(t, who, 2)
	form.Method = payments.Invoice
	code, err := h.orders.Place(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	order := h.again(t, orders.Order{Code: code})
	if order.Due() != order.Total || order.Fee == 0 {
		t.Errorf("%d is due of %d", order.Due(), order.Total)
	}
	some := h.revokes(t, order, order.Tickets[0].ID)
	if some.Due() != costOf(order.Tickets[1]) || some.Kept != 0 {
		t.Errorf("%d is due, want what the other ticket costs, %d", some.Due(), costOf(order.Tickets[1]))
	}
	if amount, _, err := h.orders.MarkPaid(t.Context(), code, nil); err != nil || amount != some.Due() {
		t.Errorf("%d was noted, %v; want %d", amount, err, some.Due())
	}
	h.wantBooks(t)
	if now := h.revokes(t, order); now.Due() != 0 || now.Paid != order.Tickets[1].Fee || now.ByHand != order.Tickets[1].Price {
		t.Errorf("in the end the order is %+v", now)
	}
	h.wantBooks(t)
}

func TestTheBoxOfficeTakesTheFeesAndAGiftHasNone(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{Fees: someFees})
	for method, free := range map[string]bool{payments.Cash: false, payments.Free: true} {
		list := []int{1, 2}
		if free {
			list = []int{5, 6}
		}
		code, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: method, Seats: list, Method: method}, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := h.orders.Find(t.Context(), code)
		if want := pricing.Of(h.sale, list); err != nil || free && o.Total != 0 || !free && (o.Total != want.Total || o.Fee != want.Fee || o.Paid != want.Total) {
			t.Errorf("by %s the order is %+v, %v; want %+v", method, o, err, want)
		}
	}
	h.wantBooks(t)
}

// costOf is what a ticket costs with its share of the fees.
func costOf(t orders.Ticket) int64 { return t.Price + t.Fee }

func (h *shop) payment(t testing.TB, o orders.Order) payments.Payment {
	t.Helper()
	p, err := h.orders.Payments.Find(t.Context(), o.Code)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
