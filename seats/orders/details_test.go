package orders_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

func TestDetails_BuyerChangesNameAndAnswersUntilTheStart(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{Questions: []seats.Question{{Kind: seats.AskText, Label: "Company", Required: true, Choices: []string{}}, {Kind: seats.AskChoice, Label: "Meal", Choices: []string{"meat", "fish"}}}})
	o := h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{0}, Method: payments.Cash, Name: "Ann", Email: "ann@example.org"})
	change := func(key, name string, answers map[string]string) error {
		return h.orders.ChangeDetails(t.Context(), h.sale.Event, o, key, orders.Details{Name: name, Answers: answers})
	}
	var m orders.Mistakes
	if err := change("a", " ", map[string]string{"2": "dog"}); !errors.As(err, &m) || m.About(orders.FieldName) == "" || m.About("answer-1") == "" || m.About("answer-2") == "" {
		t.Errorf("wrong details: %v", err)
	}
	for range 2 {
		if err := change("b", "  Ann   Ek ", map[string]string{"1": " Ek & Co ", "2": "fish", "3": "more"}); err != nil {
			t.Fatal(err)
		}
	}
	after := h.find(t, o.Code)
	if after.Name != "Ann Ek" || !maps.Equal(after.Answers, map[string]string{"1": "Ek & Co", "2": "fish"}) || after.Tickets[0].Code != o.Tickets[0].Code {
		t.Errorf("the order is of %q, %v", after.Name, after.Answers)
	}
	wantConflict(t, change("b", "Bea", map[string]string{"1": "x"}), orders.CodeKey)
	if err := change("e", "Ann Ek", nil); err != nil || len(h.find(t, o.Code).Answers) != 2 {
		t.Errorf("without answers: %v, %v", err, h.find(t, o.Code).Answers)
	}
	personal := h.sale.Event
	personal.Policy.NoTransfers = true
	if err := h.orders.ChangeDetails(t.Context(), personal, after, "f", orders.Details{Name: "Bea"}); !errors.As(err, &m) {
		t.Errorf("a personal ticket got another name: %v", err)
	}
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp()`)
	wantConflict(t, change("c", "Bea", map[string]string{"1": "x"}), orders.CodeStarted)
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '1 day'`)
	if err := h.orders.Revoke(t.Context(), h.sale, after, false); err != nil {
		t.Fatal(err)
	}
	wantConflict(t, change("d", "Bea", map[string]string{"1": "x"}), orders.CodeStarted)
	if h.find(t, o.Code).Name != "Ann Ek" {
		t.Error("what was refused was saved")
	}
}
