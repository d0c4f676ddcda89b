package orders_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

func TestBadDetailsAreNamedAndSellNothing(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{AsksBirth: true})
	who := seats.NewID()
	good := h.form(t, who, 1)
	for _, bad := range []struct {
		name, field string
		change      func(*orders.Form)
	}{
		{"no name", orders.FieldName, func(f *orders.Form) { f.Name = "   " }},
		{"an invisible name", orders.FieldName, func(f *orders.Form) { f.Name = "\u200b\u202e\u2060\ufeff" }},
		{"a name of 10 MB", orders.FieldName, func(f *orders.Form) { f.Name = strings.Repeat("a", 10<<20) }},
		{"a name with a zero byte", orders.FieldName, func(f *orders.Form) { f.Name = "Ann\x00" }},
		{"a name that is no text", orders.FieldName, func(f *orders.Form) { f.Name = "Ann\xff" }},
		{"no address", orders.FieldEmail, func(f *orders.Form) { f.Email = "" }},
		{"an address without @", orders.FieldEmail, func(f *orders.Form) { f.Email = "ann" }},
		{"an address with a name", orders.FieldEmail, func(f *orders.Form) { f.Email = "Ann <ann@example.org>" }},
		{"two addresses", orders.FieldEmail, func(f *orders.Form) { f.Email = "a@example.org, b@example.org" }},
		{"an address with a header in it", orders.FieldEmail, func(f *orders.Form) { f.Email = "ann@example.org\r\nBcc: all@example.org" }},
		{"a long address", orders.FieldEmail, func(f *orders.Form) { f.Email = strings.Repeat("a", 250) + "@example.org" }},
		{"no date of birth", orders.FieldBorn, func(f *orders.Form) { f.Born = "" }},
		{"a date that is none", orders.FieldBorn, func(f *orders.Form) { f.Born = "2001-02-30" }},
		{"a date to come", orders.FieldBorn, func(f *orders.Form) { f.Born = "2999-01-01" }},
		{"a date of long ago", orders.FieldBorn, func(f *orders.Form) { f.Born = "1066-10-14" }},
	} {
		form := good
		bad.change(&form)
		var mistakes orders.Mistakes
		if _, err := h.orders.Place(t.Context(), h.sale, who, form); !errors.As(err, &mistakes) || len(mistakes) != 1 || mistakes[0].Field != bad.field {
			t.Errorf("%s: got %v, want a mistake in %s", bad.name, err, bad.field)
		}
	}
	for i, name := range []string{"Ann", "李小龍", "Þórdís 🎭", "O’Neill-Jägermeister", "=SUM(A1)", "<b>Ann</b>", strings.Repeat("é", 200)} {
		who := seats.NewID()
		form := h.form(t, who, 1)
		form.Name, form.Email = name, fmt.Sprintf("ann%d@example.org", i)
		code, err := h.orders.Place(t.Context(), h.sale, who, form)
		if err != nil {
			t.Errorf("the name %q got %v", name, err)
			continue
		}
		if order, err := h.orders.Find(t.Context(), code); err != nil || order.Name != name {
			t.Errorf("the name %q became %q, %v", name, order.Name, err)
		}
	}
	h.wantBooks(t)
}
