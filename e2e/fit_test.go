package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// What is left of a desktop of 1,280 by 1,024 pixels at 400 %, and of 1,440 by 900 at 200 %.
var zoomed, twice = device{width: 320, height: 256}, device{width: 720, height: 450}

// cutOff lists the texts of a page that are not seen whole: cut by a part that hides what is beyond it, or beyond the page.
// What can be scrolled to is seen, and what is only for screen readers is not meant to be.
const cutOff = `(() => {
	const off = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let text; text = walker.nextNode();) {
		const at = text.parentElement
		if (!text.data.trim() || at.closest('script, style, template, noscript, option, svg, .heard, #status, #turn') || !at.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue
		const range = document.createRange()
		range.selectNodeContents(text)
		let left = -1, right = document.documentElement.clientWidth + 1, top = -Infinity, bottom = Infinity
		for (let box = at; box && box !== document.body; box = box.parentElement) {
			const style = getComputedStyle(box), r = box.getBoundingClientRect()
			if (/auto|scroll/.test(style.overflowX + style.overflowY) || style.position === 'fixed') [left, right, top, bottom] = [-Infinity, Infinity, -Infinity, Infinity]
			if (/auto|scroll/.test(style.overflowX + style.overflowY)) break
			if (/hidden|clip/.test(style.overflowX)) [left, right] = [Math.max(left, r.left - 1.5), Math.min(right, r.right + 1.5)]
			if (/hidden|clip/.test(style.overflowY)) [top, bottom] = [Math.max(top, r.top - 3), Math.min(bottom, r.bottom + 3)]
		}
		for (const r of range.getClientRects()) {
			if (r.width && (r.left < left || r.right > right || r.top < top || r.bottom > bottom)) {
				off.push(text.data.trim().slice(0, 40) + ' in ' + at.tagName + '.' + at.className)
				break
			}
		}
	}
	return [...new Set(off)].slice(0, 9).join('; ')
})()`

// wider is the spacing of text that WCAG 1.4.12 names.
const wider = `(() => {
	const sheet = window.wider = new CSSStyleSheet()
	sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-bottom: 2em !important }')
	document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
})()`

// fitsZoomed looks at a page at 200 and at 400 %, there with wider text too: nothing scrolls sideways, nothing is cut off.
func (p *person) fitsZoomed(name string) {
	p.t.Helper()
	fits := func(how string, width int) {
		p.t.Helper()
		wide, err := p.page.Evaluate(`document.scrollingElement.scrollWidth`)
		check(p.t, err)
		cut, err := p.page.Evaluate(cutOff)
		check(p.t, err)
		if wide != width || cut != "" {
			p.t.Errorf("%s at %s: it is %v pixels wide, want %d, and cut off are: %v", name, how, wide, width, cut)
		}
	}
	fits("400 %", zoomed.width)
	_, err := p.page.Evaluate(wider)
	check(p.t, err)
	fits("400 % with wider text", zoomed.width)
	_, err = p.page.Evaluate(`document.adoptedStyleSheets = document.adoptedStyleSheets.filter(sheet => sheet !== wider)`)
	check(p.t, err)
	check(p.t, p.page.SetViewportSize(twice.width, twice.height))
	fits("200 %", twice.width)
	check(p.t, p.page.SetViewportSize(zoomed.width, zoomed.height))
}

func TestPagesFitAt200And400PercentAndWithWiderTextAndAFocusedSeatIsInView(t *testing.T) {
	t.Parallel()
	slug, places := boxOffice.event(t, "theatre"), boxOffice.named(t, "places", "conference", "--ask-birth", "--name", "Am Donaudampfschifffahrtsgesellschaftskapitänsabend")
	ann := someone(t, boxOffice, "ann", zoomed)
	ann.visit("/events")
	ann.fitsZoomed("the list")
	ann.openEvent(slug)
	ann.fitsZoomed("the event")
	ann.openEvent(places)
	ann.asksForPlaces("Places", 1)
	ann.holdsSeats(1)
	ann.fitsZoomed("places")
	ann.visit("/events/" + places + "/checkout")
	ann.fitsZoomed("the checkout")
	ann.openSection(slug, 0)
	ann.take("Stalls/C/12")
	ann.fitsZoomed("the rows")
	ann.noticesWhatIsCut()

	ann.tabTo(ann.page.Locator(`input[name="seat"][tabindex="0"]`))
	for range 12 {
		check(t, ann.page.Keyboard().Press("ArrowDown"))
		covered, err := ann.page.Evaluate(`() => {
			const r = document.activeElement.getBoundingClientRect(), at = document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2)
			return at !== document.activeElement && at?.tagName + '#' + at?.id
		}`)
		check(t, err)
		if covered != false {
			t.Errorf("%s is covered by %v", ann.focusedSeat(), covered)
		}
	}
}

// noticesWhatIsCut plants a title that is cut off, and one that is wider than the page.
func (p *person) noticesWhatIsCut() {
	p.t.Helper()
	for _, style := range []string{"width: 3rem; overflow: hidden; white-space: nowrap", "position: absolute; left: 90vw; white-space: nowrap"} {
		_, err := p.page.Evaluate(fmt.Sprintf(`document.querySelector('h1 a').style.cssText = 'display: block; %s'`, style))
		check(p.t, err)
		cut, err := p.page.Evaluate(cutOff)
		check(p.t, err)
		if text, _ := cut.(string); !strings.Contains(text, "A night out") {
			p.t.Errorf("with %q the check does not notice that the title is cut off: %v", style, cut)
		}
		_, err = p.page.Evaluate(`document.querySelector('h1 a').style.cssText = ''`)
		check(p.t, err)
	}
}
