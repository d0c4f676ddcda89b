package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// dinnerPlan is a hall with four round tables, of which the first two are sold whole.
func dinnerPlan(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	check(t, os.WriteFile(path, []byte(`{"format": "usher-plan/1", "name": "Dinner", "focus": [250, 0],
		"categories": [{"key": "A", "name": "Dinner", "price": 8000}],
		"sections": [{"name": "Hall", "category": "A", "tables": [
			{"table": "Table 1", "whole": true, "center": [120, 160], "radius": 30, "count": 4}, {"table": "Table 2", "whole": true, "center": [380, 160], "size": [100, 40], "count": 4},
			{"table": "Table 3", "center": [120, 340], "radius": 30, "count": 4}, {"table": "Table 4", "center": [380, 340], "radius": 30, "count": 4}]}],
		"shapes": [{"kind": "polygon", "role": "stage", "points": [[100, 20], [400, 20], [400, 60], [100, 60]]}]}`), 0o600))
	return path
}

func TestWholeTable_OneTapTakesAllOfIt(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, dinnerPlan(t))
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug + "/sections/0")
			ann.seesMap()
			check(t, expect.Locator(ann.page.Locator("#rows legend").GetByText("all seats sold together")).ToHaveCount(2))
			chips, ticked := ann.page.Locator("#tray .chips li"), ann.page.Locator("#rows input:checked")
			if !d.touch && d.zoom == 0 {
				seat := ann.spot("Hall", "Table 1", 1)
				check(t, ann.page.Mouse().Move(seat.x, seat.y))
				check(t, expect.Locator(ann.placard()).ToContainText("sold together: 4 seats"))
				check(t, ann.page.Mouse().Click(seat.x, seat.y))
			} else {
				ann.ticks("Hall/Table 1/2")
			}
			check(t, expect.Locator(chips).ToHaveCount(4))
			check(t, expect.Locator(ticked).ToHaveCount(4))
			ann.inBothLights("whole-table")
			ann.lit(playwright.ColorSchemeLight)
			ann.ticks("Hall/Table 3/1")
			check(t, expect.Locator(chips).ToHaveCount(5))
			ann.ticks("Hall/Table 1/3")
			check(t, expect.Locator(chips).ToHaveCount(1))
		})
	}
}

// ticks turns the checkbox of a seat over.
func (p *person) ticks(label string) {
	p.t.Helper()
	_, err := p.page.Locator(`#rows input[value="`+label+`"]`).Evaluate(`box => box.click()`, nil)
	check(p.t, err)
}

func TestChecklist_SaysThatATableIsLargerThanTheLimit(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	owner := o.owner(t)
	slug := o.event(t, dinnerPlan(t), "--draft", "--limit", "3")
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			ann := someone(t, o, "ann", d)
			ann.entersDesk(owner)
			ann.visit("/desk/events/" + slug + "/checklist")
			ann.sees(ann.page.GetByText("A table or row of 4 seats is sold whole, and one person may book 3."))
			_, err := ann.page.Evaluate(`() => document.querySelector('.lines').scrollIntoView()`)
			check(t, err)
			ann.inBothLights("checklist-tables")
		})
	}
}

func TestEditor_MarksATableAsSoldWhole(t *testing.T) {
	t.Parallel()
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.beginsPlan("Dinner", "")
	ann.press(ann.tool("Round table"))
	whole := ann.page.GetByLabel("Sold as a whole")
	check(t, whole.Check())
	ann.press(ann.button("Add in the middle"))
	ann.seesSeats("8 seats")
	check(t, expect.Locator(whole).ToBeChecked())
	ann.press(ann.tool("Long table"))
	ann.press(ann.button("Add in the middle"))
	ann.seesSeats("16 seats")
	check(t, expect.Locator(whole).Not().ToBeChecked())
	for _, d := range looked() {
		check(t, ann.page.SetViewportSize(d.width, d.height))
		ann.device.width, ann.device.height = d.width, d.height
		ann.lit(playwright.ColorSchemeLight)
		ann.picture("editor-whole", "light")
		ann.isAccessible("editor-whole", checkup)
		ann.inTheDark("editor-whole")
	}
	ann.press(ann.button("Save"))
	ann.sees(ann.page.Locator("#status").GetByText("Saved as version 2."))
	var saved struct {
		Sections []struct {
			Tables []struct {
				Table string
				Whole bool
			}
		}
	}
	answer, err := ann.context.Request().Get(strings.TrimSuffix(ann.page.URL(), "/editor") + "/versions/2.json")
	check(t, err)
	check(t, answer.JSON(&saved))
	if len(saved.Sections) != 2 || len(saved.Sections[0].Tables) != 1 || len(saved.Sections[1].Tables) != 1 || !saved.Sections[0].Tables[0].Whole || saved.Sections[1].Tables[0].Whole {
		t.Errorf("saved is %+v", saved)
	}
}
