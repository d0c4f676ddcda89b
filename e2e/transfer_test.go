package e2e

import (
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// Ann buys three tickets. She sends one to Bea by email, offers another one by its link and takes it back. Bea accepts, sends hers on to
// Cid by a link, and finds nothing of it by email any more. The door lets in exactly the three tickets that are valid.
func TestTransfer_DoorLetsInExactlyTheValidTickets(t *testing.T) {
	t.Parallel()
	for _, d := range []device{phone, desktop} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--demo-card", "--paid-ahead")
			ann, bea, cid, usher := someone(t, o, "ann", d), someone(t, o, "bea", d), someone(t, o, "cid", d), someone(t, o, "usher", phone)
			ann.picksToPay(slug, 3)
			ann.card("Pay")
			old := ann.codes(3)
			ann.seesAfterReload("Send a ticket to a friend") // the charge may take a moment
			order := strings.TrimPrefix(ann.page.URL(), o.url)

			ann.sends(0, "bea@example.org")
			ann.sees(ann.page.GetByText("we emailed bea@example.org a link to accept it"))
			ann.sends(0, "") // of those that are left
			ann.sees(ann.page.GetByText("send your friend this link to accept it."))
			check(t, ann.button("Take it back").Last().ScrollIntoViewIfNeeded())
			ann.inBothLights("order-offered")
			mailed, byHand := ann.offer(0), ann.offer(1)
			ann.press(ann.button("Take it back").Last())
			ann.sees(ann.page.GetByText("we emailed bea@example.org"))

			o.hasMails(t, 1, mailed)
			cid.visit(byHand)
			cid.sees(cid.page.GetByText("took this ticket back."))
			bea.visit(mailed)
			bea.inBothLights("transfer")
			check(t, bea.page.GetByLabel("Name").Fill("Bea Ek"))
			bea.press(bea.button("Accept the ticket"))
			bea.hasTickets(1)
			bea.inBothLights("received")
			first := bea.codes(1)[0]
			o.hasMails(t, 1, strings.TrimPrefix(bea.page.URL(), o.url))

			bea.press(bea.page.GetByText("Send a ticket to a friend"))
			check(t, bea.button("Send the ticket").ScrollIntoViewIfNeeded())
			bea.inBothLights("received-sends")
			bea.press(bea.page.GetByText("Send a ticket to a friend"))
			bea.sends(0, "")
			onward := bea.offer(0)
			cid.visit(onward)
			cid.fills("Name", "Cid", "Email", "cid@example.org")
			cid.press(cid.button("Accept the ticket"))
			cid.hasTickets(1)
			last := cid.codes(1)[0]
			_, err := bea.page.Reload()
			check(t, err)
			bea.sees(bea.page.GetByText("You sent this ticket on, so it is no longer yours."))
			cid.visit("/account")
			cid.signsIn("cid@example.org")
			cid.sees(cid.page.GetByText("Sent to you"))

			ann.visit(order)
			ann.sees(ann.page.GetByText("Sent to Cid"))
			ann.inBothLights("order-sent")
			mine := ann.codes(2)
			usher.door(slug, "Foyer")
			for _, code := range append([]string{first}, old...) {
				if code == mine[0] || code == mine[1] {
					continue
				}
				usher.scans(code, "revoked", "This ticket was replaced by a newer one.")
			}
			for _, code := range []string{last, mine[0], mine[1]} {
				usher.scans(code, "in", "Let them in.")
			}
			usher.scans(last, "again", "This ticket was already used on ")
		})
	}
}

// sends offers the ticket of this number, of those that may be sent.
func (p *person) sends(n int, email string) {
	p.t.Helper()
	p.press(p.page.GetByText("Send a ticket to a friend"))
	check(p.t, p.page.Locator(`.actions input[type=radio]`).Nth(n).Check())
	check(p.t, p.page.Locator(`form[action$="/transfers"] input[name="email"]`).Fill(email))
	p.press(p.button("Send the ticket"))
}

// offer is the address of the link by which a friend accepts the ticket of this number, of those that are offered.
func (p *person) offer(n int) string {
	p.t.Helper()
	link := p.page.Locator(`.offered a`).Nth(n)
	check(p.t, link.WaitFor(playwright.LocatorWaitForOptions{}))
	to, err := link.GetAttribute("href")
	check(p.t, err)
	return to
}
