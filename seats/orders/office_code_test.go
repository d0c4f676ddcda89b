package orders_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
)

func TestSellAtOffice_CodeTakesOffAndIsCounted(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		return pricing.CreateCodes(t.Context(), tx, h.sale.Event.ID, pricing.Code{Most: 1, Discount: pricing.Discount{Percent: pricing.WholePercent / 2}}, []string{"HALF"})
	})
	if err != nil {
		t.Fatal(err)
	}
	full := h.soldAtOffice(t, orders.OfficeForm{Key: "full", Seats: []int{0}, Method: payments.Cash})
	half := h.soldAtOffice(t, orders.OfficeForm{Key: "half", Seats: []int{1}, Method: payments.Cash, Code: "half"})
	if half.Total*2 != full.Total || half.Paid != half.Total || half.DiscountCode != "HALF" {
		t.Errorf("the order is %+v, and costs %d without the code", half, full.Total)
	}
	var refusal *seats.Conflict
	if _, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "more", Seats: []int{2}, Method: payments.Cash, Code: "HALF"}, nil); !errors.As(err, &refusal) || refusal.Code != seats.CodeUsed {
		t.Errorf("a code that is used up: %v", err)
	}
	var m orders.Mistakes
	if _, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "other", Seats: []int{2}, Method: payments.Cash, Code: "NONE"}, nil); !errors.As(err, &m) {
		t.Errorf("a code that is none: %v", err)
	}
}

// An attendee is told the true reason: the organizer does not exchange such an order, either.
func TestRefuseExchange_SaysThatAGiftCardPaidAPart(t *testing.T) {
	t.Parallel()
	ends := time.Now().Add(time.Hour)
	o := orders.Order{Code: "X", Method: payments.Cash, AtOffice: true, Total: 3000, Paid: 3000, ByCard: 1000, ExchangeEnds: &ends, TypesEnd: &ends, Tickets: []orders.Ticket{{}}}
	for what, refuse := range map[string]func() *seats.Conflict{"an exchange": o.RefuseExchange, "another type": o.RefuseTypes} {
		if refusal := refuse(); refusal == nil || refusal.Code != orders.CodePaid || !strings.Contains(refusal.Message, "gift card in part") {
			t.Errorf("%s: %+v", what, refusal)
		}
	}
	o.ByCard = 0
	if refusal := o.RefuseExchange(); refusal == nil || !strings.Contains(refusal.Message, "outside of this page") {
		t.Errorf("an order for cash: %+v", refusal)
	}
}
