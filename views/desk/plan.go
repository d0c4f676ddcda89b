package desk

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// PlansPath is the address of a team's plans; ImportsPath of files that become plans.
const (
	PlansPath   = Path + "/plans"
	ImportsPath = Path + "/imports"
)

// PlanFiles are the endings of the names of files that become plans.
const PlanFiles = ".json,.csv,.svg,.txt"

// PlanPath is the address of a plan at the desk.
func PlanPath(id int64) string { return PlansPath + "/" + strconv.FormatInt(id, 10) }

// Shipped is a plan that comes with Usher.
type Shipped struct {
	Name, Title     string
	Seats, Sections int
}

// PlansPage lists the plans of a team.
type PlansPage struct {
	Frame
	Plans   []organizers.Plan
	Shipped []Shipped
	Key     string
	Wrong   string // why a file was not taken
}

// PlanPage is one plan with its versions.
type PlanPage struct {
	Frame
	ID       int64
	Versions []organizers.PlanVersion // the newest first
	Plan     *seats.Plan              // as of the newest
}

// EditorPage is the plan editor.
type EditorPage struct {
	Frame
	ID      int64
	Version organizers.PlanVersion // that is opened
}

func (p EditorPage) facts() templ.Attributes {
	objects, _ := json.Marshal(shop.Objects) // texts
	return templ.Attributes{"data-objects": string(objects), "class": "editor-page", "data-plan": strconv.FormatInt(p.ID, 10), "data-version": strconv.Itoa(p.Version.Version)}
}

// tool is a tool of the editor.
type tool struct{ name, words, icon string }

// editorTools are the tools; their icons are paths in a box of 16 by 16.
var editorTools = []tool{
	{"select", text.Mark("Select"), "M4 2l8 6-4 .8L6 13z"},
	{"pan", text.Mark("Move the view"), "M8 2v12M2 8h12M6 4l2-2 2 2M6 12l2 2 2-2M4 6L2 8l2 2M12 6l2 2-2 2"},
	{"rows", text.Mark("Rows"), "M3 4h0M6.5 4h0M10 4h0M13.5 4h0M3 8h0M6.5 8h0M10 8h0M13.5 8h0M3 12h0M6.5 12h0M10 12h0M13.5 12h0"},
	{"round", text.Mark("Round table"), "M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8 2h0M8 14h0M2 8h0M14 8h0"},
	{"long", text.Mark("Long table"), "M3 6h10v4H3zM5 3h0M8 3h0M11 3h0M5 13h0M8 13h0M11 13h0"},
	{"area", text.Mark("General admission area"), "M3 4l10-1v9l-9 1z"},
	{"shape", text.Mark("Shape"), "M2 5h12v4H2zM8 9v4"},
	{"object", text.Mark("Object"), "M2.5 3h11L8 9zM8 9v4.5M5 13.5h6"},
	{"text", text.Mark("Text"), "M3 4V3h10v1M8 3v10M6 13h4"},
}

// inSections counts the seats and sections of a plan.
func inSections(ctx context.Context, n, sections int) string {
	return text.T(ctx, "%s in %s", text.N(ctx, "%d seat", "%d seats", n), text.N(ctx, "%d section", "%d sections", sections))
}

// dots are the seats of a category on a floor as one path of round points.
func dots(p *seats.Plan, category, floor int) string {
	var b strings.Builder
	for i := range p.Seats {
		if s := &p.Seats[i]; s.Category == category && p.Sections[s.Section].Floor == floor && !p.Sections[s.Section].Area {
			b.WriteString("M" + shop.Tenth(s.X) + " " + shop.Tenth(s.Y) + "h0")
		}
	}
	return b.String()
}

// planBox is the part of the plane that the picture of a floor shows.
func planBox(p *seats.Plan, floor int) string {
	sale := shop.Sale{Plan: p}
	if len(p.Floors) > 0 {
		sale.Filter.Floor = floor + 1
	}
	return sale.ViewBox()
}

// seatsIn counts the seats of a category.
func seatsIn(p *seats.Plan, category int) (n int) {
	for i := range p.Seats {
		if p.Seats[i].Category == category {
			n++
		}
	}
	return n
}

// EventPlanPage is the plan of an event.
type EventPlanPage struct {
	Frame
	Sale  shop.Sale
	Plans []organizers.Plan // of the team
	Key   string
	Wrong string // why the plan was not replaced
}
