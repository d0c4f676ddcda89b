package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest/scale"
)

// A small file must not become large in memory, or take minutes.

func TestRecords_JSONThatIsTooDeepIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 100)
	for name, c := range map[string]struct{ file, want string }{
		"names in each other": {strings.Repeat(`{"`+long+`": `, 9_000) + "1" + strings.Repeat("}", 9_000), "more than 50 objects and lists stand in each other"},
		"lists in each other": {strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), "more than 50 objects and lists stand in each other"},
		"one long name":       {`[{"` + strings.Repeat("n", 301) + `": 1, "x": 2}]`, "longer than 300 bytes"},
		"names that add up":   {strings.Repeat(`{"`+long+`": `, 4) + `[{"x": 1, "y": 2}]` + strings.Repeat("}", 4), "longer than 300 bytes"},
	} {
		_, err := Survey([]byte(c.file))
		var told *Error
		if !errors.As(err, &told) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	deep := strings.Repeat("[", 48) + `{"p": {"x": 1, "y": 2}}` + strings.Repeat("]", 48)
	if _, err := Survey([]byte(deep)); err != nil {
		t.Errorf("50 deep: %v", err)
	}
	if _, err := Read(strings.NewReader(strings.Replace(smallOwn, `"flags"`, fmt.Sprintf(`"extra": %s1%s, "flags"`, strings.Repeat("[", 60), strings.Repeat("]", 60)), 1))); err == nil || !strings.Contains(err.Error(), "stand in each other") {
		t.Errorf("in a document: %v", err)
	}
}

func TestAreas_OnAFormWithoutHeightHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{
		"rect":    `<rect width="100" height="0" data-capacity="5"/>`,
		"path":    `<path d="M0 0H10H5Z" data-capacity="5"/>`,
		"upright": `<path d="M0 0V10V5Z" data-capacity="5"/>`,
		"point":   `<path d="M3 3H3V3Z" data-capacity="5"/>`,
	} {
		r, err := Take([]byte(`<svg><circle class="seat" r="3"/><circle class="seat" cx="20" r="3"/>`+form+`</svg>`), "House", nil)
		if err != nil || len(r.Plan.Seats) != 7 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, file := range map[string]string{
		"document": swap(t, smallOwn, `[[0, 300], [200, 300], [200, 400], [0, 400]]`, `[[0, 300], [200, 300], [100, 300]]`),
		"seats.io": swap(t, smallSeatsio, `"points": [{"x": 0, "y": 30}, {"x": 60, "y": 30}, {"x": 60, "y": 60}]`, `"points": [{"x": 0, "y": 30}, {"x": 60, "y": 30}, {"x": 20, "y": 30}]`),
	} {
		if _, err := Read(strings.NewReader(file)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDrawing_FormsThatMultiplyAreRefused(t *testing.T) {
	t.Parallel()
	chair := `<g id="c">` + strings.Repeat(`<path d="M0 0`+strings.Repeat("l1 1", 17)+`"/>`, 100) + `</g>` // 2,000 with its shapes
	uses := strings.Repeat(`<use href="#c"/>`, 11_000)
	for name, file := range map[string]string{
		"in sight": `<svg>` + chair + uses + `</svg>`,
		"in defs":  `<svg><defs>` + chair + uses + `</defs><circle r="3"/></svg>`,
	} {
		if _, err := Survey([]byte(file)); err == nil || !strings.Contains(err.Error(), "at most 20000000 points") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Survey([]byte(`<svg><defs>` + chair + `<clipPath>` + uses + `</clipPath></defs><circle r="3"/></svg>`)); err != nil {
		t.Errorf("what is never drawn: %v", err)
	}
	if _, err := Survey([]byte(`<svg><g id="c">` + strings.Repeat(`<circle r="3"/>`, 100) + `</g>` + strings.Repeat(`<use href="#c" transform="scale(2 1)"/>`, 5_000) + `</svg>`)); err == nil {
		t.Error("circles that become polygons are not counted as such")
	}
	r, err := Survey([]byte(`<svg><g id="c"><path d="M0 0H10V10H0Z"/><circle r="5"/></g>` + strings.Repeat(`<use href="#c" x="20" y="30"/>`, 1_000) + `</svg>`))
	if err != nil || len(r.Rows) != 1_003 || r.Rows[1_002][slices.Index(r.Columns, "x")] != "22.5" {
		t.Errorf("a chair that is used again: %v, %v", err, r)
	}
}

func TestRecords_WordsThatManyThingsHaveAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ö", 10_000)
	for name, file := range map[string]string{
		"style":     `<svg><g style="fill: ` + long + `"><circle r="3"/><circle r="4"/></g></svg>`,
		"attribute": `<svg><g fill="` + long + `"><circle r="3"/><circle r="4"/></g></svg>`,
		"tree":      `{"fill": "` + long + `", "seats": [{"x": 1}, {"x": 2}]}`,
	} {
		r, err := Survey([]byte(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if v := r.Values("fill", 1); len(v) != 1 || v[0].Count != 2 || v[0].Text != long[:mostWords] {
			t.Errorf("%s: %d bytes", name, len(v[0].Text))
		}
	}
	r, err := Survey([]byte(`<svg><circle r="3" cx="9"><title> of  a <b>not</b> seat </title></circle><text>A<tspan> long </tspan><tspan>wo<tspan>rd</tspan></tspan></text></svg>`))
	if err != nil || r.Rows[0][slices.Index(r.Columns, "title")] != "of a seat" || r.forms[1].shapes[0].Text != "A long wo rd" {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestRecords_ARowForEachSeatIsReadAtOnce(t *testing.T) {
	t.Parallel()
	table := func(n int, line string) string {
		var b strings.Builder
		b.WriteString("id,section,number,x,y\n")
		for i := range n {
			fmt.Fprintf(&b, line, i, i%300*20, i/300*20)
		}
		return b.String()
	}
	scale.Linear(t, seats.MaxSeats, func(n int) {
		o, err := surveyed(t, table(n, "seat-%06d,Stalls,1,%d,%d\n")).Open(Mapping{Name: "House", Section: "section", Row: "id", Number: "number", X: "x", Y: "y"})
		if err != nil || len(o.Plan.Seats) != n {
			t.Errorf("rows: %v", err)
		}
	})
	sections := table(seats.MaxSeats, "seat,S%06d,1,%d,%d\n")
	if _, err := surveyed(t, sections).Open(Mapping{Name: "House", Section: "section", Row: "id", Number: "number", X: "x", Y: "y"}); err == nil || !strings.Contains(err.Error(), "sections, more than 10000") {
		t.Errorf("sections: %v", err)
	}
}

func TestRecords_SeatsInTheSectionOfAnAreaStayTogether(t *testing.T) {
	t.Parallel()
	o, err := surveyed(t, "section,row,number,capacity,x,y\nLawn,,,3,300,0\nLawn,,7,,320,0\nStalls,A,1,,0,0\nStalls,B,1,,0,20\nStalls,A,2,,20,0\n").Open(Mapping{Name: "P", Section: "section", Row: "row", Number: "number", Capacity: "capacity", X: "x", Y: "y"})
	if err != nil || len(o.Plan.Sections) != 2 || told(o.Plan, "Lawn") != "Lawn/1 A; Lawn/2 A; Lawn/3 A; Lawn/7 A" || told(o.Plan, "Stalls") != "Stalls/A/1 A; Stalls/A/2 A; Stalls/B/1 A" {
		t.Errorf("%v, %+v", err, o)
	}
}

func TestShared_ManyRowsAreCheckedAndWrittenAtOnce(t *testing.T) {
	t.Parallel()
	scale.Linear(t, seats.MaxSeats, func(n int) {
		p := &seats.Plan{Name: "P", Width: 1000, Height: 1000, Categories: []seats.Category{{Key: "A", Name: "A"}}}
		for i := range n {
			row := fmt.Sprintf("R%05d", i/2)
			p.Seats = append(p.Seats, seats.Seat{ID: fmt.Sprint(i), Row: row, Number: fmt.Sprint(i % 2), X: 5, Y: 5, Flags: seats.AisleAfter})
			if i%4 == 0 {
				p.Shared = append(p.Shared, seats.SharedRow{Row: row, Shared: seats.Shared{Least: 1, Most: 2}})
			} else if i%4 == 2 {
				p.Whole = append(p.Whole, seats.WholeRow{Row: row})
			}
		}
		p.Sections = []seats.Section{{Name: "S", Count: n, Outline: rectangle(0, 0, 10, 10)}}
		var b bytes.Buffer
		if err := Write(&b, p); err != nil {
			t.Fatal(err)
		}
		if r, err := Read(&b); err != nil || len(r.Plan.Shared)+len(r.Plan.Whole) != n/2 {
			t.Errorf("read: %v", err)
		}
	})
}
