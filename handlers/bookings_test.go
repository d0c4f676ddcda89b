package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/bookings"
)

type bookingSeen struct {
	ID, State, Order string
	Places           int
	Seats            []string
	Total, Due       int64
}

func (s *site) booking(t *testing.T, who *http.Client, path string) bookingSeen {
	t.Helper()
	var got struct{ Booking bookingSeen }
	if _, body := send(t, who, "GET", s.url+path, ""); json.Unmarshal([]byte(body), &got) != nil {
		t.Fatal(body)
	}
	return got.Booking
}

// A school takes an option, which the till does not sell, wants a seat less, confirms for an agreed price with an invoice, and sends names.
func TestBookings_BecomeAnOrderWithAnInvoiceAndNames(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const at = "/desk/events/evening"
	s.does(t, ann, "/desk/invoices", url.Values{"name": {"Haus"}, "street": {"Ring 1"}, "city": {"Wien"}, "country": {"AT"}, "vat_id": {"ATU13585627"}})
	key := s.sale.Prices.Types[0].Key
	s.does(t, ann, at+"/bookings", url.Values{"name": {"Eva <Roth>"}, "organisation": {"Rote Schule"}, "email": {"eva@example.org"}, "seats": {"Floor/1-4"}, "price." + key: {"5.00"}, "until": {"2029-01-01T10:00"}})
	var id string
	if err := s.db.QueryRow(t.Context(), `SELECT id::text FROM booking`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	path := at + "/bookings/" + id
	if k := s.booking(t, ann, path); k.State != bookings.Option || k.Places != 4 || len(k.Seats) != 4 || k.Total != 2000 {
		t.Fatalf("the option is %+v", k)
	}
	if m, parts := s.arriving(t, bookings.MailOption); m.Header.Get("To") != "<eva@example.org>" || !strings.Contains(parts["text/plain"], "We keep 4 seats for you until 1 Jan 2029, 10:00.") || !strings.Contains(parts["text/plain"], "€20") {
		t.Errorf("the mail is %v %s", m.Header, parts["text/plain"])
	}
	if _, page := s.page(t, ann, at+"/bookings"); !strings.Contains(page, "Eva &lt;Roth&gt;") || !strings.Contains(page, "4 seats kept") || !strings.Contains(page, "€20") {
		t.Errorf("the list is %s", words(page))
	}
	if _, page := s.page(t, ann, at+"/blocks"); !strings.Contains(page, path) || strings.Contains(page, "Put on sale now") {
		t.Errorf("the blocks are %s", words(page))
	}
	s.refused(t, ann, at+"/sales", url.Values{"seats": {"Floor/1"}, "method": {"cash"}}, http.StatusConflict, "kept for a group")
	s.refused(t, ann, at+"/unblocks", url.Values{"seats": {"Floor/1-4"}, "rest": {"on"}}, http.StatusConflict, "can be changed now")
	s.refused(t, ann, at+"/codes", url.Values{"code": {"OPENS"}, "unlocks_blocks": {id}}, http.StatusUnprocessableEntity, "blocks of its event")
	s.does(t, ann, path+"/seats", url.Values{"keep": {"3"}})
	s.refused(t, ann, path+"/order", url.Values{"due": {"2029-02-01T10:00"}, "total": {"2000"}}, http.StatusConflict, "cost €15 now")
	s.refused(t, ann, path+"/order", url.Values{"due": {"2029-02-01T10:00"}, "company": {"Rote Schule"}, "country": {"AT"}}, http.StatusUnprocessableEntity, "Enter the city")
	s.does(t, ann, path+"/order", url.Values{"due": {"2029-02-01T10:00"}, "total": {"1500"}, "company": {"Rote Schule GmbH"}, "street": {"Gasse 2"}, "city": {"Graz"}, "country": {"AT"}})
	k := s.booking(t, ann, path)
	if k.State != bookings.Confirmed || k.Order == "" || k.Total != 1500 || k.Due != 1500 || len(k.Seats) != 3 {
		t.Fatalf("confirmed, it is %+v", k)
	}
	list, err := s.config.Invoices.Of(t.Context(), k.Order)
	if err != nil || len(list) != 1 || list[0].Gross != 1500 || list[0].Buyer.Company != "Rote Schule GmbH" || list[0].Paid || list[0].DueOn != "2029-02-01" {
		t.Errorf("the invoices are %+v, %v", list, err)
	}
	if _, page := s.page(t, ann, path); !strings.Contains(page, "€15 due") || !strings.Contains(page, "/invoices/") || !strings.Contains(page, "0 of 3 tickets have a name") {
		t.Errorf("the page is %s", words(page))
	}
	s.refused(t, ann, path+"/names", url.Values{"names": {"A\nB\nC\nD"}}, http.StatusUnprocessableEntity, "4 names for 3 tickets")
	s.refused(t, ann, path+"/names", url.Values{"names": {"A"}, "tickets": {"4"}}, http.StatusConflict, "Nothing was changed") // as shown before one was used
	s.does(t, ann, path+"/names", url.Values{"tickets": {"3"}, "names": {"Ida  Berg\r\n\r\nOle"}})
	order, err := s.sold.Find(t.Context(), k.Order)
	if err != nil || order.Tickets[0].Name != "Ida Berg" || order.Tickets[1].Name != "" || order.Tickets[2].Name != "Ole" {
		t.Errorf("the tickets are %+v, %v", order.Tickets, err)
	}
	s.does(t, ann, at+"/orders/"+k.Order+"/payments", url.Values{})
	if k = s.booking(t, ann, path); k.Due != 0 {
		t.Errorf("paid, it is %+v", k)
	}
	s.wantBooks(t)
}
