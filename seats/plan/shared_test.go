package plan

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

const sharedPlan = `{"format": "usher-plan/1", "name": "Dinner", "categories": [{"key": "A", "name": "Dinner", "price": 100}, {"key": "B", "name": "Late", "price": 50}],
 "sections": [{"name": "Hall", "category": "A",
  "rows": [{"row": "Bench", "shared": {"most": 2}, "seats": [{"number": "1", "x": 0, "y": 0}, {"number": "2", "x": 20, "y": 0}, {"number": "3", "x": 40, "y": 0}]}],
  "tables": [{"table": "Table 1", "shared": {"least": 2, "most": 4, "noRest": true}, "center": [200, 200], "radius": 40, "count": 6}, {"table": "Table 2", "shared": {}, "center": [400, 200], "size": [80, 40], "count": 4}]}]}`

func TestShared_StaysWithItsRowThroughEveryDocumentAndTheEditor(t *testing.T) {
	t.Parallel()
	want := []seats.SharedRow{
		{Row: "Bench", Shared: seats.Shared{Least: 1, Most: 2}}, {Row: "Table 1", Shared: seats.Shared{Least: 2, Most: 4, NoRest: true}}, {Row: "Table 2", Shared: seats.Shared{Least: 1, Most: 4}},
	}
	o := opened(t, []byte(sharedPlan))
	if !reflect.DeepEqual(o.Plan.Shared, want) {
		t.Fatalf("shared are %v, want %v", o.Plan.Shared, want)
	}
	for _, document := range [][]byte{o.Document, editor(t, edit{Document: o.Document})[0].Document} {
		if again := opened(t, document); !bytes.Equal(again.Document, o.Document) || !reflect.DeepEqual(again.Plan, o.Plan) {
			t.Errorf("a complete document changes when it is opened again:\n%s\n%s", o.Document, again.Document)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, o.Plan); err != nil {
		t.Fatal(err)
	}
	if r, err := Read(&b); err != nil || !reflect.DeepEqual(r.Plan.Shared, want) {
		t.Errorf("written and read, shared are %v (%v), want %v", r.Plan.Shared, err, want)
	}
}

func TestShared_PartiesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	file := strings.NewReplacer(`{"most": 2}`, `{"least": 3, "most": 2}`, `{"least": 2, "most": 4, "noRest": true}`, `{"most": 7}`, `"shared": {}`, `"shared": {}, "whole": true`).Replace(sharedPlan)
	_, err := Read(strings.NewReader(file))
	for _, want := range []string{"a party has 3 to 2 seats of 3", "a party has 1 to 7 seats of 6", "sold whole or shared, not both"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, without %q", err, want)
		}
	}
	_, err = Read(strings.NewReader(strings.Replace(sharedPlan, `"number": "2", "x": 20, "y": 0`, `"number": "2", "x": 20, "y": 0, "category": "B"`, 1)))
	if err == nil || !strings.Contains(err.Error(), "one category") {
		t.Errorf("%v, want the reason", err)
	}
	p := opened(t, []byte(sharedPlan)).Plan
	for name, shared := range map[string]seats.SharedRow{
		"that is not there": {Row: "Z", Shared: seats.Shared{Least: 1, Most: 2}}, "of nobody": {Row: "Bench"}, "beyond the row": {Row: "Bench", Shared: seats.Shared{Least: 1, Most: 4}},
	} {
		if p.Shared = []seats.SharedRow{shared}; Check(p) == nil {
			t.Errorf("a row %s passes the check", name)
		}
	}
}

func TestShared_ARowInPiecesIsSharedAsOne(t *testing.T) {
	t.Parallel()
	piece := func(row, sold string, first, count int) string {
		var list []string
		for n := first; n < first+count; n++ {
			list = append(list, fmt.Sprintf(`{"number": "%d", "x": %d, "y": 0}`, n, 20*n))
		}
		return fmt.Sprintf(`{"row": %q, %s "seats": [%s]}`, row, sold, strings.Join(list, ", "))
	}
	file := func(pieces ...string) []byte {
		return []byte(`{"format": "usher-plan/1", "name": "Dinner", "categories": [{"key": "A", "name": "A", "price": 0}], "sections": [{"name": "Hall", "category": "A", "rows": [` + strings.Join(pieces, ", ") + `]}]}`)
	}
	const least, both, rest = `"shared": {"least": 2},`, `"shared": {"least": 2, "most": 3},`, `"shared": {"least": 2, "noRest": true},`
	for name, c := range map[string]struct {
		pieces []string
		want   *seats.Shared // nil: by the seat, and that is said
	}{
		"of different lengths":     {[]string{piece("A", least, 1, 3), piece("A", least, 4, 5)}, &seats.Shared{Least: 2, Most: 8}},
		"of equal lengths":         {[]string{piece("A", least, 1, 4), piece("A", least, 5, 4)}, &seats.Shared{Least: 2, Most: 8}},
		"one is a seat":            {[]string{piece("A", least, 1, 4), piece("A", least, 5, 1)}, &seats.Shared{Least: 2, Most: 5}},
		"of a largest party":       {[]string{piece("A", both, 1, 4), piece("A", both, 5, 2)}, &seats.Shared{Least: 2, Most: 3}},
		"shared in different ways": {[]string{piece("A", least, 1, 4), piece("A", rest, 5, 4)}, nil},
		"one is shared, the first": {[]string{piece("A", least, 1, 4), piece("A", "", 5, 4)}, nil},
		"one is shared, the last":  {[]string{piece("A", "", 1, 4), piece("A", least, 5, 4)}, nil},
		"one is whole":             {[]string{piece("A", "", 1, 4), piece("A", `"whole": true,`, 5, 4)}, nil},
		"one whole, one shared":    {[]string{piece("A", `"whole": true,`, 1, 4), piece("A", least, 5, 4)}, nil},
	} {
		o, err := Open(bytes.NewReader(file(c.pieces...)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		shared := o.Plan.SharedRows()[seats.WholeRow{Row: "A"}]
		said := slices.ContainsFunc(o.Repairs, func(r Repair) bool { return r.Kind == "sold-apart" && r.Where == "Hall" && r.Count == 1 })
		if !reflect.DeepEqual(shared, c.want) || said != (c.want == nil) || len(o.Plan.Whole) > 0 {
			t.Errorf("%s: %+v, and the repairs are %v", name, shared, o.Repairs)
		}
		if again := opened(t, o.Document); !reflect.DeepEqual(again.Plan, o.Plan) || len(again.Repairs) > 0 {
			t.Errorf("%s: opened again it is another plan: %v", name, again.Repairs)
		}
	}
	_, err := Open(bytes.NewReader(file(piece("A", `"shared": {"most": 9},`, 1, 4), piece("A", `"shared": {"most": 9},`, 5, 4), piece("B", `"shared": {"least": 3},`, 1, 2))))
	for _, want := range []string{"a party has 1 to 9 seats of 8", "a party has 3 to 2 seats of 2", "rows[2].shared"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, without %q", err, want)
		}
	}
}
