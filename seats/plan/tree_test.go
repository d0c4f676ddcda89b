package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

const nestedJSON = `{"venue": {"title": "House"}, "sections": [
 {"name": "Stalls", "rows": [{"label": "A", "seats": [{"no": 1, "pos": {"x": 0, "y": 0}, "price": "Front"}, {"no": 2, "pos": {"x": 20, "y": 0}, "price": "Front"}]}]},
 {"name": "Circle", "rows": [{"label": "B", "seats": [{"no": 1, "pos": {"x": 0, "y": 90}, "price": "Back"}]}]}
]}`

func TestRecords_JSONOfAnotherProgramIsATableToo(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"nested": nestedJSON,
		"a list": `[{"section": "Stalls", "row": "A", "seat": "1", "x": 0, "y": 0, "category": "Front"}, {"section": "Stalls", "row": "A", "seat": "2", "x": 20, "y": 0, "category": "Front"},
			{"section": "Circle", "row": "B", "seat": "1", "x": 0, "y": 90, "category": "Back"}]`,
		"a CSV": "section,row,seat,x,y,category\nStalls,A,1,0,0,Front\nStalls,A,2,20,0,Front\nCircle,B,1,0,90,Back\n",
	} {
		if !IsRecords([]byte(file)) {
			t.Errorf("%s: it is said to be of a format that is known", name)
		}
		r, err := Take([]byte(file), "House", nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p := r.Plan
		var labels []string
		for i := range p.Seats {
			labels = append(labels, p.Label(i)+" "+p.Categories[p.Seats[i].Category].Name)
		}
		if got, want := strings.Join(labels, ", "), "Stalls/A/1 Front, Stalls/A/2 Front, Circle/B/1 Back"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if p.Seats[2].Y-p.Seats[0].Y != 90 || p.Seats[1].X-p.Seats[0].X != 20 {
			t.Errorf("%s: the seats are at %+v", name, p.Seats)
		}
	}
	if r, err := Take([]byte(nestedJSON), "House", map[string]string{"row": "", "section": "sections.rows.label"}); err != nil || r.Plan.Sections[1].Name != "B" {
		t.Errorf("with columns that are said: %v", err)
	}
	for columns, want := range map[string]string{"row=Nowhere": "no column", "colour=x": "a column is no"} {
		what, column, _ := strings.Cut(columns, "=")
		if _, err := Take([]byte(nestedJSON), "House", map[string]string{what: column}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", columns, err)
		}
	}
	for _, file := range []string{"{}", "[]", `{"a": [1, 2]}`, `{"a": 1}`, `[[]]`, `{"zones": []}`, `{"format": "usher-plan/9"}`, `{"format": "usher-plan/1", "name": "x"}`} {
		if r, err := Take([]byte(file), "x", nil); err == nil {
			t.Errorf("%s became the plan %+v", file, r.Plan)
		}
	}
}

func TestErrors_AreSaidAllAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Take([]byte("row,seat,x,y\nA,1,0,0\nA,2,left,0\nA,3,40,0\nA,4,60,down\n"), "House", nil)
	var told *Error
	if !errors.As(err, &told) || told.Line != 3 || len(told.Others) != 1 || told.Others[0].Line != 5 || told.More != 0 {
		t.Errorf("a table: %v", err)
	}
	if said := told.In(t.Context()); !strings.Contains(said, "line 3: ") || !strings.Contains(said, "; line 5: ") {
		t.Error(said)
	}
	table := "row,seat,x,y\n" + strings.Repeat("A,1,?,0\n", mostFaults+30)
	if _, err = Take([]byte(table), "House", nil); !errors.As(err, &told) || len(told.Others) != mostFaults-1 || told.More != 30 || !strings.Contains(told.Error(), "and 30 more") {
		t.Errorf("many: %v", err)
	}
	_, err = Read(strings.NewReader(`{"format": "usher-plan/1", "name": "House", "categories": [{"key": "A", "name": "A", "price": 0}],
 "sections": [{"name": "S", "category": "A", "rows": [{"row": "1", "seats": [
  {"number": "1", "x": 0, "y": 0, "category": "B"},
  {"number": "2", "x": 20, "y": 0, "flags": ["wheels"]}]}]},
  {"name": "T", "category": "A", "area": {"capacity": 0}}],
 "shapes": [
  {"kind": "blob", "role": "stage"}]}`))
	if !errors.As(err, &told) || len(told.Others) != 3 || told.Line != 3 || told.Others[0].Line != 4 || told.Others[1].Line != 5 || told.Others[2].Line != 7 {
		t.Errorf("a document: %v", err)
	}
}

// What is above a leaf is copied to it, so that a small file may be large in memory, or take hours.
func TestRecords_JSONThatMultipliesIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	var keys, deep strings.Builder
	for n := range 20_000 {
		fmt.Fprintf(&keys, `"k%d": 1, `, n)
	}
	for n := range 4_000 {
		fmt.Fprintf(&deep, `{"a%d": 1, "b%d": 2, "l": [`, n, n)
	}
	for name, file := range map[string]string{
		"wide": `{` + keys.String() + `"seats": [` + strings.Repeat(`{"x": 1}, `, 100_000) + `{"x": 1}]}`,
		"deep": deep.String() + `{"x": 1}` + strings.Repeat(`]}`, 4_000),
		"flat": `{"seats": [{` + strings.Repeat(`"a": 1, `, mostCells+1) + `"x": 1}]}`,
	} {
		began := time.Now()
		if _, err := surveyJSON([]byte(file)); !errors.Is(err, errTable) {
			t.Errorf("%s: %v, want %v", name, err, errTable)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}
