package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// withPress is an evening with adults, children and press tickets, which the box office sells. 3 are paid as 2.
func withPress(t *testing.T, fees seats.Fees, with ...func(*Config)) (s *site, owner *http.Client) {
	t.Helper()
	s = newSiteFor(t, events.Settings{Fees: fees}, with...)
	owner = s.owner(t)
	f := family("type.1.least", "2", "type.2.name", "Press", "type.2.sold_to", "desk", "type.3.name", "Member", "price.0.3.A", "1", "offer.0.kind", "multi", "offer.0.count", "3", "offer.0.pay", "2")
	for _, category := range []string{"A", "B", "C"} {
		f.Set("price.0.0."+category, "30")
		f.Set("price.0.1."+category, "9")
		f.Set("price.0.2."+category, "5")
	}
	s.does(t, owner, "/desk/events/evening/prices", f)
	var err error
	if s.sale, err = s.office.Sale(t.Context(), "evening"); err != nil || len(s.sale.Prices.Types) != 4 {
		t.Fatalf("the list is %+v, %v", s.sale.Prices, err)
	}
	return s, owner
}

func TestSellSeats_SellsEachSeatAsItsTicketType(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	const at = "/desk/events/evening/sales"
	idx := s.inRows(t, 6)
	label := func(i int) string { return s.sale.Plan.Label(idx[i]) }
	form := url.Values{"seat": {label(0), label(1)}, "method": {"cash"}, shop.TypeField(idx[0]): {"child"}, shop.TypePrefix + label(1): {"press"}}

	preview := url.Values{"update": {"on"}}
	for field, list := range form {
		preview[field] = list
	}
	a, page := s.submit(t, owner, at, preview)
	chosen := func(i int) string {
		return between(between(page, `<select name="`+shop.TypeField(idx[i])+`"`, "</select>"), "selected>", ",")
	}
	if a.StatusCode != http.StatusOK || chosen(0) != "Child" || chosen(1) != "Press" || !strings.Contains(page, "€14") || !strings.Contains(page, `name="total" value="1400"`) {
		t.Errorf("before the sale: %d, %q and %q", a.StatusCode, chosen(0), chosen(1))
	}
	form.Set("total", "1300")
	s.refused(t, owner, at, form, http.StatusConflict, "€14", `name="total" value="1400"`)
	form.Set("total", "1400")
	code := s.does(t, owner, at, form)
	order, err := s.sold.Find(t.Context(), code[strings.LastIndexByte(code, '/')+1:])
	if err != nil || order.Total != 1400 || order.Paid != 1400 || order.Tickets[0].Type != "Child" || order.Tickets[1].Type != "Press" || order.Tickets[1].Price != 500 {
		t.Errorf("the order is %+v, %v", order, err)
	}
	for name, bad := range map[string]url.Values{
		"no such type":  {"type": {"dog"}},
		"not sold here": {"type": {"member"}},
		"no such seat":  {shop.TypePrefix + "Moon/1": {"child"}},
		"no total":      {"total": {"much"}},
	} {
		bad["seat"], bad["method"] = []string{label(2)}, []string{"cash"}
		if a, _ := s.submit(t, owner, at, bad); a.StatusCode/100 != 4 {
			t.Errorf("%s: %d", name, a.StatusCode)
		}
	}
	s.does(t, owner, "/desk/events/evening/prices", url.Values{
		"type.0.name": {"Adult"}, "type.1.name": {"Child"}, "type.2.name": {"Press"}, "type.2.retired": {"on"}, "type.3.name": {"Member"},
		"price.0.0.A": {"30"}, "price.0.0.B": {"30"}, "price.0.0.C": {"30"}, "price.0.2.A": {"5"}, "price.0.2.B": {"5"}, "price.0.2.C": {"5"},
	})
	s.refused(t, owner, at, url.Values{"seat": {label(2)}, "method": {"cash"}, "type": {"press"}}, http.StatusConflict, "Press", "not sold")
	s.wantBooks(t)
}

// 3 are paid as 2: what is left of them is paid as 2 as well.
func TestSellSeats_OrderKeepsItsOfferWhenTicketsAreCancelled(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	idx := s.inRows(t, 3)
	code := s.does(t, owner, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(idx[0]), s.sale.Plan.Label(idx[1]), s.sale.Plan.Label(idx[2])}, "method": {"cash"}})
	o, err := s.sold.Find(t.Context(), code[strings.LastIndexByte(code, '/')+1:])
	if err != nil || o.Total != 6000 {
		t.Fatalf("the order is %+v, %v", o, err)
	}
	paid := slices.IndexFunc(o.Tickets, func(t orders.Ticket) bool { return t.Price > 0 })
	if err := s.sold.RevokeBy(t.Context(), s.sale, o, orders.Revoking{}, o.Tickets[paid].ID); err != nil {
		t.Fatal(err)
	}
	if o, err = s.sold.Find(t.Context(), o.Code); err != nil || o.ByHand != 0 || o.Kept != 3000 {
		t.Errorf("of %d paid, %d go back and %d are kept, %v", o.Paid, o.ByHand, o.Kept, err)
	}
	s.wantBooks(t)
}

// Programs sell places of an area, of several types, and pay what the offer leaves.
func TestSellSeats_SellsPlacesOfAnAreaByType(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	at := slices.IndexFunc(s.sale.Plan.Sections, func(p seats.Section) bool { return p.Area })
	first := s.sale.Plan.Sections[at].First
	label := s.sale.Plan.Label
	list := label(first) + ", " + label(first+1) + ", " + label(first+2)
	body := func(more string) string {
		return fmt.Sprintf(`{"key":"k","seats":%q,"method":"cash","type":"child",%q:"standard"%s}`, list, shop.TypePrefix+label(first+1), more)
	}
	a, answer := send(t, owner, "POST", s.url+"/desk/events/evening/sales", body(`,"update":true`))
	var quote struct {
		Total   int64
		Tickets []struct{ Seat, Type string }
	}
	if err := json.Unmarshal([]byte(answer), &quote); err != nil || a.StatusCode != http.StatusOK || quote.Total != 3900 || quote.Tickets[1].Type != "standard" {
		t.Fatalf("it would cost %d %s", a.StatusCode, answer)
	}
	a, answer = send(t, owner, "POST", s.url+"/desk/events/evening/sales", body(`,"total":3900`))
	var sold web.OrderAnswer
	if err := json.Unmarshal([]byte(answer), &sold); err != nil || a.StatusCode != http.StatusCreated {
		t.Fatalf("the sale: %d %s", a.StatusCode, answer)
	}
	order, err := s.sold.Find(t.Context(), sold.Order.Code)
	if err != nil || order.Total != 3900 || order.Offer != "3 for 2" || order.Tickets[0].Type != "Child" || order.Tickets[1].Type != "Adult" || order.Tickets[2].Type != "Child" {
		t.Errorf("the order is %+v, %v", order, err)
	}
	s.wantBooks(t)
}
