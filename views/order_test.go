package views

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
)

// typed is a checkout with everything wrong that can be.
func typed(page Page, s Sale) CheckoutPage {
	s.Event.AsksBirth = true
	s.Event.Questions = []seats.Question{
		{Kind: seats.AskText, Label: s.Event.Name, Required: true},
		{Kind: seats.AskChoice, Label: s.Event.Name, Choices: []string{s.Event.Name, "b"}},
		{Kind: seats.AskCheckbox, Label: s.Event.Name, Required: true},
	}
	page.Script, page.Style = "checkout.js", "order.css"
	return CheckoutPage{
		Page: page, Sale: s, Form: orders.Form{Name: s.Event.Name, Email: s.Event.Name, Born: s.Event.Name, Answers: map[string]string{"1": s.Event.Name, "2": s.Event.Name}}, Message: s.Event.Name,
		Mistakes: orders.Mistakes{{Field: orders.FieldName, Message: "Say it."}, {Field: orders.FieldEmail, Message: s.Event.Name}, {Field: orders.FieldAnswer(1), Message: "Say it."}, {Field: orders.FieldBorn, Message: "Say it."}},
	}
}

// ordered is an order with a ticket that holds, one that was revoked, and one for a seat that is not in the plan.
func ordered(page Page, s Sale, name string) OrderPage {
	page.Style = "order.css"
	return OrderPage{Page: page, Sale: s, Order: orders.Order{
		Code: strings.Repeat("7", 26), State: orders.Confirmed, Name: name, Email: name, Method: orders.Door, Currency: "EUR", Total: 9500, CreatedAt: time.Unix(2e9, 0),
		Tickets: []orders.Ticket{
			{ID: seats.ID{1}, Idx: 3, Price: 9500, Code: strings.Repeat("Z", 149)}, {ID: seats.ID{2}, Idx: 4, Revoked: true}, {ID: seats.ID{3}, Idx: 1 << 20},
		},
	}}
}

// atDoor is a door that asks which of an order's tickets it is.
func atDoor(page Page, s Sale, name string) DoorPage {
	page.Style, page.Script = "order.css", "door.js"
	return DoorPage{
		Page: page, Sale: s, Address: "/door/X", EventID: 1, Keys: []orders.PublicKey{{ID: 1, Key: []byte("key")}}, Code: name, Place: name,
		Verdict: &orders.Verdict{Word: orders.ScanWhich, Name: name, Place: name, Choices: []orders.Ticket{{ID: seats.ID{1}, Idx: 3}, {ID: seats.ID{2}, Idx: 4}}},
	}
}

func TestAQRCodeIsDrawnWithItsQuietZone(t *testing.T) {
	t.Parallel()
	m := qrCode(strings.Repeat("Z", 149))
	if m.box != "0 0 49 49" || !strings.HasPrefix(m.path, "M4 4h7v1h-7z") {
		t.Errorf("the code is drawn in %s from %.20s", m.box, m.path)
	}
	if m := qrCode(strings.Repeat("Z", 9999)); m.path != "" {
		t.Error("a text that is too long was drawn")
	}
}
