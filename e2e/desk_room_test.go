package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestRoom_AManagerCreatesOneAndInvitesPeople(t *testing.T) {
	t.Parallel()
	for _, d := range []device{desktop, phone} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--price", "A=95.00")
			olga, bob := someone(t, o, "olga", d), someone(t, o, "bob", d)
			olga.entersDesk(o.owner(t))
			olga.visit("/desk/events/" + slug + "/settings")
			olga.press(olga.page.GetByRole("main").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "Waiting room"}))
			olga.fills("People inside at once", "40", "Draw, and doors", "2036-05-01T10:00")
			check(t, olga.page.GetByLabel("People you invite by email: one place for each address").Check())
			olga.inBothLights("desk-room-new")
			olga.press(olga.button("Create waiting room"))
			olga.sees(olga.page.GetByText("The waiting room is there."))
			olga.sees(olga.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Invite people"}))
			olga.fills("Email addresses, one a line", "bob@localhost.example\nann@localhost.example")
			olga.press(olga.button("Send invitations"))
			olga.sees(olga.page.GetByText("The invitations are on their way."))
			olga.inBothLights("desk-room")
			bob.visit("/events/" + slug)
			bob.sees(bob.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "There is a waiting room for this sale"}))
			bob.visit(invitationOf(t, o, "bob@localhost.example"))
			bob.press(bob.button("Join the waiting room"))
		})
	}
}
