package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// patience is how long a test waits for what should happen at once: on a slow machine that many others use at once is
// long. A test that passes waits for nothing.
const patience = 30 * time.Second

var expect = playwright.NewPlaywrightAssertions(float64(patience.Milliseconds()))

// device is the size and the settings of a person's browser.
type device struct {
	width, height int
	touch         bool
	dark          bool
	noScript      bool
	noSockets     bool    // WebSockets fail on the way
	calm          bool    // wants no motion
	zoom          float64 // of the browser, 2 for 200 %; 0 for none
}

var (
	handheld = device{width: 390, height: 844, touch: true}
	phone    = device{width: 390, height: 844, touch: true, dark: true}
	desktop  = device{width: 1440, height: 900}
)

// person is a browser with cookies and a device of its own, and one page to begin with.
type person struct {
	t       *testing.T
	name    string
	office  *office
	device  device
	context playwright.BrowserContext
	page    playwright.Page
	order   string   // address of the page of an order
	tickets []string // codes of its tickets

	hasAxe bool         // pages that are opened have axe ready
	method atomic.Value // the method of the request that the page answers; kept for pictures in other languages

	mu         sync.Mutex
	complaints []string         // what the browser said against the page
	expected   []*regexp.Regexp // complaints that are part of the test
}

// someone opens a browser for one person of a test, and closes it at the end. It must not have complained by then.
func someone(t *testing.T, o *office, name string, d device) *person {
	t.Helper()
	return someoneWith(t, browser, o, name, d)
}

// someoneWith is someone with another browser than most.
func someoneWith(t *testing.T, with playwright.Browser, o *office, name string, d device) *person {
	t.Helper()
	context, err := with.NewContext(d.options())
	check(t, err)
	p := &person{t: t, name: name, office: o, device: d, context: context}
	p.expect(`status of 409`, `was preloaded using link preload but not used`) // a refused claim is an answer; a slow browser is slow
	context.SetDefaultTimeout(float64(patience.Milliseconds()))
	context.OnConsole(p.listen)
	context.OnWebError(func(e playwright.WebError) { p.complain("uncaught: " + e.Error().Error()) })
	if p.traced() {
		check(t, context.Tracing().Start(playwright.TracingStartOptions{Screenshots: playwright.Bool(false), Snapshots: playwright.Bool(true)}))
	}
	check(t, context.AddInitScript(playwright.Script{Content: playwright.String(noteHeard)}))
	if d.noSockets {
		check(t, context.AddInitScript(playwright.Script{Content: playwright.String(failingSockets)}))
	}
	p.page = p.tab()
	if *languages != "" {
		context.OnResponse(func(r playwright.Response) {
			if r.Request().IsNavigationRequest() && r.Frame() == p.page.MainFrame() {
				p.method.Store(r.Request().Method())
			}
		})
	}
	t.Cleanup(p.leave)
	return p
}

// options are those of a browser on a device.
func (d device) options() playwright.BrowserNewContextOptions {
	options := playwright.BrowserNewContextOptions{
		Viewport:          &playwright.Size{Width: d.width, Height: d.height},
		HasTouch:          &d.touch,
		JavaScriptEnabled: playwright.Bool(!d.noScript),
		ColorScheme:       playwright.ColorSchemeLight,
		Locale:            playwright.String("en-GB"),
	}
	if d.touch { // Firefox knows nothing of it
		options.IsMobile = &d.touch
	}
	if d.dark {
		options.ColorScheme = playwright.ColorSchemeDark
	}
	if d.calm {
		options.ReducedMotion = playwright.ReducedMotionReduce
	}
	if d.zoom != 0 { // zoom is fewer, larger CSS pixels
		options.Viewport = &playwright.Size{Width: int(float64(d.width) / d.zoom), Height: int(float64(d.height) / d.zoom)}
		options.DeviceScaleFactor = &d.zoom
	}
	return options
}

// traced reports whether to keep what a page looked like before and after each action, in case the test fails. It costs a fifth
// of a test, so only tests asked for by name have it.
func (p *person) traced() bool {
	return flag.Lookup("test.run").Value.String() != ""
}

// failingSockets makes every WebSocket fail as it does behind a proxy that knows none.
const failingSockets = `window.WebSocket = class extends EventTarget {
	constructor(url) {
		super()
		this.url = url
		this.readyState = 0
		setTimeout(() => {
			this.readyState = 3
			for (const event of [new Event('error'), new CloseEvent('close', {code: 1006})]) {
				this.dispatchEvent(event)
				this['on' + event.type]?.(event)
			}
		}, 20)
	}
	send() {}
	close() {}
}`

// noteHeard keeps the sentences of the status line, which stand there for some seconds only.
const noteHeard = `(() => { window.heard = []
	document.addEventListener('DOMContentLoaded', () => { const line = document.querySelector('#status')
		if (line) new MutationObserver(() => { if (line.textContent) heard.push(line.textContent) }).observe(line, {childList: true, characterData: true, subtree: true})
	})
})()`

func (p *person) tab() playwright.Page {
	p.t.Helper()
	page, err := p.context.NewPage()
	check(p.t, err)
	return page
}

// expect names complaints of the browser that belong to the test.
func (p *person) expect(patterns ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pattern := range patterns {
		p.expected = append(p.expected, regexp.MustCompile(pattern))
	}
}

// listen notes errors and warnings of the console; a violation of the Content-Security-Policy is one of them.
func (p *person) listen(m playwright.ConsoleMessage) {
	at := m.Location().URL
	if strings.HasSuffix(at, "/hold") && strings.Contains(m.Text(), "status of 404") {
		return // a page asked what it holds, and the answer is: nothing
	}
	if m.Type() == "error" || m.Type() == "warning" {
		p.complain(m.Type() + ": " + m.Text() + " (" + at + ")")
	}
}

func (p *person) complain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pattern := range p.expected {
		if pattern.MatchString(text) {
			return
		}
	}
	p.complaints = append(p.complaints, text)
}

// leave closes the browser, and keeps a picture of each page and the trace, if there is one, of a test that failed.
func (p *person) leave() {
	p.mu.Lock()
	for _, c := range p.complaints {
		p.t.Errorf("the browser of %s complained: %s", p.name, c)
	}
	p.mu.Unlock()
	if p.t.Failed() {
		p.keepEvidence()
	}
	_ = p.context.Close()
}

func (p *person) keepEvidence() {
	base := filepath.Join("failures", strings.ReplaceAll(p.t.Name(), "/", "-")+"-"+p.name)
	_ = os.MkdirAll("failures", 0o755)
	for i, page := range p.context.Pages() {
		path := fmt.Sprintf("%s-%d.png", base, i)
		if _, err := page.Screenshot(playwright.PageScreenshotOptions{Path: &path}); err != nil {
			p.t.Logf("no picture of %s: %v", p.name, err)
		}
	}
	if p.traced() {
		if err := p.context.Tracing().Stop(base + ".zip"); err != nil {
			p.t.Logf("no trace of %s: %v", p.name, err)
		}
	}
	p.t.Logf("what was there to see is in e2e/%s*", base)
}
