package plan

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// house is a drawing as people make them: a ground, a stage, walls, seats as groups, as uses and with numbers beside them, a standing
// area, and parts that must get into no plan.
const house = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 400 400">
 <script>alert(1)</script><style>@import "https://elsewhere.example/x.css";</style>
 <rect width="400" height="400" fill="#fff" onclick="alert(1)"/>
 <image x="0" y="0" width="50" height="50" xlink:href="https://elsewhere.example/spy.png"/>
 <defs><g id="chair"><circle cx="5" cy="5" r="5"/><path d="M0 8h10"/></g></defs>
 <path id="stage" d="M100,20 C150,0 250,0 300,20 V60 H100 Z"/>
 <text x="200" y="45" font-size="16" text-anchor="middle">Stage</text>
 <g id="walls" fill="none"><path d="M10 10H390V390H10z"/><polyline points="10,200 60,200 60,390"/><line x1="340" y1="200" x2="390" y2="200"/></g>
 <polygon id="ground" points="90,80 310,80 310,180 90,180"/>
 <g data-section="Stalls" data-row="A">
  <g class="seat vip" data-number="1" transform="translate(100 100)"><circle r="6"/><path d="M-4 -4h8"/><text>1</text></g>
  <g class="seat" data-number="2" transform="translate(120 100)"><circle r="6"/><path d="M-4 -4h8"/><text>2</text></g>
  <g class="seat" data-number="3" transform="translate(140 100)"><circle r="6"/><text>3</text></g>
 </g>
 <g data-section="Stalls" data-row="B" transform="translate(100 120)">
  <use class="seat" xlink:href="#chair" x="-5" y="-5" data-number="1"/><use class="seat" xlink:href="#chair" x="15" y="-5" data-number="2"/><use class="seat" xlink:href="#chair" x="35" y="-5" data-number="3"/>
 </g>
 <rect class="standing" x="90" y="250" width="220" height="100" data-capacity="40"><title>Standing</title></rect>
 <circle cx="200" cy="230" r="3" display="none"/>
 <text x="200" y="380">&#x202e;Exit <tspan>this way</tspan></text>
</svg>`

func shapesOf(p *seats.Plan, kind, role string) (list []seats.Shape) {
	for _, s := range p.Shapes {
		if s.Kind == kind && s.Role == role {
			list = append(list, s)
		}
	}
	return list
}

func TestDrawing_ItsBackgroundIsThatOfThePlan(t *testing.T) {
	t.Parallel()
	r := surveyed(t, house)
	m := r.Guess("House")
	if m.Only != "class" || m.Value != "seat" || m.Capacity != "data-capacity" || m.Section != "data-section" || m.Row != "data-row" || m.Number != "data-number" {
		t.Fatalf("the guess is %+v of %q", m, r.Columns)
	}
	m.Category = ""
	o, err := r.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(o.Plan, "Stalls"), "Stalls/A/1 A; Stalls/A/2 A; Stalls/A/3 A; Stalls/B/1 A; Stalls/B/2 A; Stalls/B/3 A"; got != want {
		t.Errorf("the seats are %s", got)
	}
	at := func(label string) seats.Point {
		for i := range o.Plan.Seats {
			if o.Plan.Label(i) == label {
				return seats.Point{X: o.Plan.Seats[i].X, Y: o.Plan.Seats[i].Y}
			}
		}
		t.Fatalf("there is no %s", label)
		return seats.Point{}
	}
	if a, b := at("Stalls/A/1"), at("Stalls/B/1"); math.Abs(a.X-b.X) > 1 || math.Abs(b.Y-a.Y-20) > 2 {
		t.Errorf("A 1 is at %v and B 1 at %v", a, b)
	}
	standing := o.Plan.SectionNamed("Standing")
	if standing < 0 || !o.Plan.Sections[standing].Area || o.Plan.Sections[standing].Count != 40 || len(o.Plan.Sections[standing].Outline) != 4 {
		t.Fatalf("the sections are %+v", o.Plan.Sections)
	}
	stalls := o.Plan.Sections[o.Plan.SectionNamed("Stalls")].Outline
	if len(stalls) != 4 || math.Abs(stalls[1].X-stalls[0].X-220) > 1 {
		t.Errorf("the outline of the stalls is %v, not the ground below them", stalls)
	}
	stage := shapesOf(o.Plan, "polygon", "stage")
	if len(stage) != 1 || len(stage[0].Points) < 6 || len(stage[0].Points) > 20 {
		t.Errorf("the stage is %+v", stage)
	}
	if walls := shapesOf(o.Plan, "line", "wall"); len(walls) != 3 {
		t.Errorf("the walls are %+v", walls)
	}
	var words []string
	for _, s := range shapesOf(o.Plan, "text", "label") {
		words = append(words, s.Text)
	}
	slices.Sort(words)
	if strings.Join(words, "|") != "Exit this way|Stage" && strings.Join(words, "|") != "Stage|\u202eExit this way" {
		t.Errorf("the words are %q", words)
	}
	if n := len(o.Plan.Shapes); n != 1+3+2 {
		t.Errorf("the background has %d shapes: %+v", n, o.Plan.Shapes)
	}
	for _, bad := range []string{"elsewhere", "alert", "script", "import", "onclick", "href"} {
		if bytes.Contains(o.Document, []byte(bad)) {
			t.Errorf("the plan has %q of the file: %s", bad, o.Document)
		}
	}
}

func TestDrawing_SeatsAreToldByClassAttributeAndPattern(t *testing.T) {
	t.Parallel()
	const file = `<svg><g id="x"><circle id="seat-A-1" class="s a" cx="0" cy="0" r="3"/><circle id="seat-A-2" class="b s" data-free="1" cx="10" cy="0" r="3"/></g>
		<circle id="seat-B-1" cx="0" cy="20" r="3"/><rect id="bar" x="50" y="0" width="30" height="10"/></svg>`
	r := surveyed(t, file)
	for asked, want := range map[[2]string]int{{"class", "s"}: 2, {"class", "a"}: 1, {"id", "seat-*"}: 3, {"id", "*-1"}: 2, {"id", "seat-*-2"}: 1, {"data-free", "*"}: 1, {"element", "circle"}: 3, {"id", "bar"}: 1} {
		o, err := r.Open(Mapping{Name: "P", Only: asked[0], Value: asked[1], X: "x", Y: "y"})
		if err != nil || len(o.Plan.Seats) != want {
			t.Errorf("%v: %v, want %d seats", asked, err, want)
			continue
		}
		if shapes := len(o.Plan.Shapes); shapes != 4-want {
			t.Errorf("%v: %d seats and %d shapes", asked, want, shapes)
		}
	}
	if m := r.Guess("P"); m.Only != "id 1" || m.Value != "seat" {
		t.Errorf("the guess is %+v", m)
	}
	_, err := r.Open(Mapping{Name: "P", Only: "colour", Value: "red"})
	if err == nil || !strings.Contains(err.Error(), `no column "colour"`) {
		t.Errorf("an unknown column: %v", err)
	}
}

func TestDrawing_TextsOnSeatsAreTheirNumbers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, `<circle class="seat" cx="%d" cy="50" r="8"/>`, 20*i)
	}
	for i := range 5 {
		fmt.Fprintf(&b, `<text x="%d" y="54" font-size="10" text-anchor="middle">%d</text>`, 20*i, 11+2*i)
	}
	r := surveyed(t, "<svg>"+b.String()+`<text x="0" y="200">Balcony</text></svg>`)
	m := r.Guess("P")
	o, err := r.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := told(o.Plan, "Seats"); got != "Seats/1/11 A; Seats/1/13 A; Seats/1/15 A; Seats/1/17 A; Seats/1/19 A" {
		t.Errorf("%s with %+v", got, m)
	}
	if len(o.Plan.Shapes) != 1 || o.Plan.Shapes[0].Text != "Balcony" {
		t.Errorf("the background is %+v", o.Plan.Shapes)
	}
}

func TestDrawing_AnEndlessBackgroundIsCutAndSaid(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`<svg><rect id="hall" x="-100" y="-100" width="5000" height="5000"/>`)
	for i := range 100 {
		fmt.Fprintf(&b, `<circle class="seat" cx="%d" cy="%d" r="3"/>`, 10*(i%10), 10*(i/10))
	}
	for i := range 4000 {
		fmt.Fprintf(&b, `<path d="M%d 300l5 5l-5 5l3 9z"/>`, 12*i)
	}
	r := surveyed(t, b.String()+`</svg>`)
	o, err := r.Open(r.Guess("P"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(o.Plan.Shapes); n > mostBackground || n < mostBackground/2 {
		t.Errorf("the background has %d shapes", n)
	}
	if !slices.ContainsFunc(o.Warnings, func(w text.Message) bool { return strings.Contains(w.String(), "smallest parts were left out") }) {
		t.Errorf("the warnings are %q", o.Warnings)
	}
}

func TestDrawing_PicturesThatAMapCannotShowAreNamed(t *testing.T) {
	t.Parallel()
	const seats = `<circle class="seat" r="3" cx="9"/><circle class="seat" r="3" cx="18"/>`
	for drawing, told := range map[string]bool{
		`<svg><image href="data:image/png;base64,AA=="/>` + seats + `</svg>`:                   true,
		`<svg><g display="none"><image href="a.png"/></g>` + seats + `</svg>`:                  false,
		`<svg><defs><pattern id="p"><image href="a.png"/></pattern></defs>` + seats + `</svg>`: false,
	} {
		r := surveyed(t, drawing)
		o, err := r.Open(r.Guess("P"))
		if err != nil {
			t.Fatal(err)
		}
		if said := slices.ContainsFunc(o.Warnings, func(w text.Message) bool { return strings.Contains(w.String(), "has pictures") }); said != told {
			t.Errorf("of %s the warnings are %q", drawing, o.Warnings)
		}
	}
}

func TestPath_IsFollowed(t *testing.T) {
	t.Parallel()
	for d, want := range map[string]string{
		"M0 0L10 0 10 10Z":                    "polygon 0,0 10,0 10,10",
		"m5,5 10,0 0,10z m20 0h5v5h-5z":       "polygon 5,5 15,5 15,15; polygon 25,5 30,5 30,10 25,10",
		"M0 0H10V10":                          "line 0,0 10,0 10,10",
		"M1-2.5.5.5":                          "line 1,-2.5 0.5,0.5",
		"M0 0 L10 0 X 20 20":                  "line 0,0 10,0",
		"M0 0a5 5 0 0110 0":                   "line 0,0 … 10,0",
		"M0 0 C0 10 10 10 10 0 S20-10 20 0":   "line 0,0 … 20,0",
		"M0 0 Q5 10 10 0 T20 0":               "line 0,0 … 20,0",
		"":                                    "",
		"10 10":                               "",
		"M0 0":                                "",
		"M0 0 A 1 1 0 2 0 5 5":                "",
		strings.Repeat("M0 0l1 1", 10) + "z1": strings.TrimSuffix(strings.Repeat("line 0,0 1,1; ", 9), "; ") + "; polygon 0,0 1,1",
	} {
		var got []string
		for _, s := range traced(d) {
			words := []string{s.Kind}
			for i, p := range s.Points {
				if len(s.Points) > 8 && i > 0 && i < len(s.Points)-1 {
					if i == 1 {
						words = append(words, "…")
					}
					continue
				}
				words = append(words, short(p.X)+","+short(p.Y))
			}
			got = append(got, strings.Join(words, " "))
		}
		if said := strings.Join(got, "; "); said != want {
			t.Errorf("%q is %q, want %q", d, said, want)
		}
	}
	for _, p := range traced("M0 0a5 5 0 0110 0")[0].Points { // a half circle, above
		if r := math.Hypot(p.X-5, p.Y); math.Abs(r-5) > 1e-6 || p.Y > 1e-6 {
			t.Errorf("%v is %g from the middle", p, r)
		}
	}
}

func TestJSON_OfSeveralListsTheLongestHasTheSeats(t *testing.T) {
	t.Parallel()
	const file = `{"venue": {"name": "Hall", "categories": [{"id": 1, "label": "Gold"}, {"id": 2, "label": "Silver"}],
		"places": [{"row": "A", "seat": 1, "x": 0, "y": 0, "category": 1}, {"row": "A", "seat": 2, "x": 10, "y": 0, "category": 1}, {"row": "B", "seat": 1, "x": 0, "y": 12, "category": 2}]}}`
	r := surveyed(t, file)
	m := r.Guess("Hall")
	if m.Only != "list" || m.Value != "venue.places" {
		t.Fatalf("the guess is %+v of %q", m, r.Columns)
	}
	o, err := r.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := told(o.Plan, "Seats"); got != "Seats/A/1 A; Seats/A/2 A; Seats/B/1 B" {
		t.Errorf("%s", got)
	}
}

func TestTable_ALineWithACapacityIsAnArea(t *testing.T) {
	t.Parallel()
	r := surveyed(t, "section,row,number,capacity,x,y\nStalls,A,1,,0,0\nStalls,A,2,,20,0\nLawn,,,30,300,0\n")
	o, err := r.Open(r.Guess("P"))
	if err != nil {
		t.Fatal(err)
	}
	if lawn := o.Plan.Sections[len(o.Plan.Sections)-1]; lawn.Name != "Lawn" || !lawn.Area || lawn.Count != 30 {
		t.Errorf("the sections are %+v", o.Plan.Sections)
	}
	r = surveyed(t, "section,row,number,capacity\nStalls,A,1,many\nStalls,A,2,\nLawn,,,-1\n")
	_, err = r.Open(Mapping{Name: "P", Section: "section", Row: "row", Number: "number", Capacity: "capacity"})
	if err == nil || !strings.Contains(err.Error(), `line 2: an area has "many" places`) || !strings.Contains(err.Error(), `line 4: an area has "-1" places`) {
		t.Errorf("the faults are %v", err)
	}
	if m := surveyed(t, "section,row,number,capacity\nStalls,A,1,200\nStalls,A,2,200\n").Guess("P"); m.Capacity != "" {
		t.Error("the capacity of the section of a seat is that of an area")
	}
}
