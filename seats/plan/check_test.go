package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

// sound is a plan without fault: two rows, and an area of two places.
func sound() *seats.Plan {
	square := []seats.Point{{X: 0, Y: 0}, {X: 90, Y: 0}, {X: 90, Y: 90}}
	return &seats.Plan{
		Name: "Sound", Width: 100, Height: 100, Focus: &seats.Point{X: 50, Y: 0},
		Categories: []seats.Category{{Key: "A", Name: "Seat", Color: "#102030", Price: 5}, {Key: "B", Name: "Standing"}},
		Sections: []seats.Section{
			{Name: "Rows", First: 0, Count: 4, Outline: square},
			{Name: "Area", Area: true, First: 4, Count: 2, Outline: square},
		},
		Seats: []seats.Seat{
			{ID: "1", Row: "A", Number: "1"},
			{ID: "2", Row: "A", Number: "2"},
			{ID: "3", Row: "B", Number: "1"},
			{ID: "4", Row: "B", Number: "2"},
			{ID: "5", Section: 1, Category: 1, Number: "1"},
			{ID: "6", Section: 1, Category: 1, Number: "2"},
		},
		Shapes: []seats.Shape{
			{Kind: "polygon", Role: "stage", Points: square},
			{Kind: "ellipse", Role: "other", RX: 1, RY: 1},
			{Kind: "text", Role: "label", Text: "Stage", Size: 9},
		},
	}
}

func TestASoundPlanPasses(t *testing.T) {
	t.Parallel()
	if err := Check(sound()); err != nil {
		t.Error(err)
	}
	if Check(nil) == nil {
		t.Error("no plan passed")
	}
}

func TestEveryPlantedFaultIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant func(p *seats.Plan)
		says  string
	}{
		"no name":                   {func(p *seats.Plan) { p.Name = "" }, "no name"},
		"endless width":             {func(p *seats.Plan) { p.Width = math.Inf(1) }, "drawing"},
		"no height":                 {func(p *seats.Plan) { p.Height = 0 }, "drawing"},
		"a width of nothing":        {func(p *seats.Plan) { p.Width = math.NaN() }, "drawing"},
		"focus nowhere":             {func(p *seats.Plan) { p.Focus.X = math.NaN() }, "focus"},
		"too many seats":            {func(p *seats.Plan) { p.Seats = make([]seats.Seat, seats.MaxSeats+1) }, "100001 seats"},
		"no categories":             {func(p *seats.Plan) { p.Categories = nil }, "0 categories"},
		"a category without key":    {func(p *seats.Plan) { p.Categories[0].Key = "" }, "no name"},
		"a category key twice":      {func(p *seats.Plan) { p.Categories[1].Key = "A" }, "two categories"},
		"a negative price":          {func(p *seats.Plan) { p.Categories[0].Price = -1 }, "price"},
		"a color of no kind":        {func(p *seats.Plan) { p.Categories[0].Color = "red;}" }, "color"},
		"a section without name":    {func(p *seats.Plan) { p.Sections[0].Name = " " }, "no name"},
		"a section name twice":      {func(p *seats.Plan) { p.Sections[1].Name = "Rows" }, "two sections"},
		"a slash in a section":      {func(p *seats.Plan) { p.Sections[0].Name = "A/B" }, "slash"},
		"a control character":       {func(p *seats.Plan) { p.Sections[0].Name = "A\x00B" }, "control"},
		"no UTF-8":                  {func(p *seats.Plan) { p.Sections[0].Name = "A\xff" }, "UTF-8"},
		"a name like a book":        {func(p *seats.Plan) { p.Sections[0].Name = strings.Repeat("x", 101) }, "101 characters"},
		"an empty section":          {func(p *seats.Plan) { p.Sections[1].Count = 0 }, "no seats"},
		"a gap between sections":    {func(p *seats.Plan) { p.Sections[1].First = 5 }, "begins at"},
		"sections that overlap":     {func(p *seats.Plan) { p.Sections[1].First = 3 }, "begins at"},
		"a section past the end":    {func(p *seats.Plan) { p.Sections[1].Count = 3 }, "after the last"},
		"a section of 2⁶³":          {func(p *seats.Plan) { p.Sections[1].Count = math.MaxInt }, "after the last"},
		"seats of no section":       {func(p *seats.Plan) { p.Sections[1].Count = 1 }, "hold 5 seats"},
		"no outline":                {func(p *seats.Plan) { p.Sections[0].Outline = nil }, "outline"},
		"an outline without end":    {func(p *seats.Plan) { p.Sections[0].Outline[1].X = math.Inf(-1) }, "outline"},
		"a seat of another section": {func(p *seats.Plan) { p.Seats[0].Section = 1 }, "says section"},
		"a seat of no category":     {func(p *seats.Plan) { p.Seats[0].Category = 2 }, "category 2"},
		"a seat of category -1":     {func(p *seats.Plan) { p.Seats[0].Category = -1 }, "category -1"},
		"a seat nowhere":            {func(p *seats.Plan) { p.Seats[0].X = math.NaN() }, "outside"},
		"a seat outside":            {func(p *seats.Plan) { p.Seats[0].Y = 101 }, "outside"},
		"a seat without id":         {func(p *seats.Plan) { p.Seats[0].ID = "" }, "no id"},
		"an id twice":               {func(p *seats.Plan) { p.Seats[5].ID = "1" }, "two seats have the id"},
		"an id with a zero byte":    {func(p *seats.Plan) { p.Seats[0].ID = "\x00" }, "control"},
		"a seat without number":     {func(p *seats.Plan) { p.Seats[0].Number = "" }, "no name"},
		"a slash in a number":       {func(p *seats.Plan) { p.Seats[0].Number = "1/2" }, "slash"},
		"a seat without row":        {func(p *seats.Plan) { p.Seats[0].Row = "" }, "no name"},
		"a place with a row":        {func(p *seats.Plan) { p.Seats[4].Row = "A" }, "has a row"},
		"a label twice":             {func(p *seats.Plan) { p.Seats[1].Number = "1" }, "two seats are called Rows/A/1"},
		"a place twice":             {func(p *seats.Plan) { p.Seats[5].Number = "1" }, "two seats are called Area/1"},
		"a row in two pieces":       {func(p *seats.Plan) { p.Seats[3].Row, p.Seats[3].Number = "A", "3" }, "follow each other"},
		"a flag without meaning":    {func(p *seats.Plan) { p.Seats[0].Flags = 64 }, "flags"},
		"a shape of no kind":        {func(p *seats.Plan) { p.Shapes[0].Kind = "worm" }, "no kind"},
		"a shape of no role":        {func(p *seats.Plan) { p.Shapes[0].Role = "king" }, "no role"},
		"a polygon of two points":   {func(p *seats.Plan) { p.Shapes[0].Points = p.Shapes[0].Points[:2] }, "more points"},
		"a shape without end":       {func(p *seats.Plan) { p.Shapes[1].RX = math.Inf(1) }, "no place or size"},
		"a flat ellipse":            {func(p *seats.Plan) { p.Shapes[1].RY = 0 }, "two radii"},
		"a text without words":      {func(p *seats.Plan) { p.Shapes[2].Text = "" }, "words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sound()
			c.plant(p)
			if err := Check(p); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Check says %v", err)
			}
		})
	}
}

func TestABrokenPlanIsNotWritten(t *testing.T) {
	t.Parallel()
	p := sound()
	p.Seats[0].ID = ""
	var file strings.Builder
	if err := Write(&file, p); err == nil || file.Len() > 0 {
		t.Errorf("%d bytes, %v", file.Len(), err)
	}
}
