package e2e

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// evening is an organizer's evening, from a plan file to the people at the door: a manager's work in its usual order,
// and a member at the door. Each page is checked on the way.
type evening struct {
	*person
	slug   string
	bought int    // seats a crowd bought
	order  string // address of an order at the desk
	ticket string // the code of one of its tickets
	plan   string // a file
	door   *person
}

// looks looks at the page on a phone, and on a desk.
func (e *evening) looks(name string) {
	e.t.Helper()
	e.look(name)
	small := e.device
	e.device = device{width: 1440, height: 900}
	check(e.t, e.page.SetViewportSize(e.device.width, e.device.height))
	e.look(name)
	e.device = small
	check(e.t, e.page.SetViewportSize(small.width, small.height))
}

func (e *evening) exactly(role playwright.AriaRole, name string) playwright.Locator {
	return e.page.GetByRole(role, playwright.PageGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
}

// at is the address of a page of the event at the desk.
func (e *evening) at(page string) string { return "/desk/events/" + e.slug + page }

func (e *evening) makesTheEvent() {
	e.t.Helper()
	e.visit("/desk/events/new")
	e.looks("desk-new-event")
	check(e.t, e.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("The Cherry Orchard"))
	check(e.t, e.page.GetByLabel("Or a plan from a file").SetInputFiles(e.plan))
	e.press(e.button("Create draft"))
	e.sees(e.page.GetByText("Only your team sees this event."))
	e.slug = regexp.MustCompile(`/desk/events/([^/?]+)`).FindStringSubmatch(e.page.URL())[1]
	e.looks("desk-checklist")
	e.visit(e.at("/preview"))
	e.looks("desk-preview")
	e.visit(e.at("/settings"))
	e.looks("desk-settings-draft")
	prices := e.page.Locator(`input[name="price"]`)
	for i := range e.number(prices) {
		check(e.t, prices.Nth(i).Fill("12.50"))
	}
	check(e.t, e.page.Locator(`input[name="door"]`).Check())
	e.press(e.exactly("button", "Save"))
	e.sees(e.page.GetByText("Saved."))
	e.expect("409")
	e.press(e.button("Put on sale now"))
	e.sees(e.button("Put on sale without it"))
	e.looks("desk-start-anyway")
	e.press(e.button("Put on sale without it"))
	e.sees(e.page.GetByText("Attendees can buy tickets."))
}

// watchesTheCrowd looks at the live desk while others buy; nothing is loaded anew.
func (e *evening) watchesTheCrowd() {
	e.t.Helper()
	e.opensDesk(e.slug)
	e.sold(0)
	_, err := e.page.Evaluate(`window.never = 'loaded anew'`)
	check(e.t, err)
	for e.bought < 5 {
		buyer := someProgram(e.t, e.office)
		status, a := buyer.ask("POST", "/events/"+e.slug+"/claims", map[string]any{"best": 1})
		if status != http.StatusCreated || a.Hold == nil {
			e.t.Fatalf("the best seat: status %d, %+v", status, a.Error)
		}
		buyer.ordersHeld(e.slug, *a.Hold)
		e.bought++
		e.sold(e.bought)
	}
	check(e.t, expect.Locator(e.page.Locator("#live-orders li").First()).ToBeVisible())
	kept, err := e.page.Evaluate(`window.never`)
	check(e.t, err)
	if kept != "loaded anew" {
		e.t.Error("the desk was loaded anew while it was watched")
	}
	e.looks("desk-evening")
	e.press(e.button("Watch the sale again"))
	check(e.t, expect.Locator(e.page.Locator("[data-moment]")).ToContainText(fmt.Sprintf("%d sold", e.bought)))
}

func (e *evening) worksWithSeats() {
	e.t.Helper()
	e.visit(e.at("/seats"))
	free := e.page.Locator(".plot label.s.free input")
	check(e.t, free.First().Check(playwright.LocatorCheckOptions{Force: playwright.Bool(true)}))
	check(e.t, e.page.GetByLabel("Reason").Fill("The lights stand there"))
	e.press(e.exactly("button", "Block"))
	e.sees(e.page.GetByText("1 seat is blocked: The lights stand there"))
	e.looks("desk-seats")
	check(e.t, free.First().Check(playwright.LocatorCheckOptions{Force: playwright.Bool(true)}))
	check(e.t, e.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("Bea Lindqvist"))
	e.press(e.exactly("button", "Sell"))
	e.sees(e.exactly("heading", "Bea Lindqvist"))
	e.looks("desk-order")
}

func (e *evening) worksWithOrders() {
	e.t.Helper()
	e.visit(e.at("/orders?q=lindqvist"))
	e.looks("desk-orders")
	e.press(e.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Bea Lindqvist"}))
	e.sees(e.exactly("heading", "Bea Lindqvist"))
	e.order = strings.TrimPrefix(e.page.URL(), e.office.url)
	e.press(e.page.Locator(".lines a").First())
	e.sees(e.page.GetByText("History of this seat"))
	e.looks("desk-seat")
	e.visit(e.order)
	e.sees(e.page.Locator(".facts code"))
	e.visit("/orders/" + path.Base(e.page.URL()))
	e.ticket = e.codes(1)[0]
}

func (e *evening) givesMoneyBack() {
	e.t.Helper()
	e.visit(e.order)
	check(e.t, e.page.GetByLabel("Amount in EUR").Fill("1"))
	e.press(e.button("Refund this amount"))
	e.sees(e.page.GetByText("The refund is on its way."))
}

func (e *evening) takesTheOrdersAway() {
	e.t.Helper()
	e.visit(e.at("/orders"))
	check(e.t, e.page.GetByLabel("The order of").Nth(1).Check()) // an order of the crowd: the latest one is scanned already
	e.press(e.page.Locator("summary", playwright.PageLocatorOptions{HasText: "Cancel those selected"}))
	e.press(e.button("Cancel these orders"))
	e.sees(e.page.GetByText("Cancelled. The seats are free again."))
	file, err := e.page.ExpectDownload(func() error {
		return e.page.Locator(".exports a", playwright.PageLocatorOptions{HasText: "CSV"}).First().Click()
	})
	check(e.t, err)
	path, err := file.Path()
	check(e.t, err)
	f, err := os.Open(path)
	check(e.t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	check(e.t, err)
	if len(lines) < 2 || !strings.Contains(fmt.Sprint(lines), "Bea Lindqvist") {
		e.t.Errorf("the export has %d lines and no Bea Lindqvist", len(lines))
	}
}

// letsPeopleIn is the work of a member with the door role.
func (e *evening) letsPeopleIn() {
	e.t.Helper()
	e.door.visit(e.at("/doors"))
	e.door.press(e.door.button("Make a link"))
	e.door.sees(e.door.page.GetByText("It is shown this once."))
	e.door.look("desk-door")
	e.door.press(e.door.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Open the door on this device"}))
	e.door.scans(e.ticket, "in", "Let them in.")
	e.door.scans(e.ticket, "again", "This ticket was already used")
	e.visit(e.at("/doors"))
	check(e.t, expect.Locator(e.page.Locator(".turnout strong")).ToHaveText("1"))
	e.looks("desk-doors")
}

func (e *evening) pausesTheSale() {
	e.t.Helper()
	e.visit(e.at("/messages"))
	e.looks("desk-messages")
	e.fills("Subject", "Doors open earlier", "Message", "## At seven\nBring a **coat**.")
	check(e.t, e.page.GetByLabel("Subject").Press("Enter")) // shows it first
	e.sees(e.page.GetByText("Bring a coat."))
	e.looks("desk-messages-preview")
	e.press(e.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Send to "}))
	e.sees(e.page.GetByText("Messages so far"))
	e.looks("desk-messages-sent")
	e.visit(e.at("/letters"))
	e.looks("desk-letters")
	e.visit(e.at("/settings"))
	check(e.t, e.page.GetByLabel("Reason, shown to attendees").Fill("Payments are slow this evening"))
	e.press(e.button("Pause the sale"))
	e.sees(e.button("Continue the sale"))
	e.looks("desk-settings-paused")
	e.visit("/events/" + e.slug)
	e.sees(e.page.GetByText("Payments are slow this evening."))
	e.looks("event-paused")
}

// isClosedToOthers tries the same pages as the door of the team, and as the manager of another one.
func (e *evening) isClosedToOthers(stranger *person) {
	e.t.Helper()
	door := e.door
	for _, page := range []string{"/orders", "/settings", "/exports/orders.csv"} {
		door.expect("403")
		door.visit(e.at(page))
		door.sees(door.page.GetByText("Your role in this team does not allow that."))
	}
	for _, page := range []string{"", "/orders", "/seats", "/doors", "/settings"} {
		stranger.expect("404")
		stranger.visit(e.at(page))
		stranger.sees(stranger.page.GetByText("There is nothing at this address for you."))
	}
}

func TestAnEveningFromThePlanToTheDoorIsTheTeamsOwn(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	o.owner(t)
	manager, door := o.organizer(t, "manager", "manager"), o.organizer(t, "door", "door")
	e := &evening{person: someone(t, o, "manager", device{width: 390, height: 844, touch: true}), plan: standsChart(t)}
	e.door = someone(t, o, "door", phone)
	e.entersDesk(manager)
	e.door.entersDesk(door)
	e.makesTheEvent()
	e.watchesTheCrowd()
	e.worksWithSeats()
	e.worksWithOrders()
	e.letsPeopleIn()
	e.givesMoneyBack()
	e.takesTheOrdersAway()
	e.pausesTheSale()
	e.isClosedToOthers(o.stranger(t))
}
