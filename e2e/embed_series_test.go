package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// An organizer makes a series of 40 performances with a picture and prices, all of it at the desk, and pastes the code for it into
// a page of their own. A visitor of that page chooses a date in the calendar and buys, with third-party cookies blocked.
func TestEmbed_ASeriesOf40IsSoldOnTheSiteOfTheTeamWithoutThirdPartyCookies(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	site := newTeamSite(t)
	olga := someone(t, o, "olga", desktop)
	olga.entersDesk(o.owner(t))
	olga.visit("/desk/site")
	check(t, olga.page.GetByLabel("Addresses, one a line").Fill(site.url))
	olga.press(olga.button("Save sites"))
	olga.sees(olga.page.GetByText("Saved."))
	olga.makesASeriesOf40()
	olga.inBothLights("desk-series-site")
	olga.opens("Code for your site")
	snippet, err := olga.page.GetByLabel("HTML").InputValue()
	check(t, err)
	site.snippet = snippet

	for name, d := range map[string]device{"frame": desktop, "dialog": phone} {
		t.Run(name, func(t *testing.T) {
			bob := someone(t, o, "bob", d)
			bob.blocksThirdParties()
			bob.expect("execute 'postMessage'") // axe asks into the frame
			_, err := bob.page.Goto(site.url)
			check(t, err)
			bob.sees(bob.page.GetByText("from €12.50"))
			bob.sees(bob.page.Locator("usher-event").GetByText("40 dates").First())
			if name == "dialog" {
				bob.press(bob.page.Locator("usher-event").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Get tickets"}))
			}
			in := bob.page.FrameLocator("usher-event iframe")
			bob.sees(in.GetByText("Four people by a lake."))
			bob.sees(in.GetByAltText("A lake at dusk"))
			bob.sees(in.GetByText("40 dates"))
			bob.press(in.Locator("a.turn").Last())
			bob.sees(in.GetByRole("heading", playwright.FrameLocatorGetByRoleOptions{Name: "July 2033"}))
			bob.press(in.Locator(".month a").First())
			bob.sees(in.Locator(`.month a[aria-current="date"]`))
			bob.picture("embed-series-"+name, "light")
			bob.isAccessible("a site with a series", checkup)
			bob.press(in.Locator("a.primary:visible").First())
			bob.sees(in.Locator(`body[data-live="live"]`))
			bob.holdsBest(in, 2, "bob."+name+"@localhost.example")
			bob.sees(in.GetByRole("heading", playwright.FrameLocatorGetByRoleOptions{Name: "Confirm your email"}))
			elsewhere := someone(t, o, "elsewhere", phone)
			elsewhere.visit(o.mailed(t, "bob."+name+"@localhost.example", confirmLink))
			elsewhere.press(elsewhere.button("Confirm my order"))
			bob.hasTicketsIn(in, 2)
			bob.sees(in.GetByText("1 July 2033").First())
			if at := bob.page.URL(); !strings.HasPrefix(at, site.url) {
				t.Errorf("the page went to %s", at)
			}
		})
	}
	if out := o.usher(t, "verify"); !strings.Contains(out, "ok") || strings.Contains(out, "BROKEN") {
		t.Errorf("the books: %s", out)
	}
}

// makesASeriesOf40 makes an event at the desk, with its prices, texts and a picture, and puts 40 performances of it on sale.
func (p *person) makesASeriesOf40() {
	p.t.Helper()
	exactly := playwright.Bool(true)
	p.visit("/desk/events/new")
	p.fills("Name", "The Seagull", "Venue", "Lindengasse Playhouse", "Begins", "2033-06-04T19:30")
	check(p.t, p.page.Locator(`input[name="plan"][value="theatre"]`).Check(playwright.LocatorCheckOptions{Force: playwright.Bool(true)}))
	p.press(p.button("Create draft"))
	p.sees(p.page.GetByText("Only your team sees this event."))
	slug := regexp.MustCompile(`/desk/events/([^/?]+)`).FindStringSubmatch(p.page.URL())[1]
	p.visit("/desk/events/" + slug + "/settings")
	prices := p.page.Locator(`input[name="price"]`)
	n, err := prices.Count()
	check(p.t, err)
	for i := range n {
		check(p.t, prices.Nth(i).Fill("12.50"))
	}
	check(p.t, p.page.Locator(`input[name="door"]`).Check())
	p.press(p.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Save", Exact: exactly}))
	p.sees(p.page.GetByText("Saved."))
	p.visit("/desk/events/" + slug + "/page")
	p.fills("Line under the name", "by Anton Chekhov", "Description", "Four people by a lake.", "Town", "Vienna")
	p.press(p.button("Save event page"))
	p.sees(p.page.GetByText("Saved."))
	check(p.t, p.page.Locator("input[type=file]").SetInputFiles([]playwright.InputFile{dusk(p.t)}))
	check(p.t, p.page.Locator("input[name=alt]").First().Fill("A lake at dusk"))
	p.press(p.button("Add picture"))
	p.sees(p.page.GetByText("The picture was added."))

	p.visit("/desk/events/" + slug + "/series")
	for _, day := range []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		check(p.t, p.page.GetByLabel(day, playwright.PageGetByLabelOptions{Exact: exactly}).SetChecked(day != "Mon"))
	}
	p.fills("First day", "2033-06-07", "Final day", "2033-07-22")
	check(p.t, p.page.GetByLabel("Except on").Fill("2033-06-24"))
	p.press(p.button("Make the series"))
	p.sees(p.page.GetByText("40 dates"))
	_, err = p.page.GetByLabel("Status").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice("on sale")})
	check(p.t, err)
	p.press(p.button("Show what changes"))
	p.press(p.button("Change 40 performances"))
	p.sees(p.page.GetByText("Done. Every open page knows within a second."))
}
