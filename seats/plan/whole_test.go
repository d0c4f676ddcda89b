package plan

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

const wholePlan = `{"format": "usher-plan/1", "name": "Dinner", "categories": [{"key": "A", "name": "Dinner", "price": 100}, {"key": "B", "name": "Late", "price": 50}],
 "sections": [{"name": "Hall", "category": "A",
  "rows": [{"row": "Box", "whole": true, "seats": [{"number": "1", "x": 0, "y": 0}, {"number": "2", "x": 20, "y": 0}]}, {"row": "A", "seats": [{"number": "1", "x": 0, "y": 60}]}],
  "tables": [{"table": "Table 1", "whole": true, "center": [200, 200], "radius": 40, "count": 6}, {"table": "Table 2", "center": [400, 200], "size": [80, 40], "count": 4}]}]}`

func TestWhole_StaysWithItsRowThroughEveryDocument(t *testing.T) {
	t.Parallel()
	want := []seats.WholeRow{{Section: 0, Row: "Box"}, {Section: 0, Row: "Table 1"}}
	o := opened(t, []byte(wholePlan))
	if !reflect.DeepEqual(o.Plan.Whole, want) {
		t.Fatalf("sold whole are %v, want %v", o.Plan.Whole, want)
	}
	if again := opened(t, o.Document); !bytes.Equal(again.Document, o.Document) || !reflect.DeepEqual(again.Plan, o.Plan) {
		t.Errorf("a complete document changes when it is opened again:\n%s\n%s", o.Document, again.Document)
	}
	var b bytes.Buffer
	if err := Write(&b, o.Plan); err != nil {
		t.Fatal(err)
	}
	r, err := Read(&b)
	if err != nil || !reflect.DeepEqual(r.Plan.Whole, want) {
		t.Errorf("written and read, sold whole are %v (%v), want %v", r.Plan.Whole, err, want)
	}
}

func TestWhole_RowOfSeveralCategoriesIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Read(strings.NewReader(strings.Replace(wholePlan, `{"number": "2", "x": 20, "y": 0}`, `{"number": "2", "x": 20, "y": 0, "category": "B"}`, 1)))
	if err == nil || !strings.Contains(err.Error(), "one category") || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%v, want the line of the row and the reason", err)
	}
	p := opened(t, []byte(wholePlan)).Plan
	for name, whole := range map[string][]seats.WholeRow{
		"of one seat": {{Row: "A"}}, "that is not there": {{Row: "Z"}}, "of no section": {{Section: 7, Row: "Box"}}, "named twice": {{Row: "Box"}, {Row: "Box"}},
	} {
		if p.Whole = whole; Check(p) == nil {
			t.Errorf("a row %s passes the check", name)
		}
	}
}

func TestSeatsio_TableBookedAsAWholeIsSoldWhole(t *testing.T) {
	t.Parallel()
	data := everyFile(t)["seatsio-tables.json"]
	r, err := Read(bytes.NewReader(bytes.Replace(data, []byte(`"bookAsAWhole": false`), []byte(`"bookAsAWhole": true`), 1)))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Plan.Whole) != 1 || r.Plan.Whole[0].Row != "T1" {
		t.Errorf("sold whole are %v, want table T1", r.Plan.Whole)
	}
}

func TestImport_SaysAllThatIsWrongInPlansOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		says []string
	}{
		"pretix": {
			`{"name": "Hall", "categories": [{"name": "A"}, {"name": "A"}], "zones": [
{"name": "Stalls", "rows": [{"row_number": "1", "seats": [
 {"seat_number": "1", "category": "Z", "position": {"x": 1, "y": 1}},
 {"seat_number": "2", "category": "A"}]}]},
{"name": "Balcony", "rows": [{"row_number": "1", "seats": [{"seat_number": "1", "category": "Y", "position": {"x": 1, "y": 1}}]}]}]}`,
			[]string{"two categories are called", `category "Z"`, "no position", `category "Y"`},
		},
		"seats.io": {
			`{"name": "Hall", "categories": {"list": [{"key": 1, "label": "A"}, {"key": 1, "label": "B"}]}, "subChart": {
 "rows": [{"label": "A", "seats": [{"label": "1", "categoryKey": 9, "x": 1, "y": 1},
  {"label": "2", "categoryKey": 1}]}],
 "tables": [{"label": "T", "categoryKey": 8, "seats": []}],
 "generalAdmissionAreas": [{"label": "GA", "categoryKey": 1}],
 "sections": [{"label": "S", "subChart": {"rows": [{"label": "B", "seats": [{"label": "1", "x": 1, "y": 1}]}]}}]}}`,
			[]string{"belongs to another category", `category "9"`, "no position", `category "8"`, "capacity", "has no category"},
		},
	} {
		_, err := Read(strings.NewReader(c.file))
		var told *Error
		if !errors.As(err, &told) {
			t.Fatalf("%s: %v, want an *Error", name, err)
		}
		said := told.In(t.Context())
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q does not say %q", name, said, want)
			}
		}
		if len(told.Others) != len(c.says)-1 {
			t.Errorf("%s: %d faults are said, want %d: %s", name, len(told.Others)+1, len(c.says), said)
		}
	}
}

func TestPretix_BackgroundOfAZoneIsTheOutlineOfItsSection(t *testing.T) {
	t.Parallel()
	file := func(areas string) string {
		return `{"name": "Hall", "categories": [{"name": "A"}], "zones": [{"name": "Stalls", "position": {"x": 100, "y": 50}, "areas": [` + areas + `], "rows": [{"row_number": "1", "seats": [
 {"seat_number": "1", "category": "A", "position": {"x": 10, "y": 10}}, {"seat_number": "2", "category": "A", "position": {"x": 30, "y": 10}}]}]}]}`
	}
	const ground = `{"shape": "rectangle", "color": "#eeeeee", "position": {"x": -40, "y": -30}, "rectangle": {"width": 120, "height": 90}}`
	const aside = `{"shape": "polygon", "position": {"x": 20, "y": 0}, "polygon": {"points": [{"x": 0, "y": 0}, {"x": 90, "y": 0}, {"x": 90, "y": 50}]}}`
	r, err := Read(strings.NewReader(file(aside + "," + ground)))
	if err != nil {
		t.Fatal(err)
	}
	p := r.Plan
	low, high := p.Sections[0].Outline[0], p.Sections[0].Outline[2]
	if got := high.X - low.X; got != 120 || high.Y-low.Y != 90 || p.Seats[0].X-low.X != 50 {
		t.Errorf("the outline is %v, want the rectangle behind the seats", p.Sections[0].Outline)
	}
	if len(p.Shapes) != 1 || len(p.Shapes[0].Points) != 3 {
		t.Errorf("drawn are %v, want the area that is no background", p.Shapes)
	}
	said := ""
	for _, w := range r.Warnings {
		said += w.In(t.Context()) + "\n"
	}
	if !strings.Contains(said, "Colours of areas were left out: 1.") {
		t.Errorf("the colour is left out without a word: %s", said)
	}
	if r, err = Read(strings.NewReader(file(aside))); err != nil || len(r.Plan.Shapes) != 1 {
		t.Errorf("%v, drawn are %v, want the area that is no background", err, r.Plan.Shapes)
	}
}
