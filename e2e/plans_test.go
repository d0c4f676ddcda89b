package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// charts are plans in the formats of other programs, drawn for the tests.
const charts = "../seats/plan/testdata/charts"

func TestPlansOfOtherProgramsGoOnSaleWithAllTheirSeats(t *testing.T) {
	t.Parallel()
	for name, seats := range map[string]int{
		"pretix-hall.json": 84, "seatsio-stands.json": 120, "seatsio-areas.json": 232, "seatsio-tables.json": 12,
	} {
		t.Run(strings.TrimSuffix(name, ".json"), func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, filepath.Join(charts, name))
			if r := someProgram(t, boxOffice).remaining(slug); r.Seats != seats || r.Free != seats {
				t.Errorf("on sale are %+v, want %d seats, all free", r, seats)
			}
		})
	}
}

// standsChart is the file of a chart of 8,800 seats as seats.io writes it: four stands of 40 rows of 55 seats, turned.
func standsChart(t *testing.T) string {
	t.Helper()
	type object = map[string]any
	var sections []object
	for i, name := range []string{"North", "East", "South", "West"} {
		sin, cos := math.Sincos(0.3 + float64(i)*math.Pi/2)
		turned := func(n, r int) (x, y float64) {
			return 1300 + 20*float64(n)*cos - 22*float64(r)*sin, 1300 + 20*float64(n)*sin + 22*float64(r)*cos
		}
		at := object{"x": 3000 + 2600*cos, "y": 3000 + 2600*sin}
		var rows, corners []object
		for _, c := range [][2]int{{-2, -2}, {56, -2}, {56, 41}, {-2, 41}} {
			x, y := turned(c[0], c[1])
			corners = append(corners, object{"x": at["x"].(float64) + x, "y": at["y"].(float64) + y})
		}
		for r := range 40 {
			var seats []object
			for n := range 55 {
				x, y := turned(n, r)
				seats = append(seats, object{"x": x, "y": y, "label": fmt.Sprint(n + 1), "categoryKey": 1 + i%2, "uuid": fmt.Sprint(name, r, "-", n)})
			}
			rows = append(rows, object{"label": fmt.Sprint(r + 1), "seats": seats})
		}
		sections = append(sections, object{"label": name, "points": corners, "topLeft": at, "subChart": object{"height": 2600, "width": 2600, "rows": rows}})
	}
	text, err := json.Marshal(object{
		"name": "Four stands", "version": 21, "venueType": "ZONES",
		"categories": object{"list": []object{{"key": 1, "label": "Long side", "color": "#87A9CD"}, {"key": 2, "label": "Short side", "color": "#5E42ED"}}},
		"subChart":   object{"height": 9000, "width": 9000, "sections": sections},
	})
	check(t, err)
	path := filepath.Join(t.TempDir(), "stands.json")
	check(t, os.WriteFile(path, text, 0o600))
	return path
}

func TestAChartOf8800SeatsIsClaimedHeldAndExpiresOnItsPage(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, standsChart(t), "--hold", "12s")
	ann, bob := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "bob", phone)
	ann.openSection(slug, 0)
	bob.openSection(slug, 0)
	label := ann.firstFreeSeat()
	ann.take(label)
	bob.seesTaken(label)
	if r := someProgram(t, boxOffice).remaining(slug); r.Held != 1 || r.Free != 8799 {
		t.Errorf("the counts are %+v, want 1 held and 8,799 free", r)
	}
	bob.seesFree(label)
	ann.seesExpired()
}
