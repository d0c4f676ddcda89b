//go:build figures

package e2e

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// tries is how often a page is measured: the figure is the median.
const tries = 3

// figure is what a browser took for the map of one boxOffice.
type figure struct {
	Empty float64 // ms from the address of a page of one word to that: what any page costs
	Paint float64 // ms from the address to the seats
	Work  float64 // ms of a processor that the page's thread took for that, which other work moves less; what a test asks of it is in there
	Delta float64 // ms from a message of 500 seats to their pixels, the median
	Pan   float64 // ms between two frames while the map is dragged, 95 of 100
	Heap  float64 // MB of scripts and documents
	Whole float64 // MB that the page's process has to itself, the map on its canvas; 0 if not known
	Grown float64 // MB of it that came with the map: before, it showed the list of events
}

func (f figure) within(most figure) bool {
	return f.Paint <= most.Paint && f.Delta <= most.Delta && f.Pan <= most.Pan && f.Whole <= most.Whole
}

// median is the median of each figure over all measurements.
func median(all []figure) (m figure) {
	for _, field := range []func(*figure) *float64{
		func(f *figure) *float64 { return &f.Empty }, func(f *figure) *float64 { return &f.Paint },
		func(f *figure) *float64 { return &f.Work }, func(f *figure) *float64 { return &f.Delta },
		func(f *figure) *float64 { return &f.Pan }, func(f *figure) *float64 { return &f.Heap },
		func(f *figure) *float64 { return &f.Whole }, func(f *figure) *float64 { return &f.Grown },
	} {
		values := make([]float64, len(all))
		for i := range all {
			values[i] = *field(&all[i])
		}
		slices.Sort(values)
		*field(&m) = values[len(values)/2]
	}
	return m
}

// What the design allows at 50,000 seats, on a desktop and with a processor four times as slow.
var allowed = map[int]figure{
	1: {Paint: 400, Delta: 20, Pan: 17, Whole: 60},
	4: {Paint: 1100, Delta: 33, Pan: 33, Whole: 60},
}

// This test is not parallel: it measures.
func TestMapFigures(t *testing.T) { // not parallel: it measures
	sizes, slowness, looks := []int{5_000}, []int{1}, looksAt[:1]
	if *figures != "" {
		sizes, slowness, looks = nil, []int{1, 4}, looksAt
		for size := range strings.SplitSeq(*figures, ",") {
			n, err := strconv.Atoi(size)
			check(t, err)
			sizes = append(sizes, n)
		}
		fmt.Println("| house | seats | slowed | page of a word, ms | first paint, ms | of it work, ms | 500 seats, ms | frame while panning, ms | scripts, MB | renderer, MB | of it the map, MB |\n|---|---|---|---|---|---|---|---|---|---|---|")
	}
	for _, seats := range sizes {
		for _, look := range looks {
			slug := boxOffice.named(t, fmt.Sprint(strings.ReplaceAll(look.boxOffice, ", ", "-"), "-", seats), look.plan(t, seats))
			for _, slower := range slowness {
				look.measure(t, slug, seats, slower)
			}
		}
	}
}

// look is a venue of any size on a device.
type look struct {
	boxOffice string
	plan      func(t *testing.T, seats int) (file string)
	device    device
}

// looksAt are a venue of squares and the stadium, and that on a phone.
var looksAt = []look{{"squares", gridPlan, desktop}, {"stadium", stadiumPlan, desktop}, {"stadium, phone", stadiumPlan, device{width: 390, height: 844, touch: true}}}

func (l look) measure(t *testing.T, slug string, seats, slower int) {
	t.Helper()
	all, most := make([]figure, tries), allowed[slower]
	for i := range all {
		all[i] = measured(t, slug, l.device, slower)
		t.Logf("%s, %d seats, %d× slower: %+v", l.boxOffice, seats, slower, all[i])
	}
	f := median(all)
	if *figures != "" {
		fmt.Printf("| %s | %d | %d× | %.0f | %.0f | %.0f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", l.boxOffice, seats, slower, f.Empty, f.Paint, f.Work, f.Delta, f.Pan, f.Heap, f.Whole, f.Grown)
	}
	if !f.within(most) {
		t.Errorf("%s, %d seats, %d× slower: %+v, allowed are %+v", l.boxOffice, seats, slower, f, most)
	}
}

const paintTime = `new MutationObserver((_, o) => {
	if (!document.querySelector('#map canvas[data-ready]')) return
	o.disconnect()
	window.painted = performance.now()
}).observe(document, {subtree: true, attributes: true, attributeFilter: ['data-ready'], childList: true})`

// emptyTime is when the browser painted the page that is open for the first time.
const emptyTime = `new Promise(done => new PerformanceObserver(list => done(list.getEntries()[0].startTime)).observe({type: 'paint', buffered: true}))`

// deltaTime gives the page twenty messages of 500 seats each and tells the median of the times until they were drawn.
const deltaTime = `(async () => {
	const {decode} = WIRE, times = []
	const now = decode(await (await fetch('/events/' + document.body.dataset.slug + '/map.bin')).arrayBuffer())
	const frame = () => new Promise(requestAnimationFrame)
	for (let i = 0; i < 20; i++) {
		const n = now.states.length, idx = new Set()
		while (idx.size < Math.min(500, n)) idx.add(Math.floor(Math.random() * n))
		const b = [3]
		for (let k = 0; k < 4; k++) b.push(now.epoch >>> 8 * k & 255)
		const put = x => { for (; x > 127; x = Math.floor(x / 128)) b.push(x % 128 | 128); b.push(x) }
		put(now.version); put(++now.version); put(now.counts.length)
		for (const c of now.counts) for (const k of [c.free, c.held, c.sold, c.blocked]) put(k)
		let last = 0
		for (const at of [...idx].sort((a, b) => a - b)) { put((at - last) * 4 + (i + 1) % 2); last = at }
		await frame(); await frame()
		await new Promise(done => setTimeout(done, Math.random() * 16))
		const began = performance.now()
		heard.onmessage({data: Uint8Array.from(b).buffer})
		await frame()
		times.push(performance.now() - began)
		await new Promise(done => setTimeout(done, 50))
	}
	return times.sort((a, b) => a - b)[10]
})()`

// hearSockets keeps the socket of a page at hand.
const hearSockets = `window.WebSocket = class extends WebSocket { constructor(...all) { super(...all); window.heard = this } }`

const watchFrames = `(() => { let last; window.frames = []
	const on = now => {
		if (!window.frames) return
		if (last) frames.push(now - last)
		last = now
		requestAnimationFrame(on)
	}
	requestAnimationFrame(on)
})()`

func measured(t *testing.T, slug string, d device, slower int) (f figure) {
	t.Helper()
	p := someone(t, boxOffice, fmt.Sprintf("ann-%d", slower), d)
	defer func() { check(t, p.page.Close()) }()
	check(t, p.context.Tracing().Stop()) // its pictures of the page cost more than the page's own
	check(t, p.context.AddInitScript(playwright.Script{Content: playwright.String(paintTime + "\n" + hearSockets)}))
	cdp, err := p.context.NewCDPSession(p.page)
	check(t, err)
	send := func(method string, params map[string]any) any {
		answer, err := cdp.Send(method, params)
		check(t, err)
		return answer
	}
	p.visit("/events") // the browser is warm, its cache of this server is not
	restsAlone(t)
	before := renderers(t)
	send("Emulation.setCPUThrottlingRate", map[string]any{"rate": slower})
	if *figures != "" {
		p.expect(`status of 404`) // that page names no icon
		p.visit("/healthz")
		f.Empty = p.evaluates(emptyTime)
		p.visit("/events")
		restsAlone(t)
	}
	send("Performance.enable", map[string]any{"timeDomain": "threadTicks"})
	began := worked(t, send("Performance.getMetrics", nil))
	p.openEvent(slug)
	p.seesMap()
	f.Work = worked(t, send("Performance.getMetrics", nil)) - began
	f.Paint = p.evaluates(`painted`)
	f.Delta = p.evaluates(strings.Replace(deltaTime, "WIRE", module(t, "wire", "decode"), 1))
	f.Pan = p.pans()
	f.Whole, f.Grown = p.keeps(before, func() { send("HeapProfiler.collectGarbage", map[string]any{}) })
	usage, ok := send("Runtime.getHeapUsage", map[string]any{}).(map[string]any)
	if !ok {
		t.Fatal("no heap")
	}
	for _, part := range []string{"usedSize", "embedderHeapUsedSize", "backingStorageSize"} {
		f.Heap += asFloat(usage[part]) / 1e6
	}
	return f
}

// worked is how many ms of a processor a page's thread took so far, of all that a browser counts.
func worked(t *testing.T, metrics any) float64 {
	t.Helper()
	all, _ := metrics.(map[string]any)["metrics"].([]any)
	for _, m := range all {
		if m, ok := m.(map[string]any); ok && m["name"] == "TaskDuration" {
			return asFloat(m["value"]) * 1000
		}
	}
	t.Fatalf("the browser does not say how long it worked: %v", metrics)
	return 0
}

// pans drags the map, seats in view, and tells how long 95 of 100 frames took at most.
func (p *person) pans() float64 {
	p.t.Helper()
	for range 2 {
		p.control("Zoom in")
	}
	_, err := p.page.Evaluate(watchFrames)
	check(p.t, err)
	box, err := p.page.Locator("#map canvas[data-ready]").BoundingBox()
	check(p.t, err)
	x, y := box.X+box.Width/2, box.Y+box.Height/2
	mouse := p.page.Mouse()
	check(p.t, mouse.Move(x, y))
	check(p.t, mouse.Down())
	for i := range 90 {
		check(p.t, mouse.Move(x+100*math.Sin(float64(i)/9), y+80*math.Cos(float64(i)/9)))
	}
	check(p.t, mouse.Up())
	return p.evaluates(`(() => { const all = frames.sort((a, b) => a - b); window.frames = undefined; return all[Math.floor(all.length * .95)] })()`)
}
