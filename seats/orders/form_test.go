package orders_test

import (
	"errors"
	"fmt"
	"maps"
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

// questions are one of each kind, as organizers write them.
func questions(t *testing.T) (list []seats.Question) {
	t.Helper()
	for _, text := range []string{"text! Company", "choice! Menu: fish | vegetarian", "checkbox News by mail", "checkbox! House rules", "text Remarks"} {
		q, err := events.ReadQuestion(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	return list
}

func TestAnOrganizersQuestionsAreAnsweredWithTheOrder(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{Questions: questions(t)})
	who := seats.NewID()
	form := h.form(t, who, 1)
	good := map[string]string{"1": " Usher & Söhne ", "2": "fish", "4": "yes", "9": "was not asked"}
	for _, bad := range []struct{ name, number, answer string }{
		{"no text", "1", "  "},
		{"a long text", "1", strings.Repeat("é", 1001)},
		{"a zero byte", "1", "a\x00"},
		{"no choice", "2", ""},
		{"another choice", "2", "steak"},
		{"a mark of its own", "3", "perhaps"},
		{"no mark", "4", ""},
		{"a text that is none", "5", "\xff"},
	} {
		form.Answers = maps.Clone(good)
		form.Answers[bad.number] = bad.answer
		var mistakes orders.Mistakes
		if _, err := h.orders.Place(t.Context(), h.sale, who, form); !errors.As(err, &mistakes) || len(mistakes) != 1 || mistakes[0].Field != "answer-"+bad.number {
			t.Errorf("%s: got %v", bad.name, err)
		}
	}
	form.Answers = good
	code, err := h.orders.Place(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	order, err := h.orders.Find(t.Context(), code)
	if err != nil || !maps.Equal(order.Answers, map[string]string{"1": "Usher & Söhne", "2": "fish", "4": "yes"}) {
		t.Errorf("the answers are %v, %v", order.Answers, err)
	}
	h.wantBooks(t)
}

func TestQuestionsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "text", "number How many?", "choice Menu", "choice Menu: fish", "text " + strings.Repeat("a", 201), "text a\x00"} {
		if q, err := events.ReadQuestion(bad); err == nil {
			t.Errorf("%.30q became %+v", bad, q)
		}
	}
}
