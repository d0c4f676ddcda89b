package plan

import (
	"math"
	"strconv"
)

const stadiumSeats = 50_000

// The bowl is a rectangle with round corners: half its sides at the first row, and the radius of the corners.
const (
	bowlX      = 2500.0
	bowlY      = 1760.0
	bowlCorner = 620.0
	bowlAisle  = 34.0 // between sections, in units
	bowlRow    = 30.0 // between rows
)

// tier is a ring of sections around the pitch.
type tier struct {
	hundred      int     // its sections are hundred+1…
	depth        float64 // of its first row behind that of the bowl
	rows         int
	long, short  int // sections at a long and at a short side
	corner       int // and in each corner
	price, worse string
}

// stadium is a bowl of exactly 50,000 seats in three tiers around a football pitch.
func stadium() *document {
	tiers := []tier{
		{hundred: 100, depth: 0, rows: 22, long: 8, short: 5, corner: 3, price: "A", worse: "B"},
		{hundred: 200, depth: 22*bowlRow + 110, rows: 18, long: 9, short: 6, corner: 4, price: "B", worse: "C"},
		{hundred: 300, depth: 40*bowlRow + 220, rows: 10, long: 9, short: 6, corner: 5, price: "D", worse: "E"},
	}
	doc := &document{
		Format: FormatOwn,
		Name:   "Stadium",
		Focus:  &pair{0, 0},
		Categories: []documentCategory{
			{"A", "Lower tier, along the pitch", "#7a1f3d", 12000},
			{"B", "Lower tier, ends; middle tier, along", "#b8562f", 9000},
			{"C", "Middle tier, ends and corners", "#8a7a1f", 6500},
			{"D", "Upper tier, along the pitch", "#2f6f73", 4500},
			{"E", "Upper tier, ends and corners", "#46618f", 3000},
		},
		Shapes: field(),
	}
	for i := range tiers {
		doc.Sections = append(doc.Sections, tiers[i].sections()...)
	}
	trim(doc)
	return doc
}

// sections goes around the bowl clockwise, from the left end of the upper long side.
func (t *tier) sections() []documentSection {
	var list []documentSection
	add := func(g generator, category string) {
		g.Rows, g.RowSpacing, g.Categories = numbered(t.rows), bowlRow, []string{category}
		list = append(list, documentSection{Name: strconv.Itoa(t.hundred + len(list) + 1), Generate: []generator{g}})
	}
	for side := range 4 {
		half, reach, count, category := bowlX-bowlCorner, bowlY, t.long, t.price
		if side%2 == 1 {
			half, reach, count, category = bowlY-bowlCorner, bowlX, t.short, t.worse
		}
		away := float64(side)*90 - 90 // up, right, down, left
		width := 2 * half / float64(count)
		for i := range count {
			g := straight(away, reach+t.depth, -half+width*(float64(i)+0.5), width-bowlAisle)
			if t.hundred == 100 {
				g.Marks = wheelchairs(t.rows)
			}
			add(g, category)
		}
		for i := range t.corner {
			add(t.bend(side, i), t.worse)
		}
	}
	return list
}

// straight is a block of rows on one side of the bowl; across is how far clockwise of the side's middle it stands.
func straight(away, reach, across, width float64) generator {
	sin, cos := math.Sincos(away * math.Pi / 180)
	return generator{
		Origin: &pair{tenth(reach*cos - across*sin), tenth(reach*sin + across*cos)}, Angle: away,
		Blocks: []pair{{-width / 2, width / 2}},
	}
}

// bend is a block of rows in the corner that follows a side.
func (t *tier) bend(side, i int) generator {
	x, y := bowlX-bowlCorner, bowlY-bowlCorner
	center := [4]pair{{x, -y}, {x, y}, {-x, y}, {-x, -y}}[side]
	radius := bowlCorner + t.depth
	share := 90 / float64(t.corner)
	free := share/2 - bowlAisle/2/radius*180/math.Pi
	return generator{Center: &center, Radius: radius, Angle: float64(side)*90 - 90 + share*(float64(i)+0.5), Blocks: []pair{{-free, free}}}
}

// wheelchairs stand behind the last row of the lower tier, level with the way around, each with a companion.
func wheelchairs(rows int) []marking {
	last := []string{strconv.Itoa(rows)}
	return []marking{
		{Rows: last, Numbers: []string{"1", "4"}, Flags: []string{"accessible"}},
		{Rows: last, Numbers: []string{"2", "3"}, Flags: []string{"companion"}},
	}
}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return names
}

// trim takes seats off the last rows of the upper tier, a few in each section, until 50,000 are left: stairs are there.
func trim(doc *document) {
	total := 0
	sizes := make([]int, len(doc.Sections))
	for i := range doc.Sections {
		g := doc.Sections[i].Generate[0]
		if err := g.complete(nil); err != nil {
			continue
		}
		for row := range g.Rows {
			n, _ := g.line(row, g.Blocks[0])
			sizes[i] += n
		}
		total += sizes[i]
	}
	var upper []int
	for i, s := range doc.Sections {
		if s.Name[0] == '3' {
			upper = append(upper, i)
		}
	}
	for k, i := range upper {
		share := (total - stadiumSeats) * (k + 1) / len(upper)
		share -= (total - stadiumSeats) * k / len(upper)
		doc.Sections[i].Generate[0].Limit = sizes[i] - share
	}
}

// field is the pitch and its lines.
func field() []documentShape {
	const x, y = 2100.0, 1360.0
	box := func(fx, fy float64) []pair { return []pair{{-fx, -fy}, {fx, -fy}, {fx, fy}, {-fx, fy}} }
	end := func(side, deep, half float64) documentShape {
		return documentShape{Kind: "line", Role: "other", Points: []pair{{side * x, -half}, {side * (x - deep), -half}, {side * (x - deep), half}, {side * x, half}}}
	}
	return []documentShape{
		{Kind: "polygon", Role: "stage", Points: box(x+120, y+120)},
		{Kind: "polygon", Role: "other", Points: box(x, y)},
		{Kind: "line", Role: "other", Points: []pair{{0, -y}, {0, y}}},
		{Kind: "ellipse", Role: "other", Center: &pair{0, 0}, RX: 366, RY: 366},
		end(-1, 660, 806), end(1, 660, 806), end(-1, 220, 366), end(1, 220, 366),
		{Kind: "text", Role: "label", Text: "Pitch", Center: &pair{-1050, 0}, Size: 200},
	}
}
