package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

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
"waits":{"p50":61,"p95":400,"max":730,"promised":4100,"kept":4018},"claims":{"count":21480,"p50_ms":12.4,"p99_ms":180.2,"refused":9120},"money":4200000,"currency":"EUR",
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
