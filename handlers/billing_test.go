package handlers

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/seatstest"
)

const sellerSQL = `
INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, vat_id)
VALUES (first_team(), 'Theatre Ltd', 'Ring 1', '1010', 'Vienna', 'AT', 'ATU13585627')`

// company fills in the company of an invoice.
func company(f url.Values, country, vatID string) {
	for name, text := range map[string]string{
		"billing": "yes", "company": " Acme  & Co", "street": "Lane 2", "postcode": "8010", "city": "Graz", "country": country, "vat_id": vatID,
	} {
		f.Set(name, text)
	}
}

func TestCheckout_MakesTheInvoiceForACompany(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	form := fill(s.held(t, who, 2), "Ann", "ann@example.org")
	const offer = "I need an invoice for a company"
	if _, page := s.page(t, who, "/events/evening/checkout"); strings.Contains(page, offer) {
		t.Error("a team without invoices asks for a company")
	}
	s.exec(t, sellerSQL)
	if _, page := s.page(t, who, "/events/evening/checkout"); !strings.Contains(page, offer) || !strings.Contains(page, `<option value="AT" selected>Austria</option>`) {
		t.Error("the checkout does not ask for a company")
	}
	company(form, "AT", "DE136695976")
	_, page := s.leads(t, who, form)
	for what, want := range map[string]string{
		"the mistake": "The VAT ID is from another country than the company.", "what was typed": `value="Acme & Co"`, "the ticked box": `value="yes" checked`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("after a wrong VAT ID the page lacks %s: %s", what, between(page, `name="company"`, "</label>"))
		}
	}
	company(form, "AT", "ATU13585628")
	if _, page := s.leads(t, who, form); !strings.Contains(page, "This VAT ID is not valid.") {
		t.Error("a wrong check digit is not named")
	}
	company(form, "AT", "atu 1358 5627")
	a, _ := s.post(t, who, form)
	at := a.Header.Get("Location")
	code := strings.TrimPrefix(at, "/orders/")
	l, err := Letters{Inventory: s.office, Orders: orders.New(s.db), Invoices: s.config.Invoices, URL: s.url}.Write(t.Context(), mail.Mail{ID: 1, Order: code, Kind: orders.MailConfirmation})
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(regexp.QuoteMeta(s.url+at) + `/invoices/\d{4}-000001\.pdf`).FindString(l.Text)
	if link == "" || !strings.Contains(l.HTML, `href="`+link+`"`) {
		t.Fatalf("the mail has no link to the invoice: %s", l.Text)
	}
	if a, pdf := send(t, who, "GET", link, ""); a.StatusCode != http.StatusOK || !strings.HasPrefix(pdf, "%PDF") {
		t.Errorf("the invoice in the mail: %d", a.StatusCode)
	}
	path := strings.TrimSuffix(strings.TrimPrefix(link, s.url), ".pdf") + ".xml"
	if _, page := s.page(t, who, at); !strings.Contains(page, `href="`+path+`"`) {
		t.Error("the page of the order has no electronic invoice")
	}
	_, xml := send(t, who, "GET", s.url+path, "")
	for _, want := range []string{"<ram:Name>Acme &amp; Co</ram:Name>", "<ram:PersonName>Ann</ram:PersonName>", "<ram:LineOne>Lane 2</ram:LineOne>", "ATU13585627</ram:ID>", "<ram:CountryID>AT</ram:CountryID>"} {
		if !strings.Contains(xml, want) {
			t.Errorf("the electronic invoice lacks %s", want)
		}
	}
}

func TestCheckout_CompaniesOfOtherCountriesOweTheTaxOfOnlineEvents(t *testing.T) {
	t.Parallel()
	for _, online := range []bool{true, false} {
		db := seatstest.DB(t)
		s := newSiteIn(t, db, events.Settings{Online: seats.Online{On: online}}, func(*Config) {
			for _, sql := range []string{sellerSQL, `UPDATE event SET price_rules = '{"tax": {"name": "VAT", "rate": 20000, "fee_rate": 20000}}'`} {
				if _, err := db.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
		})
		who := person(t)
		hold := s.held(t, who, 2)
		form := fill(hold, "Ann", "ann@example.org")
		company(form, "DE", "DE136695976")
		form.Set("check", "1")
		a, _ := s.post(t, who, form)
		_, page := s.page(t, who, a.Header.Get("Location"))
		form.Del("check")
		total, net := int(hold.Total), int(hold.Total)
		if online {
			net -= 2 * ((total/2*20 + 60) / 120) // the tax of each ticket, rounded
		}
		if shown := between(page, `name="total" value="`, `"`); shown != jsonNumber(net) {
			t.Errorf("online %t: the page says %s, want %d", online, shown, net)
		}
		if online {
			form.Set("total", jsonNumber(total))
			if _, page := s.leads(t, who, form); !strings.Contains(page, "which is not what the page showed") {
				t.Error("the total without tax is not shown before it is ordered")
			}
		}
		form.Set("total", jsonNumber(net))
		a, _ = s.post(t, who, form)
		order := s.orderAt(t, s.url+a.Header.Get("Location"))
		if int(order.Total) != net {
			t.Errorf("online %t: the order costs %d, want %d", online, order.Total, net)
		}
		list, err := s.config.Invoices.Of(t.Context(), order.Code)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if d := list[0]; d.Reverse != online || (d.Tax == 0) != online || d.Buyer.VATID != "DE136695976" {
			t.Errorf("online %t: the invoice is %+v", online, d)
		}
		xml, err := list[0].XML()
		if err != nil || strings.Contains(string(xml), "<ram:CategoryCode>AE<") != online {
			t.Errorf("online %t: %v %s", online, err, xml)
		}
	}
}

// register speaks as VIES does: it has one VAT ID, and the register of France is away.
func register(t *testing.T) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer := map[string]string{"/ms/DE/vat/136695976": `{"isValid": true, "userError": "VALID"}`, "/ms/FR/vat/40303265045": `{"isValid": false, "userError": "MS_UNAVAILABLE"}`}[r.URL.Path]
		_, _ = io.WriteString(w, cmp.Or(answer, `{"isValid": false, "userError": "INVALID"}`))
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestCheckout_LooksVATIDsUpWhereVIESIsSwitchedOn(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Online: seats.Online{On: true, Link: "https://example.org/show"}})
	s.exec(t, sellerSQL)
	address, asked := register(t)
	order := func(country, id string) string {
		who := person(t)
		form := fill(s.held(t, who, 1), "Ann", "ann@example.org")
		company(form, country, id)
		a, _ := s.post(t, who, form)
		_, page := s.page(t, who, a.Header.Get("Location"))
		return page
	}
	const none = "VIES, the register of the EU, does not have this VAT ID."
	if page := order("AT", "ATU13585627"); strings.Contains(page, none) || asked.Load() != 0 {
		t.Error("a VAT ID was looked up although VIES is not switched on")
	}
	s.config.Invoices.VIES.Address = address
	for id, refused := range map[[2]string]bool{{"AT", "ATU13585627"}: true, {"DE", "DE136695976"}: false, {"FR", "FR40303265045"}: false, {"CH", "CHE107787577"}: false} {
		if page := order(id[0], id[1]); strings.Contains(page, none) != refused {
			t.Errorf("%s: refused is %t", id[1], !refused)
		}
	}
	before := asked.Load()
	if order("AT", "ATU13585627"); asked.Load() != before {
		t.Error("what VIES said an hour ago is asked again")
	}
}
