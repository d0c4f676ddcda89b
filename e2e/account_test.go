package e2e

import (
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestAccount_TicketsAreFoundAgainFromAnEmptyBrowser(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "theatre", "--hold", "5m")
			email := "lost.mail." + strings.ReplaceAll(name, " ", ".") + "@example.org"
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug)
			ann.asksForBest(2, "A")
			ann.press(ann.button("Check out"))
			ann.orders("Ann Ørsted", strings.ToUpper(email[:1])+email[1:], "")
			ann.hasTickets(2)
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Order confirmed"}))
			at := ann.page.URL()
			number, err := ann.page.Locator(".standing .code").TextContent()
			check(t, err)

			again := someone(t, boxOffice, "again", d)
			again.visit("/events")
			again.press(again.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Find your tickets"}))
			again.signsIn(email)
			again.sees(again.page.GetByText("Order " + number))
			again.press(again.page.Locator(".owned").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "A night out"}))
			again.hasTickets(2)
			if again.page.URL() != at {
				t.Errorf("the account leads to %s, want %s", again.page.URL(), at)
			}

			ann.visit("/account") // as another browser of hers, which she leaves from there
			ann.signsIn(email)
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Where you’re signed in"}))
			if !d.noScript {
				ann.inBothLights("account-sessions")
			}
			ann.press(ann.button("Sign out everywhere else"))
			ann.sees(ann.page.GetByText("You are signed out everywhere else."))
			again.visit("/account")
			again.sees(again.button("Send me a link"))

			stranger := someone(t, boxOffice, "stranger", d)
			stranger.expect("404")
			stranger.visit("/orders/00000000000000000000000000")
			stranger.press(stranger.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Find your tickets"}))
			stranger.sees(stranger.button("Send me a link"))
		})
	}
}
