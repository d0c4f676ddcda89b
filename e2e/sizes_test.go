//go:build figures

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Houses of any size, to measure with.

// gridPlan is the file of a plan with so many seats, in sections of 500.
func gridPlan(t *testing.T, seats int) string {
	t.Helper()
	type seat struct {
		Number string `json:"number"`
		X      int    `json:"x"`
		Y      int    `json:"y"`
	}
	type row struct {
		Row   string `json:"row"`
		Seats []seat `json:"seats"`
	}
	type section struct {
		Name     string `json:"name"`
		Category string `json:"category"`
		Rows     []row  `json:"rows"`
	}
	const wide, deep = 25, 20
	var sections []section
	across := int(math.Ceil(math.Sqrt(float64(seats / wide / deep))))
	for i := range seats / wide / deep {
		s := section{Name: fmt.Sprint(100 + i), Category: string(rune('A' + i%5))}
		for r := range deep {
			line := row{Row: fmt.Sprint(r + 1)}
			for n := range wide {
				line.Seats = append(line.Seats, seat{fmt.Sprint(n + 1), i%across*(wide+3)*20 + n*20, i/across*(deep+3)*20 + r*20})
			}
			s.Rows = append(s.Rows, line)
		}
		sections = append(sections, s)
	}
	var categories []map[string]any
	for _, key := range []string{"A", "B", "C", "D", "E"} {
		categories = append(categories, map[string]any{"key": key, "name": "Category " + key, "price": 2500})
	}
	text, err := json.Marshal(map[string]any{"format": "usher-plan/1", "name": "Grid", "categories": categories, "sections": sections})
	check(t, err)
	path := filepath.Join(t.TempDir(), "plan.json")
	check(t, os.WriteFile(path, text, 0o600))
	return path
}

// stadiumPlan is the file of a stadium with so many seats: that of 50,000 with as many of each section's rows as make
// up the number, and beyond it with a second ring around.
func stadiumPlan(t *testing.T, seats int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stadium.json")
	boxOffice.usher(t, "plan", "import", "stadium", "--out", path)
	text, err := os.ReadFile(path)
	check(t, err)
	var plan map[string]any
	check(t, json.Unmarshal(text, &plan))
	whole := plan["sections"].([]any)
	list := whole
	if seats > 50_000 {
		list = append(whole, outside(t, whole, plan["width"].(float64), plan["height"].(float64))...)
		plan["width"], plan["height"] = nil, nil
	}
	left := seats
	for i, s := range list {
		s := s.(map[string]any)
		left -= thin(s, left/(len(list)-i))
	}
	plan["sections"] = list
	for key, value := range plan {
		if value == nil {
			delete(plan, key)
		}
	}
	text, err = json.Marshal(plan)
	check(t, err)
	check(t, os.WriteFile(path, text, 0o600))
	return path
}

// thin leaves a section so many of its seats, or somewhat more: whole rows, the first ones.
func thin(section map[string]any, most int) (seats int) {
	rows, _ := section["rows"].([]any)
	for i, row := range rows {
		if seats >= most && i > 0 {
			section["rows"] = rows[:i]
			delete(section, "outline")
			break
		}
		seats += len(row.(map[string]any)["seats"].([]any))
	}
	return seats
}

// outside is a copy of sections, further from the middle of a drawing.
func outside(t *testing.T, sections []any, width, height float64) (copies []any) {
	t.Helper()
	text, err := json.Marshal(sections)
	check(t, err)
	check(t, json.Unmarshal(text, &copies))
	for _, s := range copies {
		s := s.(map[string]any)
		s["name"] = fmt.Sprint(s["name"], " above")
		delete(s, "outline")
		rows, _ := s["rows"].([]any)
		for _, row := range rows {
			for _, seat := range row.(map[string]any)["seats"].([]any) {
				seat := seat.(map[string]any)
				delete(seat, "id")
				seat["x"], seat["y"] = width/2+2.2*(seat["x"].(float64)-width/2), height/2+2.2*(seat["y"].(float64)-height/2)
			}
		}
	}
	return copies
}
