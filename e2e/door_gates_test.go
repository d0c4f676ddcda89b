package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// doorOf opens the page of the door by a link for a device, made with these words at the desk.
func (p *person) doorOf(slug string, form map[string]any) {
	p.t.Helper()
	var made struct{ Link string }
	check(p.t, json.Unmarshal([]byte(p.office.atDesk(p.t, "events/"+slug+"/doors", form)), &made))
	at, err := url.Parse(made.Link)
	check(p.t, err)
	p.visit(at.Path)
}

var exactly = playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}

type turnout struct {
	Came, Inside int
	Devices      []struct {
		ID   int64
		Name string
		Open bool
	}
	Conflicts []struct{ Why, By string }
}

// sells sells seats at the box office, and returns the codes of their tickets.
func (o *office) sells(t *testing.T, slug string, labels ...string) (codes []string) {
	t.Helper()
	var sold struct {
		Order struct{ Tickets []struct{ Code string } }
	}
	check(t, json.Unmarshal([]byte(o.atDesk(t, "events/"+slug+"/sales", map[string]any{"seats": strings.Join(labels, ", "), "method": "cash", "name": "Ann Ørsted"})), &sold))
	for _, ticket := range sold.Order.Tickets {
		codes = append(codes, ticket.Code)
	}
	return codes
}

func (o *office) turnout(t *testing.T, slug string) (found turnout) {
	t.Helper()
	check(t, json.Unmarshal([]byte(o.atDesk(t, "events/"+slug+"/doors", nil)), &found))
	return found
}

// oneHand holds the page to what a thumb reaches: buttons of 44 px in the lower half, and nothing beside the screen.
func (p *person) oneHand() {
	p.t.Helper()
	wrong, err := p.page.Evaluate(`() => {
		const wrong = []
		if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is wider than the screen')
		for (const at of document.querySelectorAll('main form button, main .ways label, main form input[name=code]')) {
			const r = at.getBoundingClientRect()
			if (!r.width) continue
			const what = at.textContent.trim() || at.name
			if (r.height < 44 || r.width < 44) wrong.push(what + ' is ' + r.width + ' by ' + r.height)
			if (at.name !== 'code' && (r.top < innerHeight / 2 || r.bottom > innerHeight)) wrong.push(what + ' is at ' + r.top + ' to ' + r.bottom + ' of ' + innerHeight)
		}
		return wrong.join(', ')
	}`)
	check(p.t, err)
	if wrong != "" {
		p.t.Errorf("with one hand: %s", wrong)
	}
}

// types is what a hand scanner does: the code and Enter, wherever the focus is.
func (p *person) types(code string) {
	p.t.Helper()
	check(p.t, p.page.Keyboard().Type(code))
	check(p.t, p.page.Keyboard().Press("Enter"))
}

// scansAll scans codes with a hand scanner, one right after the other, and waits until all are in.
func (p *person) scansAll(slug string, codes []string) {
	p.t.Helper()
	for i, code := range codes {
		if i%10 == 5 { // the focus is anywhere
			check(p.t, p.page.GetByLabel("In", exactly).Focus())
		}
		p.types(code)
	}
	eventually(p.t, patience, "all of them are in", func() bool { return p.office.turnout(p.t, slug).Came == len(codes) })
}

func TestDoor_OneHandScansTicketAfterTicket(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "8", "--reentry")
	ann, usher := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "usher", device{width: 320, height: 568, touch: true})
	codes := ann.buysPlaces(slug, 8)
	usher.doorOf(slug, map[string]any{"name": "Anna’s phone"})
	usher.sees(usher.page.GetByText("8 tickets are stored on this device"))
	usher.sees(usher.page.GetByText("Anna’s phone"))
	usher.oneHand()
	usher.inBothLights("door-ready")

	usher.scansAll(slug, codes)
	usher.doorSays("in", "Let them in.")
	usher.oneHand()
	usher.inBothLights("door-in")
	usher.types(codes[0])
	usher.doorSays("again", " by Anna’s phone.")
	usher.oneHand()
	usher.inBothLights("door-again")
	check(t, usher.page.GetByLabel("Out", exactly).Check())
	usher.types(codes[0])
	usher.doorSays("out", "Let them out.")
	usher.inBothLights("door-out")
	if found := boxOffice.turnout(t, slug); found.Came != 8 || found.Inside != 7 {
		t.Errorf("%d came, and %d are inside", found.Came, found.Inside)
	}
}

func TestDoor_SendsTicketsToTheirGate(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--reentry", "--gate", "North: Stalls", "--gate", "South")
	north, south, desk := someone(t, boxOffice, "north", phone), someone(t, boxOffice, "south", phone), someone(t, boxOffice, "desk", desktop)
	codes := boxOffice.sells(t, slug, "Stalls/C/1-3", "Circle/A/1")
	north.doorOf(slug, map[string]any{"name": "North 1", "gate": "North"})
	south.doorOf(slug, map[string]any{"name": "South 1", "gate": "South"})
	for _, p := range []*person{north, south} {
		p.sees(p.page.GetByText("4 tickets are stored on this device"))
	}
	desk.entersDesk(boxOffice.owner(t))
	desk.visit("/desk/events/" + slug + "/doors")
	north.scans(codes[3], "gate", "Gate South, not here.")
	north.inBothLights("door-gate")
	north.scans(codes[0], "in", "Let them in.")
	check(t, expect.Locator(desk.page.Locator("#turnout")).ToContainText("1 inside now")) // without a reload
	check(t, expect.Locator(desk.page.Locator("#devices")).ToContainText("North 1"))

	// Both lose their connection. Code 1 goes in at both; 0 leaves and comes back.
	for _, p := range []*person{north, south} {
		p.online(false)
	}
	north.scans(codes[3], "gate", "Gate South, not here.")
	south.scans(codes[3], "in", "Let them in.")
	south.scans(codes[1], "in", "Let them in.")
	north.scans(codes[1], "in", "Let them in.")
	north.scans(codes[1], "again", " by North 1.")
	check(t, north.page.GetByLabel("Out", exactly).Check())
	north.scans(codes[0], "out", "Let them out.")
	north.doorSays("out", "checked on this phone")
	check(t, north.page.GetByLabel("In", exactly).Check())
	north.scans(codes[0], "in", "Let them in.")
	north.scans(codes[0], "again", "This ticket was already used on ")
	for _, p := range []*person{south, north} {
		p.online(true)
		p.sees(p.page.GetByText("4 tickets are stored on this device"))
	}
	north.doorSays("again", "by South 1")
	found := boxOffice.turnout(t, slug)
	if found.Came != 3 || found.Inside != 3 || len(found.Conflicts) != 1 || found.Conflicts[0].By != "North 1" || found.Conflicts[0].Why != "twice" {
		t.Errorf("the desk counts %+v", found)
	}
	check(t, expect.Locator(desk.page.Locator("#conflicts")).ToContainText("1 entry to look into"))
	check(t, expect.Locator(desk.page.Locator("#conflicts")).ToContainText("by South 1"))
	desk.inBothLights("doors-conflict")

	// One device is closed alone.
	for _, d := range found.Devices {
		if d.Name == "North 1" {
			boxOffice.atDesk(t, fmt.Sprintf("events/%s/doors/%d/closing", slug, d.ID), map[string]any{})
		}
	}
	north.expect("status of 404")
	north.scans(codes[2], "unknown", "This link to the door does not work.")
	south.scans(codes[2], "in", "Let them in.")
}
