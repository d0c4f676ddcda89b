package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// rehearsing is what stands for the program of a rehearsal: it says how far it is, and is done when a file is there.
const rehearsing = `#!/bin/sh
say() { echo "$1" > "$report.new"; mv "$report.new" "$report"; }
report=$4
say '{"state":"running","people":9880,"progress":{"arrived":3120,"waiting":1410,"holding":212,"bought":388,"left":1110}}'
until [ -e %s ]; do sleep 0.1; done
say '{"state":"done","people":9880,"over":600,"progress":{"arrived":9880,"bought":494,"left":9386},
"sections":[{"name":"Floor left","seats":400,"sold":400,"after":212},{"name":"Floor right","seats":400,"sold":400,"after":272.5},{"name":"Balcony","seats":188,"sold":150,"after":null}],
"prices":[{"name":"Category A","seats":800,"sold":800,"after":272.5},{"name":"Category B","seats":188,"sold":150,"after":null}],
"waits":{"p50":61,"p95":400,"max":730,"promised":4100,"kept":4018,"arrivals":[{"from":0,"to":120,"came":2310,"in":1320,"least":2.4,"most":121},{"from":120,"to":240,"came":1890,"in":1190,"least":58,"most":260},{"from":240,"to":360,"came":1912,"in":980,"least":121,"most":431},{"from":360,"to":480,"came":1904,"in":410,"least":306,"most":730},{"from":480,"to":600,"came":1864,"in":0,"least":0,"most":0}]},"claims":{"count":21480,"p50_ms":12.4,"p99_ms":180.2,"refused":9120},"money":4200000,"currency":"EUR",
"machine":{"cpu_seconds":412,"peak_memory":536870912,"busy":0.7,"cores":2},"broken":[{"what":"unanswered","count":3}]}'
`

// inEverySize is inBothLights on a phone and on a desktop.
func (p *person) inEverySize(name string) {
	p.t.Helper()
	p.inBothLights(name)
	small := p.device
	p.device = device{width: 1440, height: 900}
	check(p.t, p.page.SetViewportSize(p.device.width, p.device.height))
	p.inBothLights(name)
	p.device = small
	check(p.t, p.page.SetViewportSize(small.width, small.height))
}

// at scrolls to a part of the page.
func (p *person) at(selector string) {
	p.t.Helper()
	check(p.t, p.page.Locator(selector).First().ScrollIntoViewIfNeeded())
}

// An organizer rehearses a sale: the page shows how far it is by itself, and then how it went.
func TestRehearsal_PageFollowsItAndShowsHowItWent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, goOn := filepath.Join(dir, "usher"), filepath.Join(dir, "go-on")
	content, err := os.ReadFile(binary)
	check(t, err)
	check(t, os.WriteFile(program, content, 0o755))
	o := officeOf(t, program)
	check(t, os.WriteFile(program+".new", []byte(fmt.Sprintf(rehearsing, goOn)), 0o755))
	check(t, os.Rename(program+".new", program)) // what runs goes on, and what it starts is the other one

	ann := someone(t, o, "ann", phone)
	ann.entersDesk(o.owner(t))
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "New event"}))
	check(t, ann.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("First night"))
	ann.press(ann.button("Create draft"))
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Rehearse this sale"}))
	ann.sees(ann.page.GetByText("Payment: People can’t pay yet."))
	ann.inEverySize("desk-rehearsal")
	ann.at("#faults-title")
	ann.inEverySize("desk-rehearsal-mistakes")

	check(t, ann.page.GetByLabel("People", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("9880"))
	ann.press(ann.button("Rehearse this sale"))
	ann.sees(ann.page.GetByText("It runs."))
	ann.sees(ann.page.GetByText("1,410"))
	ann.inEverySize("desk-rehearsal-runs")

	check(t, os.WriteFile(goOn, nil, 0o600))
	ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Last rehearsal"}))
	ann.sees(ann.page.GetByText("3 requests got no proper answer."))
	ann.sees(ann.page.GetByText("4:33 minutes").First())
	ann.inEverySize("desk-rehearsal-done")
	ann.at("table")
	ann.inEverySize("desk-rehearsal-sold-out")
}

// rehearsed is 300 where time is short: they come within a minute, and 20,000 within ten.
var rehearsed = flag.Int("rehearse", 300, "so many `people` come to a rehearsal in front of a theatre, 2,000 a minute at most")

// An organizer makes two mistakes, rehearses the sale with a real crowd, mends both where the page leads, and starts the sale.
func TestRehearsal_OrganizerMendsTwoMistakesAndStartsTheSale(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	ann := someone(t, o, "ann", phone)
	ann.entersDesk(o.owner(t))
	exactly := playwright.Bool(true)
	link := func(name string) playwright.Locator {
		return ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: name})
	}
	save := ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Save", Exact: exactly})
	ann.press(link("New event"))
	check(t, ann.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: exactly}).Fill("First night"))
	ann.press(ann.button("Create draft"))
	ann.visit("/desk/events/first-night/settings")
	hold := ann.page.GetByLabel("Hold length (minutes)")
	check(t, hold.Fill("1"))
	check(t, ann.page.GetByLabel("By bank transfer").Check())
	ann.press(save)
	ann.sees(ann.page.GetByText("Saved."))
	ann.visit("/desk/events/first-night/checklist")
	ann.press(link("Rehearse this sale"))
	const short, account = "Seats are held for less than 2 minutes. Few people can pay within that time.", "Buyers may pay by bank transfer, and no bank account is entered."
	ann.sees(link(short))
	ann.sees(link(account))
	minutes := (*rehearsed + 1999) / 2000
	check(t, ann.page.GetByLabel("People", playwright.PageGetByLabelOptions{Exact: exactly}).Fill(strconv.Itoa(*rehearsed)))
	check(t, ann.page.GetByLabel("Minutes in which they come").Fill(strconv.Itoa(minutes)))
	ann.inEverySize("desk-rehearsal-crowd")
	ann.press(ann.button("Rehearse this sale"))
	ann.sees(ann.page.GetByText("It runs."))
	eventually(t, 3*time.Duration(minutes)*time.Minute+5*patience, "people who bought", func() bool { return ann.rehearsal().Progress.Bought > 0 })
	ann.sees(ann.page.Locator("[data-under] div:has(dt:text-is('Bought')) dd:not(:text-is('0'))"))
	ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your live desk, as it will be"}))
	ann.sees(ann.page.Locator("[data-sold]:not(:text-is('0'))")) // by itself
	ann.inEverySize("desk-rehearsal-real-runs")
	ann.sees(ann.page.Locator("#live-map [data-legend] .of-sold")) // the script drew the seats
	sold, err := ann.page.Evaluate(`window.stays = document.querySelector('[data-sold]').textContent`)
	check(t, err)
	ann.sees(ann.page.Locator(fmt.Sprintf("[data-sold]:not(:text-is('%s'))", sold)))
	if stays, err := ann.page.Evaluate(`!!window.stays`); err != nil || stays != true {
		t.Errorf("the page is loaded again for new figures: %v, %v", stays, err)
	}
	check(t, ann.button("Pause updates").Click())
	check(t, ann.button("Resume updates").Click())
	ann.at("#live-map")
	ann.inEverySize("desk-rehearsal-real-map")
	eventually(t, 3*time.Duration(minutes)*time.Minute+5*patience, "the end of the rehearsal", func() bool { return ann.rehearsal().State == "done" })
	ann.tells(*rehearsed)
	ann.sees(ann.page.GetByText("Nothing broke: every answer was right, and no seat was sold twice."))
	ann.inEverySize("desk-rehearsal-real")
	ann.at("table")
	ann.inEverySize("desk-rehearsal-real-sections")
	ann.at("#faults-title")
	ann.inEverySize("desk-rehearsal-real-mistakes")

	ann.press(link(account))
	enters := func() {
		ann.fills("Account owner", "The First Theatre", "IBAN", "AT61 1904 3002 3457 3201")
		ann.press(ann.button("Save account"))
	}
	enters()
	proof := ann.button("Confirm with your password")
	ann.sees(ann.page.GetByText("Saved.").Or(proof).First())
	if n, err := proof.Count(); err == nil && n > 0 { // she signed in more than ten minutes ago
		check(t, ann.page.Locator("main [name=password]").Fill(deskPassword))
		ann.press(proof)
		enters()
	}
	ann.sees(ann.page.GetByText("Saved."))
	ann.visit("/desk/events/first-night/rehearsal")
	ann.press(link(short))
	check(t, hold.Fill("8"))
	ann.press(save)
	ann.sees(ann.page.GetByText("Saved."))
	ann.visit("/desk/events/first-night/rehearsal")
	ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Last rehearsal"}))
	for _, mended := range []string{short, account} {
		n, err := link(mended).Count()
		check(t, err)
		if n > 0 {
			t.Errorf("it was mended: %q", mended)
		}
	}
	ann.at("#faults-title")
	ann.inEverySize("desk-rehearsal-mended")
	ann.visit("/desk/events/first-night/checklist")
	ann.press(ann.button("Put on sale now"))
	ann.press(ann.button("Put on sale without it")) // the house has no legal texts
	ann.sees(ann.page.Locator(".badge").GetByText("On sale").First())
}

// aReport is what a program reads of a rehearsal.
type aReport struct {
	State    string
	Currency string
	Money    int64
	Progress struct{ Arrived, Holding, Bought, Left int }
	Sections []struct{ Seats, Sold int }
	Broken   []struct{ What string }
	Details  []string
}

// rehearsal reads the report of the last rehearsal of the first night.
func (p *person) rehearsal() aReport {
	p.t.Helper()
	answer, err := p.context.Request().Get(p.office.url+"/desk/events/first-night/rehearsal", playwright.APIRequestContextGetOptions{Headers: map[string]string{"Accept": "application/json"}})
	check(p.t, err)
	var of struct{ Rehearsal struct{ Report aReport } }
	check(p.t, answer.JSON(&of))
	return of.Rehearsal.Report
}

// tells checks the figures of a rehearsal of so many people against each other.
func (p *person) tells(people int) {
	p.t.Helper()
	r, seats, sold := p.rehearsal(), 0, 0
	for _, s := range r.Sections {
		seats, sold = seats+s.Seats, sold+s.Sold
	}
	if r.Progress.Arrived != people || r.Progress.Bought+r.Progress.Left != people || r.Progress.Holding != 0 || sold < r.Progress.Bought || sold > seats || r.Money < int64(sold)*100 || len(r.Broken)+len(r.Details) > 0 {
		p.t.Errorf("%d of %d seats were sold to %d people: %+v", sold, seats, people, r)
	}
}
