package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// reserves blocks seats and makes a code for them, which takes 10% off as well.
func (o *office) reserves(t *testing.T, slug, code, list string) {
	t.Helper()
	o.atDesk(t, "events/"+slug+"/blocks", map[string]any{"seats": list, "reason": "Sponsors"})
	var codes struct{ Blocks []struct{ ID string } }
	check(t, json.Unmarshal([]byte(o.atDesk(t, "events/"+slug+"/codes", nil)), &codes))
	if len(codes.Blocks) != 1 {
		t.Fatalf("there are %d blocks", len(codes.Blocks))
	}
	o.atDesk(t, "events/"+slug+"/codes", map[string]any{"code": code, "off": "10%", "unlocks_blocks": []string{codes.Blocks[0].ID}})
}

// entersCode types a code into the field on the page of the event.
func (p *person) entersCode(code string) {
	p.t.Helper()
	p.press(p.page.Locator("#codes summary"))
	check(p.t, p.page.Locator("#codes input[name=code]").Fill(code))
	p.press(p.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Apply code"}))
}

func TestCode_EnteredOnTheEventPageUnlocksSeatsAndCountsAtTheCheckout(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--demo-card", "--paid-ahead", "--price", "A=95.00")
	o.reserves(t, slug, "SPONSOR", "Stalls/B/14-18")
	for _, script := range []bool{true, false} {
		ann := someone(t, o, "ann", phone)
		if !script {
			plain := phone
			plain.noScript = true
			ann = someone(t, o, "plain ann", plain)
		}
		ann.visit("/events/" + slug)
		ann.expect("422")
		ann.entersCode("NOSUCH")
		ann.sees(ann.page.GetByText("There is no such code for this event."))
		check(t, ann.page.Locator("#codes input[name=code]").Fill("spon-sor"))
		ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Apply code"}))
		ann.sees(ann.page.GetByText("This code takes 10% off and makes seats available that are reserved for it."))
		if script {
			ann.picture("event-code", "light")
			ann.picture("event-code", "dark")
		}
		ann.asksForBest(2, "A")
		ann.visit("/events/" + slug + "/checkout")
		ann.sees(ann.page.GetByText("Discount: code SPONSOR").First())
		ann.sees(ann.page.GetByText("Stalls, row B").First())
		ann.sees(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay €171 now"}))
	}
}

func TestCode_MapAndRowsSayThatASeatIsReserved(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre")
	o.reserves(t, slug, "SPONSOR", "Boxes left/2/2")
	ann := someone(t, o, "ann", device{width: 1440, height: 900, calm: true})
	ann.openSection(slug, 1)
	ann.seesMap()
	check(t, expect.Locator(ann.seat("Boxes left/2/2")).ToHaveAccessibleName("Seat 2, €75, reserved, needs a code"))
	at := ann.spot("Boxes left", "2", 2)
	check(t, ann.page.Mouse().Move(at.x, at.y))
	check(t, expect.Locator(ann.placard()).ToContainText("€75, reserved, needs a code"))
	ann.picture("event-reserved", "light")
	ann.expect("409")
	check(t, ann.page.Mouse().Click(at.x, at.y))
	ann.sees(ann.page.Locator("#message").GetByText("Enter the code for this seat first"))
}

func TestCode_APresaleForAListOfPeopleIsBookedBeforeTheSaleOpens(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--demo-card", "--paid-ahead", "--price", "A=95.00", "--opens", time.Now().Add(48*time.Hour).UTC().Format("2006-01-02T15:04"))
	for _, d := range []device{desktop, phone} {
		name := "Members " + d.String()
		olga, bob := someone(t, o, "olga", d), someone(t, o, "bob", d)
		email := "bob." + d.String() + "@localhost.example"
		olga.entersDesk(o.owner(t))
		olga.visit("/desk/events/" + slug + "/codes")
		olga.fills("Name for your list", name, "Or email a code of their own to each of these people", "ann."+d.String()+"@localhost.example\n"+email)
		olga.press(olga.page.GetByText("Unlock tickets, seats or a presale"))
		check(t, olga.page.GetByLabel("Presale: book before the event is on sale").Check())
		olga.inBothLights("desk-codes-email")
		olga.press(olga.button("Create codes"))
		olga.sees(olga.page.GetByText("each person gets an email with a code of their own"))
		olga.sees(olga.page.GetByText("2 codes").First())

		bob.visit("/events/" + slug)
		check(t, expect.Locator(bob.page.Locator(`form:has(input[name="best"])`)).ToHaveCount(0))
		bob.visit(strings.Replace(o.mailed(t, email, regexp.MustCompile(`/events/[a-z0-9-]+\?code=3D[0-9A-Z]+`)), "=3D", "=", 1))
		bob.press(bob.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Apply code"}))
		bob.asksForBest(2, "A")
		bob.press(bob.button("Check out"))
		bob.sees(bob.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay €190 now"}))
	}
}
