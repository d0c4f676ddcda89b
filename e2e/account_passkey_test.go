package e2e

import (
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// Ann signs in by a mailed link and adds a passkey. Signed out, she signs in with it on the way to a checkout, which begins with
// her details. Once it is removed, it opens nothing.
func TestAccountPasskey_SignsInUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	for _, d := range []device{phone, desktop} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--demo-card", "--paid-ahead")
			o.url = strings.Replace(o.url, "127.0.0.1", "localhost", 1) // browsers keep passkeys for names only
			ann := someone(t, o, "ann", d)
			ann.authenticator()
			ann.visit("/account")
			check(t, expect.Locator(ann.button("Sign in with a passkey")).ToBeVisible())
			ann.inBothLights("account-ask-passkey")
			ann.signsIn("ann@example.org")
			check(t, ann.page.GetByLabel("Name of a new passkey").Fill("My phone"))
			ann.press(ann.button("Add a passkey"))
			ann.sees(ann.page.GetByText("The passkey was added."))
			ann.sees(ann.page.GetByText("not used yet"))
			check(t, ann.button("Add a passkey").ScrollIntoViewIfNeeded())
			ann.inBothLights("account-passkey")
			ann.press(ann.button("Sign out"))
			ann.sees(ann.button("Send me a link"))

			ann.openEvent(slug)
			ann.asksForBest(1, "A")
			ann.visit("/account?back=/events/" + slug + "/checkout")
			ann.press(ann.button("Sign in with a passkey"))
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your details"}))
			check(t, expect.Locator(ann.page.GetByLabel("Email")).ToHaveValue("ann@example.org"))
			ann.visit("/account")
			ann.sees(ann.page.GetByText("last used"))
			ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Remove My phone"}))
			ann.sees(ann.page.GetByText("The passkey was removed"))
			ann.press(ann.button("Sign out"))
			ann.sees(ann.button("Send me a link"))
			ann.expect("status of 403")
			ann.press(ann.button("Sign in with a passkey"))
			ann.sees(ann.page.GetByText("This passkey opens no account here."))
			ann.inBothLights("account-passkey-unknown")
			ann.sees(ann.button("Send me a link"))
		})
	}
}
