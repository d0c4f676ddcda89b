package handlers

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
)

func TestALinkShowsTheLiveDeskWithoutNamesUntilItIsRevokedOrOver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if _, err := s.sold.SellAtOffice(t.Context(), s.sale, orders.OfficeForm{Key: "a", Seats: []int{0}, Method: payments.Cash, Name: "Zacharias Quill", Email: "quill@example.org"}, nil); err != nil {
		t.Fatal(err)
	}
	if a, page := s.submit(t, ann, "/desk/events/evening/shares", url.Values{"key": {"w"}, "name": {""}, "days": {"7"}}); a.StatusCode != 422 || !strings.Contains(page, "Enter a name.") {
		t.Errorf("without signing in: %d", a.StatusCode)
	}
	a, page := s.submit(t, ann, "/desk/events/evening/shares", url.Values{"key": {"k"}, "name": {"Sponsor & sons"}, "days": {"7"}})
	link := regexp.MustCompile(`<code>(http[^<]*)</code>`).FindStringSubmatch(page)
	if a.StatusCode != 201 || link == nil {
		t.Fatalf("made: %d", a.StatusCode)
	}
	path := strings.TrimPrefix(html.UnescapeString(link[1]), s.url)
	if _, list := s.page(t, ann, "/desk/events/evening/shares"); strings.Contains(list, strings.TrimPrefix(path, "/boards/")) || !strings.Contains(list, "Sponsor &amp; sons") {
		t.Error("the list shows the link, or not whom it is for")
	}
	who := person(t)
	looks := map[string]string{}
	a, looks["page"] = s.page(t, who, path)
	if a.StatusCode != 200 || !strings.Contains(looks["page"], "data-sold>1<") || !strings.Contains(looks["page"], `data-feed="`+path+`/live"`) || a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("the page: %d", a.StatusCode)
	}
	if a, looks["feed"] = send(t, who, "GET", s.url+path+"/live", ""); a.StatusCode != 200 || !strings.Contains(looks["feed"], "live-figures") {
		t.Errorf("the feed: %d", a.StatusCode)
	}
	looks["feed"] = "</head>" + looks["feed"]
	_, looks["feed that asks for more"] = send(t, who, "GET", s.url+path+"/live?names=1&window=hour", "")
	looks["feed that asks for more"] = "</head>" + looks["feed that asks for more"]
	_, looks["page that asks for more"] = s.page(t, who, path+"?names=1")
	for what, text := range looks {
		_, text, _ = strings.Cut(text, "</head>") // what is in it is of every desk
		for _, secret := range []string{"Quill", "quill@", "Ann", "/desk", "<form", "live-orders"} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s says %q", what, secret)
			}
		}
	}
	var list desk.SharesAnswer
	if _, body := send(t, ann, "GET", s.url+"/desk/events/evening/shares", ""); json.Unmarshal([]byte(body), &list) != nil || len(list.Shares) != 1 || time.Until(list.Shares[0].ExpiresAt) > 7*24*time.Hour {
		t.Fatalf("the list is %s", body)
	}
	if a, _ := s.submit(t, ann, "/desk/events/evening/shares/"+jsonNumber(int(list.Shares[0].ID))+"/revocation", url.Values{"key": {"r"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("revoke: %d", a.StatusCode)
	}
	_, page = s.submit(t, ann, "/desk/events/evening/shares", url.Values{"key": {"k2"}, "name": {"Another"}, "days": {"1"}})
	over := strings.TrimPrefix(regexp.MustCompile(`<code>(http[^<]*)</code>`).FindStringSubmatch(page)[1], s.url)
	s.exec(t, `UPDATE share SET expires_at = clock_timestamp() WHERE name = 'Another'`)
	for _, gone := range []string{path, path + "/live", over, over + "/live", "/boards/x"} {
		if a, _ := send(t, who, "GET", s.url+gone, ""); a.StatusCode != 404 {
			t.Errorf("%s: %d", gone, a.StatusCode)
		}
	}
}

func TestTheFunnelCountsClaimsThatWereRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	for range 3 {
		send(t, person(t), "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":7}`)
	}
	s.held(t, person(t), 1)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, page := s.page(t, ann, "/desk/events/evening")
		if strings.Contains(page, "Refused") && strings.Contains(page, "claims: over the limit 3") {
			return
		}
		if time.Now().After(end) {
			t.Fatal("three refusals are not on the desk")
		}
	}
}

func TestAnExportIsJSONForProgramsWithAmountsInMinorUnits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	code, err := s.sold.SellAtOffice(t.Context(), s.sale, orders.OfficeForm{Key: "a", Seats: []int{0, 1}, Method: payments.Cash, Name: "=Eve \"x\"", Email: "eve@example.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lists struct {
		Orders []struct {
			Order, Name string
			Paid        int64
			Tickets     int
		}
		Attendees []struct{ Seat, Ticket string }
		Seats     []struct{ State, Order string }
		Payments  []struct {
			What   string
			Amount int64
		}
	}
	for _, name := range []string{"orders", "attendees", "seats", "payments"} {
		a, body := send(t, ann, "GET", s.url+"/desk/events/evening/exports/"+name+".json", "")
		if err := json.Unmarshal([]byte(body), &lists); err != nil || a.StatusCode != 200 || a.Header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Fatalf("%s: %d %s: %v", name, a.StatusCode, body, err)
		}
	}
	total := pricing.Of(s.sale, []int{0, 1}).Total
	if o := lists.Orders; len(o) != 1 || o[0].Order != code || o[0].Name != "=Eve \"x\"" || o[0].Paid != total || o[0].Tickets != 2 {
		t.Errorf("the orders are %+v", o)
	}
	if len(lists.Attendees) != 2 || lists.Attendees[0].Seat != s.sale.Plan.Label(0) || len(lists.Seats) != len(s.sale.Plan.Seats) || lists.Seats[1].Order != code || len(lists.Payments) != 1 || lists.Payments[0].Amount != total {
		t.Errorf("the rest is %+v", lists.Payments)
	}
}

// The sums of all lists are those of the order: by ticket, by rate and together.
func TestExport_HasTypesDiscountsAndTaxesByRate(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{Ticket: 150})
	s.exec(t, `UPDATE event SET price_rules = price_rules || '{"tax": {"rate": 10000, "fee_rate": 20000, "types": [{"type": 2, "rate": 13000}]}}'`)
	sale, err := seats.NewInventory(s.db, nil).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	idx := s.inRows(t, 3)
	f := orders.OfficeForm{Key: "a", Seats: idx, Types: map[int]string{idx[1]: "child", idx[2]: "press"}, Method: payments.Cash}
	code, err := s.sold.SellAtOffice(t.Context(), sale, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	order, err := s.sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	var lists struct {
		Orders []struct {
			Discount, Tax int64
			Offer         string
		}
		Attendees []struct {
			Type                 string
			TaxRate              string `json:"tax_rate"`
			FeeRate              string `json:"fee_tax_rate"`
			Price, Discount, Tax int64
			FeeTax               int64 `json:"fee_tax"`
		}
		Taxes []struct {
			Order           string
			Rate            string `json:"tax_rate"`
			Gross, Net, Tax int64
		}
		Seats []struct {
			Order, Type string
			Price       int64
		}
	}
	for _, name := range []string{"orders", "attendees", "taxes", "seats"} {
		a, body := send(t, owner, "GET", s.url+"/desk/events/evening/exports/"+name+".json", "")
		if err := json.Unmarshal([]byte(body), &lists); err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s: %v", name, a.StatusCode, body, err)
		}
	}
	var gross, tax, byTicket, discount int64
	for _, l := range lists.Taxes {
		gross, tax = gross+l.Gross, tax+l.Tax
		if l.Order != code || l.Net != l.Gross-l.Tax {
			t.Errorf("a rate is %+v", l)
		}
	}
	for i, a := range lists.Attendees {
		byTicket, discount = byTicket+a.Tax+a.FeeTax, discount+a.Discount
		if want := order.Tickets[i]; a.Type != want.Type || a.Price != want.Price || a.FeeRate != "20" {
			t.Errorf("a ticket is %+v, want %+v", a, want)
		}
		if seat := lists.Seats[idx[i]]; seat.Price != a.Price || seat.Type != a.Type || seat.Order != code {
			t.Errorf("its seat is %+v", seat)
		}
	}
	if o := lists.Orders[0]; gross != order.Total || len(lists.Taxes) != 2 || o.Tax != tax || byTicket != tax || tax == 0 || o.Discount != discount || discount == 0 || o.Offer != "3 for 2" {
		t.Errorf("the sums are %d, %d, %d and %d: %+v, %+v", gross, tax, byTicket, discount, o, lists.Taxes)
	}
	if lists.Attendees[2].TaxRate != "13" {
		t.Errorf("the rate is %q", lists.Attendees[2].TaxRate)
	}
}
