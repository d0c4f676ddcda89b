package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The other languages; English pages are looked at one by one (accessible_test.go).
var otherLanguages = map[string]string{"de": "ltr", "fr": "ltr", "es": "ltr", "it": "ltr", "nl": "ltr", "ja": "ltr", "ar": "rtl"}

func TestLanguages_MainPagesAreAccessibleAndFit(t *testing.T) {
	t.Parallel()
	for i, d := range []device{phone, desktop} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			o.usher(t, "event", "create", "--plan", "theatre", "--name", "Sommernacht", "--paid-ahead=false", "--venue", "Lindengasse Playhouse, Vienna", "--limit", "20")
			ann := someone(t, o, fmt.Sprint(i), d)
			ann.visit(o.printedLink(t))
			check(t, ann.page.GetByLabel("Email").Fill("ann@example.org"))
			ann.becomes("Ann Ørsted", deskPassword)
			ann.sees(ann.page.Locator("#today"))
			ann.openEvent("sommernacht")
			ann.asksForBest(2, "A")
			ann.visit("/events/sommernacht/checkout")
			ann.orders("Ann Ørsted", "ann@example.org", "")
			ann.hasTickets(2)
			order := ann.page.URL()[len(o.url):]
			ann.openEvent("sommernacht")
			ann.asksForBest(1, "A")
			for language, direction := range otherLanguages {
				for _, path := range []string{"/events/sommernacht", "/events/sommernacht/map", "/events/sommernacht/checkout", order, "/desk", "/desk/events/sommernacht"} {
					with := "?"
					if strings.Contains(path, with) {
						with = "&"
					}
					ann.visit(path + with + "lang=" + language)
					name := language + " " + path
					check(t, expect.Locator(ann.page.Locator("html")).ToHaveAttribute("lang", language))
					check(t, expect.Locator(ann.page.Locator("html")).ToHaveCSS("direction", direction))
					if wide := ann.evaluates(`document.scrollingElement.scrollWidth - innerWidth`); wide > 0 {
						t.Errorf("%s is %v pixels wider than the window", name, wide)
					}
					ann.picture(language+"-"+filepath.Base(path), "light")
					ann.isAccessible(name, checkup)
				}
			}
		})
	}
}
