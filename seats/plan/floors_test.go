package plan

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// twoFloors is a house with floors drawn over each other, as one is traced above the other.
const twoFloors = `{"format": "usher-plan/1", "name": "House", "width": 400, "height": 300,
 "categories": [{"key": "A", "name": "Seat", "price": 0}],
 "floors": [{"name": "Stalls"}, {"name": "Balcony"}],
 "sections": [
  {"name": "Front", "floor": "Stalls", "category": "A", "outline": [[60, 80], [340, 80], [340, 260], [60, 260]], "rows": [{"row": "A", "seats": [{"number": "1", "x": 100, "y": 100}, {"number": "2", "x": 120, "y": 100}]}]},
  {"name": "Above", "floor": "Balcony", "category": "A", "generate": [{"rows": ["A"], "origin": [200, 120], "angle": 90, "blocks": [[-40, 40]]}]},
  {"name": "Boxes", "floor": "Balcony", "category": "A", "tables": [{"table": "T", "center": [200, 200], "radius": 20, "count": 4}]}
 ],
 "shapes": [{"kind": "polygon", "role": "stage", "points": [[100, 40], [300, 40], [300, 70], [100, 70]]}],
 "underlays": [{"picture": "0123456789abcdef0123456789abcdef", "floor": "Balcony", "x": 10, "y": 20, "width": 380, "opacity": 0.5}]}`

func TestFloors_AreMovedApartAndKeepTheirOrigin(t *testing.T) {
	t.Parallel()
	o := opened(t, []byte(twoFloors))
	p := o.Plan
	if len(p.Floors) != 2 || p.Sections[0].Floor != 0 || p.Sections[1].Floor != 1 || p.Sections[2].Floor != 1 || p.Shapes[0].Floor != 1 || p.Shapes[1].Floor != 0 {
		t.Fatalf("%+v, %+v", p.Floors, p.Sections)
	}
	down, moved := p.Floors[1].At.Y, p.Seats[0].Y-100
	if p.Floors[0].At.Y != 0 || down < 200 {
		t.Errorf("the floors are at %+v", p.Floors)
	}
	for i := range p.Seats {
		s := &p.Seats[i]
		want := map[int]float64{0: 100, 1: 120}[s.Section]
		if on := p.Sections[s.Section].Floor; s.Section < 2 && tenth(s.Y-moved-float64(on)*down) != want {
			t.Errorf("%s is at %g", p.Label(i), s.Y)
		}
		if low, high := p.Sections[0].Outline[0].Y, p.Sections[0].Outline[2].Y; s.Section > 0 && s.Y >= low && s.Y <= high {
			t.Errorf("%s is drawn over the floor below", p.Label(i))
		}
	}
	doc := string(o.Document)
	for _, want := range []string{`"floor":"Balcony"`, `"at":[0,`, `"origin":[`, `"center":[`} {
		if !strings.Contains(doc, want) {
			t.Errorf("the document has no %s", want)
		}
	}
	again := opened(t, o.Document)
	if !bytes.Equal(again.Document, o.Document) || !reflect.DeepEqual(again.Plan, p) {
		t.Error("read again it is another plan")
	}
	if !reflect.DeepEqual(o.Pictures, []string{"0123456789abcdef0123456789abcdef"}) || !strings.Contains(doc, "underlays") {
		t.Error("the picture is lost")
	}
	copied, err := Document(p)
	if err != nil {
		t.Fatal(err)
	}
	if c := opened(t, copied); !reflect.DeepEqual(ordered(c.Plan, true), ordered(p, true)) || len(c.Pictures) > 0 {
		t.Error("a copy of the plan is another one, or has its picture")
	}
	untraced, err := Untraced(o.Document)
	if err != nil || strings.Contains(string(untraced), "underlay") {
		t.Errorf("%v, %s", err, untraced)
	}
}

func TestFloors_AreKnownByName(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		`"floor": "Stalls"=>"floor": "Cellar"`:             `"Cellar" is not among the floors`,
		`{"name": "Balcony"}=>{"name": "Stalls"}`:          `two floors are called "Stalls"`,
		`, {"name": "Balcony"}]=>, {"name": "a/Balcony"}]`: "not among the floors",
		`"x": 10, "y"=>"x": 1e12, "y"`:                     "no place in a drawing",
	} {
		old, now, _ := strings.Cut(change, "=>")
		_, err := Open(strings.NewReader(strings.Replace(twoFloors, old, now, 1)))
		var told *Error
		if !errors.As(err, &told) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
	if _, err := Read(strings.NewReader(strings.ReplaceAll(strings.Replace(twoFloors, `{"name": "Stalls"}, `, "", 1), `"floor": "Stalls", `, ""))); err == nil || !strings.Contains(err.Error(), "1 floors") {
		t.Errorf("one floor: %v", err)
	}
}

func TestUnderlays_HaveALimit(t *testing.T) {
	t.Parallel()
	one := twoFloors[strings.Index(twoFloors, `{"picture"`):strings.LastIndex(twoFloors, "]")]
	many := strings.Replace(twoFloors, one, strings.Repeat(one+",", maxUnderlays)+one, 1)
	if _, err := Read(strings.NewReader(many)); err == nil || !strings.Contains(err.Error(), "61 pictures to trace") {
		t.Errorf("a plan with %d pictures: %v", maxUnderlays+1, err)
	}
}
