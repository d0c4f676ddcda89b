package plan

import (
	"math"
	"strconv"
)

// The house stands around one point behind the stage: every row is an arc about it, every aisle points at it.
var house = pair{0, 0}

const (
	stallsRadius = 420.0 // of row A
	wheelRadius  = 420 + 15*26
	circleRadius = 920.0
)

// theatre is a house of about 1,000 seats: curved stalls in three blocks, boxes at the walls, a circle above.
func theatre() *document {
	return &document{
		Format: FormatOwn,
		Name:   "Theatre",
		Focus:  &pair{0, 300},
		Categories: []documentCategory{
			{"A", "Stalls, front", "#7a1f3d", 9500},
			{"B", "Stalls, middle; boxes", "#b8562f", 7500},
			{"C", "Stalls, rear; circle, front", "#2f6f73", 5500},
			{"D", "Circle, rear; restricted view", "#46618f", 3500},
			{"W", "Wheelchair place and companion", "#6b6f1d", 3500},
		},
		Sections: []documentSection{stalls(), boxes("Boxes left", -1), boxes("Boxes right", 1), circle()},
		Shapes:   theatreShapes(),
	}
}

// lettered are row letters from the stage, without I and O, which look like numbers.
func lettered(n int) []string {
	return []string{"A", "B", "C", "D", "E", "F", "G", "H", "J", "K", "L", "M", "N", "P", "Q", "R", "S", "T"}[:n]
}

// repeated is each category so many rows long.
func repeated(category string, rows int) []string {
	list := make([]string, rows)
	for i := range list {
		list[i] = category
	}
	return list
}

func stalls() documentSection {
	rows := lettered(16)
	categories := append(append(repeated("A", 5), repeated("B", 6)...), "C")
	return documentSection{Name: "Stalls", Generate: []generator{
		{
			Rows: rows[:15], Center: &house, Radius: stallsRadius, RowSpacing: 26, Angle: 90, Categories: categories,
			Blocks: []pair{{-37, -17}, {-14, 14}, {17, 37}},
			Marks:  []marking{{Rows: rows[:4], Ends: 2, Flags: []string{"restricted-view"}}},
		},
		{ // wheelchairs need room to turn: wide places, level with the doors, each with a seat beside it
			Rows: rows[15:], Center: &house, Radius: wheelRadius + 12, Angle: 90, Spacing: 34, Categories: []string{"W"},
			Blocks: []pair{{-36, -22}, {22, 36}},
			Marks: []marking{
				{Numbers: []string{"1", "3", "5", "8", "10", "12"}, Flags: []string{"accessible"}},
				{Numbers: []string{"2", "4", "6", "7", "9", "11"}, Flags: []string{"companion"}},
			},
		},
	}}
}

func circle() documentSection {
	rows := lettered(6)
	return documentSection{Name: "Circle", Generate: []generator{{
		Rows: rows, Center: &house, Radius: circleRadius, RowSpacing: 26, Angle: 90, Categories: append(repeated("C", 3), "D"),
		Blocks: []pair{{-38, -21}, {-19.3, -0.9}, {0.9, 19.3}, {21, 38}},
		Marks:  []marking{{Ends: 3, Flags: []string{"restricted-view"}}},
	}}}
}

// boxes are five boxes of four seats along one wall, the first at the stage. side is -1 for the left, 1 for the right.
func boxes(name string, side float64) documentSection {
	sec := documentSection{Name: name}
	for box := range 5 {
		at, along := boxSpot(box, side)
		g := generator{
			Rows: []string{strconv.Itoa(box + 1)}, Origin: &at, Angle: along + 90*side, Spacing: 18,
			Blocks: []pair{{-27, 27}}, Categories: []string{"B"},
		}
		if box == 0 {
			g.Categories = []string{"D"}
			g.Marks = []marking{{Ends: 4, Flags: []string{"restricted-view"}}}
		}
		sec.Generate = append(sec.Generate, g)
	}
	return sec
}

// boxSpot is the middle of a box, and the direction of the wall away from the stage, in degrees.
func boxSpot(box int, side float64) (pair, float64) {
	const beside = 44.5 // degrees from the middle of the house
	along := 90 - side*beside
	sin, cos := math.Sincos(along * math.Pi / 180)
	far := stallsRadius + 30 + 84*float64(box)
	return pair{far * cos, far * sin}, along
}

func theatreShapes() []documentShape {
	stage := documentShape{Kind: "polygon", Role: "stage", Points: []pair{{-300, 120}, {300, 120}}}
	for i := range 27 { // the edge of the stage follows the first row
		sin, cos := math.Sincos((float64(i)*4 + 38) * math.Pi / 180)
		stage.Points = append(stage.Points, pair{370 * cos, 370 * sin})
	}
	shapes := []documentShape{stage, {Kind: "text", Role: "label", Text: "Stage", Center: &pair{0, 260}, Size: 40}}
	for _, side := range []float64{-1, 1} {
		for box := range 5 {
			shapes = append(shapes, boxWall(box, side))
		}
	}
	return append(shapes,
		rail(circleRadius-26, 40),
		documentShape{Kind: "text", Role: "label", Text: "Circle", Center: &pair{0, circleRadius - 48}, Size: 24},
	)
}

// boxWall is the low wall around a box, open to the house.
func boxWall(box int, side float64) documentShape {
	at, along := boxSpot(box, side)
	sin, cos := math.Sincos(along * math.Pi / 180)
	corner := func(down, out float64) pair {
		return pair{at[0] + down*cos + side*out*sin, at[1] + down*sin - side*out*cos}
	}
	return documentShape{Kind: "line", Role: "wall", Points: []pair{corner(-39, -14), corner(-39, 16), corner(39, 16), corner(39, -14)}}
}

// rail is the front of a balcony.
func rail(radius, half float64) documentShape {
	line := documentShape{Kind: "line", Role: "wall"}
	for i := range 33 {
		sin, cos := math.Sincos((90 - half + 2*half*float64(i)/32) * math.Pi / 180)
		line.Points = append(line.Points, pair{radius * cos, radius * sin})
	}
	return line
}
