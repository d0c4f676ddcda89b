package orders_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

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
