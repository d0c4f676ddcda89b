package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/pricing"
)

// signsIn asks for a link, reads the mail as it goes out, opens the link and presses its button.
func (s *site) signsIn(t *testing.T, who *http.Client, email string) {
	t.Helper()
	if a, body := send(t, who, "POST", s.url+"/account/links", `{"email":"`+email+`"}`); a.StatusCode != 202 {
		t.Fatal(a.StatusCode, body)
	}
	if a, body := send(t, who, "POST", s.url+"/account/session", `{"token":"`+s.token(t, email)+`"}`); a.StatusCode != 201 {
		t.Fatal(a.StatusCode, body)
	}
}

// token is what the mail to an address has at the end of its link.
func (s *site) token(t *testing.T, email string) string {
	t.Helper()
	m := mail.Mail{Email: email, Kind: credit.MailLink}
	if err := s.db.QueryRow(t.Context(), `SELECT id FROM mail WHERE email = $1 AND kind = 'link' ORDER BY id DESC`, email).Scan(&m.ID); err != nil {
		t.Fatal(err)
	}
	l, err := Letters{Credit: credit.New(s.db), URL: s.url}.Write(t.Context(), m)
	if err != nil || l.Email != email || !strings.Contains(l.HTML, s.url+"/account/links/") {
		t.Fatalf("the mail is %+v, %v", l, err)
	}
	_, rest, _ := strings.Cut(l.Text, s.url+"/account/links/")
	token, _, _ := strings.Cut(rest, "\n")
	return token
}

func (s *site) vouchers(t *testing.T, n int, minor int64, iso string, expires *time.Time) []string {
	t.Helper()
	codes, err := credit.New(s.db).Vouchers(t.Context(), n, credit.Amount{Minor: minor, Currency: iso}, expires)
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

func (s *site) submit(t *testing.T, who *http.Client, path string, f url.Values) (*http.Response, string) {
	t.Helper()
	return send(t, who, "POST", s.url+path, f.Encode(), "Content-Type", asForm, "Accept", asPage)
}

func (s *site) page(t *testing.T, who *http.Client, path string) (*http.Response, string) {
	t.Helper()
	return send(t, who, "GET", s.url+path, "", "Accept", asPage)
}

func TestSignIn_SurvivesTheFirstClaim(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	s.signsIn(t, ann, "ann@example.org")
	hold := s.held(t, ann, 2)
	if a, body := send(t, ann, "GET", s.url+"/account", ""); a.StatusCode != 200 {
		t.Errorf("after the claim they are signed out of their credit: %d %s", a.StatusCode, body)
	}
	if _, body := send(t, ann, "GET", s.url+"/events/evening/hold", ""); holdOf(t, body).ID != hold.ID {
		t.Errorf("after the claim they hold %s, want %s", body, hold.ID)
	}
}

func TestALinkByMailSignsInAVoucherLoadsAndSigningOutForgets(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	if a, page := s.page(t, ann, "/account"); a.StatusCode != 200 || !strings.Contains(page, "Send me a link") || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("without a session: %d", a.StatusCode)
	}
	if a, page := s.submit(t, ann, "/account/links", url.Values{"email": {"Ann@example.org"}}); a.StatusCode != 200 || !strings.Contains(page, "on its way to <b>ann@example.org") {
		t.Errorf("after asking: %d", a.StatusCode)
	}
	token := s.token(t, "ann@example.org")
	for range 2 { // as programs that read mail do
		if a, page := s.page(t, person(t), "/account/links/"+token); a.StatusCode != 200 || !strings.Contains(page, token) {
			t.Errorf("the link: %d", a.StatusCode)
		}
	}
	if a, _ := s.submit(t, ann, "/account/session", url.Values{"token": {token}}); a.StatusCode != 303 || a.Header.Get("Location") != "/account" {
		t.Fatal(a.StatusCode)
	}
	code := s.vouchers(t, 1, 2050, "EUR", nil)[0]
	for range 2 { // a double click
		if a, page := s.submit(t, ann, "/account/vouchers", url.Values{"code": {strings.ToLower(code)}}); a.Header.Get("Location") != "/account?loaded" {
			t.Errorf("the voucher: %d %.300s", a.StatusCode, page)
		}
	}
	if _, page := s.page(t, ann, "/account?loaded"); !strings.Contains(page, "is in your credit") || strings.Count(page, "€20.50") != 2 {
		t.Errorf("€20.50 stands there %d times, want as balance and in the statement", strings.Count(page, "€20.50"))
	}
	if a, body := send(t, ann, "GET", s.url+"/account", ""); a.StatusCode != 200 || !strings.Contains(body, `"email":"ann@example.org"`) || !strings.Contains(body, `"balance":2050`) {
		t.Errorf("in JSON: %d %s", a.StatusCode, body)
	}
	if a, _ := s.submit(t, ann, "/account/session/end", nil); a.StatusCode != 303 {
		t.Error(a.StatusCode)
	}
	if _, page := s.page(t, ann, "/account"); strings.Contains(page, "20.50") || strings.Contains(page, "ann@") {
		t.Error("after signing out the credit is still shown")
	}
}

func TestBadCreditRequestsHaveTheirAnswersAndLoadNothing(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	past := time.Now().Add(-time.Minute)
	expired, used := s.vouchers(t, 1, 100, "EUR", &past)[0], s.vouchers(t, 1, 100, "EUR", nil)[0]
	if _, err := credit.New(s.db).Redeem(t.Context(), "bob@example.org", used); err != nil {
		t.Fatal(err)
	}
	voucher := `{"code":"` + used + `"}`
	if a, _ := send(t, ann, "POST", s.url+"/account/vouchers", voucher); a.StatusCode != 401 {
		t.Errorf("a voucher without signing in: %d", a.StatusCode)
	}
	if a, _ := send(t, ann, "GET", s.url+"/account", ""); a.StatusCode != 401 {
		t.Errorf("a statement without signing in: %d", a.StatusCode)
	}
	s.signsIn(t, ann, "ann@example.org")
	for _, bad := range []struct {
		name, path, body string
		status           int
		says             string
	}{
		{"an expired voucher", "/account/vouchers", `{"code":"` + expired + `"}`, 410, "expired"},
		{"a redeemed voucher", "/account/vouchers", voucher, 409, "redeemed already"},
		{"an unknown voucher", "/account/vouchers", `{"code":"0000-0000-0000-0000"}`, 404, "no voucher"},
		{"no code", "/account/vouchers", `{}`, 404, "no voucher"},
		{"a zero byte", "/account/vouchers", `{"code":"\u0000"}`, 404, "no voucher"},
		{"another field", "/account/vouchers", `{"amount":500}`, 422, "cannot be read"},
		{"10 MB", "/account/vouchers", `{"code":"` + strings.Repeat("A", 10<<20) + `"}`, 413, "larger"},
		{"no address", "/account/links", `{"email":"ann"}`, 422, "in the format name@example.com"},
		{"two addresses", "/account/links", `{"email":"a@b.c, d@e.f"}`, 422, "in the format name@example.com"},
		{"a header in an address", "/account/links", `{"email":"a@b.c\r\nBcc: d@e.f"}`, 422, "in the format name@example.com"},
		{"a forged token", "/account/session", `{"token":"00000000000000000000000000"}`, 404, "no longer works"},
		{"no token", "/account/session", `{}`, 404, "no longer works"},
	} {
		a, body := send(t, ann, "POST", s.url+bad.path, bad.body)
		if a.StatusCode != bad.status || !strings.Contains(body, bad.says) {
			t.Errorf("%s: %d %.200s, want %d and %q", bad.name, a.StatusCode, body, bad.status, bad.says)
		}
		form := url.Values{"code": {"!" + expired}, "email": {"ann"}, "token": {"x"}}
		if a, page := s.submit(t, ann, bad.path, form); a.StatusCode < 400 || strings.Contains(bad.path, "voucher") && !strings.Contains(page, "!"+expired) {
			t.Errorf("the form of %s: %d, and what was typed is gone", bad.path, a.StatusCode)
		}
	}
	a, body := send(t, ann, "POST", s.url+"/account/vouchers", "code=x", "Content-Type", "text/plain")
	if a.StatusCode != 415 {
		t.Errorf("another kind of body: %d %s", a.StatusCode, body)
	}
	if a, _ := send(t, ann, "POST", s.url+"/account/session/end", "", "Sec-Fetch-Site", "cross-site"); a.StatusCode != 403 {
		t.Errorf("another site signs out: %d", a.StatusCode)
	}
	if _, body := send(t, ann, "GET", s.url+"/account", ""); !strings.Contains(body, `"accounts":[]`) {
		t.Errorf("it loaded %s", body)
	}
}

func TestTheFourthMailWithinAnHourIsNotSent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i := range 4 {
		a, body := send(t, person(t), "POST", s.url+"/account/links", `{"email":"ann@example.org"}`)
		if want := map[bool]int{true: 202, false: 429}[i < 3]; a.StatusCode != want {
			t.Errorf("mail %d: %d %s", i+1, a.StatusCode, body)
		}
	}
}

func TestSigningInChangesTheCookieAndKeepsTheSeats(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	hold := s.held(t, ann, 2)
	at, _ := url.Parse(s.url)
	before := ann.Jar.Cookies(at)[0].Value
	back := `{"email":"ann@example.org","back":"/events/evening/checkout"}`
	if a, body := send(t, ann, "POST", s.url+"/account/links", back); a.StatusCode != 202 {
		t.Fatal(a.StatusCode, body)
	}
	a, _ := s.submit(t, ann, "/account/session", url.Values{"token": {s.token(t, "ann@example.org")}})
	if a.StatusCode != 303 || a.Header.Get("Location") != "/events/evening/checkout" {
		t.Errorf("it goes on at %d %q", a.StatusCode, a.Header.Get("Location"))
	}
	if ann.Jar.Cookies(at)[0].Value == before {
		t.Error("the cookie is the one from before")
	}
	thief := person(t)
	thief.Jar.SetCookies(at, []*http.Cookie{{Name: "usher", Value: before}})
	if a, body := send(t, thief, "GET", s.url+"/account", ""); a.StatusCode != 401 {
		t.Errorf("the cookie from before opens the credit: %d %s", a.StatusCode, body)
	}
	for range 2 {
		if _, body := send(t, ann, "GET", s.url+"/events/evening/hold", ""); holdOf(t, body).ID != hold.ID {
			t.Errorf("the hold is gone: %s", body)
		}
		if a, _ := send(t, ann, "DELETE", s.url+"/account/session", ""); a.StatusCode != 204 {
			t.Error(a.StatusCode)
		}
	}
}

func TestACheckoutToGoOnWithIsNoOtherSite(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	s.held(t, ann, 1)
	for _, back := range []string{"https://evil.example/events/x/checkout", "//evil.example/checkout", "/events/../checkout", "javascript:alert(1)", "/events/x/checkout\r\nX: y"} {
		if _, page := s.page(t, ann, "/account?back="+url.QueryEscape(back)); strings.Contains(page, "//evil") || strings.Contains(page, "Back to your order") {
			t.Errorf("the page leads to %q", back)
		}
	}
}

func TestCredit_IsUsableByItsOwnerOnly(t *testing.T) {
	t.Parallel()
	s, ann, eve := newSite(t), person(t), person(t)
	hold := s.held(t, ann, 1)
	at := "/events/evening/checkout"
	if _, page := s.page(t, ann, at); !strings.Contains(page, "Sign in to pay with it") || strings.Contains(page, `value="credit"`) {
		t.Error("who is not signed in is offered credit, or not told of it")
	}
	pay := fill(hold, "Ann", "ann.at.work@example.org")
	pay.Set("method", "credit")
	if _, page := s.leads(t, ann, pay); !strings.Contains(page, "Sign in with the email address of your credit") {
		t.Error("credit without signing in is not refused")
	}
	s.signsIn(t, ann, "ann@example.org")
	if _, page := s.page(t, ann, at); !strings.Contains(page, "which does not pay the whole order") || strings.Contains(page, `value="credit"`) {
		t.Error("who has no credit is offered it")
	}
	total := pricing.Of(s.sale, []int{hold.Idx[0]}).Total
	for _, code := range s.vouchers(t, 2, total-1, "EUR", nil) {
		if a, body := send(t, ann, "POST", s.url+"/account/vouchers", `{"code":"`+code+`"}`); a.StatusCode != 201 {
			t.Fatal(a.StatusCode, body)
		}
		// Another visitor with Ann's address cannot use her credit.
		other := fill(s.held(t, eve, 1), "Eve", "ann@example.org")
		other.Set("method", "credit")
		other.Set("account", "ann@example.org")
		if _, page := s.leads(t, eve, other); !strings.Contains(page, "Sign in with the email address of your credit") {
			t.Error("another attendee's credit is not refused")
		}
		if a, _ := send(t, eve, "DELETE", s.url+"/events/evening/claims", ""); a.StatusCode != 204 {
			t.Fatal(a.StatusCode)
		}
		if a, _ := s.post(t, ann, pay); a.StatusCode != 303 {
			t.Fatal(a.StatusCode)
		} else if at := a.Header.Get("Location"); strings.HasPrefix(at, "/payments/") { // the first voucher alone is too little
			if _, page := s.page(t, ann, at); !strings.Contains(page, "your credit does not reach that far") || !strings.Contains(page, `value="Ann"`) {
				t.Error("a refusal does not say why, or forgot what was typed")
			}
		} else if _, page := s.page(t, ann, at); strings.Count(page, "data-code=") != 1 || strings.Contains(page, "at the box office") {
			t.Errorf("the order's page is not of one paid ticket")
		}
	}
	if _, body := send(t, ann, "GET", s.url+"/account", ""); !strings.Contains(body, `"kind":"paid"`) || !strings.Contains(body, `"event":"Evening"`) {
		t.Errorf("the statement is %s", body)
	}
	if left, err := credit.New(s.db).Balance(t.Context(), "ann@example.org", "EUR"); err != nil || left != total-2 {
		t.Errorf("%d are left, %v; want %d", left, err, total-2)
	}
}

func TestCredit_PaysAPartAndTheCardTheRest(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	ann := person(t)
	hold := s.held(t, ann, 2)
	s.signsIn(t, ann, "ann@example.org")
	code := s.vouchers(t, 1, 1000, "EUR", nil)[0]
	if a, body := send(t, ann, "POST", s.url+"/account/vouchers", `{"code":"`+code+`"}`); a.StatusCode != 201 {
		t.Fatal(a.StatusCode, body)
	}
	if _, page := s.page(t, ann, "/events/evening/checkout"); !strings.Contains(page, `name="credit" value="1000"`) {
		t.Error("the checkout does not offer a part by credit")
	}
	form := fill(hold, "Ann", "ann@example.org")
	form.Set("credit", "1000")
	form.Set("method", "card")
	a, body := s.post(t, ann, form)
	at, _, _ := strings.Cut(a.Header.Get("Location"), "?")
	if a.StatusCode != 303 || !strings.HasPrefix(at, "/payments/") {
		t.Fatal(a.StatusCode, at, body)
	}
	total := pricing.Of(s.sale, hold.Idx).Total
	sessions := bank.Sessions()
	if session := sessions[len(sessions)-1]; session.Amount != total-1000 {
		t.Errorf("the card is asked for %d, want %d", session.Amount, total-1000)
	}
	bank.Pays(sessions[len(sessions)-1].ID, false)
	if a, _ := s.page(t, ann, at+"?back"); a.StatusCode != 303 {
		t.Errorf("paid: %d", a.StatusCode)
	}
	order, err := s.sold.Find(t.Context(), strings.TrimPrefix(at, "/payments/"))
	if err != nil || order.Paid != total && order.Due() != total { // the second: it is being charged
		t.Errorf("the order has %d of %d, %v", order.Paid, total, err)
	}
	if len(order.Tickets) != 2 {
		t.Errorf("the order has %d tickets", len(order.Tickets))
	}
	if left, err := credit.New(s.db).Balance(t.Context(), "ann@example.org", "EUR"); err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}

func TestCredit_IsNotForgottenWhenTheRestIsPaidLater(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	form := fill(s.held(t, ann, 2), "Ann", "ann@example.org")
	s.signsIn(t, ann, "ann@example.org")
	code := s.vouchers(t, 1, 1000, "EUR", nil)[0]
	if a, body := send(t, ann, "POST", s.url+"/account/vouchers", `{"code":"`+code+`"}`); a.StatusCode != 201 {
		t.Fatal(a.StatusCode, body)
	}
	if _, page := s.page(t, ann, "/events/evening/checkout"); !strings.Contains(page, "It can’t be combined with bank transfer or with paying later.") {
		t.Error("the checkout does not say how credit can be used")
	}
	form.Set("method", "door")
	form.Set("credit", "1000")
	if _, page := s.leads(t, ann, form); !strings.Contains(page, "Pay the rest online, or don’t use your credit.") {
		t.Error("credit is forgotten when the order is paid later")
	}
}
