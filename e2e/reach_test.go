package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/playwright-community/playwright-go"
)

// What people and their networks do around a page.

// missesChanges lets the page hear everything but that seats change, as if its news were late.
func (p *person) missesChanges() {
	p.t.Helper()
	const delta = 0x03
	var asked atomic.Int32 // by the page that is open, which asks again after a stall
	p.page.OnRequest(func(r playwright.Request) {
		if r.IsNavigationRequest() {
			asked.Store(0)
		}
	})
	check(p.t, p.page.Route("**/map.bin*", func(r playwright.Route) {
		if asked.Add(1) == 1 {
			_ = r.Continue()
			return
		}
		_ = r.Fulfill(playwright.RouteFulfillOptions{Status: playwright.Int(http.StatusNotModified)})
	}))
	check(p.t, p.page.RouteWebSocket("**/live?*", func(ws playwright.WebSocketRoute) {
		server, err := ws.ConnectToServer()
		if err != nil {
			p.complain("no way to the server: " + err.Error())
			return
		}
		server.OnMessage(func(message any) {
			if m, ok := message.([]byte); ok && len(m) > 0 && m[0] == delta {
				return
			}
			ws.Send(message)
		})
	}))
}

// sameSession is a program with the cookie of this person.
func (p *person) sameSession() *program {
	p.t.Helper()
	other := someProgram(p.t, p.office)
	cookies, err := p.context.Cookies()
	check(p.t, err)
	at, err := url.Parse(p.office.url)
	check(p.t, err)
	for _, c := range cookies {
		other.client.Jar.SetCookies(at, []*http.Cookie{{Name: c.Name, Value: c.Value, Path: c.Path}})
	}
	return other
}

// focusOn reports whether an element has the focus, or what has it if nothing shows that.
const focusOn = `e => {
	const at = document.activeElement, style = getComputedStyle(at)
	if (at !== document.body && (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2)) return at.outerHTML.slice(0, 80)
	return e === at
}`

// tabTo presses Tab until something has the focus.
func (p *person) tabTo(what playwright.Locator) {
	p.t.Helper()
	for range 40 {
		check(p.t, p.page.Keyboard().Press("Tab"))
		focused, err := what.Evaluate(focusOn, nil)
		check(p.t, err)
		switch focused {
		case true:
			return
		case false:
		default:
			p.t.Errorf("the focus is on %v, and is not visible", focused)
		}
	}
	p.t.Fatalf("40 times Tab do not lead to %v", what)
}

// focusedSeat is the label of the seat that has the focus.
func (p *person) focusedSeat() string {
	p.t.Helper()
	label, err := p.page.Evaluate(`document.activeElement.name === 'seat' ? document.activeElement.value : ''`)
	check(p.t, err)
	text, _ := label.(string)
	if strings.Count(text, "/") != 2 {
		p.t.Fatalf("the focus is on %q, not on a seat", text)
	}
	return text
}

// firstFreeSeat is the label of a seat on the page that can be had.
func (p *person) firstFreeSeat() string {
	p.t.Helper()
	label, err := p.page.Locator(`input[name="seat"]:enabled`).First().GetAttribute("value")
	check(p.t, err)
	return label
}
