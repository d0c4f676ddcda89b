package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// audits replays the sale on the page of its log, with the code or proof of a ticket; empty: none.
func (p *person) audits(ticket string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Code of your ticket (optional)").Fill(ticket))
	p.press(p.button("Check the whole sale"))
	p.sees(p.page.Locator("[data-found]:not(:empty)"))
}

func TestPublicLog_ABuyerChecksATicketAndAnAuditorTheSale(t *testing.T) {
	t.Parallel()
	for _, d := range walked(handheld) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "conference")
			ann, owner := someone(t, o, "ann", d), someone(t, o, "owner", d)
			ann.visit("/events/" + slug)
			ann.asksForPlaces("Places", 1)
			ann.holdsSeats(1)
			ann.press(ann.button("Check out"))
			ann.orders("Ann Ørsted", ownAddress(t), "")
			ann.hasTickets(1)
			link := ann.page.GetByText("In the public log")
			eventually(t, patience, "the sale is in the log", func() bool {
				_, err := ann.page.Reload()
				check(t, err)
				n, err := link.Count()
				check(t, err)
				return n == 1
			})
			ann.inBothLights("ticket-in-log")
			address, err := link.GetAttribute("href")
			check(t, err)
			_, proof, _ := strings.Cut(address, "#")
			ann.press(link)
			ann.press(ann.button("Check in this browser"))
			ann.sees(ann.page.GetByText(regexp.MustCompile(`change \d+ sold its seat`)))
			ann.sees(ann.page.GetByText("The sale is to the order of this ticket."))
			ann.inBothLights("public-log")

			ann.visit("/events/" + slug)
			ann.press(ann.page.GetByText("Public log of the sale"))
			ann.audits(proof)
			ann.sees(ann.page.GetByText("The log is right."))
			ann.sees(ann.page.GetByText(regexp.MustCompile(`^Leaf \d+ of .* sold seat \d+\.$`)))
			ann.sees(ann.page.GetByText(regexp.MustCompile(`^compared at version \d+$`)))
			ann.inBothLights("public-log-audited")
			seen, err := ann.page.Locator("[data-found] pre").TextContent()
			check(t, err)
			check(t, ann.page.GetByLabel("Earlier checkpoints (optional)").Fill(seen))
			ann.audits(strings.Replace(proof, ".", "0.", 1))
			ann.sees(ann.page.GetByText("is no code of a ticket"))
			ann.audits("")
			ann.sees(ann.page.GetByText(regexp.MustCompile(`^the log of \d+ leaves$`)))
			for _, fraud := range []struct{ path, says string }{
				{"tile/entries/", "The leaves are not those that were signed"}, // a sale is told otherwise
				{"tile/0/", "is not that of the leaves"},                       // the proof of a ticket is another one
				{"checkpoint", "The checkpoint is not signed by the key"},
			} {
				check(t, ann.page.Route("**/log/"+fraud.path+"**", func(r playwright.Route) {
					honest, err := r.Fetch()
					check(t, err)
					body, err := honest.Body()
					check(t, err)
					body[len(body)/2] ^= 1
					check(t, r.Fulfill(playwright.RouteFulfillOptions{Response: honest, Body: body}))
				}))
				ann.audits(proof)
				ann.sees(ann.page.GetByText(regexp.MustCompile(`^Wrong: \d finding`)))
				ann.sees(ann.page.GetByText(fraud.says))
				if fraud.path == "tile/entries/" {
					ann.inBothLights("public-log-forged")
				}
				check(t, ann.page.UnrouteAll())
			}
			ann.online(false)
			ann.audits(proof)
			ann.sees(ann.page.GetByText("The house cannot be reached. Check your connection, and try again."))
			ann.online(true)

			if out := o.usher(t, "audit", o.url+"/events/"+slug+"/log"); !strings.Contains(out, "The log is right.") || !strings.Contains(out, "1 sold") {
				t.Errorf("the auditor says\n%s", out)
			}

			owner.entersDesk(o.owner(t))
			owner.visit("/desk/events/" + slug + "/log")
			owner.sees(owner.page.GetByText("The log is public."))
			owner.inBothLights("desk-public-log")
		})
	}
}
