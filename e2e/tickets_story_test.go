package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// Ann buys the last three places, and names them. She sends one to Bea, offers another one to Dan and takes it back, and offers it for
// resale instead: it goes to Cleo, who waits. The third one becomes another type. Each finds their ticket again from an empty browser,
// by email. Of all codes that there ever were the door lets in exactly the three valid ones.
func TestTickets_WholeStory(t *testing.T) {
	t.Parallel()
	o, d, at := boxOffice, phone, "@story.example.org"
	slug := o.event(t, "conference", "--limit", "199", "--demo-card", "--paid-ahead", "--ticket-names", "optional", "--resale-until", "0", "--change-types-until", "0")
	ann, bea, cleo, dan, usher := someone(t, o, "ann", d), someone(t, o, "bea", d), someone(t, o, "cleo", d), someone(t, o, "dan", d), someone(t, o, "usher", phone)
	ann.visit("/events/" + slug)
	ann.asksForPlaces("Places", 3)
	ann.holdsSeats(3)
	ann.press(ann.button("Check out"))
	names := ann.page.Locator(`input[name^="ticket-name-"]`)
	for i, name := range []string{"Ann Ørsted", "Bo", "Cy"} {
		check(t, names.Nth(i).Fill(name))
	}
	ann.orders("Ann Ørsted", "ann"+at, "")
	ann.hasTickets(3)
	ever := ann.codes(3)
	order := strings.TrimPrefix(ann.page.URL(), o.url)
	o.sellsTypes(t, slug, "F", "0", "10", "5")
	rest := someProgram(t, o)
	status, held := rest.ask("POST", "/events/"+slug+"/claims", map[string]any{"area": "Places", "quantity": 197})
	if status != http.StatusCreated {
		t.Fatalf("the other places are held: %d %+v", status, held.Error)
	}
	if status, a := rest.ask("POST", "/events/"+slug+"/orders", map[string]any{"hold": held.Hold.ID, "seats": held.Hold.Seats, "name": "Ben", "email": "ben" + at}); status != http.StatusCreated {
		t.Fatalf("the other places are ordered: %d %+v", status, a.Error)
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
	ann.sends(1, "")
	byHand := ann.offer(0)
	ann.press(ann.button("Take it back"))
	ann.hasTickets(2)
	dan.visit(byHand)
	dan.sees(dan.page.GetByText("took this ticket back."))

	ann.visit(order)
	ann.press(ann.page.GetByText("Offer tickets back"))
	check(t, ann.page.Locator(`form[action$="/resales"] input[name="ticket"]`).Nth(1).Check())
	ann.press(ann.button("Offer selected tickets"))
	ann.sees(ann.page.GetByText("is offered back. Your ticket is valid until the seat is sold."))
	cleo.stands("Seats for you")
	cleo.press(cleo.button("Take 1 seat · no charge"))
	cleo.orders("Cleo", "cleo"+at, "")
	cleo.hasTickets(1)

	ann.visit(order)
	ann.press(ann.link("Change ticket types"))
	check(t, expect.Locator(ann.page.Locator(`select[name="type"]`)).ToHaveCount(1)) // of one that is hers
	ann.getsType(0, "Premium")
	ann.press(ann.button("Show the difference"))
	ann.press(ann.button("Pay €10 and change"))
	ann.card("Pay")
	ann.sees(ann.page.GetByText("These tickets replace yours of another type."))
	ann.hasTickets(1)

	valid, named := []string{}, []string{"Ann Ørsted", "Bea Ek", "Cleo"}
	for i, who := range []string{"ann", "bea", "cleo"} {
		of := []*person{ann, bea, cleo}[i]
		mine := of.codes(1)[0]
		again := someone(t, o, who+"-again", d)
		again.visit("/account")
		again.signsIn(who + at)
		again.press(again.page.Locator(`.owned a[href="` + strings.TrimPrefix(of.page.URL(), o.url) + `"]`).First())
		again.hasTickets(1)
		if found := again.codes(1)[0]; found != mine {
			t.Errorf("%s finds another ticket by email", who)
		}
		valid = append(valid, mine)
	}

	usher.door(slug, "Foyer")
	for _, code := range ever {
		if slices.Contains(valid, code) {
			t.Error("a ticket that changed hands or its type kept its code")
		}
		word, said := "revoked", "This ticket was cancelled."
		if code == ever[2] {
			said = "This ticket was replaced by a newer one."
		}
		usher.scans(code, word, said)
	}
	for i, code := range valid {
		usher.scans(code, "in", "Let them in.")
		usher.sees(usher.page.Locator(".verdict").GetByText(named[i]))
	}
	usher.scans(valid[0], "again", "This ticket was already used on ")
}
