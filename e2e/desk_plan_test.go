package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// setsUpDesk makes the person the first organizer of an office.
func (p *person) setsUpDesk() {
	p.t.Helper()
	link := setupLink.FindString(p.office.usher(p.t, "organizer", "link"))
	p.visit(link)
	check(p.t, p.page.GetByLabel("Name").Fill("Ann"))
	check(p.t, p.page.GetByLabel("Email").Fill("ann@example.org"))
	check(p.t, p.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "Password"}).Fill("three plain words"))
	p.press(p.button("Set up the desk"))
	p.sees(p.page.Locator("#today"))
}

// beginsPlan opens the editor with a new plan.
func (p *person) beginsPlan(name, from string) {
	p.t.Helper()
	p.visit("/desk/plans")
	check(p.t, p.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill(name))
	_, err := p.page.Locator("select[name=from]").SelectOption(playwright.SelectOptionValues{Values: &[]string{from}})
	check(p.t, err)
	p.press(p.button("Draw it"))
	p.seesEditor()
}

func (p *person) seesEditor() {
	p.t.Helper()
	p.sees(p.page.Locator("body[data-ready]"))
}

// drags presses the button of the mouse at one part of the picture and lets go at another; 0 to 1 in both directions.
func (p *person) drags(fromX, fromY, toX, toY float64) {
	p.t.Helper()
	box, err := p.page.Locator(".board canvas").BoundingBox()
	check(p.t, err)
	mouse := p.page.Mouse()
	check(p.t, mouse.Move(box.X+fromX*box.Width, box.Y+fromY*box.Height))
	check(p.t, mouse.Down())
	check(p.t, mouse.Move(box.X+toX*box.Width, box.Y+toY*box.Height, playwright.MouseMoveOptions{Steps: playwright.Int(8)}))
	check(p.t, mouse.Up())
}

// seesSeats waits until the plan in the editor has so many seats.
func (p *person) seesSeats(n string) {
	p.t.Helper()
	check(p.t, expect.Locator(p.page.Locator("[data-figures]")).ToHaveText(n))
}

func (p *person) keys(list ...string) {
	p.t.Helper()
	for _, key := range list {
		check(p.t, p.page.Keyboard().Press(key))
	}
}

// enters goes to a button without a pointer and presses it.
func (p *person) enters(what playwright.Locator) {
	p.t.Helper()
	check(p.t, what.Focus())
	p.keys("Enter")
}

func (p *person) tool(name string) playwright.Locator {
	return p.page.Locator(".tools").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
}

// drawnPlan is a version of a plan as it is downloaded, as far as the test looks at it.
type drawnPlan struct {
	Name     string
	Sections []struct {
		Name string
		Area *struct{ Capacity int }
		Rows []struct {
			Row   string
			Seats []struct{ ID, Number string }
		}
		Tables []struct{ Center []float64 }
	}
}

// leftmost is how far from the left edge the first table is.
func (p drawnPlan) leftmost() float64 {
	least := math.Inf(1)
	for _, s := range p.Sections {
		for _, t := range s.Tables {
			least = min(least, t.Center[0])
		}
	}
	return least
}

// drawing is the picture in the editor, as data.
func (p *person) drawing() string {
	p.t.Helper()
	picture, err := p.page.Locator(".board canvas").Evaluate(`canvas => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(canvas.toDataURL()))))`, nil)
	check(p.t, err)
	return picture.(string)
}

func (p *person) downloads(version int) (plan drawnPlan) {
	p.t.Helper()
	address := regexp.MustCompile(`^.*/desk/plans/\d+`).FindString(p.page.URL())
	answer, err := p.context.Request().Get(fmt.Sprintf("%s/versions/%d.json", address, version))
	check(p.t, err)
	check(p.t, answer.JSON(&plan))
	return plan
}

func TestAPlanIsDrawnByMouseSavedComesBackAndIsExported(t *testing.T) {
	t.Parallel()
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.beginsPlan("Small house", "")
	ann.seesSeats("0 seats")
	first := ann.page.Locator(".first")
	ann.sees(first.GetByText("This plan is empty"))
	ann.inBothLights("editor-empty")
	ann.press(ann.button("Draw the stage"))
	ann.sees(first.GetByText("Drag a frame, or set corner after corner"))
	ann.picture("editor-first-shape", "light")
	ann.drags(.3, .1, .7, .2)
	check(t, expect.Locator(first).ToBeHidden())

	ann.press(ann.tool("Rows"))
	ann.drags(.3, .35, .6, .6)
	drawn, err := ann.page.Locator("[data-figures]").TextContent()
	check(t, err)
	if drawn == "0 seats" {
		t.Fatal("a frame drawn with the mouse made no rows")
	}
	ann.keys("Control+z")
	ann.seesSeats("0 seats")
	ann.keys("Control+Shift+z")
	ann.seesSeats(drawn)
	ann.press(ann.tool("Round table"))
	ann.drags(.8, .5, .8, .5)
	ann.press(ann.page.Locator("[data-panel=sections]"))
	ann.sees(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Section", Exact: playwright.Bool(true)}))
	for range 3 {
		ann.press(ann.page.Locator("[data-do=out]"))
	}
	ann.press(ann.tool("Round table"))
	ann.drags(.02, .5, .02, .5) // to the left of the drawing

	before := ann.drawing()
	ann.press(ann.button("Save"))
	ann.sees(ann.page.Locator("#status").GetByText("Saved as version 2."))
	if ann.drawing() != before {
		t.Error("the drawing moved when it was saved")
	}
	plan := ann.downloads(2)
	if least := plan.leftmost(); least < 0 {
		t.Errorf("a table of version 2 is %.1f to the left of the drawing", -least)
	}
	seats := 0
	for _, s := range plan.Sections {
		for _, r := range s.Rows {
			seats += len(r.Seats)
		}
	}
	if fmt.Sprint(seats, " seats") != drawn || plan.Name != "Small house" {
		t.Errorf("version 2 of %q has %d seats in rows, and %s were drawn", plan.Name, seats, drawn)
	}

	// What is not saved is there again after the page was loaded anew.
	ann.press(ann.page.Locator("[data-panel=selection]"))
	ann.drags(.005, .25, .9, .9)
	ann.press(ann.button("Delete"))
	ann.seesSeats("0 seats")
	ann.sees(ann.page.GetByText("Not saved yet; kept in this browser."))
	_, err = ann.page.Reload()
	check(t, err)
	ann.seesEditor()
	ann.seesSeats("0 seats")
	ann.press(ann.button("Undo"))
	check(t, expect.Locator(ann.page.GetByText("Version 2 is saved.")).ToBeVisible())
}

func TestEditor_UndoGoesBackAcrossASaveAndNothingMoves(t *testing.T) {
	t.Parallel()
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.beginsPlan("Undone", "")
	ann.press(ann.tool("Rows"))
	ann.drags(.3, .35, .6, .6)
	for range 2 {
		ann.press(ann.page.Locator("[data-do=out]"))
	}
	rows, err := ann.page.Locator("[data-figures]").TextContent()
	check(t, err)
	without := ann.drawing() // with the tool in hand that there is after each drawing
	ann.press(ann.tool("Round table"))
	ann.drags(.05, .3, .05, .3) // to the left of the drawing, so that what is saved begins elsewhere
	check(t, expect.Locator(ann.page.Locator("[data-figures]")).Not().ToHaveText(rows))
	with, figures := ann.drawing(), ""
	if figures, err = ann.page.Locator("[data-figures]").TextContent(); err != nil || with == without {
		t.Fatal("no table was drawn", err)
	}
	seen := func(when, seats, drawing string) {
		t.Helper()
		ann.seesSeats(seats)
		if ann.drawing() != drawing {
			t.Errorf("%s: the picture is another one", when)
		}
	}
	save := func(version int) {
		t.Helper()
		ann.press(ann.button("Save"))
		ann.sees(ann.page.Locator("#status").GetByText(fmt.Sprintf("Saved as version %d.", version)))
	}
	save(2)
	seen("saved", figures, with)
	ann.press(ann.button("Undo"))
	ann.sees(ann.page.GetByText("Not saved yet"))
	seen("undone after it was saved", rows, without)
	save(3)
	seen("saved without the table", rows, without)
	ann.press(ann.button("Redo"))
	seen("done again after that", figures, with)
	save(4)
	if two, four := ann.downloads(2), ann.downloads(4); !reflect.DeepEqual(two, four) {
		t.Errorf("version 4 is %+v, want that of version 2, %+v", four, two)
	}
}

func TestAPlanIsDrawnAndNumberedWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.beginsPlan("By keys", "")
	ann.enters(ann.tool("Rows"))
	check(t, ann.page.GetByLabel("Rows", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("3"))
	ann.keys("Tab")
	check(t, ann.page.GetByLabel("Seats in a row").Fill("4"))
	ann.keys("Tab")
	check(t, ann.page.GetByLabel("First row").Fill("H"))
	ann.keys("Tab")
	ann.enters(ann.button("Add in the middle"))
	ann.seesSeats("12 seats")
	ann.enters(ann.tool("General admission area"))
	ann.enters(ann.button("Add in the middle"))
	ann.seesSeats("112 seats")

	// The list selects what the picture shows; arrow keys there move it.
	ann.enters(ann.page.Locator("[data-panel=sections]"))
	ann.enters(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Standing", Exact: playwright.Bool(true)}))
	check(t, ann.page.Locator(".board canvas").Focus())
	ann.keys("ArrowDown", "ArrowDown", "Shift+ArrowRight")
	ann.enters(ann.page.Locator("[data-panel=selection]"))
	check(t, ann.page.GetByLabel("Places").Fill("50"))
	ann.keys("Tab")
	ann.seesSeats("62 seats")
	check(t, ann.page.Locator(".board canvas").Focus())
	ann.keys("Control+a", "Escape", ".", ".", ".", "Delete")
	ann.keys("Control+z")
	ann.keys("Control+s")
	ann.sees(ann.page.Locator("#status").GetByText("Saved as version 2."))
	plan := ann.downloads(2)
	var rows []string
	for _, s := range plan.Sections {
		for _, r := range s.Rows {
			rows = append(rows, fmt.Sprint(r.Row, len(r.Seats)))
		}
		if s.Area != nil && s.Area.Capacity != 50 {
			t.Errorf("the area has %d places", s.Area.Capacity)
		}
	}
	if got := strings.Join(rows, " "); got != "H4 J4 K4" { // no I
		t.Errorf("rows %s", got)
	}
}

func TestThePagesOfPlansAreAccessibleOnPhoneAndDesktopInLightAndDark(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	table := filepath.Join(t.TempDir(), "house.csv")
	check(t, os.WriteFile(table, []byte("Block,Row,Seat,Price,X,Y\nStalls,A,1,Front,0,0\nStalls,A,2,Front,20,0\nStalls,A,2,Back,40,0\n"), 0o600))
	ann := someone(t, o, "ann", desktop)
	ann.setsUpDesk()
	ann.beginsPlan("Opera", "theatre")
	editor, slug := ann.page.URL()[len(o.url):], o.event(t, "club")
	for _, d := range looked() {
		check(t, ann.page.SetViewportSize(d.width, d.height))
		ann.device.width, ann.device.height = d.width, d.height
		for _, page := range []struct {
			name string
			open func()
		}{
			{"plans", func() { ann.visit("/desk/plans") }},
			{"plan", func() { ann.visit(strings.TrimSuffix(editor, "/editor")) }},
			{"import", func() {
				ann.visit("/desk/plans")
				check(t, ann.page.Locator("input[type=file]").SetInputFiles(table))
				ann.press(ann.button("Preview"))
				ann.sees(ann.page.GetByText("What was found"))
			}},
			{"event-plan", func() { ann.visit("/desk/events/" + slug + "/plan") }},
			{"editor", func() { ann.visit(editor); ann.seesEditor() }},
			{"editor-row", func() {
				ann.drags(.5, .5, .5, .5)
				check(t, ann.page.Locator(".board canvas").Focus())
				ann.keys(".", ".")
			}},
			{"editor-sections", func() {
				ann.press(ann.page.Locator("[data-panel=sections]"))
				ann.press(ann.page.Locator(".turn[aria-expanded]").First())
			}},
			{"editor-categories", func() { ann.press(ann.page.Locator("[data-panel=categories]")) }},
			{"editor-plan", func() { ann.press(ann.page.Locator("[data-panel=plan]")) }},
			{"editor-rows", func() { ann.press(ann.tool("Rows")) }},
		} {
			page.open()
			ann.lit(playwright.ColorSchemeLight)
			ann.picture(page.name, "light")
			ann.isAccessible(page.name, checkup)
			ann.inTheDark(page.name)
		}
	}
}

func TestAChartOf8800SeatsIsMovedInTheEditor(t *testing.T) {
	t.Parallel()
	path := standsChart(t)
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.visit("/desk/plans")
	check(t, ann.page.Locator("input[type=file]").SetInputFiles(path))
	ann.press(ann.button("Preview"))
	ann.press(ann.button("Use it as a plan"))
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Edit this plan"}))
	ann.seesEditor()
	ann.seesSeats("8,800 seats")
	check(t, ann.page.Locator(".board canvas").Focus())
	took, err := ann.page.Evaluate(`async () => {
		const canvas = document.querySelector('.board canvas'), times = []
		const key = (key, more) => canvas.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, ...more}))
		key('a', {ctrlKey: true})
		for (let i = 0; i < 10; i++) {
			const began = performance.now()
			key('ArrowRight')
			await new Promise(requestAnimationFrame)
			await new Promise(done => setTimeout(done))
			times.push(performance.now() - began)
		}
		return JSON.stringify(times.map(Math.round).sort((a, b) => a - b))
	}`)
	check(t, err)
	var times []int
	check(t, json.Unmarshal([]byte(took.(string)), &times))
	t.Logf("to move all 8,800 seats by a key took %d ms at least, %d ms in the middle", times[0], times[5])
	if timed && times[5] > 200 {
		t.Errorf("to move all seats by a key takes %v ms, want 200 at most in the middle", times)
	}
	ann.press(ann.button("Save"))
	ann.sees(ann.page.Locator("#status").GetByText("Saved as version 2."))
}
