package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// typed is a checkout with everything wrong that can be.
func typed(page views.Page, s shop.Sale) shop.CheckoutPage {
	s.Event.AsksBirth = true
	s.Event.Questions = []seats.Question{
		{Kind: seats.AskText, Label: s.Event.Name, Required: true},
		{Kind: seats.AskChoice, Label: s.Event.Name, Choices: []string{s.Event.Name, "b"}},
		{Kind: seats.AskCheckbox, Label: s.Event.Name, Required: true},
	}
	page.Script, page.Style = "buy.js", "order.css"
	return shop.CheckoutPage{
		Page: page, Sale: s, Form: orders.Form{Name: s.Event.Name, Email: s.Event.Name, Born: s.Event.Name, Answers: map[string]string{"1": s.Event.Name, "2": s.Event.Name}}, Message: s.Event.Name,
		Mistakes: orders.Mistakes{{Field: orders.FieldName, Message: "Say it."}, {Field: orders.FieldEmail, Message: s.Event.Name}, {Field: orders.FieldAnswer(1), Message: "Say it."}, {Field: orders.FieldBorn, Message: "Say it."}},
	}
}

// ordered is an order with a ticket that holds, one that was revoked, and one for a seat that is not in the plan.
func ordered(page views.Page, s shop.Sale, name string) shop.OrderPage {
	page.Style = "order.css"
	return shop.OrderPage{Page: page, Sale: s, Order: orders.Order{
		Code: strings.Repeat("7", 26), State: orders.Confirmed, Name: name, Email: name, Method: payments.Door, Currency: "EUR", Total: 9500, CreatedAt: time.Unix(2e9, 0),
		Tickets: []orders.Ticket{
			{ID: seats.ID{1}, Idx: 3, Priced: pricing.Priced{Price: 9500}, Code: strings.Repeat("Z", 149)}, {ID: seats.ID{2}, Idx: 4, Revoked: true}, {ID: seats.ID{3}, Idx: 1 << 20},
		},
	}}
}

// atDoor is a door that asks which of an order's tickets it is.
func atDoor(page views.Page, s shop.Sale, name string) desk.DoorPage {
	page.Style, page.Script = "order.css", "door.js"
	return desk.DoorPage{
		Page: page, Sale: s, Address: "/door/X", EventID: 1, Keys: []orders.PublicKey{{ID: 1, Key: []byte("key")}}, Code: name, Place: name,
		Verdict: &orders.Verdict{Word: orders.ScanWhich, Name: name, Place: name, Choices: []orders.Ticket{{ID: seats.ID{1}, Idx: 3}, {ID: seats.ID{2}, Idx: 4}}},
	}
}

func TestCancelWords_AreTrueNow(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", &seats.Hold{Seats: []int{3}})
	s.Event.Policy = seats.Policy{CancelUntil: 7 * 24 * time.Hour, CancelFee: 500}
	ends, _ := events.CancelEnds(s.Event)
	const fee, over = "We keep €5 for each cancelled ticket, at most its price.", "Tickets for this event can no longer be cancelled."
	for name, c := range map[string]struct {
		now    time.Time
		method string
		paid   int64
		price  int64
		says   string
	}{
		"before":             {ends.Add(-time.Second), payments.Demo, 9500, 9500, fee},
		"before, free":       {ends.Add(-time.Second), payments.Demo, 0, 0, "MST."},
		"too late":           {ends, payments.Demo, 9500, 9500, over},
		"unpaid at the door": {ends.Add(-time.Second), payments.Door, 0, 9500, "MST."},
		"paid at the door":   {ends.Add(-time.Second), payments.Door, 9500, 9500, "Only the organizer can cancel this order, as it was not paid online."},
	} {
		p := shop.OrderPage{Sale: s, Order: orders.Order{
			Method: c.method, Paid: c.paid, Policy: s.Event.Policy, CancelEnds: &ends, CancelOver: !c.now.Before(ends), Tickets: []orders.Ticket{{Idx: 3, Priced: pricing.Priced{Price: c.price}}},
		}}
		until := "You can cancel until " + s.Event.Local(ends).Format("Mon 2 January 2006, 15:04\u00a0MST") + "."
		want := c.says
		switch want {
		case fee:
			want = until + " " + fee
		case "MST.":
			want = until
		}
		if got := p.CancelWords(t.Context()); got != want {
			t.Errorf("%s: the order says %q, want %q", name, got, want)
		}
		if s.Now = c.now; c.paid > 0 && c.method == payments.Demo {
			if got := (shop.CheckoutPage{Sale: s}).CancelWords(t.Context()); got != want {
				t.Errorf("%s: the checkout says %q, want %q", name, got, want)
			}
		}
	}
}

func TestPayment_IsNotCalledConfirmedWhileTheProviderIsSilent(t *testing.T) {
	t.Parallel()
	for state, page := range map[string]string{"open": "/card", "authorized": "/card", "open, charged": ""} {
		p := shop.PaymentPage{Sale: sale(t, "theatre", nil), Payment: payments.Payment{Method: payments.Demo, State: strings.TrimSuffix(state, ", charged"), Page: page}}
		says := render(t, shop.Payment(p))
		if unpaid := state == "open"; unpaid == strings.Contains(says, "confirming your payment") || unpaid != strings.Contains(says, "Continue to payment") {
			t.Errorf("a payment that is %s reads %s", state, says)
		}
	}
}
