package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// The budgets of a page on a phone with a slow connection. The best of several visits has to keep them. Where the machine
// had something else to do during any of them, a time may be several times as long. Every run prints what it saw.
const (
	budgetLCP = 1000.0 // ms to the largest thing painted
	budgetINP = 100.0  // ms from a tap to the next frame, the slowest of the visit
	budgetCLS = 0.01   // how much of the page jumped, as browsers score it
	tries     = 3

	usual  = 175.0 // ms for the piece of work in a page that is slowed down, on a machine at rest
	rests  = 1.25  // times that, and programs that run for each processor: beyond, others are there
	tired  = 1.75  // times that: beyond, they are many, or the machine is another one
	double = 2.0   // times a budget in ms, between the two
	noise  = 4.0   // times a budget in ms, beyond both
)

// seen is what a browser tells of the speed of one page.
type seen struct {
	LCP, CLS, INP float64
	Slowest       string
	Jumps         []string
}

// good tells whether the budgets are kept, each time so many times over.
func (s seen) good(times float64) bool {
	return s.LCP <= times*budgetLCP && s.INP <= times*budgetINP && s.CLS <= budgetCLS
}

// longer is how many times as long a page may take whose piece of work took so many ms, while so many programs ran for
// each processor.
func longer(work, running float64) float64 {
	switch {
	case running > rests || work > tired*usual:
		return noise
	case work > rests*usual:
		return double
	}
	return 1
}

// running is how many programs ran for each processor in the last minute; too many, where the system does not tell.
func running() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return math.Inf(1)
	}
	var load float64
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		return math.Inf(1)
	}
	return load / float64(runtime.NumCPU())
}

// better is what the better of two visits tells of each: what else the machine does only adds. What jumps, jumps.
func (s seen) better(other seen) seen {
	if other.LCP == 0 {
		return s
	}
	best := s
	if other.INP < s.INP {
		best = other
	}
	best.LCP, best.CLS, best.Jumps = min(s.LCP, other.LCP), max(s.CLS, other.CLS), append(s.Jumps, other.Jumps...)
	return best
}

func (s seen) String() string {
	return fmt.Sprintf("LCP %.0f ms (budget %.0f), INP %.0f ms by %s (budget %.0f), CLS %.4f (budget %.2f) by %v",
		s.LCP, budgetLCP, s.INP, s.Slowest, budgetINP, s.CLS, budgetCLS, s.Jumps)
}

// watch notes what the browser tells of its speed, from the first moment of the page.
const watch = `(() => {
	window.seen = {LCP: 0, CLS: 0, INP: 0, Slowest: '', Jumps: []}
	const on = (type, each, more) => new PerformanceObserver(list => list.getEntries().forEach(each)).observe({type, buffered: true, ...more})
	on('largest-contentful-paint', e => { seen.LCP = e.startTime })
	on('layout-shift', e => {
		if (e.hadRecentInput) return
		seen.CLS += e.value
		seen.Jumps.push(...e.sources.map(s => (s.node?.id || s.node?.className || s.node?.nodeName || '') + ' ' + e.value.toFixed(4)))
	})
	on('event', e => {
		if (!e.interactionId || e.duration <= seen.INP) return
		seen.INP = e.duration
		seen.Slowest = e.name + ' on ' + (e.target?.id || e.target?.className || e.target?.nodeName || '')
	}, {durationThreshold: 16})
})()`

// slow4G is the network of Lighthouse's phones.
var slow4G = map[string]any{"offline": false, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8}

// This test is not parallel: those that are wait until it is done.
func TestAPhoneWithASlowConnectionIsServedWithinTheBudgets(t *testing.T) { //nolint:paralleltest // it measures
	for _, c := range []struct {
		plan, seat string
		section    int
	}{{"theatre", "Boxes left/1/2", 1}, {"stadium", "101/1/2", 0}} {
		t.Run(c.plan, func(t *testing.T) {
			slug := house.event(t, c.plan)
			var overview, rows seen
			most := 1.0
			for range tries {
				p := someone(t, house, "ann", device{width: 390, height: 844, touch: true})
				before := running()
				o, r, work := p.seenOf(slug, c.seat, c.section)
				most = max(most, longer(work, max(before, running())))
				t.Logf("work takes %.0f ms (at rest %.0f), %.1f programs run for each processor\nthe overview: %v\nthe rows: %v", work, usual, before, o, r)
				overview, rows = o.better(overview), r.better(rows)
				if overview.good(1) && rows.good(1) {
					p.noticesADelay(c.seat)
					return
				}
				check(t, p.context.Close())
			}
			if !overview.good(most) || !rows.good(most) {
				t.Errorf("the best of %d visits takes more than %v times the budgets\nthe overview: %v\nthe rows: %v", tries, most, overview, rows)
			}
		})
	}
}

func TestABudgetIsHeldToWhatTheMachineCouldDo(t *testing.T) {
	t.Parallel()
	kept := seen{LCP: budgetLCP, INP: budgetINP, CLS: budgetCLS}
	if !kept.good(1) || longer(usual, 1) != 1 || longer(1.5*usual, 1) != double || longer(9*usual, 1) != noise || longer(usual, 2) != noise {
		t.Error("what is just good enough is refused")
	}
	for _, s := range []seen{{LCP: budgetLCP + 1}, {INP: budgetINP + 8}, {CLS: budgetCLS + 0.001}} {
		if s.good(longer(usual, 1)) {
			t.Errorf("on a machine at rest nobody notices %v", s)
		}
	}
	if (seen{CLS: 0.02}).good(noise) || (seen{INP: noise*budgetINP + 8}).good(noise) {
		t.Error("beside other work anything goes")
	}
	if worst := (seen{LCP: 1, INP: 50, CLS: 0.02}).better(seen{LCP: 1, INP: 60}); worst.CLS != 0.02 || worst.INP != 50 {
		t.Errorf("of two visits the better is %v", worst)
	}
}

// piece is a piece of work of known size, in ms: what it took, and whatever the processor did meanwhile.
const piece = `(() => {
	const began = performance.now()
	let x = 1
	for (let i = 0; i < 8e6; i++) x = Math.imul(x, 31) + i | 0
	return performance.now() - began + (x === 0.5)
})()`

// noticesADelay plants a page that computes for a while before it answers a tap.
func (p *person) noticesADelay(seat string) {
	p.t.Helper()
	_, err := p.page.Evaluate(`addEventListener('click', () => { const end = performance.now() + 300; while (performance.now() < end); })`)
	check(p.t, err)
	p.take(seat)
	if late := p.reports(); late.good(1) {
		p.t.Errorf("a page that thinks before it answers is not noticed: %v", late)
	}
}

// seenOf opens the page of an event and of a section with an empty cache, takes a seat there and lets it go; work is what
// the piece of work took meanwhile.
func (p *person) seenOf(slug, seat string, section int) (overview, rows seen, work float64) {
	p.t.Helper()
	p.slow()
	p.openEvent(slug)
	p.seesMap()
	overview = p.reports()
	work = p.evaluates(piece)

	p.press(p.page.Locator(".sections a").Nth(section))
	p.isLive()
	p.seesMap()
	p.take(seat)
	p.press(p.tray().GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Let all go"}))
	p.holdsSeats(0)
	return overview, p.reports(), max(work, p.evaluates(piece))
}

// slow gives the browser a phone's processor and a slow connection, with an empty cache. It keeps no trace: to take the
// pictures of a trace, before and after each tap, costs a page more than the tap.
func (p *person) slow() {
	p.t.Helper()
	check(p.t, p.context.Tracing().Stop())
	check(p.t, p.context.AddInitScript(playwright.Script{Content: playwright.String(watch)}))
	cdp, err := p.context.NewCDPSession(p.page)
	check(p.t, err)
	for method, params := range map[string]map[string]any{
		"Network.enable": {}, "Network.emulateNetworkConditions": slow4G, "Emulation.setCPUThrottlingRate": {"rate": 4},
	} {
		_, err := cdp.Send(method, params)
		check(p.t, err)
	}
}

// seesMap waits until every seat is drawn.
func (p *person) seesMap() {
	p.t.Helper()
	p.sees(p.page.Locator("#map canvas[data-ready]"))
}

// reports is what the browser saw of the page's speed.
func (p *person) reports() (s seen) {
	p.t.Helper()
	text, err := p.page.Evaluate(`new Promise(done => setTimeout(() => done(JSON.stringify(seen)), 300))`)
	check(p.t, err)
	check(p.t, json.Unmarshal([]byte(text.(string)), &s))
	return s
}
