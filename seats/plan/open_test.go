package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest/race"
)

// everyFile is every plan there is to read: those of the tests, those that come with Usher, and those in the formats of
// other programs. With the race detector the stadium is not among them: 50,000 seats are much work, and one goroutine does it.
func everyFile(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{"pretix": []byte(smallPretix), "seats.io": []byte(smallSeatsio), "floors": []byte(smallFloors), "own": []byte(smallOwn)}
	for _, name := range Names() {
		p, _ := Named(name)
		var b bytes.Buffer
		if err := Write(&b, p); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	charts, err := filepath.Glob("testdata/charts/*.json")
	if err != nil || len(charts) == 0 {
		t.Fatalf("no charts, %v", err)
	}
	for _, path := range charts {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = data
	}
	if race.On {
		delete(files, "stadium")
	}
	return files
}

func opened(t *testing.T, data []byte) *Opened {
	t.Helper()
	o, err := Open(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ordered sorts the shapes of a plan, for plans with tables that are drawn before or after other shapes, and
// without outlines that are drawn around the seats.
func ordered(p *seats.Plan, withOutlines bool) seats.Plan {
	q := *p
	q.Shapes, q.Sections, q.Floors = slices.Clone(p.Shapes), slices.Clone(p.Sections), slices.Clone(p.Floors)
	for i := range q.Floors {
		if !withOutlines {
			q.Floors[i].Low, q.Floors[i].High = seats.Point{}, seats.Point{} // around the outlines
		}
	}
	slices.SortFunc(q.Shapes, func(a, b seats.Shape) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Center.X, b.Center.X), cmp.Compare(a.Center.Y, b.Center.Y), cmp.Compare(corner(a).X, corner(b).X), cmp.Compare(corner(a).Y, corner(b).Y))
	})
	for i := range q.Sections {
		if !withOutlines {
			q.Sections[i].Outline = nil
		}
	}
	return q
}

func corner(s seats.Shape) seats.Point {
	if len(s.Points) == 0 {
		return seats.Point{}
	}
	return s.Points[0]
}

func TestAnOpenedPlanIsTheSameAndOpensAgainWithoutAChange(t *testing.T) {
	t.Parallel()
	for name, data := range everyFile(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, o := read(t, string(data)).Plan, opened(t, data)
			if was, is := ordered(before, false), ordered(o.Plan, false); !reflect.DeepEqual(was, is) {
				t.Errorf("it lost something: %s", differ(was, is))
			}
			again := opened(t, o.Document)
			if len(again.Repairs) > 0 || !bytes.Equal(again.Document, o.Document) {
				t.Errorf("the document was opened as another one, with %d repairs", len(again.Repairs))
			}
			if !reflect.DeepEqual(again.Plan, o.Plan) {
				t.Error("the document was opened as another plan")
			}
			whole := opened(t, Indented(o.Document))
			if !bytes.Equal(whole.Document, o.Document) {
				t.Error("written for people it is another plan")
			}
		})
	}
}

// differ names the first field in which two plans differ.
func differ(a, b seats.Plan) string {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		if !reflect.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			return va.Type().Field(i).Name
		}
	}
	return "nothing"
}

func TestOpeningKeepsTablesGeneratorsAndIds(t *testing.T) {
	t.Parallel()
	doc := string(opened(t, []byte(smallOwn)).Document)
	for _, want := range []string{`"table":"T1"`, `"radius":20`, `"generate":[{"rows":["A","B"]`, `"id":"s1"`, `"id":"Rows/A/2"`, `"places":[`, `"category":"B"`} {
		if !strings.Contains(doc, want) {
			t.Errorf("the document has no %s", want)
		}
	}
	square := strings.Replace(smallOwn, `"radius": 20, "count": 4`, `"size": [80, 30], "rotation": 30, "count": 6`, 1)
	o := opened(t, []byte(square))
	if !strings.Contains(string(o.Document), `"size":[80,30],"rotation":30`) {
		t.Error("a rectangular table is gone")
	}
	if n := o.Plan.Sections[o.Plan.SectionNamed("Tables")].Count; n != 6 {
		t.Errorf("it has %d chairs, want 6", n)
	}
	if doc := string(opened(t, []byte(smallSeatsio)).Document); !strings.Contains(doc, `"table":"T1"`) {
		t.Error("a table of another program is a row")
	}
}

func TestGeneratorsMoveWithTheirRows(t *testing.T) {
	t.Parallel()
	o := opened(t, []byte(smallOwn))
	var doc document
	if err := json.Unmarshal(o.Document, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Sections[1].Rows = nil; len(doc.Sections[1].Generate) == 0 { // so that the generators make them again
		t.Fatal("the generators are gone")
	}
	bare, err := compact(doc)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Read(bytes.NewReader(bare))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(made.Plan, "Arcs"), told(o.Plan, "Arcs"); got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	at := made.Plan.Sections[made.Plan.SectionNamed("Arcs")].First
	if a, b := made.Plan.Seats[at], o.Plan.Seats[at]; a.X-b.X > 0.2 || b.X-a.X > 0.2 || a.Y-b.Y > 0.2 || b.Y-a.Y > 0.2 {
		t.Errorf("its first seat is at %g %g, want %g %g", a.X, a.Y, b.X, b.Y)
	}
}
