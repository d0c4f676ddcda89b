package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// What WCAG asks for and axe cannot see. docs/accessibility.md names these tests.

func TestLiveUpdatesStandStillWhilePausedAndComeBack(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 1)
	ann.press(ann.button("Pause updates"))
	check(t, expect.Locator(ann.page.Locator(".stale")).ToHaveText("Paused. Seats may be out of date."))

	someProgram(t, boxOffice).claim(slug, "Boxes left/1/1")
	ann.take("Boxes left/1/2") // what she does herself goes on
	ann.openSectionPaused(slug, 2)
	someProgram(t, boxOffice).claim(slug, "Boxes right/1/1")
	check(t, expect.Locator(ann.page.Locator("[data-free-total]")).ToHaveText("986")) // as of when the page was opened
	check(t, expect.Locator(ann.seat("Boxes right/1/1")).ToBeEnabled())

	ann.press(ann.button("Resume updates"))
	ann.isLive()
	ann.seesTaken("Boxes right/1/1")
	check(t, expect.Locator(ann.page.Locator("[data-free-total]")).ToHaveText("985"))
}

// openSectionPaused opens the page of a section in a tab with paused updates.
func (p *person) openSectionPaused(slug string, number int) {
	p.t.Helper()
	p.visit("/events/" + slug + "/sections/" + string(rune('0'+number)))
	p.sees(p.page.Locator(`body[data-live="paused"]`))
}

func TestExpiry_VisitorIsAskedAndExtendsWithOneKey(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "40s")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 1)
	ann.take("Boxes left/1/2")
	check(t, ann.seat("Boxes left/1/3").Focus())
	program := ann.sameSession()
	_, before := program.ask("GET", "/events/"+slug+"/hold", nil)

	question := ann.page.GetByRole("dialog", playwright.PageGetByRoleOptions{Name: "Need more time?"})
	ann.seesLater(question)
	check(t, ann.page.Keyboard().Press("Enter")) // the first button has the focus
	check(t, expect.Locator(question).ToBeHidden())
	check(t, expect.Locator(ann.seat("Boxes left/1/3")).ToBeFocused()) // and gives it back
	ann.hears("You have more time")
	_, after := program.ask("GET", "/events/"+slug+"/hold", nil)
	if !after.Hold.ExpiresAt.After(before.Hold.ExpiresAt) {
		t.Errorf("the hold was %+v and is %+v", *before.Hold, *after.Hold)
	}
	if before.Hold.ExtensionsLeft < 10 {
		t.Errorf("%d extensions, want ten or more", before.Hold.ExtensionsLeft)
	}
}

// hears waits until a sentence was on the status line, which screen readers read out.
func (p *person) hears(text string) {
	p.t.Helper()
	check(p.t, expect.Locator(p.page.GetByRole("status")).ToHaveCount(1))
	eventually(p.t, patience, text, func() bool { return strings.Contains(p.heard(), text) })
}

// heard is all that was on the status line of this page, in its order.
func (p *person) heard() string {
	p.t.Helper()
	heard, err := p.page.Evaluate(`heard.join('|')`)
	check(p.t, err)
	return fmt.Sprint(heard)
}

func TestAnnounce_OnlyOwnChangesAndTheFocusStays(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann, bob := someone(t, boxOffice, "ann", desktop), someProgram(t, boxOffice)
	ann.openSection(slug, 1)
	check(t, ann.seat("Boxes left/1/1").Focus())

	bob.claim(slug, "Boxes left/2/1")
	ann.seesTaken("Boxes left/2/1")
	check(t, expect.Locator(ann.seat("Boxes left/1/1")).ToBeFocused())
	bob.claim(slug, "Boxes left/1/1") // the one the focus is on
	ann.seesTaken("Boxes left/1/1")
	check(t, expect.Locator(ann.seat("Boxes left/1/1")).ToBeFocused())
	ann.hears("Boxes left, row 1, seat 1 was just taken.")
	ann.take("Boxes left/3/1")
	ann.hears("Boxes left, row 3, seat 1 is yours.")

	if heard, want := ann.heard(), "Boxes left, row 1, seat 1 was just taken.|Boxes left, row 3, seat 1 is yours."; heard != want {
		t.Errorf("read out was %q, want %q", heard, want)
	}
}

func TestASeatIsNamedBySectionRowNumberPriceAndState(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	someProgram(t, boxOffice).claim(slug, "Boxes left/2/2")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 1)
	ann.take("Boxes left/2/3")
	row := ann.page.GetByRole("region", playwright.PageGetByRoleOptions{Name: "Boxes left"}).
		GetByRole("group", playwright.LocatorGetByRoleOptions{Name: "Row 2"})
	for _, name := range []string{"Seat 1, €75", "Seat 2, €75, in someone’s basket", "Seat 3, €75, yours"} {
		seat := row.GetByRole("checkbox", playwright.LocatorGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
		check(t, expect.Locator(seat).ToHaveCount(1))
	}
	check(t, expect.Locator(ann.page.Locator("#rows")).ToMatchAriaSnapshot(`
- region "Boxes left":
  - group "Row 2":
    - checkbox "Seat 1, €75"
    - checkbox "Seat 2, €75, in someone’s basket" [disabled]
    - checkbox "Seat 3, €75, yours" [checked]`))
	check(t, expect.Locator(row.GetByRole("checkbox", playwright.LocatorGetByRoleOptions{Checked: playwright.Bool(true)})).ToHaveCount(1))
	check(t, expect.Locator(row.GetByRole("checkbox", playwright.LocatorGetByRoleOptions{Disabled: playwright.Bool(true)})).ToHaveCount(1))
}

func TestMotion_NothingMovesWithReducedMotion(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", device{width: 1440, height: 900, calm: true})
	ann.openSection(slug, 1)
	ann.take("Boxes left/1/2")
	moving, err := ann.page.Evaluate(`document.getAnimations().length +
		[...document.querySelectorAll('*')].filter(e => getComputedStyle(e).transitionDuration.split(', ').some(d => parseFloat(d) > 0)).length`)
	check(t, err)
	if moving != 0 {
		t.Errorf("%v things move", moving)
	}
	_, err = ann.page.Evaluate(`() => {
		const svg = document.querySelector('#map > svg')
		window.frames = new Set()
		new MutationObserver(() => frames.add(svg.getAttribute('viewBox'))).observe(svg, {attributes: true})
	}`)
	check(t, err)
	ann.control("Back to full map")
	eventually(t, patience, "the whole house", func() bool { return ann.evaluates(`frames.size`) > 0 })
	views, err := ann.page.Evaluate(`new Promise(done => setTimeout(() => done(frames.size), 500))`)
	check(t, err)
	if views != 1 {
		t.Errorf("the map goes to the whole house by %v steps, want 1", views)
	}
}
