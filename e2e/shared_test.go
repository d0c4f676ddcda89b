package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// banquetPlan is a hall with two round tables of eight, of which each party has two to six chairs.
func banquetPlan(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	check(t, os.WriteFile(path, []byte(`{"format": "usher-plan/1", "name": "Banquet", "focus": [250, 0],
		"categories": [{"key": "A", "name": "Dinner", "price": 8000}],
		"sections": [{"name": "Hall", "category": "A", "tables": [
			{"table": "Table 1", "shared": {"least": 2, "most": 6, "noRest": true}, "center": [120, 160], "radius": 40, "count": 8},
			{"table": "Table 2", "shared": {"least": 2, "most": 6, "noRest": true}, "center": [380, 160], "radius": 40, "count": 8}]}],
		"shapes": [{"kind": "polygon", "role": "stage", "points": [[100, 20], [400, 20], [400, 60], [100, 60]]}]}`), 0o600))
	return path
}

func TestSharedTable_PagesHoldPartiesOfASize(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, banquetPlan(t))
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug + "/sections/0")
			ann.seesMap()
			check(t, expect.Locator(ann.page.Locator("#rows legend").GetByText("2 to 6 seats for each party")).ToHaveCount(2))
			chips := ann.page.Locator("#tray .chips li")
			if !d.touch && d.zoom == 0 {
				seat := ann.spot("Hall", "Table 1", 1)
				check(t, ann.page.Mouse().Move(seat.x, seat.y))
				check(t, expect.Locator(ann.placard()).ToContainText("2 to 6 seats for each party"))
				check(t, ann.page.Mouse().Click(seat.x, seat.y))
			} else {
				ann.ticks("Hall/Table 1/1")
			}
			check(t, expect.Locator(chips).ToHaveCount(2))
			ann.ticks("Hall/Table 1/4")
			check(t, expect.Locator(chips).ToHaveCount(3))
			ann.inBothLights("shared-table")
			ann.lit(playwright.ColorSchemeLight)
			ann.ticks("Hall/Table 1/4")
			check(t, expect.Locator(chips).ToHaveCount(2))
			ann.ticks("Hall/Table 1/1")
			check(t, expect.Locator(chips).ToHaveCount(0))
		})
	}
}

func TestSharedTable_IsMarkedInTheEditor(t *testing.T) {
	t.Parallel()
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.beginsPlan("Banquet", "")
	ann.press(ann.tool("Round table"))
	ann.drags(.5, .4, .5, .4)
	ann.press(ann.page.Locator("[data-panel=selection]"))
	check(t, ann.page.GetByLabel("Shared by parties").Check())
	check(t, ann.page.GetByLabel("Seats for a party, at least").Fill("3"))
	ann.keys("Tab")
	check(t, ann.page.GetByLabel("Seats for a party, at most").Fill("6"))
	ann.keys("Tab")
	check(t, ann.page.GetByLabel("Leave enough for the next party").Check())
	for _, d := range looked() {
		check(t, ann.page.SetViewportSize(d.width, d.height))
		ann.device.width, ann.device.height = d.width, d.height
		ann.press(ann.page.Locator("[data-panel=selection]"))
		ann.lit(playwright.ColorSchemeLight)
		ann.picture("editor-shared", "light")
		ann.isAccessible("editor-shared", checkup)
		ann.inTheDark("editor-shared")
	}
	ann.press(ann.button("Save"))
	ann.sees(ann.page.Locator("#status").GetByText("Saved as version 2."))
	var saved struct {
		Sections []struct {
			Tables []struct {
				Shared struct {
					Least, Most int
					NoRest      bool
				}
			}
		}
	}
	answer, err := ann.context.Request().Get(ann.page.URL()[:len(ann.page.URL())-len("/editor")] + "/versions/2.json")
	check(t, err)
	check(t, answer.JSON(&saved))
	if len(saved.Sections) != 1 || len(saved.Sections[0].Tables) != 1 || saved.Sections[0].Tables[0].Shared.Least != 3 || saved.Sections[0].Tables[0].Shared.Most != 6 || !saved.Sections[0].Tables[0].Shared.NoRest {
		t.Errorf("saved is %+v", saved)
	}
}
