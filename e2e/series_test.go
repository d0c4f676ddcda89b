package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// A season of 40 performances with prices, texts, a picture and a presale takes 25 clicks and entries at most. A buyer finds one card
// in the programme, a calendar, and the seats of a date; with the code, before the sale opens.
func TestSeries_ASeasonOf40PerformancesTakes25Clicks(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			ann, bob := someone(t, o, "ann", d), someone(t, o, "bob", d)
			ann.entersDesk(o.owner(t))
			ann.plansSeason()

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
			check(t, expect.Locator(bob.page.Locator(`form:has(input[name="best"])`)).ToHaveCount(0))
			bob.entersCode("MEMBERS")
			bob.asksForBest(2, "A")
		})
	}
}

// plansSeason makes 40 performances of a play at the desk, to be on sale in June 2033, and earlier with the code MEMBERS.
func (p *person) plansSeason() {
	p.t.Helper()
	work := &effort{person: p}
	link := func(name string) playwright.Locator {
		return p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: name, Exact: playwright.Bool(true)}).First()
	}
	field := func(label string) playwright.Locator {
		return p.page.GetByLabel(label, playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)})
	}
	work.press(link("New event"))
	work.fill(field("Name"), "The Seagull")
	work.fill(field("Begins"), "2033-06-06T19:30")
	work.press(p.button("Create draft"))

	work.press(link("Prices"))
	for i, amount := range []string{"95", "60", "35"} {
		work.fill(p.page.Locator("tbody tr").First().Locator("input[inputmode=decimal]").Nth(i), amount)
	}
	work.press(p.button("Save prices"))

	work.press(link("Event page"))
	work.fill(field("Description"), "Four people by a lake.")
	work.press(p.button("Save event page"))
	p.sees(p.page.GetByText("Saved."))
	check(p.t, p.page.Locator("input[type=file]").SetInputFiles([]playwright.InputFile{dusk(p.t)}))
	work.clicks++
	work.fill(p.page.Locator("input[name=alt]").First(), "A lake at dusk")
	work.press(p.button("Add picture"))
	p.sees(p.page.GetByText("The picture was added."))

	work.press(link("Several dates"))
	dates := "" // from the list of the house: 39 more evenings
	for day := time.Date(2033, 6, 7, 0, 0, 0, 0, time.UTC); strings.Count(dates, "\n") < 39; day = day.AddDate(0, 0, 1) {
		dates += day.Format(time.DateOnly) + " 19:30\n"
	}
	work.fill(field("Or a list of dates"), dates)
	p.inBothLights("desk-series-new")
	work.press(p.button("Make the series"))
	p.sees(p.page.GetByText("40 dates"))

	_, err := p.page.GetByLabel("Status").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice("scheduled")})
	check(p.t, err)
	work.clicks++
	work.fill(field("On sale from"), "2033-06-01T10:00")
	work.press(p.button("Show what changes"))
	p.sees(p.page.GetByText("This changes 40 performances"))
	p.inBothLights("desk-series-preview")
	work.press(p.button("Change 40 performances"))
	p.sees(p.page.GetByText("Done. Every open page knows within a second."))
	p.inBothLights("desk-series")

	work.press(link("Create a presale code for these performances"))
	work.fill(field("Code"), "MEMBERS")
	p.inBothLights("desk-series-presale")
	work.press(p.button("Create codes"))
	p.sees(p.page.GetByText("MEMBERS"))
	p.visit("/desk/events")
	p.choosesTheSeries()
	p.t.Logf("%d clicks and entries", work.clicks)
	if work.clicks > 25 {
		p.t.Errorf("a season takes %d clicks and entries", work.clicks)
	}
}

// choosesTheSeries lists the performances of the only series.
func (p *person) choosesTheSeries() {
	p.t.Helper()
	_, err := p.page.Locator("select[name=series]").SelectOption(playwright.SelectOptionValues{Indexes: &[]int{1}})
	check(p.t, err)
	p.press(p.page.Locator("form.find").GetByRole("button"))
	p.sees(p.page.GetByText("40 events"))
	p.inBothLights("desk-events-series")
}
