package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
)

// family is the price list of an evening as its page sends it.
func family(more ...string) url.Values {
	f := url.Values{
		"type.0.name": {"Adult"}, "price.0.0.A": {"30"}, "price.0.0.B": {"48"}, "price.0.0.C": {"36"},
		"type.1.name": {"Child"}, "price.0.1.A": {"9.00"}, "price.0.1.B": {"50%"}, "type.1.proof": {"Passport"},
	}
	for i := 0; i < len(more); i += 2 {
		f.Set(more[i], more[i+1])
	}
	return f
}

func TestPrices_AreEditedOnOnePageAndPaidAtTheCheckout(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	owner := s.owner(t)
	at := "/desk/events/evening/prices"
	s.does(t, owner, at, family())
	s.does(t, owner, at, family("phase.1.name", "Early bird", "phase.1.sells", "1", "price.1.0.B", "40"))
	if a, page := s.page(t, owner, at); a.StatusCode != http.StatusOK || !strings.Contains(page, "Early bird") || !strings.Contains(page, "1 left") || !strings.Contains(page, `value="50%"`) {
		t.Errorf("the page: %d %.300s", a.StatusCode, page)
	}
	for name, bad := range map[string][]string{
		"negative": {"price.0.1.A", "-9"}, "huge": {"price.0.1.A", "99999999999999999999"}, "no amount": {"price.0.1.A", "nine"}, "more than 100 percent": {"price.0.1.A", "101%"},
		"a percentage of itself": {"price.0.0.A", "50%"}, "twice": {"type.2.name", "Child"}, "no number": {"type.1.least", "x"}, "least above most": {"type.1.least", "3", "type.1.most", "2"},
		"with nothing": {"type.1.with", "dog"}, "nobody": {"type.1.sold_to", "cats"}, "no time": {"phase.1.name", "P", "phase.1.ends", "soon"},
		"overlapping": {"phase.1.name", "P", "phase.2.name", "Q", "phase.1.ends", "2030-03-01T00:00", "phase.2.begins", "2030-02-01T00:00"},
		"never runs":  {"phase.1.name", "P", "phase.2.name", "Q"}, "backwards": {"phase.1.name", "P", "phase.1.begins", "2030-03-01T00:00", "phase.1.ends", "2030-02-01T00:00"},
	} {
		s.refused(t, owner, at, family(append(bad, "key", name)...), http.StatusUnprocessableEntity)
	}
	sale, err := s.config.Inventory.Sale(t.Context(), "evening")
	if err != nil || len(sale.Prices.Types) != 2 || sale.Plan.Categories[0].Price != 3000 || sale.Prices.Version != 2 {
		t.Fatalf("the list is %+v, %v", sale.Prices, err)
	}
	if price, _ := sale.Prices.Price(0, 1, 1); price != 2400 {
		t.Errorf("half of 48 is %d", price)
	}
	s.wantBooks(t)
}
