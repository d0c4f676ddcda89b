package e2e

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// teamSite is a site of a team, of another owner than the box office: browsers reach it at localhost, and the box office at
// 127.0.0.1. It shows what an organizer pastes into a page, as WordPress does.
type teamSite struct {
	url     string // http://localhost:port
	snippet string
}

func newTeamSite(t *testing.T) *teamSite {
	t.Helper()
	s := &teamSite{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!DOCTYPE html><html lang="en-GB"><head><meta charset="utf-8"><title>Playhouse</title><meta name="viewport" content="width=device-width, initial-scale=1">
			<style>* { box-sizing: content-box; letter-spacing: .01em } body { margin: 0; font: 18px/1.6 Georgia, serif; color: #222; background: #fffdf8 } header, main { max-width: 1160px; margin: 0 auto; padding: 24px }
			button { background: lime; border-radius: 0 } p { margin: 1.5em 0 } iframe { height: 10px }</style></head>
			<body><header><b>Playhouse</b></header><main class="wp-block-post-content"><h1>A night out</h1><p>Three acts, two intervals.</p>
			<div class="wp-block-html">` + s.snippet + `</div><p>We look forward to seeing you.</p></main></body></html>`))
	}))
	t.Cleanup(server.Close)
	s.url = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	return s
}

// thirdParty says on its page whether a cookie for frames came back that is not parted by site.
func thirdParty(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := "The cookie came back."
		if _, err := r.Cookie("third"); err != nil {
			said = "No cookie came back."
		}
		w.Header().Set("Set-Cookie", "third=1; Path=/; Secure; SameSite=None")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.RawQuery == "" {
			said = `<script>location.replace('?again')</script>`
		}
		_, _ = w.Write([]byte(`<!DOCTYPE html><html lang="en"><title>Third party</title><p>` + said))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// blocksThirdParties has the browser block third-party cookies, as browsers do by default or as people set them. What is parted by
// site stays.
func (p *person) blocksThirdParties() {
	p.t.Helper()
	session, err := p.context.NewCDPSession(p.page)
	check(p.t, err)
	_, err = session.Send("Network.enable", map[string]any{})
	check(p.t, err)
	_, err = session.Send("Network.setCookieControls", map[string]any{"enableThirdPartyCookieRestriction": true, "disableThirdPartyCookieMetadata": true, "disableThirdPartyCookieHeuristics": true})
	check(p.t, err)
}

// holdsBest takes the best seats on a page in a frame and goes to the checkout.
// holdsBest takes the best seats in a frame and orders them under an address.
func (p *person) holdsBest(in playwright.FrameLocator, n int, email string) {
	p.t.Helper()
	form := in.Locator(`form:has(input[name="best"])`).First()
	check(p.t, form.GetByLabel("How many").Fill(strconv.Itoa(n)))
	p.press(form.GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Find best seats"}))
	p.press(in.GetByRole("button", playwright.FrameLocatorGetByRoleOptions{Name: "Hold these seats"}))
	check(p.t, expect.Locator(in.Locator(`#tray [data-seat]`)).ToHaveCount(n))
	p.press(in.Locator("#tray").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Check out"}).First())
	check(p.t, in.GetByLabel("Name").Fill("Bob Buyer"))
	check(p.t, in.GetByRole("textbox", playwright.FrameLocatorGetByRoleOptions{Name: "Email"}).Fill(email))
	p.press(in.Locator("form .primary"))
}

func (p *person) hasTicketsIn(in playwright.FrameLocator, n int) {
	p.t.Helper()
	check(p.t, expect.Locator(in.Locator(".tickets .qr[data-code]")).ToHaveCount(n, playwright.LocatorAssertionsToHaveCountOptions{Timeout: playwright.Float(float64(2 * patience.Milliseconds()))}))
}

func TestEmbed_TicketsAreBoughtOnTheSiteOfTheTeamWithoutThirdPartyCookies(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	atDoor := o.named(t, "door", "theatre", "--price", "A=95.00")
	byCard := o.named(t, "card", "theatre", "--demo-card", "--paid-ahead", "--price", "A=95.00")
	site, unlisted := newTeamSite(t), newTeamSite(t)
	olga := someone(t, o, "olga", desktop)
	olga.entersDesk(o.owner(t))
	olga.visit("/desk/site")
	check(t, olga.page.GetByLabel("Addresses, one a line").Fill(site.url+"/some/page"))
	olga.press(olga.button("Save sites"))
	olga.sees(olga.page.GetByText("Saved."))
	olga.inBothLights("desk-site")
	snippet, err := olga.page.GetByLabel("HTML").InputValue()
	check(t, err)
	for _, slug := range []string{atDoor, byCard} {
		snippet = strings.ReplaceAll(snippet, slug, "SLUG")
	}
	with := func(slug, attributes string) string {
		return strings.Replace(strings.ReplaceAll(snippet, "SLUG", slug), "<usher-event ", "<usher-event "+attributes+" ", 1)
	}

	t.Run("in a frame, paid at the door", func(t *testing.T) {
		site.snippet = with(atDoor, "") + `<iframe id="third" title="Third party" src="` + thirdParty(t) + `"></iframe>`
		bob := someone(t, o, "bob", desktop)
		bob.blocksThirdParties()
		bob.expect("execute 'postMessage'") // axe asks into the frame
		_, err := bob.page.Goto(site.url)
		check(t, err)
		bob.sees(bob.page.FrameLocator("#third").GetByText("No cookie came back."))
		in := bob.page.FrameLocator("usher-event iframe")
		bob.sees(in.Locator(`body[data-live="live"]`))
		bob.sees(bob.page.GetByText("from €"))
		bob.picture("embed-frame", "light")
		bob.isAccessible("a site with a frame", checkup)
		bob.holdsBest(in, 2, "bob@localhost.example")
		bob.sees(in.GetByRole("heading", playwright.FrameLocatorGetByRoleOptions{Name: "Confirm your email"}))
		elsewhere := someone(t, o, "elsewhere", phone) // as the mail says: on any device
		elsewhere.visit(o.mailed(t, "bob@localhost.example", confirmLink))
		elsewhere.press(elsewhere.button("Confirm my order"))
		bob.hasTicketsIn(in, 2)
		bob.picture("embed-tickets", "light")
		if at := bob.page.URL(); !strings.HasPrefix(at, site.url) {
			t.Errorf("the page went to %s", at)
		}
		cookies, err := bob.context.Cookies()
		check(t, err)
		for _, c := range cookies {
			if strings.HasPrefix(c.Name, "usher") && !strings.HasPrefix(c.Name, "usher-frame") {
				t.Errorf("the frame has the cookie %s of the box office", c.Name)
			}
		}
	})
	t.Run("in a dialog on a phone, paid by card", func(t *testing.T) {
		site.snippet = with(byCard, `scheme="dark"`)
		eve := someone(t, o, "eve", phone)
		eve.blocksThirdParties()
		eve.expect("execute 'postMessage'")
		_, err := eve.page.Goto(site.url)
		check(t, err)
		eve.sees(eve.page.GetByText("left"))
		eve.picture("embed-button", "light")
		eve.press(eve.page.Locator("usher-event").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Get tickets"}))
		in := eve.page.FrameLocator("usher-event dialog iframe")
		eve.sees(in.Locator(`body[data-live="live"]`))
		eve.picture("embed-dialog", "light")
		eve.isAccessible("a site with a dialog", checkup)
		eve.holdsBest(in, 2, "bob@localhost.example")
		eve.picture("embed-payment", "light")
		tab, err := eve.context.ExpectPage(func() error {
			return in.GetByRole("link", playwright.FrameLocatorGetByRoleOptions{Name: "Continue to payment"}).Click()
		})
		check(t, err)
		eve.press(tab.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay", Exact: playwright.Bool(true)}))
		eve.sees(tab.Locator(".tickets .qr[data-code]").First())
		eve.hasTicketsIn(in, 2)
	})
	t.Run("a link on a site that is not listed", func(t *testing.T) {
		unlisted.snippet = with(atDoor, "")
		mal := someone(t, o, "mal", desktop)
		mal.blocksThirdParties()
		mal.expect("frame-ancestors", "Refused to frame", "Framing")
		_, err := mal.page.Goto(unlisted.url)
		check(t, err)
		mal.sees(mal.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Tickets: A night out"}))
		check(t, expect.Locator(mal.page.Locator("usher-event iframe")).ToHaveCount(0))
		mal.picture("embed-link", "light")
	})
	if out := o.usher(t, "verify"); !strings.Contains(out, "ok") || strings.Contains(out, "BROKEN") {
		t.Errorf("the books: %s", out)
	}
}
