package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestZZLook(t *testing.T) {
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead")
	ann := someone(t, boxOffice, "ann", device{width: 390, height: 844})
	ann.picksToPay(slug, 3)
	ann.card("Pay")
	ann.hasTickets(3)
	shot := func(name string) {
		_, err := ann.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String("/tmp/w/b-fox-pdf/" + name + ".png"), FullPage: playwright.Bool(true)})
		check(t, err)
	}
	shot("page-390")
	check(t, ann.page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeDark}))
	shot("page-390-dark")
	_, _ = ann.page.Evaluate(`document.querySelector('.passes').scrollBy(300, 0)`)
	check(t, ann.page.SetViewportSize(1440, 900))
	shot("page-1440-dark")
	check(t, ann.page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeLight}))
	shot("page-1440")
	o := ownOffice(t)
	bob := someone(t, o, "bob", desktop)
	bob.entersDesk(o.owner(t))
	bob.visit("/desk/branding")
	ann = bob
	for _, l := range []string{"classic", "poster", "plain"} {
		check(t, bob.page.Locator(`input[value="`+l+`"]`).Check())
		bob.press(bob.button("Preview"))
		check(t, expect.Locator(bob.page.Locator(".stub."+l)).ToBeVisible())
		shot("desk-" + l)
	}
}
