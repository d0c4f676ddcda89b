package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// point is where something is in the window, in px.
type point struct{ x, y float64 }

// spot finds a seat on the map: its place in the drawing, as the drawing lies in the window now.
const spot = `async ([section, row, n]) => {
	const g = await (await fetch(document.body.dataset.geometry)).json()
	const r = g.sections.find(s => s.name === section).rows.find(r => r.row === row)
	const sum = list => { let v = list[0], step = 0; for (const d of list.slice(1, n)) v += step += d; return v / 10 }
	const [x, y, w] = document.querySelector('#map > svg').getAttribute('viewBox').split(' ').map(Number)
	const frame = document.querySelector('#map canvas').getBoundingClientRect(), k = frame.width / w
	return [frame.left + (sum(r.x) - x) * k, frame.top + (sum(r.y) - y) * k]
}`

func (p *person) spot(section, row string, n int) point {
	p.t.Helper()
	at, err := p.page.Evaluate(spot, []any{section, row, n})
	check(p.t, err)
	list, _ := at.([]any)
	var xy [2]float64
	for i := range xy {
		_, err := fmt.Sscan(fmt.Sprint(list[i]), &xy[i])
		check(p.t, err)
	}
	return point{xy[0], xy[1]}
}

// shown is which part of the drawing the map shows: x, y, width and height.
func (p *person) shown() (part [4]float64) {
	p.t.Helper()
	box, err := p.page.Locator("#map > svg").GetAttribute("viewBox")
	check(p.t, err)
	_, err = fmt.Sscan(box, &part[0], &part[1], &part[2], &part[3])
	check(p.t, err)
	return part
}

// placard is what the map says of what is pointed at.
func (p *person) placard() playwright.Locator { return p.page.Locator("#map .card") }

func TestTheMapIsWorkedWithMouseAndWheelAndFiltered(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", device{width: 1440, height: 900, calm: true})
	ann.openSection(slug, 1)
	ann.seesMap()

	seat := ann.spot("Boxes left", "2", 2)
	check(t, ann.page.Mouse().Move(seat.x, seat.y))
	check(t, expect.Locator(ann.placard()).ToContainText("Boxes left, row 2, seat 2"))
	check(t, expect.Locator(ann.placard()).ToContainText("€75, available"))
	check(t, ann.page.Mouse().Click(seat.x, seat.y))
	ann.holds("Boxes left/2/2")
	check(t, ann.seat("Boxes left/3/1").Focus())
	check(t, ann.page.Keyboard().Press("ArrowRight"))
	check(t, expect.Locator(ann.placard()).ToContainText("Boxes left, row 3, seat 2")) // with the keyboard too
	check(t, ann.page.Keyboard().Press("Escape"))
	check(t, expect.Locator(ann.placard()).ToBeHidden())

	before := ann.shown()
	check(t, ann.page.Mouse().Wheel(0, -400))
	eventually(t, patience, "the wheel to bring the map closer", func() bool { return ann.shown()[2] < before[2]*.9 })
	before = ann.shown()
	ann.press(ann.button("Move down"))
	eventually(t, patience, "the arrow to move the map", func() bool { return ann.shown()[1] > before[1] })

	dear := ann.page.Locator(`.prices [data-category="A"] a`)
	ann.press(dear)
	check(t, expect.Locator(dear).ToHaveAttribute("aria-current", "true"))
	check(t, expect.Locator(ann.page.Locator("#rows .off").First()).ToBeVisible())
	ann.hears("148 seats match.")
	ann.press(ann.page.Locator(`.sections a[href*="/sections/0"]`))
	ann.sees(ann.seat("Stalls/C/12"))
	if at := ann.page.URL(); !strings.HasSuffix(at, "/sections/0?price=A") {
		t.Errorf("another section has the address %s", at)
	}
	check(t, expect.Locator(ann.page.Locator("[data-fits]")).ToHaveText("148 seats here match."))
	someProgram(t, boxOffice).claim(slug, "Stalls/C/12")
	check(t, expect.Locator(ann.page.Locator("[data-fits]")).ToHaveText("147 seats here match."))
}

func TestTheMapIsWorkedWithFingers(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	bob := someone(t, boxOffice, "bob", device{width: 390, height: 844, touch: true, calm: true})
	bob.openEvent(slug)
	bob.seesMap()
	stalls := bob.spot("Stalls", "J", 18)
	check(t, bob.page.Touchscreen().Tap(int(stalls.x), int(stalls.y))) // seats are too small to pick
	bob.sees(bob.seat("Stalls/J/18"))
	if at := bob.page.URL(); !strings.HasSuffix(at, "/sections/0") {
		t.Errorf("a tap on a section leads to %s", at)
	}

	_, err := bob.page.Evaluate(`scrollTo(0, 0)`)
	check(t, err)
	before, hand, rests := bob.shown(), bob.fingers(), bob.spot("Stalls", "J", 18)
	for away := range 6 {
		hand("touchMove", rests, point{rests.x + 30 + float64(28*away), rests.y})
	}
	hand("touchEnd")
	eventually(t, patience, "the pinch to bring the map closer", func() bool { return bob.shown()[2] < before[2]*.7 })

	seat := bob.spot("Stalls", "J", 18)
	hand("touchMove", seat)
	check(t, expect.Locator(bob.placard()).ToContainText("Stalls, row J, seat 18"))
	hand("touchEnd")
	bob.holdsSeats(0)
	check(t, expect.Locator(bob.placard()).ToBeVisible())
	check(t, bob.page.Touchscreen().Tap(int(seat.x), int(seat.y)))
	bob.holds("Stalls/J/18")
}

func TestTheMapShowsWhenASectionSellsOutAndWhenItComesBack(t *testing.T) {
	t.Parallel()
	slug := boxOffice.named(t, "box", tinyPlan(t))
	ann, bob := someone(t, boxOffice, "ann", desktop), someProgram(t, boxOffice)
	ann.openEvent(slug)
	ann.seesMap()
	looks := func(class string) {
		t.Helper()
		check(t, expect.Locator(ann.page.Locator("#map > svg a")).ToHaveClass(class))
	}
	looks("c0")
	bob.claim(slug, "Box/1/1")
	looks("c0 some")
	bob.claim(slug, "Box/1/2")
	looks("c0 none")
	if status, _ := bob.ask("DELETE", "/events/"+slug+"/claims", nil); status >= 300 {
		t.Fatalf("give back: status %d", status)
	}
	looks("c0")
}

func TestMap_NamesRowsAtBothEndsAndRingsTheSeatUnderThePointer(t *testing.T) {
	t.Parallel()
	ann := someone(t, boxOffice, "ann", device{width: 1440, height: 900, calm: true})
	ann.expect("willReadFrequently") // the test reads the canvas
	ann.openEvent(boxOffice.event(t, "theatre"))
	ann.seesMap()
	ann.sees(ann.page.Locator(".names > span").First())
	drawn := func() float64 { // how much is drawn above the seats
		return ann.evaluates(`(() => { const c = document.querySelector('#map canvas[data-ready]'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.reduce((n, v, i) => n + (i % 4 === 3 && v > 0), 0) })()`)
	}
	if n := drawn(); n != 0 {
		t.Errorf("%v pixels are drawn above seats that are too small to have letters", n)
	}
	seat := ann.spot("Stalls", "J", 18)
	check(t, ann.page.Mouse().Move(seat.x, seat.y))
	eventually(t, patience, "a ring", func() bool { return drawn() > 20 })
	ring := drawn()
	check(t, ann.page.Mouse().Move(5, 300))
	eventually(t, patience, "no ring", func() bool { return drawn() == 0 })
	ann.control("Zoom in")
	eventually(t, patience, "letters of rows", func() bool { return drawn() > 4*ring })
}

// sheet waits until the sheet over a phone's map is as high as that.
func (p *person) sheet(height string) {
	p.t.Helper()
	check(p.t, expect.Locator(p.page.Locator(".drawer")).ToHaveAttribute("data-height", height))
}

func TestPhone_TheSheetOverTheMapHasThreeHeights(t *testing.T) {
	t.Parallel()
	ann := someone(t, boxOffice, "ann", device{width: 390, height: 844, touch: true, calm: true})
	ann.openEvent(boxOffice.event(t, "theatre"))
	ann.seesWholeMap()
	handle := ann.button("Tickets and prices")
	if part := ann.evaluates(`document.querySelector('#map').clientHeight / innerHeight`); part < .8 {
		t.Errorf("the map has %.2f of the height", part)
	}
	ann.press(handle)
	ann.sheet("full")
	check(t, ann.page.Keyboard().Press("Escape"))
	ann.sheet("half")
	check(t, ann.page.Keyboard().Press("Escape"))
	ann.sheet("low")
	check(t, expect.Locator(handle).ToHaveAttribute("aria-expanded", "false"))
	ann.press(handle)
	ann.sheet("half")

	box, err := handle.BoundingBox()
	check(t, err)
	hand := ann.fingers()
	for away := range 8 {
		hand("touchMove", point{box.X + box.Width/2, box.Y + box.Height/2 - float64(60*away)})
	}
	hand("touchEnd")
	ann.sheet("full")
}

func TestPhone_SeatsThatWereFoundAreInViewAndCheckoutToo(t *testing.T) {
	t.Parallel()
	ann := someone(t, boxOffice, "ann", device{width: 390, height: 844, touch: true, calm: true})
	ann.openEvent(boxOffice.event(t, "theatre"))
	ann.seesWholeMap()
	ann.asksForBest(2, "A")
	ann.sheet("low")
	label, err := ann.tray().Locator("[data-seat]").First().GetAttribute("data-seat")
	check(t, err)
	parts := strings.Split(label, "/")
	eventually(t, patience, "the seats to be on the screen", func() bool {
		var n int
		_, err := fmt.Sscan(parts[2], &n)
		check(t, err)
		at, sheet := ann.spot(parts[0], parts[1], n), ann.evaluates(`document.querySelector('.drawer').getBoundingClientRect().top`)
		return at.x > 0 && at.x < 390 && at.y > 0 && at.y < sheet && ann.shown()[2] < 700
	})
	for name, d := range map[string]device{"upright": {width: 390, height: 844}, "on its side": {width: 844, height: 390}, "at 200 %": twice, "at 400 %": zoomed} {
		check(t, ann.page.SetViewportSize(d.width, d.height))
		ann.seesWhole(name, ann.button("Check out"))
	}
	check(t, ann.page.SetViewportSize(390, 844))
	_, err = ann.page.Evaluate(`document.documentElement.style.fontSize = '200%'`)
	check(t, err)
	ann.seesWhole("with text at 200 %", ann.button("Check out"))
	if wide := ann.evaluates(`document.scrollingElement.scrollWidth`); wide != 390 {
		t.Errorf("with text at 200 %% the page is %v pixels wide", wide)
	}
}

func TestFind_ThreePlacesAreProposedOnTheMapAndOneIsHeld(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"desktop": {width: 1440, height: 900, calm: true}, "phone": {width: 390, height: 844, touch: true, calm: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "theatre")
			ann := someone(t, boxOffice, "ann"+name, d)
			ann.openEvent(slug)
			ann.seesMap()
			ann.sees(ann.page.Locator(".names > span").First())
			check(t, ann.page.Locator(".best").GetByLabel("How many").Fill("3"))
			ann.press(ann.button("Find best seats"))
			options := ann.page.Locator("#options input[name=proposal]")
			check(t, expect.Locator(options).ToHaveCount(3))
			check(t, expect.Locator(ann.page.Locator("#options legend")).ToHaveText("3 options, together"))
			ann.holdsSeats(0)
			first, err := options.First().GetAttribute("value")
			check(t, err)
			second, err := ann.page.Locator(".option b").Nth(1).TextContent() // Stalls, row A, seats 13–15
			check(t, err)
			var row string
			var from, to int
			if _, err := fmt.Sscanf(strings.ReplaceAll(second, "–", " "), "Stalls, row %1s, seats %d %d", &row, &from, &to); err != nil || to != from+2 {
				t.Fatalf("the second option is %q: %v", second, err)
			}
			seat := point{}
			eventually(t, patience, "the map to rest", func() bool {
				before := seat
				seat = ann.spot("Stalls", row, from+1)
				return seat == before
			})
			if d.touch {
				check(t, ann.page.Touchscreen().Tap(int(seat.x), int(seat.y)))
			} else {
				check(t, ann.page.Mouse().Click(seat.x, seat.y))
			}
			if !d.touch { // on a phone the seats are too small to pick there
				check(t, expect.Locator(options.Nth(1)).ToBeChecked())
			}
			ann.holdsSeats(0)
			ann.press(ann.button("Show other seats"))
			check(t, expect.Locator(options.First()).Not().ToHaveAttribute("value", first))
			ann.press(ann.button("Hold these seats"))
			ann.holdsSeats(3)
			check(t, expect.Locator(ann.page.Locator("#options")).ToHaveCount(0))

			// She changes her mind: the next ones take the place of these.
			one, err := ann.tray().Locator(`[data-seat]`).First().GetAttribute("data-seat")
			check(t, err)
			if d.touch {
				ann.press(ann.button("Tickets and prices"))
			}
			ann.press(ann.button("Find best seats"))
			ann.sees(ann.page.GetByText("Seats that you found this way before are released."))
			ann.press(ann.button("Hold these seats"))
			check(t, expect.Locator(ann.tray().Locator(fmt.Sprintf(`[data-seat="%s"]`, one))).ToHaveCount(0))
			ann.holdsSeats(3)
		})
	}
}

func TestSections_OfAStadiumAreGroupedAndSearched(t *testing.T) {
	t.Parallel()
	slug := boxOffice.named(t, "stadium", "stadium")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openEvent(slug)
	ann.seesMap()
	ann.sees(ann.page.Locator(".names > span").First())
	check(t, expect.Locator(ann.page.Locator(".sections summary b")).ToHaveText([]string{"101–138", "201–246", "301–350"}))
	field := ann.page.GetByRole("searchbox")
	check(t, field.PressSequentially("212"))
	check(t, expect.Locator(ann.page.Locator(".sections li:visible")).ToHaveCount(1))
	check(t, field.Press("Enter"))
	ann.sees(ann.seat("212/1/1"))

	plain := desktop
	plain.noScript = true
	bob := someone(t, boxOffice, "bob", plain)
	bob.visit("/events/" + slug + "/map?section=212")
	bob.sees(bob.seat("212/1/1"))
}

// seesWhole waits until all of something is in the window, and nothing lies on it.
func (p *person) seesWhole(how string, what playwright.Locator) {
	p.t.Helper()
	var seen any
	eventually(p.t, patience, "all of it "+how, func() bool {
		var err error
		seen, err = what.Evaluate(`at => { const r = at.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight + 1 && r.right <= innerWidth && document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2) === at }`, nil)
		check(p.t, err)
		return seen == true
	})
}

// fingers puts fingers onto the page: where they are now, none for lifted. The first move sets them down.
func (p *person) fingers() func(kind string, at ...point) {
	p.t.Helper()
	cdp, err := p.context.NewCDPSession(p.page)
	check(p.t, err)
	down := false
	return func(kind string, at ...point) {
		p.t.Helper()
		if kind == "touchMove" && !down {
			kind = "touchStart"
		}
		down = len(at) > 0
		points := []any{}
		for i, a := range at {
			points = append(points, map[string]any{"x": a.x, "y": a.y, "id": i})
		}
		_, err := cdp.Send("Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": points})
		check(p.t, err)
	}
}

func TestMap_APageThatIsLeftWhileItLoadsComplainsOfNothing(t *testing.T) {
	t.Parallel()
	o := boxOffice
	ann := someone(t, o, "ann", desktop)
	asked := make(chan struct{})
	check(t, ann.page.Route("**/geometry/*", func(playwright.Route) { close(asked) })) // it gets no answer
	ann.visit("/events/" + o.event(t, "theatre"))
	<-asked
	ann.visit("/events")
}
