package handlers

import (
	"encoding/base32"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
)

// crockford is the alphabet of codes.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// places orders a number of places by the form and returns the order.
func (s *site) places(t *testing.T, n int, name string) web.OrderBody {
	t.Helper()
	who := person(t)
	a, body := s.post(t, who, fill(s.held(t, who, n), name, "ann@example.org"))
	code, ok := strings.CutPrefix(a.Header.Get("Location"), "/orders/")
	if !ok {
		t.Fatalf("%q: %d %.300s", name, a.StatusCode, body)
	}
	order, _ := s.orderOf(t, code)
	return order
}

func TestBadInputHasItsStatusAndItsSentenceAndLosesNothing(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	hold, mine, theirs := s.held(t, who, 2), s.places(t, 2, "Ann"), s.places(t, 1, "Bob")
	door, err := s.sold.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, body := send(t, who, "POST", s.url+"/account/links", `{"email":"late@example.org"}`); a.StatusCode != http.StatusAccepted {
		t.Fatal(a.StatusCode, body)
	}
	late := s.token(t, "late@example.org")
	s.exec(t, `UPDATE link SET expires_at = now()`)
	good := fmt.Sprintf(`{"hold":%q,"seats":[%q,%q],"name":"Ann","email":"ann@example.org","method":"door","total":%d}`, hold.ID, hold.Seats[0], hold.Seats[1], hold.Total)
	with := func(old, text string) string { return strings.Replace(good, old, text, 1) }
	form := func(change func(url.Values)) string {
		f := fill(hold, "Ann", "ann@example.org")
		change(f)
		return f.Encode()
	}
	set := func(field, value string) string { return form(func(f url.Values) { f.Set(field, value) }) }
	order, cancel := "/events/evening/orders", "/orders/"+mine.Code+"/cancellations"
	cancelling := func(key, ticket string) string { return fmt.Sprintf(`{"key":%q,"tickets":[%q]}`, key, ticket) }
	for _, bad := range []struct {
		name, path, body, kind string
		status                 int
		says                   string
	}{
		{"an amount of one's own", order, with(`"total":`, `"total":1`), "", 409, "Check the new total"},
		{"no amount", order, with(fmt.Sprintf(`,"total":%d`, hold.Total), ""), "", 422, "has no total"},
		{"a negative amount", order, with(`{`, `{"amount":-500,`), "", 422, "amount"},
		{"a foreign currency", order, with(`{`, `{"currency":"XTS",`), "", 422, "currency"},
		{"free, what is not", order, with(`"door"`, `"free"`), "", 422, "Choose how to pay"},
		{"free, by the form", order, set("method", "free"), asForm, 303, "Choose how to pay"},
		{"credit without signing in", order, with(`"door"`, `"credit"`), "", 422, "Sign in"},
		{"no seats", order, with(fmt.Sprintf("%q,%q", hold.Seats[0], hold.Seats[1]), ""), "", 404, "no seats held"},
		{"fewer seats than are held", order, with(fmt.Sprintf(",%q", hold.Seats[1]), ""), "", 409, "changed since"},
		{"a seat twice", order, with(fmt.Sprintf("%q]", hold.Seats[1]), fmt.Sprintf("%q]", hold.Seats[0])), "", 409, "Nothing was sold"},
		{"a seat that is not there", order, set("seat", "Moon/1"), asForm, 404, "no seat of that name"},
		{"a hold that is none", order, set("hold", "x"), asForm, 422, "id of its hold"},
		{"a name of 10 MB", order, with("Ann", strings.Repeat("a", 10<<20)), "", 413, "larger than 64 KiB"},
		{"a name of 10 MB, by the form", order, set("name", strings.Repeat("a", 10<<20)), asForm, 413, "larger than 64 KiB"},
		{"a name of 50 KB, by the form", order, set("name", strings.Repeat("a", 50<<10)), asForm, 303, "longer than 200 characters"},
		{"a name with a zero byte", order, with("Ann", `Ann\u0000`), "", 422, "cannot be printed"},
		{"a name with a zero byte, by the form", order, set("name", "Ann\x00"), asForm, 303, "cannot be printed"},
		{"an invisible name", order, set("name", "\u200b\u202e\u2060"), asForm, 303, "Enter your name"},
		{"a name that is no text", order, set("name", "Ann\xff"), asForm, 422, "not valid UTF-8"},
		{"a form that is none", order, "%zz=1", asForm, 422, "cannot be read"},
		{"an address with a name", order, set("email", "Ann <ann@example.org>"), asForm, 303, "in the format name@example.com"},
		{"an address with a header", order, set("email", "ann@example.org\r\nBcc: all@example.org"), asForm, 303, "in the format name@example.com"},
		{"two addresses", order, set("email", "a@example.org,b@example.org"), asForm, 303, "in the format name@example.com"},
		{"an address without a place", order, set("email", "ann@"), asForm, 303, "in the format name@example.com"},
		{"a negative quantity", "/events/evening/claims", `{"area":"Floor","quantity":-1}`, "", 422, "What you hold is still yours"},
		{"a negative quantity, by the form", "/events/evening/claims", "area=Floor&quantity=-1", asForm, 422, "What you hold is still yours"},
		{"half a place", "/events/evening/claims", "area=Floor&quantity=0.5", asForm, 422, "not a whole number"},
		{"another order's ticket", cancel, cancelling("k", theirs.Tickets[0].ID), "", 404, "no such ticket"},
		{"no key", cancel, cancelling("", mine.Tickets[0].ID), "", 422, "no key"},
		{"a long key", cancel, cancelling(strings.Repeat("k", 201), mine.Tickets[0].ID), "", 422, "no key"},
		{"no ticket", cancel, `{"key":"k","tickets":[]}`, "", 422, "No ticket was chosen"},
		{"an order that is not there", "/orders/" + strings.Repeat("0", 26) + "/cancellations", cancelling("k", mine.Tickets[0].ID), "", 404, "no such order"},
		{"an order's code, not quite", "/orders/" + flip(mine.Code) + "/cancellations", cancelling("k", mine.Tickets[0].ID), "", 404, "no such order"},
		{"an address that is no code", "/orders/%00%ff/mails", `{"key":"k"}`, "", 404, "no such page"},
		{"a payment that is not there", "/payments/" + flip(mine.Code) + "/stop", "", "", 404, "no such order"},
		{"a door that is not there", "/door/" + flip(door) + "/scans", `{"key":"k","code":"x"}`, "", 404, "to the door does not work"},
		{"a scan without a key", "/door/" + door + "/scans", `{"key":"","code":"x"}`, "", 422, "no key"},
		{"a link that was never sent", "/account/session", "token=AAAA", asForm, 404, "link"},
		{"an expired link", "/account/session", "token=" + late, asForm, 404, "link"},
		{"a total that is none", order, form(func(f url.Values) { f.Set("total", "½") }), asForm, 422, "not an amount"},
		{"another total than the page showed", order, form(func(f url.Values) { f.Set("total", "1") }), asForm, 303, "Check the new total"},
		{"a voucher without signing in", "/account/vouchers", "code=AAAA-BBBB-CCCC-DDDD", asForm, 401, ""},
	} {
		header := []string{"Content-Type", "application/json"}
		if bad.kind == asForm {
			header = []string{"Content-Type", asForm, "Accept", asPage}
		}
		a, body := send(t, who, "POST", s.url+bad.path, bad.body, header...)
		if at := a.Header.Get("Location"); strings.HasSuffix(at, "?told") { // the page of the checkout
			_, body = send(t, who, "GET", s.url+at, "", "Accept", asPage)
		}
		if says := html.UnescapeString(body); a.StatusCode != bad.status || !strings.Contains(says, bad.says) {
			t.Errorf("%s: %d %.400s, want %d and %q", bad.name, a.StatusCode, says, bad.status, bad.says)
		}
	}
	if counts := s.sale.Snapshot().Counts; sum(counts.Sold) != 3 || sum(counts.Held) != 2 {
		t.Errorf("sold are %v and held %v, want 3 and 2", counts.Sold, counts.Held)
	}
	if n := s.count(t, "cancellation") + s.count(t, "refund") + s.count(t, "scan") + s.count(t, "ticket WHERE revoked_at IS NOT NULL"); n != 0 {
		t.Errorf("%d things were done", n)
	}
	if n := s.count(t, "typed WHERE length(answer::text) < 3000"); n != 1 {
		t.Errorf("%d short forms are kept, want one for each who sent one", n)
	}
	extra := form(func(f url.Values) { f.Set("currency", "XTS") }) // further fields are ignored
	a, body := send(t, who, "POST", s.url+order, extra, "Content-Type", asForm, "Accept", asPage)
	if a.StatusCode != http.StatusSeeOther {
		t.Fatalf("the good one after all: %d %s", a.StatusCode, body)
	}
	code := strings.TrimPrefix(a.Header.Get("Location"), "/payments/")
	s.confirms(t, code)
	if o, _ := s.orderOf(t, code); o.Total != mine.Total || o.Currency != "EUR" || o.Due != o.Total {
		t.Errorf("it costs %d %s, want %d EUR", o.Total, o.Currency, mine.Total)
	}
	s.wantBooks(t)
}

// flip is a code with another last letter but one.
func flip(code string) string {
	letter := "0"
	if code[len(code)-2] == '0' {
		letter = "1"
	}
	return code[:len(code)-2] + letter + code[len(code)-1:]
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func TestAnyNameAndAddressIsShownAsItIsAndAsNothingElse(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{SeatsPerHolder: 100})
	s.limits(t, limit.Settings{Challenge: limit.Off, UnpaidPerEmail: 100})
	for _, name := range []string{
		"Ann", "李小龍", "عبد الرحمن", "שָׁלוֹם", "Þórdís 🎭", "👩‍👩‍👧‍👦", "Zoë\u200dX", "a\u202eb", "ไม้เอก", "नमस्ते", "O’Neill", `"><script>alert(1)</script>`, "{{.}}", "'; DROP TABLE orders; --",
		"=HYPERLINK(\"http://evil.example\")", "@SUM(A1)", "%00", "\\u0000", strings.Repeat("é", 200), "A\U0010fffd", "\ufffd", "Ａｎｎ", "ﷺ",
	} {
		order := s.places(t, 1, name)
		if order.Name != name {
			t.Errorf("%q became %q", name, order.Name)
		}
		a, page := send(t, person(t), "GET", s.url+"/orders/"+order.Code, "", "Accept", asPage)
		if a.StatusCode != http.StatusOK || !strings.Contains(html.UnescapeString(page), "<dd>"+name+"</dd>") || strings.Contains(page, "<script>alert") {
			t.Errorf("%q is not on its page as it is: %d", name, a.StatusCode)
		}
		if a, pdf := send(t, person(t), "GET", s.url+"/orders/"+order.Code+"/tickets.pdf", ""); a.StatusCode != http.StatusOK || !strings.HasPrefix(pdf, "%PDF") {
			t.Errorf("%q has no PDF: %d", name, a.StatusCode)
		}
	}
	for _, email := range []string{"ann@example.org", "ann+tickets@example.org", "jörg@example.org", "ann@bücher.example", "a@localhost", "ann@[192.0.2.1]"} {
		who := person(t)
		if a, body := s.post(t, who, fill(s.held(t, who, 1), "Ann", email)); !strings.HasPrefix(a.Header.Get("Location"), "/orders/") {
			t.Errorf("%s: %d %.200s", email, a.StatusCode, body)
		}
	}
}

func TestScan_ForgedCodeIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code := s.places(t, 1, "Ann").Tickets[0].Code
	door, err := s.sold.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := crockford.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	scan := func(key, code string) (v desk.VerdictBody) {
		t.Helper()
		a, body := send(t, http.DefaultClient, "POST", s.url+"/door/"+door+"/scans", fmt.Sprintf(`{"key":%q,"code":%q}`, key, code))
		if err := json.Unmarshal([]byte(body), &v); err != nil || a.StatusCode != http.StatusOK {
			t.Errorf("a scan: %d %s", a.StatusCode, body)
		}
		return v
	}
	for bit := range 8 * len(raw) {
		raw[bit/8] ^= 1 << (bit % 8)
		if v := scan(fmt.Sprint(bit), crockford.EncodeToString(raw)); v.Word != "unknown" || v.Message == "" || v.Name != "" {
			t.Errorf("bit %d flipped: %+v", bit, v)
		}
		raw[bit/8] ^= 1 << (bit % 8)
	}
	if n := s.count(t, "scan"); n != 0 {
		t.Errorf("%d scans are kept", n)
	}
	if v := scan("good", code); v.Word != "in" {
		t.Errorf("the good one after all: %+v", v)
	}
}

// at50 sends one form fifty times at once and returns the different answers.
func (s *site) at50(t *testing.T, who *http.Client, form url.Values) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var crowd sync.WaitGroup
	answers, start := map[string]int{}, make(chan struct{})
	for range 50 {
		crowd.Go(func() {
			<-start
			a, _ := s.post(t, who, form)
			mu.Lock()
			defer mu.Unlock()
			answers[fmt.Sprint(a.StatusCode, " ", a.Header.Get("Location"))]++
		})
	}
	close(start)
	crowd.Wait()
	return answers
}

func TestFiftyPostsOfOneFormAtOnceMakeOneOrder(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	if answers := s.at50(t, who, fill(s.held(t, who, 2), "Ann", "ann@example.org")); len(answers) != 1 || s.count(t, "orders") != 1 || s.count(t, "mail") != 2 {
		t.Errorf("the answers are %v, and there are %d orders", answers, s.count(t, "orders"))
	}
	s.wantBooks(t)
}

func TestFiftyPostsOfOneFormAtOnceBeginOnePayment(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Demo: true, Extensions: 100, SeatsPerHolder: 500})
	crowd := func() int {
		who := person(t)
		form := fill(s.held(t, who, 1), "Ann", "ann@example.org")
		form.Set("method", "demo")
		before := s.count(t, "demo_charge")
		s.at50(t, who, form)
		return s.count(t, "demo_charge") - before
	}
	if n := crowd(); n != 1 {
		t.Errorf("%d payments were begun, want 1", n)
	}
	s.exec(t, `DROP INDEX "one hold has one payment under way"`)
	for tries := 0; crowd() < 2; tries++ { // it is a race, and often the first is fast enough
		if tries == 40 {
			t.Fatal("without the key one payment was begun each time: this test sees nothing")
		}
	}
}
