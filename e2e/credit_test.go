package e2e

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// vouchers prints some.
func (o *office) vouchers(t *testing.T, amount string, count int) []string {
	t.Helper()
	out := o.usher(t, "voucher", "create", "--amount", amount, "--currency", "EUR", "--count", strconv.Itoa(count))
	codes := regexp.MustCompile(`(?m)^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$`).FindAllString(out, -1)
	if len(codes) < count {
		t.Fatalf("printed was %q", out)
	}
	return codes[:count]
}

func (p *person) asksForLink(email string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Email").Fill(email))
	p.press(p.button("Send me a link"))
	p.sees(p.page.GetByText("Check your email"))
}

var linkInMail = regexp.MustCompile(`/account/links/[0-9A-Z]{26}`)

// linkIn waits for the mail to an address, which the box office keeps as a file, and returns the path of its link.
func (p *person) linkIn(email string) string {
	p.t.Helper()
	return p.office.mailed(p.t, email, linkInMail)
}

// signsIn goes from the page that asks for an address through the mail to what comes after.
func (p *person) signsIn(email string) {
	p.t.Helper()
	p.asksForLink(email)
	p.visit(p.linkIn(email))
	p.press(p.button("Open my account"))
}

func (p *person) redeems(code string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Code").Fill(code))
	p.press(p.button("Redeem"))
}

// paysWithCredit fills in the checkout and sends it.
func (p *person) paysWithCredit(name string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Name").Fill(name))
	if radio := p.page.Locator(`input[type="radio"][value="credit"]`); p.number(radio) > 0 {
		check(p.t, radio.Check())
	}
	p.press(p.page.Locator("form .primary"))
}

func (p *person) number(what playwright.Locator) int {
	p.t.Helper()
	n, err := what.Count()
	check(p.t, err)
	return n
}

func TestAnOrderIsPaidWithAVouchersCredit(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "theatre", "--paid-ahead", "--price", "A=25.00")
			email := "ann." + strings.ReplaceAll(name, " ", ".") + "@example.org"
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug)
			ann.asksForBest(2, "A")
			ann.visit("/events/" + slug + "/checkout")
			ann.press(ann.page.GetByText("Sign in to pay with it"))
			ann.signsIn(email)
			ann.sees(ann.page.GetByText("Your credit is €0")) // back at the checkout
			ann.press(ann.page.GetByText("Redeem a voucher"))
			codes := boxOffice.vouchers(t, "30.00", 2)
			ann.redeems(codes[0])
			ann.press(ann.page.GetByText("Back to your order"))
			ann.sees(ann.page.GetByText("Your credit is €30, which does not pay the whole order."))
			check(t, expect.Locator(ann.page.Locator("form .primary")).ToHaveCount(0))
			ann.press(ann.page.GetByText("Redeem a voucher"))
			ann.redeems(strings.ToLower(codes[1]))
			ann.press(ann.page.GetByText("Back to your order"))
			ann.sees(ann.page.GetByText("€50 of the €60"))
			check(t, expect.Locator(ann.page.GetByLabel("Email")).ToHaveValue(email))
			ann.paysWithCredit("Ann Ørsted")
			ann.hasTickets(2)
			at := ann.page.URL()
			ann.visit("/account")
			ann.sees(ann.page.GetByText("€10", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)}))
			ann.press(ann.page.Locator(".owned").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "A night out"}))
			ann.hasTickets(2)
			if ann.page.URL() != at {
				t.Errorf("the account leads to %s, want %s", ann.page.URL(), at)
			}
			ann.visit("/account")
			ann.press(ann.button("Sign out"))
			ann.sees(ann.button("Send me a link"))
		})
	}
}

func TestTwoTabsSpendCreditOnce(t *testing.T) {
	t.Parallel()
	slugs := []string{boxOffice.named(t, "first", "theatre", "--paid-ahead", "--price", "A=25.00"), boxOffice.named(t, "second", "theatre", "--paid-ahead", "--price", "A=25.00")}
	ann := someone(t, boxOffice, "ann", desktop)
	ann.visit("/account")
	ann.signsIn("ann.two.tabs@example.org")
	ann.redeems(boxOffice.vouchers(t, "30.00", 1)[0])
	tabs := []playwright.Page{ann.page, ann.tab(), ann.tab()}
	for i, slug := range []string{slugs[0], slugs[0], slugs[1]} {
		ann.page = tabs[i]
		if i != 1 {
			ann.visit("/events/" + slug)
			ann.asksForBest(1, "A")
		}
		ann.visit("/events/" + slug + "/checkout")
		ann.sees(ann.page.GetByText("€25 of the €30"))
	}
	ann.page = tabs[0]
	ann.paysWithCredit("Ann")
	ann.hasTickets(1)
	at := ann.page.URL()
	ann.page = tabs[1] // the same order once more
	ann.paysWithCredit("Ann")
	ann.hasTickets(1)
	if ann.page.URL() != at {
		t.Errorf("the second tab has %s, the first %s", ann.page.URL(), at)
	}
	ann.page = tabs[2] // another order, which the credit was enough for when its page was made
	ann.paysWithCredit("Ann")
	ann.sees(ann.page.GetByText("your credit does not reach that far"))
	check(t, expect.Locator(ann.page.GetByLabel("Name")).ToHaveValue("Ann"))
	ann.visit("/account")
	ann.sees(ann.page.GetByText("€5", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)}))
}
