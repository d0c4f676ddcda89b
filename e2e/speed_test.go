package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// What a page costs a phone, counted and not timed: the same on every machine, however busy. The times themselves are held
// against budgets in figures_speed_test.go.
type cost struct {
	Requests, KB, Nodes, HeapMB float64 // of opening a page with an empty cache; KB as they come over the network
	CLS                         float64 // how much of the page jumped, as browsers score it
	Calls, Styles, Layouts      float64 // of a tap, until its seat is held: calls of our scripts' functions, elements styled, boxes laid out
}

func (c cost) over(most cost) (what []string) {
	for _, n := range []struct {
		name      string
		is, mayBe float64
	}{
		{"requests", c.Requests, most.Requests},
		{"KB", c.KB, most.KB},
		{"nodes", c.Nodes, most.Nodes},
		{"MB of scripts and documents", c.HeapMB, most.HeapMB},
		{"layout shift", c.CLS, most.CLS},
		{"calls of a tap", c.Calls, most.Calls},
		{"elements styled by a tap", c.Styles, most.Styles},
		{"boxes laid out by a tap", c.Layouts, most.Layouts},
	} {
		if n.is > n.mayBe {
			what = append(what, fmt.Sprintf("%s: %.4g, at most %.4g", n.name, n.is, n.mayBe))
		}
	}
	return what
}

const budgetCLS = 0.01

// seen is what a browser tells of the speed of one page.
type seen struct {
	LCP, CLS, INP float64
	Largest       string // what LCP is of
	Slowest       string
	Jumps         []string
}

// watch notes what the browser tells of its speed, from the first moment of the page.
const watch = `(() => {
	window.seen = {LCP: 0, CLS: 0, INP: 0, Largest: '', Slowest: '', Jumps: []}
	const on = (type, each, more) => new PerformanceObserver(list => list.getEntries().forEach(each)).observe({type, buffered: true, ...more})
	on('largest-contentful-paint', e => {
		seen.LCP = e.startTime
		seen.Largest = (e.element?.className || e.element?.nodeName || '') + ' ' + (e.element?.textContent ?? '').trim().slice(0, 40)
	})
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

// phoneVisit is a visit with a phone, and the line to its browser.
type phoneVisit struct {
	*person
	page, all playwright.CDPSession
}

func visitByPhone(t *testing.T, o *office) *phoneVisit {
	t.Helper()
	v := &phoneVisit{person: someone(t, o, "ann", device{width: 390, height: 844, touch: true})}
	check(t, v.context.Tracing().Stop()) // to take the pictures of a trace, before and after each tap, costs a page more than the tap
	check(t, v.context.AddInitScript(playwright.Script{Content: playwright.String(watch)}))
	var err error
	v.page, err = v.context.NewCDPSession(v.person.page)
	check(t, err)
	v.all, err = browser.NewBrowserCDPSession()
	check(t, err)
	t.Cleanup(func() { check(t, v.all.Detach()) })
	return v
}

func (v *phoneVisit) send(method string, params map[string]any) map[string]any {
	v.t.Helper()
	answer, err := v.page.Send(method, params)
	check(v.t, err)
	all, _ := answer.(map[string]any)
	return all
}

// taps touches a part of the page and waits until something else is there. The test asks the page nothing meanwhile: a
// question of Playwright's about a page of thousands of elements keeps a phone's processor busy for most of a second.
func (v *phoneVisit) taps(what, until string) {
	v.t.Helper()
	text, err := v.person.page.Evaluate(`([what, until]) => {
		const target = document.querySelector(what)
		target.scrollIntoView({block: 'center'})
		window.there = new Promise(done => {
			const look = () => { if (document.querySelector(until)) { watching.disconnect(); requestAnimationFrame(() => setTimeout(done)) } }
			const watching = new MutationObserver(look)
			watching.observe(document.body, {subtree: true, childList: true, attributes: true})
		})
		return new Promise(done => requestAnimationFrame(() => setTimeout(() => {
			const box = (target.closest('label') || target).getBoundingClientRect()
			done(JSON.stringify([box.x + box.width / 2, box.y + box.height / 2]))
		})))
	}`, []string{what, until})
	check(v.t, err)
	var at [2]float64
	check(v.t, json.Unmarshal([]byte(text.(string)), &at))
	v.send("Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []any{map[string]any{"x": at[0], "y": at[1]}}})
	v.send("Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []any{}})
	_, err = v.person.page.Evaluate(`there`)
	check(v.t, err)
}

// takesBySight taps a seat among the rows.
func (v *phoneVisit) takesBySight(seat string) {
	v.t.Helper()
	v.taps(fmt.Sprintf(`input[name="seat"][value="%s"]`, seat), fmt.Sprintf(`#tray [data-seat="%s"]`, seat))
}

// openRows opens the rows of a section.
func (v *phoneVisit) openRows(slug string, section int) {
	v.t.Helper()
	v.openSection(slug, section)
	v.seesMap()
}

// rests waits until the page has drawn what it has to.
func (v *phoneVisit) rests() {
	v.t.Helper()
	_, err := v.person.page.Evaluate(`(async () => { for (let i = 0; i < 5; i++) await new Promise(done => requestAnimationFrame(() => requestIdleCallback(done))) })()`)
	check(v.t, err)
}

// postpones has the page do later what it puts off for a tenth of a second or more: counts and the like are no part of a tap,
// however slow the machine is.
func (v *phoneVisit) postpones() {
	v.t.Helper()
	_, err := v.person.page.Evaluate(`(() => {
		const soon = window.setTimeout
		window.setTimeout = (what, wait, ...more) => soon(what, wait >= 100 ? 60_000 : wait, ...more)
	})()`)
	check(v.t, err)
}

// standsStill has nothing on the page move: a ring around a seat is drawn for as many frames as the browser has time for.
func (v *phoneVisit) standsStill() {
	v.t.Helper()
	check(v.t, v.person.page.EmulateMedia(playwright.PageEmulateMediaOptions{ReducedMotion: playwright.ReducedMotionReduce}))
	v.rests()
}

// opens counts what it costs to open a page.
func (v *phoneVisit) opens(open func()) (c cost) {
	v.t.Helper()
	counting := true
	v.page.On("Network.loadingFinished", func(m map[string]any) {
		if counting {
			c.Requests++
			c.KB += asFloat(m["encodedDataLength"]) / 1e3
		}
	})
	v.send("Network.enable", nil)
	v.send("Performance.enable", nil)
	open()
	counting = false
	v.send("HeapProfiler.collectGarbage", nil)
	for _, m := range v.send("Performance.getMetrics", nil)["metrics"].([]any) {
		if m := m.(map[string]any); m["name"] == "Nodes" {
			c.Nodes = asFloat(m["value"])
		}
	}
	usage := v.send("Runtime.getHeapUsage", nil)
	for _, part := range []string{"usedSize", "embedderHeapUsedSize", "backingStorageSize"} {
		c.HeapMB += asFloat(usage[part]) / 1e6
	}
	c.CLS = v.reports().CLS
	return c
}

// tapped counts what the page does because of a tap.
func (v *phoneVisit) tapped(tap func()) (calls, styles, layouts float64) {
	v.t.Helper()
	done, over := make(chan struct{}), false
	v.all.On("Tracing.dataCollected", func(m map[string]any) {
		if over {
			return
		}
		for _, e := range m["value"].([]any) {
			e := e.(map[string]any)
			args, _ := e["args"].(map[string]any)
			switch e["name"] {
			case "UpdateLayoutTree":
				if n, ok := args["elementCount"]; ok {
					styles += asFloat(n)
				}
			case "Layout":
				if begin, ok := args["beginData"].(map[string]any); ok {
					layouts += asFloat(begin["dirtyObjects"])
				}
			}
		}
	})
	v.all.On("Tracing.tracingComplete", func(map[string]any) {
		if !over {
			over = true
			close(done)
		}
	})
	v.send("Profiler.enable", nil)
	v.send("Profiler.startPreciseCoverage", map[string]any{"callCount": true, "detailed": false})
	_, err := v.all.Send("Tracing.start", map[string]any{"categories": "devtools.timeline", "transferMode": "ReportEvents"})
	check(v.t, err)
	tap()
	v.rests()
	_, err = v.all.Send("Tracing.end", nil)
	check(v.t, err)
	for _, script := range v.send("Profiler.takePreciseCoverage", nil)["result"].([]any) {
		script := script.(map[string]any)
		if !strings.Contains(script["url"].(string), "/static/") {
			continue
		}
		for _, f := range script["functions"].([]any) {
			calls += asFloat(f.(map[string]any)["ranges"].([]any)[0].(map[string]any)["count"])
		}
	}
	<-done
	return calls, styles, layouts
}

// This test is not parallel: a trace is of the whole browser.
func TestPhone_PagesAndTapsStayCheap(t *testing.T) {
	for _, c := range []struct {
		plan, seat, other string
		section           int
		overview, rows    cost
	}{
		{
			"theatre", "Boxes left/1/2", "Boxes left/1/3", 1,
			cost{Requests: 8, KB: 115, Nodes: 700, HeapMB: 6, CLS: budgetCLS},
			cost{Requests: 8, KB: 115, Nodes: 800, HeapMB: 6, CLS: budgetCLS, Calls: 1500, Styles: 150, Layouts: 150},
		},
		{
			"stadium", "101/1/2", "101/1/4", 0,
			cost{Requests: 8, KB: 160, Nodes: 3000, HeapMB: 12, CLS: budgetCLS},
			cost{Requests: 8, KB: 165, Nodes: 5500, HeapMB: 24, CLS: budgetCLS, Calls: 1500, Styles: 150, Layouts: 150},
		},
	} {
		t.Run(c.plan, func(t *testing.T) {
			slug := boxOffice.event(t, c.plan)
			v := visitByPhone(t, boxOffice)
			overview := v.opens(func() { v.openEvent(slug); v.seesMap() })
			check(t, v.context.Close()) // what it draws is no part of what follows
			v = visitByPhone(t, boxOffice)
			rows := v.opens(func() { v.openRows(slug, c.section) })
			v.seesWholeMap()
			v.rests()
			v.postpones()
			v.standsStill()
			rows.Calls, rows.Styles, rows.Layouts = v.tapped(func() { v.takesBySight(c.seat) })
			v.noticesADearTap(c.other, c.rows)
			t.Logf("the overview: %+v", overview)
			t.Logf("the rows: %+v", rows)
			for page, over := range map[string][]string{"the overview": overview.over(c.overview), "the rows": rows.over(c.rows)} {
				for _, what := range over {
					t.Errorf("%s: %s", page, what)
				}
			}
		})
	}
}

// noticesADearTap plants a tap after which the whole page is drawn anew.
func (v *phoneVisit) noticesADearTap(seat string, most cost) {
	v.t.Helper()
	_, err := v.person.page.Evaluate(`addEventListener('click', () => { document.documentElement.style.fontSize = '17px' })`)
	check(v.t, err)
	var c cost
	c.Calls, c.Styles, c.Layouts = v.tapped(func() { v.takesBySight(seat) })
	if len(c.over(most)) == 0 {
		v.t.Errorf("a tap that has the whole page drawn anew is not noticed: %+v", c)
	}
}

// seesMap waits until every seat is drawn.
func (p *person) seesMap() {
	p.t.Helper()
	p.sees(p.page.Locator("#map canvas[data-ready]"))
}

// seesWholeMap is seesMap with what lies over it: the sheet of a phone.
func (p *person) seesWholeMap() {
	p.t.Helper()
	p.sees(p.page.Locator("#map[data-complete]"))
}

// reports is what the browser saw of the page's speed.
func (p *person) reports() (s seen) {
	p.t.Helper()
	text, err := p.page.Evaluate(`new Promise(done => setTimeout(() => done(JSON.stringify(seen)), 300))`)
	check(p.t, err)
	check(p.t, json.Unmarshal([]byte(text.(string)), &s))
	return s
}
