package e2e

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// The budgets of a page on a phone with a slow connection. The best of several visits has to keep them. Where the machine
// had something else to do during all of them, as a program can tell by how much of a processor it gets, a time may be
// several times as long. Every run prints what it saw.
const (
	budgetLCP = 1000.0 // ms to the largest thing painted
	budgetINP = 100.0  // ms from a tap to the next frame, the slowest of the visit
	budgetCLS = 0.01   // how much of the page jumped, as browsers score it
	noise     = 4      // times a budget in ms, on a machine that has something else to do
	rest      = 2      // times a budget in ms, where nobody else was seen: a stadium's first touch has taken 144 ms
	mostTaken = 0.2    // of a processor, that somebody else had
	tries     = 3
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
			busy := true
			for range tries {
				p := someone(t, house, "ann", device{width: 390, height: 844, touch: true})
				before := taken()
				o, r := p.seenOf(slug, c.seat, c.section)
				others := max(before, taken())
				t.Logf("others have %.0f %% of a processor\nthe overview: %v\nthe rows: %v", others*100, o, r)
				check(t, p.context.Close())
				busy = busy && others > mostTaken
				if overview, rows = o.better(overview), r.better(rows); overview.good(1) && rows.good(1) {
					return
				}
			}
			most := float64(rest)
			if busy {
				most = noise
			}
			if !overview.good(most) || !rows.good(most) {
				t.Errorf("the best of %d visits takes more than %v times the budgets (beside other work: %v)\nthe overview: %v\nthe rows: %v", tries, most, busy, overview, rows)
			}
		})
	}
}

// taken is how much of a processor others have, of all that somebody wants who computes for a moment.
func taken() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, used := time.Now(), threadTime()
	for time.Since(began) < 200*time.Millisecond {
		for i := range 1000 {
			_ = i * i
		}
	}
	return 1 - float64(threadTime()-used)/float64(time.Since(began))
}

// seenOf opens the page of an event and of a section with an empty cache, takes a seat there and lets it go.
func (p *person) seenOf(slug, seat string, section int) (overview, rows seen) {
	p.t.Helper()
	p.slow()
	p.openEvent(slug)
	p.seesMap()
	overview = p.reports()

	p.press(p.page.Locator(".sections a").Nth(section))
	p.isLive()
	p.seesMap()
	p.take(seat)
	p.press(p.tray().GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Let all go"}))
	p.holdsSeats(0)
	return overview, p.reports()
}

// slow gives the browser a phone's processor and a slow connection, with an empty cache.
func (p *person) slow() {
	p.t.Helper()
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
