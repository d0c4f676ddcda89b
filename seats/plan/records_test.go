package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

const smallCSV = "\xef\xbb\xbfBlock;Row;Seat;Price category;X;Y;Remarks\n" +
	"Stalls;A;1;Front;0;0;wheelchair\nStalls;A;2;Front;\"10,5\";0;companion\nStalls;B;1;Back;0;12;\nStalls;B;2;Back;10.5;12;restricted\nLawn;;1;Standing;200;0;\nLawn;;2;Standing;210;0;\n"

const smallSVG = `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200">
 <rect x="0" y="0" width="300" height="200" fill="white"/>
 <g id="Balcony" transform="translate(100 50) scale(2)">
  <g id="row A"><g><circle id="B-A-1" class="seat" cx="0" cy="0" r="4" style="fill:#aa0000"/><text>1</text></g><g><circle id="B-A-2" class="seat" cx="10" cy="0" r="4" fill="#aa0000"/><text x="9" y="1">2</text></g></g>
  <g id="row B" transform="rotate(90)"><circle id="B-B-1" class="seat" cx="12" cy="0" r="4" fill="#00AA00"><title>first of B</title></circle><circle id="B-B-2" class="seat" cx="12" cy="-10" r="4" fill="#00AA00"/></g>
 </g>
 <text x="150" y="20" font-size="18">Stage &amp; pit</text>
 <defs><circle class="seat" cx="1" cy="1" r="1"/></defs>
</svg>`

func surveyed(t *testing.T, file string) *Records {
	t.Helper()
	r, err := Survey([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestATableBecomesAPlanByTheNamesOfItsColumns(t *testing.T) {
	t.Parallel()
	r := surveyed(t, smallCSV)
	m := r.Guess("House")
	if want := (Mapping{Name: "House", Section: "Block", Row: "Row", Number: "Seat", Category: "Price category", X: "X", Y: "Y", Flags: "Remarks"}); m != want {
		t.Fatalf("the guess is %+v", m)
	}
	o, err := r.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(o.Plan, "Stalls"), "Stalls/A/1 A accessible; Stalls/A/2 A companion; Stalls/B/1 B; Stalls/B/2 B restricted-view"; got != want {
		t.Errorf("%s", got)
	}
	if !slices.ContainsFunc(o.Warnings, func(w text.Message) bool {
		return strings.Contains(w.String(), "free of charge until its prices are set")
	}) {
		t.Errorf("no warning says that it has no prices: %q", o.Warnings)
	}
	if got := told(o.Plan, "Lawn"); got != "Lawn/1 C; Lawn/2 C" || !o.Plan.Sections[1].Area {
		t.Errorf("the area: %s", got)
	}
	if d := o.Plan.Seats[1].X - o.Plan.Seats[0].X; d != 20 {
		t.Errorf("neighbours are %g apart, want 20", d)
	}
}

func TestATableWithoutPlacesIsLaidOut(t *testing.T) {
	t.Parallel()
	r := surveyed(t, "row,number\nA,1\nA,2\nB,1\n")
	o, err := r.Open(r.Guess("Rows"))
	if err != nil {
		t.Fatal(err)
	}
	if got := told(o.Plan, "Seats"); got != "Seats/A/1 A; Seats/A/2 A; Seats/B/1 A" || len(o.Warnings) == 0 {
		t.Errorf("%s, warnings %q", got, o.Warnings)
	}
}

func TestADrawingBecomesAPlanWithItsTransformsGroupsAndTexts(t *testing.T) {
	t.Parallel()
	r := surveyed(t, smallSVG)
	m := r.Guess("Balcony")
	if m.Only != "class" || m.Value != "seat" || m.Section != "layer" || m.Row != "id 2" || m.Number != "text" && m.Number != "title" || m.Category != "fill" {
		t.Errorf("the guess is %+v of %q", m, r.Columns)
	}
	m.Number = "id 3"
	o, err := r.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := told(o.Plan, "Balcony"); got != "Balcony/A/1 A; Balcony/A/2 A; Balcony/B/1 B; Balcony/B/2 B" && got != "Balcony/A/1 A; Balcony/A/2 A; Balcony/B/2 B; Balcony/B/1 B" {
		t.Errorf("%s", got)
	}
	if c := o.Plan.Categories; len(c) != 2 || c[0].Color != "#aa0000" || c[1].Color != "#00aa00" {
		t.Errorf("categories %+v", c)
	}
	at := map[string]seats.Point{}
	for i := range o.Plan.Seats {
		at[o.Plan.Label(i)] = seats.Point{X: o.Plan.Seats[i].X - o.Plan.Seats[0].X, Y: o.Plan.Seats[i].Y - o.Plan.Seats[0].Y}
	}
	// The row turned by 90 degrees runs to the right, 12 units below the first one, which is as wide as its 10 units.
	if a, b := at["Balcony/A/2"], at["Balcony/B/1"]; a.X != 20 || b.X != 0 || b.Y != 24 {
		t.Errorf("A 2 is %+v and B 1 %+v from A 1", a, b)
	}
	if len(o.Plan.Shapes) != 1 || o.Plan.Shapes[0].Text != "Stage & pit" {
		t.Errorf("shapes %+v", o.Plan.Shapes)
	}
}

func TestTable_RowsAndNumbersAreInferred(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`<svg>`)
	for y := range 4 {
		for x := range 6 {
			fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="3"/>`, 500-10*x, 30+12*y+x%2)
		}
	}
	r := surveyed(t, b.String()+`</svg>`)
	o, err := r.Open(r.Guess("Dots"))
	if err != nil {
		t.Fatal(err)
	}
	if got := told(o.Plan, "Seats"); len(o.Plan.Seats) != 24 || !strings.HasPrefix(got, "Seats/1/1 A; Seats/1/2 A") || !strings.HasSuffix(got, "Seats/4/6 A") {
		t.Errorf("%d seats: %s", len(o.Plan.Seats), got)
	}
	if o.Plan.Seats[0].X > o.Plan.Seats[5].X {
		t.Error("numbers run from the right")
	}
}

func TestTable_OtherFilesAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, reason string }{
		"nothing": {"  ", "empty"}, "one column": {"a\nb\n", "two at least"}, "no lines": {"a,b\n", "a line for each seat"},
		"half a drawing": {"<svg><circle", "no drawing"}, "a page": {"<html></html>", "begins with <html>"}, "an empty drawing": {"<svg></svg>", "could be seats"},
	} {
		_, err := Survey([]byte(c.file))
		var told *Error
		if !errors.As(err, &told) || !strings.Contains(told.Reason, c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := surveyed(t, "x,y,n\n1,2,3\nfar,2,3\n")
	_, err := r.Open(Mapping{Name: "P", X: "x", Y: "y"})
	var told *Error
	if !errors.As(err, &told) || told.Line != 3 || !strings.Contains(told.Reason, `"far"`) {
		t.Errorf("a seat that is nowhere: %v", err)
	}
	if _, err := r.Open(Mapping{Name: "P", Only: "n", Value: "9"}); err == nil {
		t.Error("a plan of nothing was made")
	}
}

func TestTable_AndDrawingRoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"theatre", "conference"} {
		p, _ := Named(name)
		for kind, write := range map[string]func(*bytes.Buffer) error{"CSV": func(b *bytes.Buffer) error { return WriteCSV(b, p) }, "SVG": func(b *bytes.Buffer) error { return WriteSVG(b, p) }} {
			if kind == "SVG" && name == "conference" {
				continue // it has places only, which no drawing shows one by one
			}
			var file bytes.Buffer
			if err := write(&file); err != nil {
				t.Fatal(err)
			}
			r := surveyed(t, file.String())
			o, err := r.Open(r.Guess(name))
			if err != nil {
				t.Fatalf("%s as %s: %v", name, kind, err)
			}
			want, got := idsByLabel(p, kind == "SVG"), idsByLabel(o.Plan, kind == "SVG")
			if len(want) != len(got) {
				t.Errorf("%s as %s: %d seats, want %d", name, kind, len(got), len(want))
			}
			for label, id := range want {
				if got[label] != id {
					t.Fatalf("%s as %s: %s is %q, want %q", name, kind, label, got[label], id)
				}
			}
		}
	}
}

// idsByLabel are the ids of a plan's seats by their labels; places without seats only if they are wanted.
func idsByLabel(p *seats.Plan, seatsOnly bool) map[string]string {
	list := map[string]string{}
	for i := range p.Seats {
		if !seatsOnly || p.Seats[i].Row != "" {
			list[p.Label(i)] = p.Seats[i].ID
		}
	}
	return list
}

func FuzzSurvey(f *testing.F) {
	f.Add([]byte(smallCSV))
	f.Add([]byte(smallSVG))
	f.Add([]byte(house))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Survey(data)
		if err != nil {
			return
		}
		o, err := r.Open(r.Guess("Plan"))
		if err == nil {
			if err := Check(o.Plan); err != nil {
				t.Fatal(err)
			}
		}
	})
}
