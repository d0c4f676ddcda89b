package e2e

import (
	"net/url"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// seesTyped reads the fields of a checkout.
func (p *person) seesTyped(name, email string) {
	p.t.Helper()
	check(p.t, expect.Locator(p.page.GetByLabel("Name")).ToHaveValue(name))
	check(p.t, expect.Locator(p.page.GetByLabel("Email")).ToHaveValue(email))
}

func TestCheckout_LostSeatsAreReplacedByTheNearest(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		for lost, says := range map[string]string{
			"one": "Stalls, row C, seat 12 is no longer yours. Nothing was sold.",
			"all": "Sorry, Stalls, row C, seat 12 and Stalls, row C, seat 13 were taken by someone else after your hold expired. You haven’t paid anything.",
		} {
			t.Run(name+" "+lost, func(t *testing.T) {
				t.Parallel()
				slug := boxOffice.event(t, "theatre", "--hold", "8s", "--extensions", "1000")
				ann, bob := someone(t, boxOffice, "ann", d), someone(t, boxOffice, "bob", desktop)
				keeps := someProgram(t, boxOffice)
				keeps.claim(slug, "Stalls/C/12", "Stalls/C/13")
				ended := keeps.extends(slug)
				ann.hasCookiesOf(keeps)
				ann.visit("/events/" + slug + "/checkout")
				ann.sees(ann.page.GetByLabel("Name"))
				check(t, ann.page.GetByLabel("Name").Fill("Ann Ørsted"))
				check(t, ann.page.GetByLabel("Email").Fill(ownAddress(t)))
				bob.openSection(slug, 0)
				ended()
				bob.seesFree("Stalls/C/12") // others see it as soon as ann's time is up
				if other := someProgram(t, boxOffice); lost == "one" {
					other.claim(slug, "Stalls/C/12")
				} else {
					other.claim(slug, "Stalls/C/12", "Stalls/C/13")
				}
				if d.noScript { // else the page says so by itself
					ann.press(ann.page.Locator("form .primary"))
				} else if lost == "one" {
					says = "Sorry, Stalls, row C, seat 12 was taken by someone else after your hold expired."
				}
				ann.seesLater(ann.page.GetByText(says))
				ann.seesTyped("Ann Ørsted", ownAddress(t))
				ann.press(ann.page.Locator(`button[name="instead"]`).First())
				defer keeps.extends(slug)()
				ann.sees(ann.page.GetByText("2 tickets").First())
				check(t, expect.Locator(ann.page.Locator("#answer")).ToHaveCount(0))
				ann.seesTyped("Ann Ørsted", ownAddress(t))
				ann.press(ann.page.Locator("form .primary"))
				ann.hasTickets(2)
			})
		}
	}
}

// hasCookiesOf makes the browser of a person that of a program: what this holds is theirs.
func (p *person) hasCookiesOf(other *program) {
	p.t.Helper()
	at, err := url.Parse(other.url)
	check(p.t, err)
	for _, c := range other.client.Jar.Cookies(at) {
		check(p.t, p.context.AddCookies([]playwright.OptionalCookie{{Name: c.Name, Value: c.Value, URL: &other.url}}))
	}
}

func TestCheckout_FormSurvivesAReloadAndEndsWithTheOrder(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", append([]string{"--limit", "4"}, asking...)...)
	ann := someone(t, boxOffice, "ann", phone)
	held := func() {
		ann.visit("/events/" + slug)
		ann.asksForPlaces("Places", 1)
		ann.holdsSeats(1)
		ann.visit("/events/" + slug + "/checkout")
	}
	held()
	ann.answers("Ørsted & Daughters", "vegetarian", true)
	check(t, ann.page.GetByLabel("Name").Fill("Ann Ørsted"))
	check(t, ann.page.GetByLabel("Email").Fill(ownAddress(t)))
	still := func() {
		ann.seesTyped("Ann Ørsted", ownAddress(t))
		check(t, expect.Locator(ann.page.GetByLabel("Company")).ToHaveValue("Ørsted & Daughters"))
		check(t, expect.Locator(ann.page.GetByLabel("Menu")).ToHaveValue("vegetarian"))
		check(t, expect.Locator(ann.page.GetByLabel("News by mail")).ToBeChecked())
	}
	_, err := ann.page.Reload()
	check(t, err)
	still()
	ann.visit("/events/" + slug) // one more look at the seats
	ann.visit("/events/" + slug + "/checkout")
	still()
	ann.press(ann.button("Extend time"))
	still()
	check(t, ann.page.GetByLabel("Name").Press("Enter")) // sends the order
	ann.hasTickets(1)
	held()
	ann.seesTyped("", "")
	check(t, expect.Locator(ann.page.GetByLabel("News by mail")).Not().ToBeChecked())
}

func TestCheckout_FormSurvivesSigningInToPayWithCredit(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--price", "A=25.00")
	ann := someone(t, boxOffice, "ann", phone)
	ann.openEvent(slug)
	ann.asksForBest(1, "A")
	ann.visit("/events/" + slug + "/checkout")
	check(t, ann.page.GetByLabel("Name").Fill("Ann Ørsted"))
	check(t, ann.page.GetByLabel("Email").Fill("ann.typed@example.org"))
	ann.press(ann.page.GetByText("Sign in to pay with it"))
	ann.signsIn("ann.typed@example.org")
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Redeem a voucher"}))
	ann.redeems(boxOffice.vouchers(t, "30.00", 1)[0])
	ann.press(ann.page.GetByText("Back to your order"))
	ann.seesTyped("Ann Ørsted", "ann.typed@example.org")
	_, err := ann.page.GoBack()
	check(t, err)
	ann.sees(ann.page.GetByText("is in your credit"))
	_, err = ann.page.GoForward()
	check(t, err)
	ann.seesTyped("Ann Ørsted", "ann.typed@example.org")
	ann.paysWithCredit("Ann Ørsted")
	ann.hasTickets(1)
}
