package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// An organizer makes 40 performances of one event, with its prices and texts, and puts them on sale: eleven clicks and three
// entries. A buyer finds one card in the programme, a calendar, and the seats of a date.
func TestSeries_AnOrganizerMakes40PerformancesInAFewClicks(t *testing.T) {
	t.Parallel()
	for _, d := range looked() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--price", "A=95.00", "--venue", "Lindengasse Playhouse")
			ann, bob := someone(t, o, "ann", d), someone(t, o, "bob", d)
			ann.entersDesk(o.owner(t))
			ann.visit("/desk/events/" + slug + "/page")
			ann.fills("Line under the name", "by Anton Chekhov", "Description", "Four people by a lake.", "Town", "Vienna")
			ann.press(ann.button("Save event page"))
			ann.sees(ann.page.GetByText("Saved."))

			ann.visit("/desk/events/" + slug + "/settings")
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Several dates: make a series of this event"}))
			for _, day := range []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
				check(t, ann.page.GetByLabel(day, playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).SetChecked(day != "Mon"))
			}
			ann.fills("First day", "2033-06-07", "Final day", "2033-07-22")
			check(t, ann.page.GetByLabel("Except on").Fill("2033-06-24"))
			ann.press(ann.button("Show the dates first"))
			ann.sees(ann.page.GetByText("39 dates"))
			ann.inBothLights("desk-series-dates")
			ann.press(ann.button("Make the series"))
			ann.sees(ann.page.GetByText("40 dates"))
			_, err := ann.page.GetByLabel("Status").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice("on sale")})
			check(t, err)
			ann.press(ann.button("Show what changes"))
			ann.sees(ann.page.GetByText("This changes 39 performances"))
			ann.inBothLights("desk-series-preview")
			ann.press(ann.button("Change 39 performances"))
			ann.sees(ann.page.GetByText("Done. Every open page knows within a second."))
			ann.inBothLights("desk-series")

			bob.visit("/events")
			bob.inBothLights("events-series")
			bob.press(bob.page.Locator("a.name").First())
			bob.sees(bob.page.GetByText("Four people by a lake."))
			bob.press(bob.page.Locator("a.turn").Last())
			bob.sees(bob.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "June 2033"}))
			bob.press(bob.page.Locator(".month a").First())
			bob.sees(bob.page.Locator(`.month a[aria-current="date"]`))
			bob.inBothLights("series")
			bob.press(bob.page.Locator("a.primary:visible").First())
			bob.seesMap()
			bob.asksForBest(2, "A")
		})
	}
}
