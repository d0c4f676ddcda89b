package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// sellingScript is the script that docs/embedding.md shows for a page of one's own, and a form that uses it.
func sellingScript(t *testing.T, home, key, slug, seat, method string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "embedding.md"))
	check(t, err)
	found := regexp.MustCompile("(?s)```js\n(const home.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatal("the document shows no script")
	}
	shown := strings.NewReplacer("https://tickets.example.org", home, "site_…", key).Replace(string(found[1]))
	return `<form id="shop"><label>Name <input name="who"></label> <label>Email <input name="mail"></label> <button>Buy ` + seat + `</button></form><p id="said" role="status"></p>
<script>` + shown + `
document.querySelector('#shop').onsubmit = async event => {
  event.preventDefault()
  const said = document.querySelector('#said'), {who, mail} = event.target.elements
  try {
    let sale = await buy('` + slug + `', ['` + seat + `'], '` + method + `', who.value, mail.value)
    if (sale.confirm) said.textContent = 'Look into your email.'
    while (sale.state === 'open') sale = (await ask('GET', '/payments/' + sale.code)).payment
    const {order} = await ask('GET', sale.order)
    said.textContent = order.name + ' has ' + order.tickets.map(t => t.seat)
  } catch (error) { said.textContent = error.message }
}
</script>`
}

// buysByScript fills in the form of the team's page.
func (p *person) buysByScript(site *teamSite, name, email string) {
	p.t.Helper()
	p.blocksThirdParties()
	_, err := p.page.Goto(site.url)
	check(p.t, err)
	p.fills("Name", name, "Email", email)
	p.press(p.page.Locator("#shop button"))
}

func (p *person) isTold(words string) {
	p.t.Helper()
	check(p.t, expect.Locator(p.page.Locator("#said")).ToHaveText(words))
}

func TestSiteKey_AScriptOfAnotherSiteSellsWithoutThirdPartyCookies(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	atDoor := o.named(t, "door", "theatre", "--price", "A=95.00")
	byCard := o.named(t, "card", "theatre", "--demo-card", "--paid-ahead", "--price", "A=95.00")
	site, unlisted := newTeamSite(t), newTeamSite(t)
	olga := someone(t, o, "olga", desktop)
	olga.entersDesk(o.owner(t))
	olga.visit("/desk/site")
	check(t, olga.page.GetByLabel("Addresses, one a line").Fill(site.url))
	olga.press(olga.button("Save sites"))
	olga.sees(olga.page.GetByText("Saved."))
	olga.press(olga.button("Create site key"))
	olga.sees(olga.page.GetByText("Saved."))
	key, err := olga.page.Locator(".people code").First().TextContent()
	check(t, err)
	check(t, olga.page.Locator(".people code").ScrollIntoViewIfNeeded())
	olga.inBothLights("desk-site-key")

	site.snippet = sellingScript(t, o.url, key, atDoor, "Stalls/C/12", "door")
	bob := someone(t, o, "bob", desktop)
	bob.buysByScript(site, "Bob Buyer", "bob@localhost.example")
	bob.isTold("Look into your email.")
	elsewhere := someone(t, o, "elsewhere", phone)
	elsewhere.visit(o.mailed(t, "bob@localhost.example", confirmLink))
	elsewhere.press(elsewhere.button("Confirm my order"))
	bob.isTold("Bob Buyer has Stalls/C/12")
	cookies, err := bob.context.Cookies()
	check(t, err)
	for _, c := range cookies {
		t.Errorf("the browser of the page has the cookie %s", c.Name)
	}
	mal := someone(t, o, "mal", desktop)
	mal.expect("409")
	mal.buysByScript(site, "Mal", "mal@localhost.example")
	check(t, expect.Locator(mal.page.Locator("#said")).ToContainText("was just taken"))

	site.snippet = sellingScript(t, o.url, key, byCard, "Stalls/C/12", "demo")
	eve := someone(t, o, "eve", phone)
	eve.buysByScript(site, "Eve Buyer", "eve@localhost.example")
	eve.press(eve.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay", Exact: playwright.Bool(true)}))
	eve.hasTickets(1)

	unlisted.snippet = sellingScript(t, o.url, key, atDoor, "Stalls/C/13", "door")
	mal.expect("CORS policy", "net::ERR_FAILED", "403")
	mal.buysByScript(unlisted, "Mal", "mal@localhost.example")
	mal.isTold("Failed to fetch")

	olga.press(olga.button("End key: " + key))
	olga.sees(olga.page.GetByText("ended on"))
	site.snippet = sellingScript(t, o.url, key, atDoor, "Stalls/C/13", "door")
	mal.buysByScript(site, "Mal", "mal@localhost.example")
	check(t, expect.Locator(mal.page.Locator("#said")).ToContainText("This site key has ended."))
	if out := o.usher(t, "verify"); !strings.Contains(out, "ok") || strings.Contains(out, "BROKEN") {
		t.Errorf("the books: %s", out)
	}
}
