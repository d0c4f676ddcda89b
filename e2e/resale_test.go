package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// Ann buys the last three places. She sends one to Bea, offers two back and keeps one of them; the other one goes to Cleo, who waits.
// Each finds their ticket again from an empty browser. Of all codes that there ever were the door lets in exactly the three valid ones.
func TestResale_DoorLetsInExactlyTheValidTickets(t *testing.T) {
	t.Parallel()
	devices := []device{desktop} // TestTickets_WholeStory goes the way of a phone
	if *pictures != "" {
		devices = append(devices, phone)
	}
	for _, d := range devices {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o, at := boxOffice, "."+d.String()+"@resale.example.org"
			slug := o.event(t, "conference", "--limit", "199", "--resale-until", "0")
			ann, bea, cleo, usher := someone(t, o, "ann", d), someone(t, o, "bea", d), someone(t, o, "cleo", d), someone(t, o, "usher", phone)
			old := ann.buysPlaces(slug, 3)
			order := strings.TrimPrefix(ann.page.URL(), o.url)
			rest := someProgram(t, o)
			status, bought := rest.ask("POST", "/events/"+slug+"/claims", map[string]any{"area": "Places", "quantity": 197})
			if status != http.StatusCreated {
				t.Fatalf("the other places are held: %d %+v", status, bought.Error)
			}
			if status, _ := rest.ask("POST", "/events/"+slug+"/orders", map[string]any{"hold": bought.Hold.ID, "seats": bought.Hold.Seats, "name": "Ben", "email": "ben" + at}); status != http.StatusCreated {
				t.Fatalf("the other places are ordered: %d", status)
			}
			cleo.visit("/events/" + slug + "/waitlist")
			cleo.waits("cleo" + at)
			cleo.sees(cleo.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your place: 1"}))
			_, err := cleo.page.Evaluate(`window.same = true`)
			check(t, err)

			ann.visit(order)
			ann.sends(2, "bea"+at)
			sent := ann.offer(0)
			bea.visit(sent)
			bea.fills("Name", "Bea Ek", "Email", "bea"+at)
			bea.press(bea.button("Accept the ticket"))
			bea.hasTickets(1)

			ann.visit(order)
			ann.press(ann.page.GetByText("Offer tickets back"))
			offers := ann.page.Locator(`form[action$="/resales"] input[name="ticket"]`)
			check(t, offers.Nth(0).Check())
			check(t, offers.Nth(1).Check())
			check(t, ann.button("Offer selected tickets").ScrollIntoViewIfNeeded())
			ann.inBothLights("order-offers-back")
			ann.isAccessible("order-offers-back", checkup)
			ann.press(ann.button("Offer selected tickets"))
			ann.sees(ann.page.GetByText("is offered back. Your ticket is valid until the seat is sold.").First())
			ann.hasTickets(2)
			check(t, ann.button("Keep this ticket").Last().ScrollIntoViewIfNeeded())
			ann.inBothLights("order-offered-back")

			cleo.stands("Seats for you")
			ann.press(ann.button("Keep this ticket").Last())
			ann.sees(ann.page.GetByText("is offered back. Your ticket is valid until the seat is sold."))
			cleo.press(cleo.button("Take 1 seat · no charge"))
			cleo.orders("Cleo", "cleo"+at, "")
			cleo.hasTickets(1)
			hers := cleo.codes(1)[0]

			ann.visit(order)
			ann.sees(ann.page.GetByText("Your seat was sold again, so this ticket is no longer valid."))
			ann.inBothLights("order-sold-again")
			kept := ann.codes(1)[0]

			again := someone(t, o, "again", d)
			again.visit("/account")
			again.signsIn("cleo" + at)
			again.press(again.page.Locator(".owned a").First())
			again.hasTickets(1)
			friends := bea.codes(1)[0]

			usher.door(slug, "Foyer")
			for _, code := range old {
				switch code {
				case kept:
				case old[0], old[1]:
					usher.scans(code, "revoked", "This ticket was cancelled.")
				default:
					usher.scans(code, "revoked", "This ticket was replaced by a newer one.")
				}
			}
			for _, code := range []string{kept, hers, friends} {
				usher.scans(code, "in", "Let them in.")
			}
			usher.scans(hers, "again", "This ticket was already used on ")
		})
	}
}

var resaleLink = regexp.MustCompile(`/resales/[0-9A-Z]{26}`)

// Ann offers one of two tickets back to Dan alone. By the link in his mail he buys it; Ann's ticket ends, and the link says that it is sold.
func TestResale_NamedFriendBuysByTheLinkInTheirMail(t *testing.T) {
	t.Parallel()
	devices := []device{phone}
	if *pictures != "" {
		devices = append(devices, desktop)
	}
	for _, d := range devices {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o, email := boxOffice, "dan."+d.String()+"@friend.example.org"
			slug := o.event(t, "conference", "--resale-until", "0")
			ann, dan := someone(t, o, "ann", d), someone(t, o, "dan", d)
			dan.expect("status of 409")
			ann.buysPlaces(slug, 2)
			order := strings.TrimPrefix(ann.page.URL(), o.url)
			ann.visit(order)
			ann.press(ann.page.GetByText("Offer tickets back"))
			check(t, ann.page.Locator(`form[action$="/resales"] input[name="ticket"]`).First().Check())
			check(t, ann.page.Locator(`form[action$="/resales"] input[name="friend"]`).Fill(email))
			ann.inBothLights("order-offers-to-a-friend")
			ann.press(ann.button("Offer selected tickets"))
			ann.sees(ann.page.GetByText("only " + email + " can buy it until "))
			ann.hasTickets(2)
			ann.inBothLights("order-offered-to-a-friend")
			ann.isAccessible("order-offered-to-a-friend", checkup)

			link := o.mailed(t, email, resaleLink)
			dan.visit(link)
			dan.sees(dan.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "A ticket for you"}))
			dan.inBothLights("resale-offer")
			dan.isAccessible("resale-offer", checkup)
			dan.press(dan.button("Take 1 seat"))
			dan.orders("Dan", email, "")
			dan.hasTickets(1)

			ann.visit(order)
			ann.sees(ann.page.GetByText("Your seat was sold again, so this ticket is no longer valid."))
			ann.hasTickets(1)
			dan.visit(link)
			dan.sees(dan.page.GetByText("This was bought already."))
			dan.inBothLights("resale-offer-sold")
		})
	}
}
