package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/payments/banktransfer"
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

// A company of another country of the EU confirms for an online event: it owes the tax, as it does at the checkout. A VAT ID that VIES does not
// have is refused.
func TestBookings_UseTheVATIDOfTheCompany(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Online: seats.Online{On: true, Link: "https://example.org/show"}, Rules: &seats.PriceRules{Tax: seats.Tax{Name: "VAT", Rate: 20000, FeeRate: 20000}}})
	ann := s.owner(t)
	s.exec(t, sellerSQL)
	path := s.group(t, ann, url.Values{"number": {"2"}, "price." + s.sale.Prices.Types[0].Key: {"12.00"}})
	form := url.Values{"due": {"2029-02-01T10:00"}, "total": {"2400"}, "company": {"Reisen GmbH"}, "street": {"Gasse 2"}, "city": {"Berlin"}, "country": {"DE"}, "vat_id": {"DE136695976"}}
	s.refused(t, ann, path+"/order", form, http.StatusConflict, "cost €20 now", "Confirm for €20") // the total of that company is shown
	form.Set("total", "2000")
	s.does(t, ann, path+"/order", form)
	list, err := s.config.Invoices.Of(t.Context(), s.booking(t, ann, path).Order)
	if err != nil || len(list) != 1 || list[0].Buyer.VATID != "DE136695976" || !list[0].Reverse || list[0].Tax != 0 || list[0].Gross != 2000 {
		t.Errorf("the invoices are %+v, %v", list, err)
	}
	address, _ := register(t)
	s.config.Invoices.VIES.Address = address
	form.Set("country", "AT")
	form.Set("vat_id", "ATU13585627")
	s.refused(t, ann, s.group(t, ann, url.Values{"number": {"1"}})+"/order", form, http.StatusUnprocessableEntity, "does not have this VAT ID")
	s.wantBooks(t)
}

// group takes an option until 2029 with these fields, and returns its address.
func (s *site) group(t *testing.T, who *http.Client, form url.Values) string {
	t.Helper()
	for field, text := range map[string]string{"name": "Eva Roth", "email": "eva@example.org", "until": "2029-01-01T10:00"} {
		form.Set(field, text)
	}
	s.does(t, who, "/desk/events/evening/bookings", form)
	var id string
	if err := s.db.QueryRow(t.Context(), `SELECT id::text FROM booking ORDER BY n DESC LIMIT 1`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return "/desk/events/evening/bookings/" + id
}

// A school pays a deposit by bank transfer, which the final invoice names. A deposit in cash is in the till and its report, and goes back out of it.
func TestDeposit_IsPaidAndOnTheFinalInvoice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.exec(t, sellerSQL)
	s.does(t, ann, "/desk/bank", url.Values{"holder": {"Haus"}, "iban": {"DE75512108001245126199"}})
	key := s.sale.Prices.Types[0].Key
	path := s.group(t, ann, url.Values{"number": {"4"}, "price." + key: {"5.00"}, "deposit": {"20%"}, "deposit_due": {"2028-12-01T10:00"}, "deposit_refundable": {"2028-12-15T10:00"}})
	link := regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, path)))
	if _, parts := s.arriving(t, bookings.MailOption); !strings.Contains(parts["text/plain"], "Deposit of €4, due on") || !strings.Contains(parts["text/plain"], link) || !strings.Contains(parts["text/plain"], "Refundable until") {
		t.Errorf("the mail is %s", parts["text/plain"])
	}
	guest := person(t)
	for _, want := range []string{"Deposit of €4, due on", "DE75 5121 0800 1245 1261 99", "Refundable until Fri 15 December 2028"} {
		if _, page := s.page(t, guest, link); !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, words(page))
		}
	}
	if a, _ := s.page(t, guest, "/deposits/none"); a.StatusCode != http.StatusNotFound {
		t.Errorf("a link of none: %d", a.StatusCode)
	}
	ask := url.Values{"name": {"Eva Roth"}, "email": {"eva@example.org"}, "until": {"2029-01-01T10:00"}, "price." + key: {"5.00"}}
	s.does(t, ann, path, ask)
	if _, page := s.page(t, guest, link); !strings.Contains(page, "Deposit of €4, due on") {
		t.Errorf("a change that does not name the deposit leaves %s", words(page))
	}
	ask.Set("deposit", "")
	s.does(t, ann, path, ask)
	if a, page := s.page(t, guest, link); a.StatusCode != http.StatusOK || !strings.Contains(page, "Do not pay it.") || strings.Contains(page, "IBAN") {
		t.Errorf("withdrawn, the page is %s", words(page))
	}
	ask.Set("deposit", "20%")
	ask.Set("deposit_due", "2028-12-01T10:00")
	ask.Set("deposit_refundable", "2028-12-15T10:00")
	s.does(t, ann, path, ask)
	s.refused(t, ann, path+"/deposit/payment", url.Values{"method": {"invoice"}, "amount": {"500"}}, http.StatusConflict, "The deposit is €4 now")
	s.does(t, ann, path+"/deposit/payment", url.Values{"method": {"invoice"}, "amount": {"400"}})
	if _, page := s.page(t, guest, link); !strings.Contains(page, "We received the deposit of €4") || strings.Contains(page, "IBAN") {
		t.Errorf("paid, the page is %s", words(page))
	}
	s.does(t, ann, path+"/order", url.Values{"due": {"2029-02-01T10:00"}, "total": {"2000"}, "company": {"Rote Schule"}, "street": {"Gasse 2"}, "city": {"Graz"}, "country": {"AT"}, "vat_id": {"ATU13585627"}})
	k := s.booking(t, ann, path)
	if k.Total != 2000 || k.Due != 1600 {
		t.Errorf("confirmed, it is %+v", k)
	}
	list, err := s.config.Invoices.Of(t.Context(), k.Order)
	if err != nil || len(list) != 1 || list[0].Gross != 2000 || list[0].Due() != 1600 || list[0].Deposit == nil || list[0].Deposit.Amount != 400 || len(list[0].Deposit.Rates) != 1 || list[0].Deposit.Rates[0].Amount != 400 || list[0].Buyer.VATID != "ATU13585627" {
		t.Fatalf("the invoices are %+v, %v", list, err)
	}
	if said := list[0].LessDeposit(t.Context()); said != "Less deposit of 4.00 EUR, paid on "+list[0].Deposit.On+" ("+list[0].Deposit.Label+")" {
		t.Errorf("the invoice says %q", said)
	}
	xml, err := list[0].XML()
	for _, want := range []string{"<ram:TotalPrepaidAmount>4.00<", "<ram:DuePayableAmount>16.00<", "<ram:GrandTotalAmount>20.00<"} {
		if err != nil || !strings.Contains(string(xml), want) {
			t.Errorf("the XML lacks %s: %v %s", want, err, xml)
		}
	}
	if a, pdf := send(t, ann, "GET", s.url+"/orders/"+k.Order+"/invoices/"+list[0].Label+".pdf", ""); a.StatusCode != http.StatusOK || !strings.HasPrefix(pdf, "%PDF") {
		t.Errorf("the invoice: %d", a.StatusCode)
	}
	s.does(t, ann, "/desk/events/evening/orders/"+k.Order+"/cancellations", url.Values{"all": {"on"}})
	if _, page := s.page(t, guest, link); !strings.Contains(page, "The order was cancelled.") || strings.Contains(page, "Your booking is confirmed") {
		t.Errorf("of an order that was cancelled, the page is %s", words(page))
	}
	path = s.group(t, ann, url.Values{"number": {"2"}, "deposit": {"1.00"}, "deposit_due": {"2028-12-01T10:00"}})
	link = regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, path)))
	paid := s.group(t, ann, url.Values{"number": {"2"}, "deposit": {"1.00"}, "deposit_due": {"2028-12-01T10:00"}})
	s.does(t, ann, paid+"/deposit/payment", url.Values{"method": {"invoice"}})
	s.does(t, ann, "/desk/events/evening/status", url.Values{"status": {"cancelled"}})
	if _, page := s.page(t, ann, "/desk"); !strings.Contains(page, "Decide about a deposit of €1") {
		t.Errorf("the home is %s", words(page))
	}
	if page := body(s.page(t, ann, paid)); !strings.Contains(page, "The event was cancelled. Pay the deposit back") || strings.Contains(page, "Retain the deposit") {
		t.Errorf("the booking is %s", words(page))
	}
	if page := body(s.page(t, guest, regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, paid))))); !strings.Contains(page, "We pay the deposit of €1 back to you.") || strings.Contains(page, "may keep") {
		t.Errorf("the group reads %s", words(page))
	}
	s.does(t, ann, paid+"/deposit/end", url.Values{"outcome": {"refunded"}, "method": {"invoice"}})
	if _, page := s.page(t, guest, link); !strings.Contains(page, "Do not pay it.") || strings.Contains(page, "IBAN") {
		t.Errorf("of an event that was cancelled, the page is %s", words(page))
	}
	s.wantBooks(t)
}

// A transfer with the reference of a deposit is noted as the deposit, and applied to no order besides.
func TestDeposit_InABankStatementIsNotCountedTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	statement := func(key, path string) (entry string) {
		t.Helper()
		id, err := seats.ParseID(path[strings.LastIndex(path, "/")+1:])
		if err != nil {
			t.Fatal(err)
		}
		if a, page := s.hands(t, ann, key, "Date,Amount,Text,Name,ID\n2030-03-01,4.00,"+banktransfer.Reference(id)+",Eva,"+key+"\n"); a.StatusCode != http.StatusOK {
			t.Fatal(words(page))
		}
		if err := s.db.QueryRow(t.Context(), `SELECT id::text FROM statement_entry WHERE state = 'open'`).Scan(&entry); err != nil {
			t.Fatal(err)
		}
		return "/desk/bank/entries/" + entry
	}
	ask := url.Values{"number": {"2"}, "organisation": {"Rote Schule"}, "deposit": {"4.00"}, "deposit_due": {"2028-12-01T10:00"}}
	path, other := s.group(t, ann, ask), s.group(t, ann, url.Values{"number": {"2"}})
	s.does(t, ann, other+"/order", url.Values{"due": {"2029-02-01T10:00"}})
	order := url.Values{"order": {s.booking(t, ann, other).Order}}
	entry := statement("first", path)
	id := entry[strings.LastIndex(entry, "/")+1:]
	if _, page := s.page(t, ann, "/desk/bank"); !strings.Contains(page, "deposit of €4") || !strings.Contains(page, path+"/deposit/payment") || !strings.Contains(page, "Rote Schule") {
		t.Errorf("the entry is %s", words(page))
	}
	s.refused(t, ann, entry, order, http.StatusConflict, "is the deposit of a group")
	s.refused(t, ann, other+"/deposit/payment", url.Values{"method": {"invoice"}, "entry": {id}}, http.StatusConflict, "not asked for a deposit")
	s.does(t, ann, path+"/deposit/payment", url.Values{"method": {"invoice"}, "amount": {"400"}, "entry": {id}})
	s.refused(t, ann, entry, order, http.StatusConflict, "applied or set aside before")

	entry = statement("second", path) // with the reference of the deposit, but another payment
	s.does(t, ann, entry, order)
	if k := s.booking(t, ann, other); k.Due != k.Total-400 {
		t.Errorf("applied, it is %+v", k)
	}
	path = s.group(t, ann, ask)
	s.does(t, ann, path+"/deposit/payment", url.Values{"method": {"invoice"}}) // by hand, before the statement
	entry = statement("third", path)
	if _, page := s.page(t, ann, "/desk/bank"); !strings.Contains(page, "noted as paid by bank transfer before") || strings.Contains(page, "/deposit/payment") {
		t.Errorf("the entry is %s", words(page))
	}
	s.refused(t, ann, entry, order, http.StatusConflict, "is the deposit of a group")
	s.refused(t, ann, path+"/deposit/payment", url.Values{"method": {"invoice"}, "entry": {entry[strings.LastIndex(entry, "/")+1:]}}, http.StatusConflict, "noted as paid before")
	s.does(t, ann, entry, url.Values{"aside": {"yes"}})
	s.wantBooks(t)
}

func TestDeposit_InCashIsInTheTill(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	path := s.group(t, ann, url.Values{"number": {"2"}, "deposit": {"7.50"}, "deposit_due": {"2028-12-01T10:00"}})
	s.refused(t, ann, path+"/deposit/payment", url.Values{"till": {"cash"}}, http.StatusConflict, "Your till is closed")
	var session struct{ ID int64 }
	s.asks(t, ann, "POST", "/desk/till/sessions", `{"key":"o","currency":"EUR","zone":"UTC","float":"100"}`, http.StatusCreated, &session)
	s.does(t, ann, path+"/deposit/payment", url.Values{"till": {"cash"}})
	type report struct {
		Taken, Expected int64
		Lines           []struct {
			Kind   string
			Amount int64
		}
	}
	var seen report
	at := "/desk/till/sessions/" + strconv.FormatInt(session.ID, 10)
	s.asks(t, ann, "GET", at, "", http.StatusOK, &seen)
	if len(seen.Lines) != 1 || seen.Lines[0].Kind != "deposit" || seen.Lines[0].Amount != 750 {
		t.Errorf("the session is %+v", seen)
	}
	s.does(t, ann, path+"/cancellation", url.Values{})
	s.does(t, ann, path+"/deposit/end", url.Values{"outcome": {"refunded"}, "till": {"cash"}})
	if _, page := s.page(t, ann, at); !strings.Contains(page, "Deposits of groups, in cash") || !strings.Contains(page, "Deposits paid back") {
		t.Errorf("the session says %s", words(page))
	}
	kept := s.group(t, ann, url.Values{"number": {"2"}, "deposit": {"3.00"}, "deposit_due": {"2028-12-01T10:00"}})
	s.does(t, ann, kept+"/deposit/payment", url.Values{"till": {"cash"}})
	s.does(t, ann, kept+"/cancellation", url.Values{})
	s.does(t, ann, kept+"/deposit/end", url.Values{"outcome": {"retained"}})
	var closed report
	s.asks(t, ann, "POST", at+"/closing", `{"key":"c","counted":"103.00"}`, http.StatusOK, &closed)
	if closed.Taken != 0 || closed.Expected != 10300 {
		t.Errorf("the Z report is %+v", closed)
	}
	if _, page := s.page(t, ann, "/desk/books?by=method"); !strings.Contains(page, "by deposit") {
		t.Errorf("the books have no deposit that was retained: %s", words(page))
	}
	s.wantBooks(t)
}

// body is the page of an answer.
func body(_ *http.Response, page string) string { return page }

// Until a deposit is paid back, the team knows to whom.
func TestDeposit_ContactIsErasedOnceItIsOver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	path := s.group(t, ann, url.Values{"number": {"2"}, "deposit": {"4.00"}, "deposit_due": {"2028-12-01T10:00"}})
	s.does(t, ann, path+"/deposit/payment", url.Values{"method": {"invoice"}})
	s.does(t, ann, path+"/cancellation", url.Values{})
	s.refused(t, ann, "/desk/privacy/erasures", url.Values{"email": {"eva@example.org"}, "confirm": {"eva@example.org"}}, http.StatusConflict, "Deposits of groups that are not in an order yet: 1.")
	email := func() (email string) {
		t.Helper()
		if err := s.db.QueryRow(t.Context(), `SELECT email FROM booking`).Scan(&email); err != nil {
			t.Fatal(err)
		}
		return email
	}
	erase := func() bool {
		t.Helper()
		all, err := s.config.Privacy.EraseEvent(t.Context(), s.sale.Event.ID, s.sale.Event.Team)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := erase(); all || email() != "eva@example.org" {
		t.Errorf("with an open deposit, all is erased: %t, the address is %q", all, email())
	}
	s.does(t, ann, path+"/deposit/end", url.Values{"outcome": {"refunded"}, "method": {"invoice"}})
	if all := erase(); !all || email() != "" {
		t.Errorf("once it is paid back, all is erased: %t, the address is %q", all, email())
	}
	s.wantBooks(t)
}

// Money that is being paid online, or goes back, keeps its contact.
func TestDeposit_ContactIsErasedOnceItsOnlineMoneyIsOver(t *testing.T) {
	t.Parallel()
	s, _ := newStripeSite(t)
	ann, guest := s.owner(t), person(t)
	path := s.group(t, ann, url.Values{"number": {"2"}, "deposit": {"4.00"}, "deposit_due": {"2028-12-01T10:00"}})
	link := regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, path)))
	if a, page := s.submit(t, guest, link+"/payments", url.Values{"amount": {"400"}, "key": {"pay"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("paying gets %d %s", a.StatusCode, words(page))
	}
	wants := func(what string, erased bool) {
		t.Helper()
		all, err := s.config.Privacy.EraseEvent(t.Context(), s.sale.Event.ID, s.sale.Event.Team)
		if n := s.count(t, `booking WHERE email <> ''`); err != nil || all != erased || (n == 0) != erased {
			t.Errorf("%s, all is erased: %t, %d addresses are left, %v", what, all, n, err)
		}
	}
	s.refused(t, ann, "/desk/privacy/erasures", url.Values{"email": {"eva@example.org"}, "confirm": {"eva@example.org"}}, http.StatusConflict, "Deposits of groups that are not in an order yet: 1.")
	wants("while it is being paid", false)
	s.exec(t, `UPDATE deposit_payment SET state = 'refunding', captured_at = clock_timestamp(), next_try = clock_timestamp() + interval '1 hour'`)
	wants("on its way back", false)
	s.exec(t, `UPDATE deposit_payment SET state = 'refunded', refunded_at = clock_timestamp(), next_try = created_at`)
	wants("back", true)
}

// documents are those of a deposit as programs get them: what each comes to by kind and number.
func (s *site) documents(t *testing.T, who *http.Client, link string) (list []string) {
	t.Helper()
	var answer struct {
		Documents []web.InvoiceBody `json:"documents"`
	}
	_, body := send(t, who, "GET", s.url+link, "")
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err, body)
	}
	for _, d := range answer.Documents {
		list = append(list, fmt.Sprintf("%s %s %d %s", d.Number, d.Kind, d.Gross, d.Corrects))
	}
	return list
}

// A deposit has a number in the one row of numbers. Other terms are credited first, and the invoice of the order takes it off.
func TestDepositInvoice_HasANumberOfTheTeamAndIsTakenOffTheFinalOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, guest := s.owner(t), person(t)
	s.exec(t, sellerSQL)
	key := s.sale.Prices.Types[0].Key
	ask := url.Values{"number": {"4"}, "price." + key: {"5.00"}, "organisation": {"Rote Schule"}, "deposit": {"20%"}, "deposit_due": {"2028-12-01T10:00"}}
	path := s.group(t, ann, ask)
	link := regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, path)))
	year := func(n int) string { return fmt.Sprintf("%d-%06d", time.Now().Year(), n) }
	wants := func(what string, want ...string) {
		t.Helper()
		if got := s.documents(t, guest, link); !slices.Equal(got, want) {
			t.Errorf("%s, the documents are %q, want %q", what, got, want)
		}
	}
	first := year(1) + " deposit 400 "
	wants("asked for", first)
	if a, page := s.page(t, guest, link); !strings.Contains(page, "Deposit invoice "+year(1)) {
		t.Errorf("the page has no invoice: %d %s", a.StatusCode, words(page))
	}
	for _, at := range []string{link + "/invoices/" + year(1) + ".pdf", "/desk/invoices/" + year(1) + ".pdf"} {
		if a, pdf := send(t, ann, "GET", s.url+at, ""); a.StatusCode != http.StatusOK || !strings.HasPrefix(pdf, "%PDF") {
			t.Errorf("%s: %d", at, a.StatusCode)
		}
	}
	if _, page := s.page(t, ann, path); !strings.Contains(page, link+"/invoices/"+year(1)+".pdf") {
		t.Errorf("the booking has no invoice: %s", words(page))
	}
	change := url.Values{"name": {"Eva Roth"}, "email": {"eva@example.org"}, "organisation": {"Rote Schule"}, "until": {"2029-01-01T10:00"}, "price." + key: {"5.00"}, "deposit": {"6.00"}, "deposit_due": {"2028-12-01T10:00"}}
	s.does(t, ann, path, change)
	second := year(3) + " deposit 600 "
	wants("with other terms", first, year(2)+" credit 400 "+year(1), second)
	s.does(t, ann, path+"/deposit/payment", url.Values{"method": {"invoice"}})
	wants("paid", first, year(2)+" credit 400 "+year(1), second)
	s.does(t, ann, path+"/order", url.Values{"due": {"2029-02-01T10:00"}})
	wants("in the order", first, year(2)+" credit 400 "+year(1), second)
	list, err := s.config.Invoices.Of(t.Context(), s.booking(t, ann, path).Order)
	if err != nil || len(list) != 1 || list[0].Label != year(4) || list[0].Gross != 2000 || list[0].Due() != 1400 || list[0].Deposit.Label != year(3) {
		t.Fatalf("the final invoice is %+v, %v", list, err)
	}
	_, csv := send(t, ann, "GET", s.url+fmt.Sprintf("/desk/invoices/%d.csv", time.Now().Year()), "")
	sum := 0.0
	for _, line := range strings.Split(strings.TrimSpace(csv), "\n")[1:] {
		fields := strings.Split(strings.TrimSpace(line), ",")
		gross, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			t.Fatal(err, line)
		}
		sum += gross
	}
	if sum != 20 {
		t.Errorf("the list of invoices comes to %v, and the order to 20: %s", sum, csv)
	}

	given := s.group(t, ann, ask)
	link = regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, given)))
	wants("asked for", year(5)+" deposit 400 ")
	s.does(t, ann, given+"/cancellation", url.Values{})
	wants("of an option that was cancelled", year(5)+" deposit 400 ", year(6)+" credit 400 "+year(5))
	kept := s.group(t, ann, ask)
	link = regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, kept)))
	s.does(t, ann, kept+"/deposit/payment", url.Values{"method": {"cash"}})
	s.does(t, ann, kept+"/cancellation", url.Values{})
	wants("before it is decided", year(7)+" deposit 400 ")
	s.does(t, ann, kept+"/deposit/end", url.Values{"outcome": {"retained"}})
	wants("retained", year(7)+" deposit 400 ", year(8)+" credit 400 "+year(7))
	s.wantBooks(t)
}

func TestDepositOnline_IsPaidBackOnceTheProviderSaysSo(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	ann, guest := s.owner(t), person(t)
	path := s.group(t, ann, url.Values{"number": {"4"}, "deposit": {"8.00"}, "deposit_due": {"2028-12-01T10:00"}})
	link := regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, path)))
	s.submit(t, guest, link+"/payments", url.Values{"amount": {"800"}, "key": {"pay"}})
	s.page(t, guest, link+"?go")
	bank.Pays(bank.Sessions()[0].ID, false)
	if _, page := s.page(t, guest, link+"?back"); !strings.Contains(page, "We received the deposit of €8") {
		t.Fatalf("paid, the page is %s", words(page))
	}
	s.does(t, ann, path+"/cancellation", url.Values{})
	bank.Down(true)
	s.does(t, ann, path+"/deposit/end", url.Values{"outcome": {"refunded"}, "method": {"card"}})
	if _, page := s.page(t, guest, link); !strings.Contains(page, "We pay the deposit of €8 back to you.") || strings.Contains(page, "We paid the deposit") {
		t.Error("the page does not say that the money is on its way")
	}
	if _, page := s.page(t, ann, path); !strings.Contains(page, "Refund on its way") || strings.Contains(page, ">Paid back<") {
		t.Error("the booking does not say that the money is on its way")
	}
	bank.Down(false)
	s.exec(t, `UPDATE deposit_payment SET next_try = clock_timestamp()`)
	eventually(t, "the money is back", func() bool { return s.count(t, `deposit_payment WHERE state = 'refunded'`) == 1 })
	if _, page := s.page(t, guest, link); !strings.Contains(page, "We paid the deposit of €8 back") {
		t.Error("the page does not say that the money is back")
	}
	s.wantBooks(t)
}

func TestDepositOnline_IsNotCountedWithGiftCards(t *testing.T) {
	t.Parallel()
	s, _ := newStripeSite(t)
	ann, guest := s.owner(t), person(t)
	path := s.group(t, ann, url.Values{"number": {"4"}, "deposit": {"8.00"}, "deposit_due": {"2028-12-01T10:00"}})
	link := regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, path)))
	here := uint64(web.NetworkOf(newRequest(t, "127.0.0.1:4711")))
	s.config.Limits.Take(limit.With(web.CountsGiftCards, here), 1, limit.Per(1, time.Minute), time.Now().Add(time.Hour)) // it has none left for an hour
	if a, page := s.submit(t, guest, link+"/payments", url.Values{"amount": {"800"}, "key": {"pay"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("paying gets %d %s", a.StatusCode, words(page))
	}
}

func TestDepositInvoice_IsCreditedOnceItsEventIsCancelled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, guest := s.owner(t), person(t)
	s.exec(t, sellerSQL)
	path := s.group(t, ann, url.Values{"number": {"4"}, "deposit": {"8.00"}, "deposit_due": {"2028-12-01T10:00"}})
	link := regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, path)))
	first := fmt.Sprintf("%d-%06d", time.Now().Year(), 1)
	wants := func(what string, want ...string) {
		t.Helper()
		if got := s.documents(t, guest, link); !slices.Equal(got, want) {
			t.Errorf("%s, the documents are %q, want %q", what, got, want)
		}
	}
	wants("asked for", first+" deposit 800 ")
	s.does(t, ann, "/desk/events/evening/status", url.Values{"status": {"cancelled"}})
	wants("cancelled", first+" deposit 800 ", fmt.Sprintf("%d-%06d credit 800 %s", time.Now().Year(), 2, first))
}

// A group pays its deposit on the page of the link, at Stripe. A webhook and the return to the page tell of it twice.
func TestDepositOnline_IsPaidOnTheGroupsPage(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	ann, guest := s.owner(t), person(t)
	s.exec(t, sellerSQL)
	path := s.group(t, ann, url.Values{"number": {"4"}, "deposit": {"8.00"}, "deposit_due": {"2028-12-01T10:00"}})
	link := regexp.MustCompile(`/deposits/\w+`).FindString(body(s.page(t, ann, path)))
	if _, page := s.page(t, guest, link); !strings.Contains(page, "Pay €8") {
		t.Fatalf("the page has no way to pay: %s", words(page))
	}
	if a, page := s.submit(t, guest, link+"/payments", url.Values{"amount": {"700"}, "key": {"other"}}); a.StatusCode != http.StatusConflict || !strings.Contains(page, "The deposit is €8 now") {
		t.Errorf("another amount gets %d %s", a.StatusCode, words(page))
	}
	for range 2 {
		if a, page := s.submit(t, guest, link+"/payments", url.Values{"amount": {"800"}, "key": {"pay"}}); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != link+"?go" {
			t.Fatalf("paying gets %d %s", a.StatusCode, words(page))
		}
	}
	if a, page := s.page(t, guest, link+"?go"); !strings.HasPrefix(a.Header.Get("Refresh"), "0; url="+bank.URL) || !strings.Contains(page, "Continue payment") {
		t.Errorf("the page leads to %q: %s", a.Header.Get("Refresh"), words(page))
	}
	all := bank.Sessions()
	if len(all) != 1 {
		t.Fatalf("the provider has %d payments", len(all))
	}
	if _, page := s.page(t, ann, path); !strings.Contains(page, "The group is paying €8 online.") {
		t.Errorf("the booking is %s", words(page))
	}
	bank.Pays(all[0].ID, false)
	s.tells(t, bank.Event(all[0].ID, "checkout.session.completed"))
	if _, page := s.page(t, guest, link+"?back"); !strings.Contains(page, "We received the deposit of €8") || strings.Contains(page, "Pay €8") {
		t.Errorf("paid, the page is %s", words(page))
	}
	if _, page := s.page(t, ann, path); !strings.Contains(page, ", by card") || strings.Contains(page, "Paid in cash") {
		t.Errorf("the booking is %s", words(page))
	}
	if a, body := send(t, guest, "POST", s.url+link+"/payments", `{"amount":800}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, "not to be paid any more") {
		t.Errorf("paying once more gets %d %s", a.StatusCode, body)
	}
	s.does(t, ann, path+"/order", url.Values{"due": {"2029-02-01T10:00"}})
	if k := s.booking(t, ann, path); k.Due != k.Total-800 {
		t.Errorf("confirmed, it is %+v", k)
	}
	s.wantBooks(t)
}
