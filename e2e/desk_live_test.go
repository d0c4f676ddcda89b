package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// opensDesk opens the live desk of an event and waits until it is fed.
func (p *person) opensDesk(slug string) {
	p.t.Helper()
	p.visit("/desk/events/" + slug)
	p.sees(p.page.Locator(`body[data-feed-state="live"]`))
	p.isLive()
}

// sold waits until the desk shows so many seats as sold.
func (p *person) sold(n int) {
	p.t.Helper()
	check(p.t, expect.Locator(p.page.Locator("[data-sold]")).ToHaveText(fmt.Sprint(n)))
}

// buys takes seats and orders them, as a program.
func (p *program) buys(slug string, labels ...string) {
	p.t.Helper()
	p.ordersHeld(slug, p.claim(slug, labels...))
}

// ordersHeld orders what it holds, to pay at the box office.
func (p *program) ordersHeld(slug string, h hold) {
	p.t.Helper()
	status, a := p.ask("POST", "/events/"+slug+"/orders", map[string]any{
		"hold": h.ID, "seats": h.Seats, "name": "Ann Ørsted", "email": emailOf(h.ID), "method": "door", "total": h.Total,
	})
	if status != http.StatusAccepted {
		p.t.Fatalf("order %q: status %d, %+v", h.Seats, status, a.Error)
	}
	p.confirms(emailOf(h.ID))
}

// confirms sends the link of the mail about an order.
func (p *program) confirms(email string) {
	p.t.Helper()
	if status, a := p.ask("POST", p.office.mailed(p.t, email, confirmLink), nil); status != http.StatusOK {
		p.t.Fatalf("the order of %s is confirmed: status %d, %+v", email, status, a.Error)
	}
}

// emailOf is a new buyer's address: an event limits the tickets of each address.
func emailOf(hold string) string { return "ann-" + hold + "@example.org" }

// noteSold notes when the desk shows so many sold seats, by the clock of this machine, which the browser shares.
const noteSold = `n => { window.soldAt = new Promise(done => {
	const look = () => { if (document.querySelector('[data-sold]')?.textContent === String(n)) done(Date.now()); else requestAnimationFrame(look) }
	look()
}) }`

func TestASaleIsOnTheDeskWithoutReload(t *testing.T) {
	t.Parallel()
	o := boxOffice
	slug := o.event(t, "theatre")
	olga := someone(t, o, "olga", desktop)
	olga.entersDesk(o.owner(t))
	olga.opensDesk(slug)
	olga.sold(0)
	for i := range 6 {
		_, err := olga.page.Evaluate(noteSold, 2*(i+1))
		check(t, err)
		if timed {
			time.Sleep(time.Duration(i) * 150 * time.Millisecond) // at any moment between two pictures
		}
		buyer := someProgram(t, o)
		h := buyer.claim(slug, fmt.Sprintf("Stalls/C/%d", 2*i+1), fmt.Sprintf("Stalls/C/%d", 2*i+2))
		status, a := buyer.ask("POST", "/events/"+slug+"/orders", map[string]any{"hold": h.ID, "seats": h.Seats, "name": "Ann", "email": emailOf(h.ID), "method": "door", "total": h.Total})
		if status != http.StatusAccepted {
			t.Fatalf("%d %+v", status, a.Error)
		}
		link := o.mailed(t, emailOf(h.ID), confirmLink)
		began := time.Now()
		if status, a := buyer.ask("POST", link, nil); status != http.StatusOK {
			t.Fatalf("%d %+v", status, a.Error)
		}
		within(t, time.Second, func() time.Duration {
			at, err := olga.page.Evaluate(`soldAt`)
			check(t, err)
			return time.UnixMilli(int64(asFloat(at))).Sub(began)
		})
	}
	check(t, expect.Locator(olga.page.Locator("#live-orders li")).ToHaveCount(6))
}

// crowd buys, holds and gives back, so that there is something to look at.
func crowd(t *testing.T, o *office, slug string) (sold int) {
	t.Helper()
	for row := range 5 {
		for i := range 4 {
			a, b := fmt.Sprintf("Stalls/%c/%d", 'C'+row, 3*i+1), fmt.Sprintf("Stalls/%c/%d", 'C'+row, 3*i+2)
			if (row+i)%4 == 3 {
				someProgram(t, o).claim(slug, a, b)
				continue
			}
			someProgram(t, o).buys(slug, a, b)
			sold += 2
		}
	}
	return sold
}

func TestTheSaleCanBeWatchedOnceMore(t *testing.T) {
	t.Parallel()
	o := boxOffice
	slug := o.event(t, "theatre")
	sold := crowd(t, o, slug)
	olga := someone(t, o, "olga", desktop)
	olga.entersDesk(o.owner(t))
	olga.opensDesk(slug)
	olga.sold(sold)
	moment, scrub := olga.page.Locator("[data-moment]"), olga.page.Locator("[data-scrub]")
	olga.press(olga.button("Watch the sale again"))
	check(t, expect.Locator(moment).ToContainText("sold"))
	check(t, expect.Locator(olga.button("Watch once more")).ToBeVisible())
	check(t, expect.Locator(moment).ToContainText(fmt.Sprintf("%d sold, 10 held", sold)))
	check(t, scrub.Focus())
	check(t, scrub.Press("Home"))
	check(t, expect.Locator(moment).ToContainText("0 sold, 0 held"))
	check(t, scrub.Press("ArrowRight"))
	check(t, expect.Locator(moment).ToContainText("0 sold, 2 held"))
	for _, by := range []string{"Price", "Time of sale", "State"} {
		check(t, olga.page.GetByLabel(by, playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Check())
	}
	olga.press(olga.button("Back to now"))
	check(t, expect.Locator(moment).ToBeEmpty())
}

func TestTheLiveDeskIsAccessibleAndWorksWithoutAScript(t *testing.T) {
	t.Parallel()
	o := boxOffice
	slug, quiet := o.event(t, "theatre"), o.named(t, "quiet", "conference")
	sold := crowd(t, o, slug)
	o.usher(t, "room", "create", "--name", "The line", "--slug", "desk-line", "--events", slug, "--slots", "50")
	owner := o.owner(t)
	for i, d := range looked() {
		p := someone(t, o, fmt.Sprint("olga", i), d)
		p.entersDesk(owner)
		p.opensDesk(slug)
		p.sold(sold)
		p.sees(p.page.GetByText("Steer the waiting room").Or(p.page.Locator("#room-controls")))
		p.look("desk-live")
		whole(p, "desk-live-whole")
		p.press(p.page.GetByText("As a table"))
		p.press(p.page.GetByText("End it for good"))
		check(t, p.page.GetByLabel("Time of sale").Check())
		p.sees(p.page.GetByText("sold first"))
		p.press(p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Show names"}))
		p.sees(p.page.GetByText("Ann Ørsted, ann-").First())
		p.look("desk-names")
		p.press(p.button("Pause updates"))
		p.sees(p.page.Locator(`body[data-feed-state="paused"]`))
		p.look("desk-paused")
		p.press(p.button("Resume updates"))
		p.visit("/desk/events/" + quiet)
		p.sees(p.page.Locator(`body[data-feed-state="live"]`))
		p.look("desk-quiet")
		p.visit("/desk/events/" + slug + "?wall=1")
		p.sold(sold)
		p.look("desk-wall")
	}
	plain := someone(t, o, "plain", device{width: 390, height: 844, noScript: true})
	plain.entersDesk(owner)
	plain.visit("/desk/events/" + slug)
	plain.sold(sold)
	check(t, plain.page.GetByLabel("Pause, and say why").Fill("Payments are slow"))
	plain.press(plain.page.Locator(`form:has(input[value="pause"]) button`))
	plain.seesAfterReload("Payments are slow")
	seen := plain.button("Seen: The waiting room is paused")
	plain.findsAfterReload("the news of it", seen) // they may come a moment after the state
	plain.press(seen)
	plain.seesAfterReload("Seen by Olga Owner")
}

// whole is a picture of all of a page.
func whole(p *person, name string) {
	if *pictures == "" {
		return
	}
	path := filepath.Join(*pictures, fmt.Sprintf("%s-%s.png", name, p.device))
	_, err := p.page.Screenshot(playwright.PageScreenshotOptions{Path: &path, FullPage: playwright.Bool(true)})
	check(p.t, err)
}
