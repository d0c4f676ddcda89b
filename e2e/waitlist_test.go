package e2e

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

var placeLink = regexp.MustCompile(`/waitlist/[0-9A-Z]{26}`)

// extends has a program extend its hold each second, until the test says that it may end.
func (p *program) extends(slug string) (end func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for {
			select {
			case <-over:
				return
			case <-every.C:
				_, _, _ = p.tryAsk("POST", "/events/"+slug+"/hold/extension", nil) // the next one comes in a second
			}
		}
	}()
	return func() { close(over); <-done }
}

// waits enters the person into the waiting list of an event by the form, and confirms by the link in the mail.
func (p *person) waits(email string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Email (we’ll send offers here)").Fill(email))
	p.press(p.button("Join the waiting list"))
	p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Check your email"}))
	p.visit(p.office.mailed(p.t, email, placeLink))
	p.press(p.button("Confirm my place"))
}

// stands waits until the page of a place says something, without being loaded again.
func (p *person) stands(heading string) {
	p.t.Helper()
	p.seesLater(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: heading}))
	same, err := p.page.Evaluate(`window.same === true`)
	check(p.t, err)
	if same != true {
		p.t.Errorf("the page of %s was loaded again before it said %q", p.name, heading)
	}
}

// TestS1 is the system S1 to its end: 200 free places are gone, three people wait for one that comes back.
func TestS1_SoldOutPlaceThatComesBackIsOfferedByRank(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "199", "--hold", "15s", "--extensions", "1000")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.visit("/events/" + slug)
	ann.isLive()
	buyer, holder := someProgram(t, boxOffice), someProgram(t, boxOffice)
	_, bought := buyer.ask("POST", "/events/"+slug+"/claims", map[string]any{"area": "Places", "quantity": 199})
	status, _ := buyer.ask("POST", "/events/"+slug+"/orders", map[string]any{"hold": bought.Hold.ID, "seats": bought.Hold.Seats, "name": "Ben", "email": "ben@example.org"})
	if status != http.StatusCreated {
		t.Fatalf("199 places are ordered: %d", status)
	}
	if status, _ := holder.ask("POST", "/events/"+slug+"/claims", map[string]any{"area": "Places", "quantity": 1}); status != http.StatusCreated {
		t.Fatalf("the last place is held: %d", status)
	}
	ended := holder.extends(slug)

	ann.sees(ann.page.GetByText("1 held", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)})) // live
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Join the waiting list"}))
	ann.waits("s1-ann@example.org")
	ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your place: 1"}))
	_, err := ann.page.Evaluate(`window.same = true`)
	check(t, err)
	bob := someProgram(t, boxOffice)
	if status, _ := bob.ask("POST", "/events/"+slug+"/waitlist", map[string]any{"email": "s1-bob@example.org", "quantity": 1, "key": slug}); status != http.StatusAccepted {
		t.Fatalf("the second joins: %d", status)
	}
	bobAt := boxOffice.mailed(t, "s1-bob@example.org", placeLink)
	bob.ask("POST", bobAt+"/confirm", nil)
	cleo := someone(t, boxOffice, "cleo", phone)
	cleo.visit("/events/" + slug + "/waitlist")
	cleo.waits("s1-cleo@example.org")
	cleo.sees(cleo.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your place: 3"}))
	_, err = cleo.page.Evaluate(`window.same = true`)
	check(t, err)
	ended()

	ann.stands("Seats for you")
	cleo.stands("Your place: 2")
	ann.isAccessible("waitlist-offer", checkup)
	ann.inTheDark("waitlist-offer")
	ann.press(ann.button("No, thank you"))
	bob.untilOffered(bobAt)
	if status, _ := bob.ask("POST", bobAt+"/decline", nil); status != http.StatusOK {
		t.Fatalf("the second declines: %d", status)
	}
	cleo.stands("Seats for you")
	cleo.isAccessible("waitlist-offer on a phone", checkup)
	cleo.press(cleo.button("Take 1 seat · no charge"))
	cleo.orders("Cleo", "s1-cleo@example.org", "")
	cleo.hasTickets(1)
	if r := someProgram(t, boxOffice).remaining(slug); r.Sold != 200 || r.Free != 0 || r.Held != 0 {
		t.Errorf("the counts are %+v, want 200 sold", r)
	}
}

func TestSoldOut_FreeEventLeadsToTheWaitingListWithoutDeadButtons(t *testing.T) {
	t.Parallel()
	for button, c := range map[string]struct {
		plan, price string
		all         map[string]any
	}{
		"Add tickets":     {"conference", "F=0", map[string]any{"area": "Places", "quantity": 200}},
		"Find best seats": {tinyPlan(t), "A=0", map[string]any{"best": 2, "category": "A"}},
	} {
		t.Run(button, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, c.plan, "--price", c.price, "--limit", "200")
			ann, buyer := someone(t, boxOffice, "ann", phone), someProgram(t, boxOffice)
			ann.visit("/events/" + slug)
			ann.isLive()
			ann.sees(ann.button(button))
			_, bought := buyer.ask("POST", "/events/"+slug+"/claims", c.all)
			if status, _ := buyer.ask("POST", "/events/"+slug+"/orders", map[string]any{"hold": bought.Hold.ID, "seats": bought.Hold.Seats, "name": "Ben", "email": "ben@example.org"}); status != http.StatusCreated {
				t.Fatalf("all is ordered: %d", status)
			}
			for range 2 { // live, and as it is loaded then
				ann.seesLater(ann.page.GetByText("Sold out").First())
				ann.sees(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Join the waiting list"}))
				check(t, expect.Locator(ann.button(button)).ToBeHidden())
				ann.visit("/events/" + slug)
			}
		})
	}
}

// untilOffered waits until a place is offered seats.
func (p *program) untilOffered(place string) {
	p.t.Helper()
	eventually(p.t, 2*patience, "seats are offered at "+place, func() bool {
		status, _ := p.ask("POST", place+"/take", nil)
		return status == http.StatusCreated
	})
}
