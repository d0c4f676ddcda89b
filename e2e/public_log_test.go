package e2e

import (
	"regexp"
	"strings"
	"testing"
)

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
			ann.press(link)
			ann.press(ann.button("Check in this browser"))
			ann.sees(ann.page.GetByText(regexp.MustCompile(`change \d+ sold its seat`)))
			ann.sees(ann.page.GetByText("The sale is to the order of this ticket."))
			ann.inBothLights("public-log")

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
