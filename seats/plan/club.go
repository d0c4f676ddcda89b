package plan

import (
	"math"
	"strconv"
)

// club is a room for concerts: people stand before the stage, sit at tables behind, or on stools at the rail.
func club() *document {
	floor := documentSection{Name: "Floor", Category: "A", Area: &documentArea{Capacity: 300}}
	floor.Outline = []pair{{130, 200}, {770, 200}, {770, 430}, {700, 520}, {200, 520}, {130, 430}}
	return &document{
		Format: FormatOwn,
		Name:   "Club",
		Focus:  &pair{450, 150},
		Categories: []documentCategory{
			{"A", "Standing", "#3d3f8f", 2800},
			{"B", "Table", "#a6452e", 4800},
			{"C", "Gallery stool", "#2f7366", 3600},
		},
		Sections: []documentSection{floor, clubTables(), gallery("Gallery left", 60, 0), gallery("Gallery right", 840, 180)},
		Shapes: []documentShape{
			{Kind: "polygon", Role: "stage", Points: []pair{{240, 40}, {660, 40}, {640, 160}, {260, 160}}},
			{Kind: "text", Role: "label", Text: "Stage", Center: &pair{450, 100}, Size: 34},
			{Kind: "polygon", Role: "other", Points: []pair{{240, 890}, {660, 890}, {660, 940}, {240, 940}}},
			{Kind: "text", Role: "label", Text: "Bar", Center: &pair{450, 915}, Size: 26},
			{Kind: "line", Role: "wall", Points: []pair{{20, 20}, {20, 960}, {380, 960}}},
			{Kind: "line", Role: "wall", Points: []pair{{520, 960}, {880, 960}, {880, 20}}},
			{Kind: "line", Role: "wall", Points: []pair{{20, 20}, {880, 20}}},
			{Kind: "text", Role: "label", Text: "Entrance", Center: &pair{450, 962}, Size: 16},
		},
	}
}

// clubTables are three lines of tables on a slight arc, four places each; the last line has two for wheelchairs.
func clubTables() documentSection {
	sec := documentSection{Name: "Tables", Category: "B"}
	for line := range 3 {
		tables := 6 - line%2
		for i := range tables {
			x := 450 + (float64(i)-float64(tables-1)/2)*112
			y := 610 + float64(line)*98 - math.Pow((x-450)/280, 2)*22
			t := documentTable{Table: "T" + strconv.Itoa(len(sec.Tables)+1), Center: &pair{tenth(x), tenth(y)}, Radius: 22, Count: 4}
			if line == 2 && (i == 0 || i == tables-1) {
				t.Seats = wheelchairTable(&t)
			}
			sec.Tables = append(sec.Tables, t)
		}
	}
	return sec
}

// wheelchairTable is a table at which the first two places are a wheelchair place and its companion's.
func wheelchairTable(t *documentTable) []documentSeat {
	list, err := t.generate(nil)
	if err != nil {
		return nil
	}
	list[0].Flags, list[1].Flags = []string{"accessible"}, []string{"companion"}
	return list
}

// gallery is a line of stools at the rail of a wall, looking across the floor.
func gallery(name string, x, away float64) documentSection {
	return documentSection{Name: name, Category: "C", Generate: []generator{{
		Rows: []string{"R"}, Origin: &pair{x, 380}, Angle: 180 - away, Spacing: 24, Blocks: []pair{{-170, 170}},
		Marks: []marking{{Ends: 2, Flags: []string{"restricted-view"}}},
	}}}
}
