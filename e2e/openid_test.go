package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/usherbox/usher/seats/openid/openidtest"
)

// atProvider signs in at the provider, to which a link led.
func (p *person) atProvider(email string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Account").Fill(email))
	p.press(p.button("Continue"))
}

// Olga has a password. She connects her account the first time that she signs in at the provider, and needs no password after
// that. A stranger is told whom to ask; somebody who is invited joins.
func TestOpenID_ConfirmedOnceItSignsInWithoutAPassword(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			there := openidtest.New(t)
			o := ownOffice(t, "--oidc-issuer", there.URL, "--oidc-client", openidtest.Client, "USHER_OIDC_SECRET="+openidtest.Secret, "--oidc-name", "Playhouse ID")
			email := o.organizer(t, "Olga", "manager")
			olga := someone(t, o, "olga", d)
			link := func(name string) playwright.Locator {
				return olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: name})
			}
			olga.visit("/desk/session")
			olga.inBothLights("desk-openid-sign-in")
			olga.press(link("Sign in with Playhouse ID"))
			olga.atProvider(email)
			olga.sees(olga.page.GetByText(email + " has an account here already."))
			olga.fitsAcross("the page of an identity to confirm")
			olga.inBothLights("desk-openid-confirm")
			olga.givesPassword(email, deskPassword)
			olga.sees(olga.page.Locator(".top .here"))
			olga.visit("/desk/account")
			olga.sees(olga.page.GetByText("You sign in with Playhouse ID as " + email))
			check(t, olga.button("Disconnect Playhouse ID").ScrollIntoViewIfNeeded())
			olga.fitsAcross("the account's page")
			olga.inBothLights("desk-openid-account")
			olga.visit("/desk/session/proof?to=/desk/team")
			olga.inBothLights("desk-openid-proof")
			olga.press(link("Confirm with Playhouse ID"))
			olga.atProvider(email)
			olga.sees(olga.page.Locator("#members"))
			olga.leavesDesk()
			olga.press(link("Sign in with Playhouse ID"))
			olga.atProvider(email)
			olga.sees(olga.page.Locator("#today"))
			olga.leavesDesk()

			olga.expect("status of 403")
			olga.press(link("Sign in with Playhouse ID"))
			olga.atProvider("stranger@example.org")
			olga.sees(olga.page.GetByText("Ask an owner of a team to invite this address"))
			olga.inBothLights("desk-openid-unknown")
			olga.visit("/desk/session")
			olga.press(link("Sign in with Playhouse ID"))
			olga.press(olga.button("Cancel"))
			olga.sees(olga.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "You did not sign in at Playhouse ID."}))

			cleo := "cleo@example.org"
			invitation := invitationLink.FindString(o.usher(t, "organizer", "link", cleo, "--role", "viewer"))
			olga.visit(invitation)
			olga.inBothLights("desk-openid-invitation")
			olga.press(link("Join with Playhouse ID"))
			olga.atProvider(cleo)
			olga.sees(olga.page.Locator("#today"))
			olga.visit("/desk/account")
			olga.sees(olga.page.GetByText("It is your only way to sign in."))
			olga.inBothLights("desk-openid-only")
		})
	}
}
