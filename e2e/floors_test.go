package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// blueprint is the file of a drawing of a room: walls, a stage, and ten rows of ten seats that are 30 pixels apart.
func blueprint(t *testing.T) playwright.InputFile {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 600, 500))
	for y := range 500 {
		for x := range 600 {
			c := color.NRGBA{255, 255, 255, 255}
			wall := x < 6 || y < 6 || x >= 594 || y >= 494 || y > 40 && y < 100 && x > 150 && x < 450 && (y < 44 || y > 96 || x < 154 || x > 446)
			seat := x >= 150 && x < 450 && y >= 150 && y < 450 && (x%30-15)*(x%30-15)+(y%30-15)*(y%30-15) < 70
			if wall || seat {
				c = color.NRGBA{20, 60, 140, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	check(t, png.Encode(&b, m))
	return playwright.InputFile{Name: "floor plan.png", MimeType: "image/png", Buffer: b.Bytes()}
}

// twoFloors is a PDF of two pages with a hall on each. It has no table of objects: readers find them.
func twoFloors() []byte {
	page := func(n int, draws string) string {
		return fmt.Sprintf("%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 400]/Contents %d 0 R>>endobj\n%d 0 obj<</Length %d>>stream\n%s\nendstream endobj\n", n, n+1, n+1, len(draws)+1, draws)
	}
	return []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R 5 0 R]/Count 2>>endobj\n" +
		page(3, "6 w 30 30 540 340 re S 200 330 200 30 re f") + page(5, "6 w 30 30 540 340 re S 0.2 0.4 0.8 rg 60 60 480 120 re f") + "trailer<</Root 1 0 R>>\n%%EOF\n")
}

func TestPlan_IsTracedFromAPicture(t *testing.T) {
	t.Parallel()
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.beginsPlan("Traced", "")
	blank := ann.drawing()
	ann.press(ann.page.Locator("[data-panel=plan]"))

	// A broken PDF is refused with what to do, and nothing is drawn.
	ann.expect("Indexing all PDF objects") // the worker may begin before it is told to be silent
	field := ann.page.Locator("[name=picture]")
	check(t, expect.Locator(field).ToHaveAccessibleDescription("A picture of the floor plan, as a PNG, JPEG, WebP or PDF. It lies under the plan while you draw, and only your team sees it."))
	check(t, field.SetInputFiles([]playwright.InputFile{{Name: "floor plan.pdf", MimeType: "application/pdf", Buffer: []byte("%PDF-1.7\n")}}))
	ann.sees(ann.page.Locator("#status").GetByText("The PDF cannot be read. Save its page as a PNG or JPEG."))
	check(t, expect.Locator(field).ToHaveValue(""))
	if ann.drawing() != blank {
		t.Error("a PDF that was refused changed the drawing")
	}

	// Of a PDF, one page is drawn in the browser: the first, or the one that is asked for.
	check(t, field.SetInputFiles([]playwright.InputFile{{Name: "floors.pdf", MimeType: "application/pdf", Buffer: twoFloors()}}))
	ann.sees(ann.page.Locator("#status").GetByText("The picture is under the plan."))
	eventually(t, patience, "the first page under the plan", func() bool { return ann.drawing() != blank })
	check(t, expect.Locator(ann.page.GetByLabel("Page (of 2)")).ToHaveValue("1"))
	first := ann.drawing()
	check(t, ann.page.GetByLabel("Page (of 2)").Fill("2"))
	ann.keys("Tab")
	eventually(t, patience, "the second page under the plan", func() bool { return ann.drawing() != first && ann.drawing() != blank })
	ann.inBothLights("desk-plan-pdf")

	check(t, ann.page.Locator("[name=picture]").SetInputFiles([]playwright.InputFile{blueprint(t)}))
	ann.sees(ann.page.Locator("#status").GetByText("The picture is under the plan."))
	eventually(t, patience, "the picture under the plan", func() bool { return ann.drawing() != blank })
	check(t, expect.Locator(ann.page.Locator(".first")).ToBeHidden())

	// Ten seats of the picture are as far apart as ten of the plan: the picture is 600 pixels wide, and nine steps are 270 of them.
	ann.press(ann.button("Set its scale"))
	check(t, ann.page.GetByLabel("Seats of the row").Fill("10"))
	ann.keys("Tab")
	ann.drags(.2, .4, .4, .4)
	ann.press(ann.page.Locator("[data-panel=plan]"))
	width, err := ann.page.GetByLabel("Width", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).InputValue()
	check(t, err)
	if width == "1000" {
		t.Error("the scale stayed as it was")
	}
	check(t, ann.page.GetByLabel("Width", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("400"))
	ann.keys("Tab")
	_, err = ann.page.Locator("[name=opacity]").Evaluate(`range => { range.value = 30; range.dispatchEvent(new Event('input')); range.dispatchEvent(new Event('change')) }`, nil)
	check(t, err)
	before, err := ann.page.GetByLabel("From the left").InputValue()
	check(t, err)
	ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Move the picture", Exact: playwright.Bool(true)}))
	ann.drags(.3, .3, .4, .4)
	ann.keys("Escape")
	ann.press(ann.page.Locator("[data-panel=plan]"))
	if after, err := ann.page.GetByLabel("From the left").InputValue(); err != nil || after == before {
		t.Errorf("the picture was moved from %s to %s, %v", before, after, err)
	}
	ann.press(ann.tool("Rows"))
	ann.drags(.5, .5, .7, .7)
	for _, d := range looked() {
		check(t, ann.page.SetViewportSize(d.width, d.height))
		ann.device.width, ann.device.height = d.width, d.height
		ann.press(ann.page.Locator("[data-panel=plan]"))
		ann.lit(playwright.ColorSchemeLight)
		ann.picture("editor-trace", "light")
		ann.isAccessible("editor-trace", checkup)
		ann.inTheDark("editor-trace")
		ann.lit(playwright.ColorSchemeLight)
	}
	ann.press(ann.button("Save"))
	ann.sees(ann.page.Locator("#status").GetByText("Saved as version 2."))
	var saved struct {
		Underlays []struct{ Width, Opacity float64 }
	}
	address := strings.TrimSuffix(ann.page.URL(), "/editor")
	answer, err := ann.context.Request().Get(address + "/versions/2.json")
	check(t, err)
	check(t, answer.JSON(&saved))
	if len(saved.Underlays) != 1 || saved.Underlays[0].Width != 400 || saved.Underlays[0].Opacity != .3 {
		t.Errorf("saved is %+v", saved)
	}
	_, err = ann.page.Reload()
	check(t, err)
	ann.seesEditor()
	ann.press(ann.page.Locator("[data-panel=plan]"))
	ann.press(ann.button("Remove the picture"))
	check(t, expect.Locator(ann.page.Locator("[name=opacity]")).ToHaveCount(0))
	without := ann.drawing()
	ann.keys("Escape")
	ann.press(ann.button("Undo"))
	check(t, expect.Locator(ann.page.Locator("[name=opacity]")).ToHaveValue("30"))
	eventually(t, patience, "the picture under the plan again", func() bool { return ann.drawing() != without })
	ann.press(ann.button("Redo"))
	eventually(t, patience, "the plan without the picture", func() bool { return ann.drawing() == without })
}

// balconyPlan is a house with two floors, each drawn over the other.
func balconyPlan(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	block := func(name, floor, category, rows string, x, y, half int) string {
		return fmt.Sprintf(`{"name": %q, "floor": %q, "category": %q, "generate": [{"rows": %s, "origin": [%d, %d], "angle": 90, "blocks": [[-%d, %d]]}]}`, name, floor, category, rows, x, y, half, half)
	}
	check(t, os.WriteFile(path, []byte(`{"format": "usher-plan/1", "name": "Two floors", "focus": [300, 0],
		"categories": [{"key": "A", "name": "Stalls", "price": 4500}, {"key": "B", "name": "Balcony", "price": 2500}],
		"floors": [{"name": "Stalls"}, {"name": "Balcony"}],
		"sections": [`+strings.Join([]string{
		block("Left", "Stalls", "A", `["A","B","C","D","E","F","G","H"]`, 180, 120, 100),
		block("Right", "Stalls", "A", `["A","B","C","D","E","F","G","H"]`, 420, 120, 100),
		block("Upper left", "Balcony", "B", `["A","B","C"]`, 160, 200, 120),
		block("Upper right", "Balcony", "B", `["A","B","C"]`, 440, 200, 120),
	}, ",")+`],
		"shapes": [{"kind": "polygon", "role": "stage", "points": [[120, 20], [480, 20], [480, 70], [120, 70]]}, {"kind": "text", "role": "label", "center": [300, 45], "text": "Stage", "size": 22},
			{"kind": "line", "role": "wall", "floor": "Balcony", "points": [[30, 160], [570, 160]]}]}`), 0o600))
	return path
}

func TestFloors_TheMapShowsOneAtATime(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, balconyPlan(t))
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug)
			ann.seesMap()
			floors := ann.page.Locator("nav.floors a")
			check(t, expect.Locator(floors).ToHaveText([]string{"Stalls", "Balcony"}))
			check(t, expect.Locator(floors.First()).ToHaveAttribute("aria-current", "true"))
			ann.inBothLights("floors-stalls")
			ann.lit(playwright.ColorSchemeLight)
			stalls := ann.shown()
			ann.press(floors.Last())
			check(t, expect.Locator(floors.Last()).ToHaveAttribute("aria-current", "true"))
			eventually(t, patience, "the other floor", func() bool { return ann.shown()[1] > stalls[1]+100 })
			seat := ann.spot("Upper left", "B", 4)
			check(t, ann.page.Mouse().Move(seat.x, seat.y))
			if !d.touch && d.zoom == 0 {
				check(t, expect.Locator(ann.placard()).ToContainText("Upper left"))
			}
			ann.inBothLights("floors-balcony")
			ann.lit(playwright.ColorSchemeLight)

			// The address says which floor is seen, and the way back leads to the one before.
			if !strings.HasSuffix(ann.page.URL(), "?floor=2") {
				t.Errorf("the address is %s", ann.page.URL())
			}
			shared := ann.page.URL()
			_, err := ann.page.GoBack()
			check(t, err)
			check(t, expect.Locator(floors.First()).ToHaveAttribute("aria-current", "true"))
			eventually(t, patience, "the first floor again", func() bool { return ann.shown()[1] < stalls[1]+100 })
			_, err = ann.page.GoForward()
			check(t, err)
			check(t, expect.Locator(floors.Last()).ToHaveAttribute("aria-current", "true"))
			ann.press(ann.page.Locator(`.prices [data-category="B"] a`)) // what is looked for stays on the floor
			eventually(t, patience, "both in the address", func() bool { return strings.HasSuffix(ann.page.URL(), "price=B&floor=2") })
			ann.press(ann.page.Locator(`.prices [data-category="B"] a`))
			bob := someone(t, boxOffice, "bob", d)
			bob.visit(strings.TrimPrefix(shared, boxOffice.url))
			bob.seesMap()
			check(t, expect.Locator(bob.page.Locator("nav.floors a").Last()).ToHaveAttribute("aria-current", "true"))

			// An opened section brings its floor, and the best seats are shown where they are.
			ann.press(ann.page.Locator(`.sections a[href$="/sections/1"]`).First())
			check(t, expect.Locator(ann.page.Locator("#rows-title")).ToHaveText("Right"))
			check(t, expect.Locator(ann.page.Locator("#rows .facts").First()).ToHaveText("Stalls"))
			check(t, expect.Locator(floors.First()).ToHaveAttribute("aria-current", "true"))
		})
	}
}

func TestFloors_AreLinksWithoutScripts(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, balconyPlan(t))
	plain := desktop
	plain.noScript = true
	ann := someone(t, boxOffice, "ann", plain)
	ann.visit("/events/" + slug)
	hidden := ann.page.Locator(`#map a[visibility=hidden]`)
	check(t, expect.Locator(hidden).ToHaveCount(2))
	check(t, expect.Locator(ann.page.Locator(".sections summary b")).ToHaveText([]string{"Stalls", "Balcony"}))
	stalls := ann.shown()
	ann.press(ann.page.Locator("nav.floors a").Last())
	check(t, expect.Locator(ann.page.Locator("nav.floors a").Last()).ToHaveAttribute("aria-current", "true"))
	if ann.shown() == stalls {
		t.Error("the map shows the same part of the drawing")
	}
	check(t, expect.Locator(ann.page.Locator(`#map a[visibility=hidden][href*="/sections/0"]`)).ToHaveCount(1))
	ann.press(ann.page.Locator(`.prices [data-category="B"] a`)) // what is looked for stays on the floor
	check(t, expect.Locator(ann.page.Locator("nav.floors a").Last()).ToHaveAttribute("aria-current", "true"))
	ann.press(ann.page.Locator(`.sections a[href*="/sections/2"]`).First())
	check(t, expect.Locator(ann.page.Locator("nav.floors a").Last()).ToHaveAttribute("aria-current", "true"))
}

func TestFloors_AreSwitchedAtTheTillAndTheDesk(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, balconyPlan(t))
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			dora := someone(t, boxOffice, "dora", d)
			dora.entersDesk(boxOffice.organizer(t, "Dora of floors "+d.String(), "owner"))
			dora.atTill(slug)
			floors := dora.page.Locator("nav.floors a")
			check(t, expect.Locator(floors.First()).ToHaveAttribute("aria-current", "true"))
			dora.press(floors.Last())
			check(t, expect.Locator(floors.Last()).ToHaveAttribute("aria-current", "true"))
			dora.inBothLights("floors-till")
			dora.lit(playwright.ColorSchemeLight)
			_, err := dora.page.Reload()
			check(t, err)
			dora.sees(dora.page.Locator(`[data-till=ready]`))
			check(t, expect.Locator(floors.Last()).ToHaveAttribute("aria-current", "true"))

			// A seat that is typed is shown on its floor, and the cart says which that is.
			check(t, dora.page.Locator("[data-typed] input").Fill("Upper left/B/4"))
			check(t, dora.page.Locator("[data-typed] input").Press("Enter"))
			dora.saysAt("[data-lines]", "Balcony, Upper left, row B, seat 4")
			check(t, dora.page.Locator("[data-typed] input").Fill("Left/B/4"))
			check(t, dora.page.Locator("[data-typed] input").Press("Enter"))
			dora.saysAt("[data-lines]", "Stalls, Left, row B, seat 4")
			check(t, expect.Locator(floors.First()).ToHaveAttribute("aria-current", "true"))

			dora.visit("/desk/events/" + slug + "?floor=2")
			check(t, expect.Locator(floors.Last()).ToHaveAttribute("aria-current", "true"))
			check(t, expect.Locator(dora.page.Locator("#live-map canvas[data-ready]")).ToHaveCount(1))
			_, err = dora.page.Evaluate(`() => document.querySelector('#live-map').scrollIntoView()`)
			check(t, err)
			dora.inBothLights("floors-live")
			dora.lit(playwright.ColorSchemeLight)
			dora.press(floors.First())
			check(t, expect.Locator(floors.First()).ToHaveAttribute("aria-current", "true"))
			dora.visit("/desk/events/" + slug + "/plan")
			check(t, expect.Locator(dora.page.Locator(".plan-picture")).ToHaveCount(2))
			dora.inBothLights("floors-plan")
		})
	}
}

func TestEditor_DrawsOnOneFloorAtATime(t *testing.T) {
	t.Parallel()
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.beginsPlan("Two floors", "")
	ann.press(ann.tool("Rows"))
	ann.drags(.3, .3, .6, .6)
	ann.press(ann.page.Locator("[data-panel=plan]"))
	stalls := ann.drawing()
	ann.press(ann.button("Add a floor"))
	check(t, expect.Locator(ann.page.Locator("[name=floor]")).ToHaveValue("Floor 2"))
	if ann.drawing() == stalls {
		t.Error("the rows of the first floor are seen on the second")
	}
	check(t, ann.page.GetByLabel("Floor 2", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("Balcony"))
	ann.keys("Tab")
	check(t, expect.Locator(ann.page.Locator("[name=floor]")).ToHaveValue("Balcony"))
	ann.press(ann.tool("Rows"))
	ann.drags(.4, .4, .6, .5)
	ann.press(ann.page.Locator("[data-panel=sections]"))
	check(t, expect.Locator(ann.page.Locator(".panels h2")).ToHaveText([]string{"Floor 1", "Balcony"}))
	for _, d := range looked() {
		check(t, ann.page.SetViewportSize(d.width, d.height))
		ann.device.width, ann.device.height = d.width, d.height
		for _, panel := range []string{"sections", "plan"} {
			ann.press(ann.page.Locator("[data-panel=" + panel + "]"))
			ann.lit(playwright.ColorSchemeLight)
			ann.picture("editor-floors-"+panel, "light")
			ann.isAccessible("editor-floors-"+panel, checkup)
			ann.inTheDark("editor-floors-" + panel)
		}
	}
	ann.press(ann.button("Save"))
	ann.sees(ann.page.Locator("#status").GetByText("Saved as version 2."))
	var saved struct {
		Floors []struct {
			Name string
			At   []float64
		}
		Sections []struct{ Name, Floor string }
	}
	address := strings.TrimSuffix(ann.page.URL(), "/editor")
	answer, err := ann.context.Request().Get(address + "/versions/2.json")
	check(t, err)
	check(t, answer.JSON(&saved))
	if len(saved.Floors) != 2 || len(saved.Floors[1].At) != 2 || len(saved.Sections) != 2 || saved.Sections[0].Floor != "Floor 1" || saved.Sections[1].Floor != "Balcony" {
		t.Errorf("saved is %+v", saved)
	}
	check(t, ann.page.SetViewportSize(desktop.width, desktop.height))
	_, err = ann.page.Reload()
	check(t, err)
	ann.seesEditor()
	check(t, expect.Locator(ann.page.Locator("[name=floor]")).ToHaveValue("Floor 1"))
	ann.press(ann.page.Locator("[data-panel=sections]"))
	ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: saved.Sections[1].Name, Exact: playwright.Bool(true)}))
	check(t, expect.Locator(ann.page.Locator("[name=floor]")).ToHaveValue("Balcony")) // where it is
}
