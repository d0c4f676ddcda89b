package payouts_test

import (
	"testing"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/till"
)

func TestRead_MoneyOfACardReaderHasNoDifference(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.orders.AtTill = till.QueueCardSale
	h.exec(t, `INSERT INTO till_session (team_id, organizer_id, who, currency, zone, opening) VALUES (first_team(), 1, 'Ann', 'EUR', 'UTC', 0)`)
	reader := h.bank.AddReader("Front desk")
	code, err := h.orders.PayAtOffice(t.Context(), "a", []orders.OfficePart{{Sale: h.sale, Form: orders.OfficeForm{Seats: []int{0, 1}}}}, payments.AtTill{Reader: reader, Label: "Front desk", Session: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.bank.Presents(reader, "4242424242424242")
	p, err := h.orders.Payments.Find(t.Context(), code)
	if err == nil {
		err = h.orders.Payments.Ask(t.Context(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.until(t, underWay)
	order := h.find(t, code)
	h.gives(t, order, 1000)
	a := h.reads(t, h.bank.PaysOut("eur"))
	if len(a.Payouts) != 1 {
		t.Fatalf("the account is %+v", a)
	}
	if got := a.Payouts[0]; got.Payments != 1 || got.Refunds != 1 || got.Received != order.Total || got.Returned != 1000 || got.Difference() != 0 || got.Wrong != 0 || !got.Whole {
		t.Errorf("the payout is %+v", got)
	}
	if found := h.broken(t); len(found) > 0 {
		t.Error(found)
	}
}
