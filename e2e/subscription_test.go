package e2e

import (
	"regexp"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// An organizer sells four evenings as one subscription. An attendee finds it on the page of the event, and has the same seat in all of them.
func TestSubscription_IsMadeAtTheDeskAndSoldOnce(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--price", "A=95.00", "--price", "B=60.00", "--venue", "Lindengasse Playhouse")
			ann, bob := someone(t, o, "ann", d), someone(t, o, "bob", d)
			ann.entersDesk(o.owner(t))
			ann.makesSeries(slug)

			ann.visit("/desk/subscriptions")
			ann.inBothLights("desk-subscriptions-none")
			ann.visit("/desk/series")
			ann.press(ann.page.Locator(".evenings a"))
			ann.press(ann.link("Sell these performances as a subscription"))
			ann.inBothLights("desk-subscription-dates")
			ann.press(ann.button("Continue"))
			check(t, ann.page.Locator(`[name="price.A"]`).Fill("a lot"))
			check(t, ann.page.GetByLabel("Name").Fill("Season 2033"))
			ann.expect("422")
			ann.press(ann.button("Create subscription"))
			ann.sees(ann.page.GetByText("is not an amount"))
			ann.inBothLights("desk-subscription-wrong")
			check(t, ann.page.Locator(`[name="price.A"]`).Fill("300.00"))
			ann.fills("Seats for sale", "40")
			ann.press(ann.button("Create subscription"))
			ann.sees(ann.page.GetByText("The subscription was created."))

			bob.visit("/events/" + slug)
			bob.inBothLights("event-in-subscription")
			bob.visit("/series/a-night-out")
			bob.inBothLights("series-in-subscription")
			bob.press(bob.link("Subscription: 4 performances from €300"))
			bob.sees(bob.button("Hold these seats"))
			bob.inBothLights("subscription")
			for i := range 2 {
				check(t, bob.page.Locator("#rows input[name=seat]:enabled").Nth(i).Check())
			}
			bob.press(bob.button("Hold these seats"))
			bob.sees(bob.page.GetByText("2 seats held for you"))
			bob.inBothLights("subscription-held")
			bob.press(bob.page.Locator(".choices a.primary"))
			bob.sees(bob.page.GetByLabel("At the box office"))
			bob.inBothLights("subscription-checkout")
			check(t, bob.page.GetByLabel("Name").Fill("Bob Ågren"))
			bob.press(bob.button("Extend time"))
			check(t, expect.Page(bob.page).ToHaveURL(regexp.MustCompile("/hold/extension$")))
			check(t, expect.Locator(bob.page.GetByLabel("Name")).ToHaveValue("Bob Ågren"))
			bob.inBothLights("subscription-extended")
			check(t, bob.page.GetByLabel("At the box office").Check())
			bob.orders("Bob Ågren", "bob@example.org", "")
			bob.confirmsIfAsked()
			bob.hasTickets(2)
			bob.inBothLights("subscription-order")

			ann.visit("/desk/subscriptions/season-2033")
			ann.sees(ann.page.GetByText("Bob Ågren"))
			ann.fills("Seats for sale", "1")
			ann.expect("422")
			ann.press(ann.button("Save"))
			ann.sees(ann.page.GetByText("So many seats were sold already: 2."))
			ann.inBothLights("desk-subscription")
			ann.visit("/desk/subscriptions")
			ann.inBothLights("desk-subscriptions")
			ann.renewsSeason(slug)
			bob.visit(o.mailed(t, "bob@example.org", regexp.MustCompile(`/renewals/[0-9A-Z]{26}`)))
			bob.press(bob.page.GetByText("Give up seats"))
			bob.inBothLights("renewal")
			check(t, bob.page.Locator("details input[name=seat]").Last().Uncheck())
			bob.press(bob.button("Keep the marked seats only"))
			bob.sees(bob.page.GetByText("1 seat is kept for you"))
			bob.press(bob.page.Locator(".choices a.primary"))
			bob.sees(bob.page.GetByLabel("At the box office"))
			bob.inBothLights("renewal-checkout")
			check(t, bob.page.GetByLabel("At the box office").Check())
			bob.press(bob.page.Locator("form .primary"))
			check(t, expect.Locator(bob.page.Locator(".tickets .qr[data-code]")).ToHaveCount(1))
			bob.visit(o.mailed(t, "bob@example.org", regexp.MustCompile(`/renewals/[0-9A-Z]{26}`)))
			bob.sees(bob.page.GetByText("You renewed your subscription"))
			bob.inBothLights("renewal-done")
			ann.visit("/desk/subscriptions/season-2034")
			ann.press(ann.page.GetByText("Subscribers of last season"))
			ann.inBothLights("desk-subscription-renewed")
		})
	}
}

// The checkout of a subscription counts down, offers more time, and tells at once that the seats are lost; what was typed stays.
func TestSubscription_CheckoutIsLive(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--hold", "16s", "--extensions", "1", "--price", "A=95.00", "--price", "B=60.00")
	ann, bob := someone(t, o, "ann", desktop), someone(t, o, "bob", phone)
	ann.entersDesk(o.owner(t))
	ann.makesSeries(slug)
	ann.visit("/desk/series")
	ann.press(ann.page.Locator(".evenings a"))
	ann.press(ann.link("Sell these performances as a subscription"))
	ann.press(ann.button("Continue"))
	check(t, ann.page.Locator(`[name="price.A"]`).Fill("300.00"))
	check(t, ann.page.GetByLabel("Name").Fill("Season 2033"))
	ann.press(ann.button("Create subscription"))
	ann.sees(ann.page.GetByText("The subscription was created."))

	bob.visit("/subscriptions/season-2033")
	seat := bob.page.Locator("#rows input[name=seat]:enabled").First()
	label, err := seat.GetAttribute("value")
	check(t, err)
	check(t, seat.Check())
	bob.press(bob.button("Hold these seats"))
	bob.sees(bob.page.GetByText("1 seat held for you"))
	counts := regexp.MustCompile(`\b0:\d\d left`)
	check(t, expect.Locator(bob.page.Locator("#time [data-countdown]")).ToHaveText(counts))
	bob.press(bob.page.Locator(".choices a.primary"))
	check(t, expect.Locator(bob.page.Locator("#time [data-countdown]")).ToHaveText(counts))
	check(t, bob.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "Name"}).Fill("Bob Ågren"))
	before := bob.evaluates(`+document.querySelector('#time').dataset.deadline`)
	bob.sees(bob.page.GetByText("Need more time?"))
	bob.press(bob.page.Locator("#more-time [data-more]"))
	eventually(t, patience, "more time", func() bool { return bob.evaluates(`+document.querySelector('#time').dataset.deadline`) > before })
	check(t, expect.Locator(bob.page.Locator("#time")).ToContainText("You can’t extend your time again."))

	check(t, expect.Locator(bob.page.Locator("#time")).ToContainText("Your hold expired.", playwright.LocatorAssertionsToContainTextOptions{Timeout: playwright.Float(40_000)}))
	check(t, expect.Locator(bob.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "Name"})).ToHaveValue("Bob Ågren"))
	someProgram(t, o).claim(slug, label)
	bob.sees(bob.page.GetByText("someone else took some of these seats"))
	bob.sees(bob.page.GetByText("You hold no seats of this subscription."))
}

// renewsSeason makes the next season of two more evenings, which keeps the seats of the one before.
func (p *person) renewsSeason(slug string) {
	p.t.Helper()
	p.visit("/desk/series/a-night-out")
	p.opens("Add dates")
	check(p.t, p.page.GetByLabel("Or a list of dates").Fill("2034-06-07 19:30\n2034-06-08 19:30"))
	p.press(p.button("Add the dates"))
	p.sees(p.page.GetByText("The performances were created as drafts"))
	_, err := p.page.GetByLabel("Status").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice("on sale")})
	check(p.t, err)
	p.press(p.button("Show what changes"))
	p.press(p.page.Locator(".made button.primary"))
	p.sees(p.page.GetByText("Done. Every open page knows within a second."))
	p.visit("/desk/subscriptions/new")
	for i := range 2 {
		check(p.t, p.page.Locator("input[name=performance]").Nth(4+i).Check())
	}
	p.press(p.button("Continue"))
	check(p.t, p.page.Locator(`[name="price.A"]`).Fill("160.00"))
	check(p.t, p.page.GetByLabel("Name").Fill("Season 2034"))
	_, err = p.page.GetByLabel("Keep seats for the subscribers of").SelectOption(playwright.SelectOptionValues{Labels: playwright.StringSlice("Season 2033")})
	check(p.t, err)
	p.fills("Until", "2033-12-01T12:00")
	p.inBothLights("desk-subscription-new")
	p.press(p.button("Create subscription"))
	p.sees(p.page.GetByText("The subscription was created."))
}

// makesSeries makes three more evenings of an event, and puts all on sale.
func (p *person) makesSeries(slug string) {
	p.t.Helper()
	p.visit("/desk/events/" + slug + "/series")
	check(p.t, p.page.GetByLabel("Or a list of dates").Fill("2033-06-07 19:30\n2033-06-08 19:30\n2033-06-09 19:30"))
	for _, day := range []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		check(p.t, p.page.GetByLabel(day, playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).SetChecked(false))
	}
	p.press(p.button("Make the series"))
	_, err := p.page.GetByLabel("Status").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice("on sale")})
	check(p.t, err)
	p.press(p.button("Show what changes"))
	p.press(p.page.Locator(".made button.primary"))
	p.sees(p.page.GetByText("Done. Every open page knows within a second."))
}
