package e2e

import (
	"sync/atomic"

	"github.com/playwright-community/playwright-go"
)

// States of a page that need something done to the browser.

// forced turns the colours of a system on that has its own, or off.
func (p *person) forced(colours *playwright.ForcedColors) {
	p.t.Helper()
	check(p.t, p.page.EmulateMedia(playwright.PageEmulateMediaOptions{ForcedColors: colours}))
}

// seesCard moves the mouse over a section of the map: its card appears, goes with Escape and comes again.
func (p *person) seesCard() {
	p.t.Helper()
	box, err := p.page.Locator("#map svg a path").First().BoundingBox()
	check(p.t, err)
	card, mouse := p.page.Locator("#map .card"), p.page.Mouse()
	over := func(by float64) { check(p.t, mouse.Move(box.X+box.Width/2+by, box.Y+box.Height/2)) }
	over(0)
	over(2)
	p.sees(card)
	check(p.t, p.page.Keyboard().Press("Escape"))
	check(p.t, expect.Locator(card).ToBeHidden())
	over(4)
	p.sees(card)
}

// blocksSockets lets every WebSocket of this page fail until it is told to let them through.
func (p *person) blocksSockets() (back func()) {
	p.t.Helper()
	var open atomic.Bool
	check(p.t, p.page.RouteWebSocket("**/live?*", func(ws playwright.WebSocketRoute) {
		if !open.Load() {
			ws.Close()
			return
		}
		if _, err := ws.ConnectToServer(); err != nil {
			p.complain("no way to the server: " + err.Error())
		}
	}))
	return func() { open.Store(true) }
}
