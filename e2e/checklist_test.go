package e2e

import (
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// A newcomer makes an event and follows the checklist to its sale; a sale that lacks something asks first. The event itself takes
// five minutes at most; legal texts are written once for a team, and not counted.
func TestChecklist_LeadsANewcomerToTheSale(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	ann := someone(t, o, "ann", phone)
	ann.entersDesk(o.owner(t))
	exactly := playwright.Bool(true)
	work := &effort{person: ann}
	work.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "New event"}))
	work.fill(ann.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: exactly}), "First night")
	work.press(ann.button("Create draft"))
	line := func(name string) playwright.Locator {
		return ann.page.Locator(".sheet .lines").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: name, Exact: exactly})
	}
	back := func() {
		t.Helper()
		work.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Checklist", Exact: exactly}).First())
	}
	ann.sees(ann.page.GetByText("Only your team sees this event."))
	ann.sees(ann.page.GetByText("People can’t pay yet."))
	ann.inBothLights("desk-checklist")

	ann.expect("409")
	ann.press(ann.button("Put on sale now"))
	ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Start the sale without this?"}))
	ann.inBothLights("desk-checklist-asks")
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Back to the checklist"}))

	work.press(line("Payment"))
	check(t, ann.page.GetByLabel("At the box office").Check())
	work.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Save", Exact: exactly}))
	back()
	work.press(line("Event page"))
	work.fill(ann.page.GetByLabel("Description", playwright.PageGetByLabelOptions{Exact: exactly}), "Four people by a lake.")
	work.press(ann.button("Save event page"))
	ann.sees(ann.page.GetByText("Saved."))
	check(t, ann.page.Locator("input[type=file]").SetInputFiles([]playwright.InputFile{dusk(t)}))
	work.fill(ann.page.Locator("input[name=alt]").First(), "A lake at dusk")
	work.press(ann.button("Add picture"))
	ann.sees(ann.page.GetByText("The picture was added."))
	back()
	if took := work.takes(); took > 5*time.Minute {
		t.Errorf("a newcomer needs %v for %d clicks and %d keys", took, work.clicks, work.keys)
	} else {
		t.Logf("%d clicks and %d keys, %v for a newcomer", work.clicks, work.keys, took)
	}

	ann.sees(ann.page.GetByText("It has a description and a picture."))
	for _, of := range [][2]string{{"terms", "Terms and privacy notice"}, {"privacy", "Terms and privacy notice"}, {"imprint", "Imprint"}} {
		ann.press(line(of[1]))
		check(t, ann.page.Locator("#"+of[0]+" textarea").Fill("The First Theatre, Main Street 1"))
		ann.press(ann.page.Locator("#"+of[0]).GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Publish"}))
		ann.sees(ann.page.GetByText("Attendees see this text now."))
		ann.visit("/desk/events/first-night/checklist")
	}
	ann.press(ann.button("Put on sale now"))
	ann.sees(ann.page.GetByText("Attendees can buy tickets."))
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Checklist", Exact: exactly}).First())
	ann.inBothLights("desk-checklist-done")

	bob := someone(t, o, "bob", desktop)
	bob.visit("/events/first-night")
	bob.sees(bob.page.GetByText("Four people by a lake."))
}
