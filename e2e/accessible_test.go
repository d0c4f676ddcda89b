package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

var (
	pictures  = flag.String("pictures", "", "`folder` to put a picture of each page into")
	languages = flag.String("languages", "", "`tags` of languages in which pages are opened once more, for pictures and axe, such as de,ja,ar")
)

// sales are the events that the page checks visit, by slug.
type sales struct{ theatre, short, places, stadium, demo, asking, dates, series, full, ways, none, later, paused, closed string }

func TestEveryPageIsAccessibleOnPhoneAndDesktopInLightAndDark(t *testing.T) {
	t.Parallel()
	s := sales{
		theatre: boxOffice.event(t, "theatre", "--limit", "20"),
		short:   boxOffice.named(t, "short", "theatre", "--hold", "8s"),
		places:  boxOffice.named(t, "places", "conference", "--limit", "20", "--ask-birth"),
		stadium: boxOffice.named(t, "stadium", "stadium"),
		demo:    boxOffice.named(t, "demo", "theatre", "--demo-card", "--limit", "20"),
		asking:  boxOffice.named(t, "asking", "conference", append([]string{"--limit", "20"}, asking...)...),
	}
	s.full = boxOffice.named(t, "full", tinyPlan(t))
	s.ways = boxOffice.named(t, "ways", "theatre", "--demo-card", "--limit", "20", "--invoices", "--fee", "ticket=1.50", "--fee", "percent=2.5")
	s.dates = boxOffice.named(t, "dates", "theatre", "--demo-card", "--paid-ahead", "--limit", "20", "--exchange-until", "1 day", "--exchange-fee", "2.00")
	s.series = inSeries(t, s.dates, "2033-06-07 19:30", "2033-07-01 19:30")
	s.none = ownOffice(t).url
	s.later = boxOffice.named(t, "later", "conference", "--opens", "2099-01-01 10:00")
	s.paused, s.closed = boxOffice.named(t, "paused", "conference"), boxOffice.named(t, "closed", "conference")
	boxOffice.atDesk(t, "events/"+s.paused+"/status", map[string]any{"status": "paused", "reason": "The hall is being aired."})
	boxOffice.atDesk(t, "events/"+s.closed+"/status", map[string]any{"status": "closed", "reason": "See you next year."})
	sellsOut(t, s.full, "Box/1/1", "Box/1/2")
	someProgram(t, boxOffice).claim(s.theatre, "Stalls/C/12", "Stalls/C/13", "Stalls/E/9")
	for i, d := range walked(handheld) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			p := someone(t, boxOffice, fmt.Sprint(i), d)
			for _, page := range each {
				if onDesktop[page.name] && d.touch {
					continue
				}
				page.open(p, s)
				p.inBothLights(page.name)
			}
		})
	}
}

// inSeries makes a series of an event, has further dates of it on sale, and returns the slug of the series.
func inSeries(t *testing.T, slug string, dates ...string) string {
	t.Helper()
	made := boxOffice.atDesk(t, "events/"+slug+"/series", map[string]any{"dates": strings.Join(dates, "\n")})
	series := regexp.MustCompile(`"series":{"slug":"([^"]+)"`).FindStringSubmatch(made)[1]
	change := map[string]any{"all": true, "status": "on sale", "anyway": true}
	preview := boxOffice.atDesk(t, "series/"+series+"/changes", change)
	change["digest"] = regexp.MustCompile(`"digest":"([^"]+)"`).FindStringSubmatch(preview)[1]
	boxOffice.atDesk(t, "series/"+series+"/changes", change)
	return series
}

// sellsOut buys these seats, which are all there are.
func sellsOut(t *testing.T, slug string, labels ...string) {
	t.Helper()
	buyer := someProgram(t, boxOffice)
	h := buyer.claim(slug, labels...)
	status, a := buyer.ask("POST", "/events/"+slug+"/orders", map[string]any{"hold": h.ID, "seats": h.Seats, "name": "Bob", "email": emailOf(h.ID), "method": "door", "total": h.Total})
	if status >= 300 {
		t.Fatalf("an order: status %d, %+v", status, a.Error)
	}
	buyer.confirms(emailOf(h.ID))
}

// tinyPlan is the file of a plan of two seats.
func tinyPlan(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	check(t, os.WriteFile(path, []byte(`{"format": "usher-plan/1", "name": "Box", "categories": [{"key": "A", "name": "Box", "price": 2500}],
		"sections": [{"name": "Box", "category": "A", "rows": [{"row": "1", "seats": [{"number": "1", "x": 0, "y": 0}, {"number": "2", "x": 20, "y": 0}]}]}]}`), 0o600))
	return path
}

// online takes the network away, or gives it back. What a service worker asked for in between is said to have failed.
func (p *person) online(yes bool) {
	p.t.Helper()
	p.expect("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "WebSocket connection to")
	check(p.t, p.context.SetOffline(!yes))
}

// box is a seat that no other test run takes: in an odd row of boxes or an even one.
func (p *person) box(row int) string {
	n := int(p.name[0] - '0')
	return fmt.Sprintf("Boxes left/%d/%d", row+n/4*2, n%4+1)
}

// looked is what the pages are looked at with; pictures show them zoomed and without motion too.
func looked() []device {
	devices := []device{handheld, desktop}
	if *pictures != "" {
		devices = append(devices, device{width: 844, height: 390, touch: true}, device{width: 1440, height: 900, zoom: 2}, device{width: 1280, height: 1024, zoom: 4})
	}
	return devices
}

// walked is what a story is walked with: one device, on which each page is looked at in the other size too. Pictures are taken on all.
func walked(d device) []device {
	if *pictures != "" {
		return looked()
	}
	return []device{d}
}

// inBothLights has axe check a page, and takes pictures of it, in the light and in the dark.
func (p *person) inBothLights(name string) {
	p.t.Helper()
	p.lit(playwright.ColorSchemeLight)
	p.picture(name, "light")
	if strings.HasSuffix(name, "-menu") { // it lies over parts of links
		p.isAccessible(name, strings.Replace(checkup, "'target-size': {enabled: true}", "'target-size': {enabled: false}", 1))
	} else {
		p.isAccessible(name, checkup)
	}
	if p.device.zoom == 0 {
		p.fitsStretched(name)
	}
	p.inTheDark(name)
	p.inOtherLanguages(name)
	if *pictures == "" && (p.device == handheld || p.device == desktop) {
		p.inTheOtherSize(name)
	}
}

// inTheOtherSize has axe check a page on a desk that is walked through with a phone, and the other way round.
func (p *person) inTheOtherSize(name string) {
	p.t.Helper()
	own, other := p.device, handheld
	if own == handheld {
		other = desktop
	}
	name += " in the other size"
	p.sized(other)
	p.isAccessible(name, checkup)
	p.fitsStretched(name)
	p.inTheDark(name)
	p.sized(own)
}

// sized gives the window the size of another device, and turns the light on.
func (p *person) sized(d device) {
	p.t.Helper()
	p.device = d
	check(p.t, p.page.SetViewportSize(d.width, d.height))
	_, err := p.page.Evaluate(`new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))`) // what the page moves is there then
	check(p.t, err)
	p.lit(playwright.ColorSchemeLight)
}

// inOtherLanguages opens the address of the page in the languages that pictures are taken of.
func (p *person) inOtherLanguages(name string) {
	p.t.Helper()
	if *pictures != "" && *languages != "" && p.method.Load() != http.MethodPost { // else its address is another page's
		for tag := range strings.SplitSeq(*languages, ",") {
			p.abroad(name, tag)
		}
	}
}

// abroad opens the address of the page in a browser of another language, which has the same cookies.
func (p *person) abroad(name, tag string) {
	p.t.Helper()
	state, err := p.context.StorageState()
	check(p.t, err)
	options := p.device.options()
	options.Locale, options.StorageState = &tag, state.ToOptionalStorageState()
	context, err := p.context.Browser().NewContext(options)
	check(p.t, err)
	q := &person{t: p.t, name: p.name, office: p.office, device: p.device, context: context}
	q.page = q.tab()
	answer, err := q.page.Goto(p.page.URL(), playwright.PageGotoOptions{WaitUntil: playwright.WaitUntilStateLoad})
	check(p.t, err)
	if answer != nil && answer.Status() != http.StatusMethodNotAllowed { // the page answers a form
		name = tag + "-" + name
		q.lit(playwright.ColorSchemeLight)
		time.Sleep(300 * time.Millisecond) // for a map to be drawn
		if p.device.zoom == 0 {
			q.isAccessible(name, checkup)
		}
		if p.evaluates(`document.querySelectorAll('.here[open]').length`) > 0 { // a menu, which may cover parts of links
			q.evaluates(`document.querySelector('.here').open = true`)
		}
		q.picture(name, "light")
		if wide := q.evaluates(`document.scrollingElement.scrollWidth - innerWidth`); wide > 0 {
			p.t.Errorf("%s is %v pixels wider than the window", name, wide)
		}
		q.lit(playwright.ColorSchemeDark)
		q.picture(name, "dark")
	}
	check(p.t, context.Close())
}

// inTheDark has axe check the contrast of a page with the lights out, and takes a picture. The colours are those of the
// phone on every device, so the phone's pages are enough where no pictures are taken.
func (p *person) inTheDark(name string) {
	p.t.Helper()
	if *pictures == "" && p.device.width >= 500 {
		return
	}
	p.lit(playwright.ColorSchemeDark)
	p.picture(name, "dark")
	if p.device.zoom == 0 { // axe sees no zoom
		p.isAccessible(name+" in the dark", contrast)
	}
}

// lit turns the page light or dark, at once.
func (p *person) lit(scheme *playwright.ColorScheme) {
	p.t.Helper()
	check(p.t, p.page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: scheme, ReducedMotion: playwright.ReducedMotionReduce}))
}

func (d device) String() string {
	name := fmt.Sprint(d.width)
	if d.zoom != 0 {
		name += fmt.Sprintf("-x%g", d.zoom)
	}
	return name
}

func (p *person) picture(name, scheme string) {
	p.t.Helper()
	if *pictures == "" {
		return
	}
	path := filepath.Join(*pictures, fmt.Sprintf("%s-%s-%s.png", name, p.device, scheme))
	_, err := p.page.Screenshot(playwright.PageScreenshotOptions{Path: &path, Animations: playwright.ScreenshotAnimationsDisabled})
	check(p.t, err)
}

// checkup runs axe with the rules of WCAG 2.2 A and AA. Target size is off by default in axe.
const checkup = `axe.run(document, {
	runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']},
	resultTypes: ['violations'],
	rules: {'target-size': {enabled: true}},
})` + violations

// contrast is the one rule that may have another answer in the dark.
const contrast = `axe.run(document, {runOnly: ['color-contrast'], resultTypes: ['violations']})` + violations

const violations = `.then(r => JSON.stringify(r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => n.html)}))))`

// axe is the source of axe, as a function of the window that a page may call.
var axe = sync.OnceValue(func() string {
	source, err := os.ReadFile(filepath.Join("driver", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		panic(err)
	}
	return "window.loadAxe = () => {" + string(source) + "}"
})

// loadsAxe loads axe into the page. A script tag would be against the page's own policy. Half a megabyte is sent to the browser
// once: it has it ready for the pages that follow.
func (p *person) loadsAxe() {
	p.t.Helper()
	if !p.hasAxe {
		check(p.t, p.context.AddInitScript(playwright.Script{Content: playwright.String(axe())}))
		p.hasAxe = true
	}
	const load = `'axe' in window || 'loadAxe' in window && (loadAxe(), true)`
	loaded, err := p.page.Evaluate(load)
	check(p.t, err)
	if loaded != true {
		_, err := p.page.Evaluate(axe() + "; loadAxe()")
		check(p.t, err)
	}
}

func (p *person) isAccessible(page, rules string) {
	p.t.Helper()
	p.loadsAxe()
	text, err := p.page.Evaluate(rules)
	check(p.t, err)
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	check(p.t, json.Unmarshal([]byte(text.(string)), &violations))
	for _, v := range violations {
		p.t.Errorf("%s: %s: %s, at %d places such as %s", page, v.ID, v.Help, len(v.Nodes), v.Nodes[0])
	}
}
