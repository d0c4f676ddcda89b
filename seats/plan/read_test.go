package plan

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

// chart reads a chart in testdata/charts: drawn for the tests, in the formats and with the faults of other programs.
func chart(t *testing.T, name string) *Result {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "charts", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	res, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func rowsOf(p *seats.Plan) int {
	rows := map[string]bool{}
	for _, s := range p.Seats {
		if s.Row != "" {
			rows[fmt.Sprint(s.Section, "/", s.Row)] = true
		}
	}
	return len(rows)
}

func kindsOf(repairs []Repair) string {
	var kinds []string
	for _, r := range repairs {
		kinds = append(kinds, r.Where+":"+r.Kind)
	}
	return strings.Join(kinds, " ")
}

func TestChartsOfOtherProgramsHaveTheirSeats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, format          string
		seats, sections, rows int
		categories            string
		repairs               string
	}{
		{"pretix-hall.json", FormatPretix, 84, 8, 15, "A B C", "Stalls:duplicate-label :duplicate-id"},
		{"seatsio-stands.json", FormatSeatsio, 120, 4, 20, "1 2", ""},
		{"seatsio-areas.json", FormatSeatsio, 232, 3, 4, "9 10", ""},
		{"seatsio-tables.json", FormatSeatsio, 12, 1, 2, "9", ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			res := chart(t, c.file)
			p := res.Plan
			if res.Format != c.format || len(p.Seats) != c.seats || len(p.Sections) != c.sections || rowsOf(p) != c.rows {
				t.Errorf("%s: %d seats in %d sections and %d rows", res.Format, len(p.Seats), len(p.Sections), rowsOf(p))
			}
			var keys []string
			for _, c := range p.Categories {
				keys = append(keys, c.Key)
			}
			if got := strings.Join(keys, " "); got != c.categories {
				t.Errorf("categories %s", got)
			}
			if got := kindsOf(res.Repairs); got != c.repairs {
				t.Errorf("repairs %s", got)
			}
			if step := typicalOf(p); step < 19 || step > 21 {
				t.Errorf("seats are %.1f apart", step)
			}
		})
	}
}

// typicalOf is the median distance of neighbours in a plan.
func typicalOf(p *seats.Plan) float64 {
	rows := []draftRow{{}}
	for i, s := range p.Seats {
		if p.Sections[s.Section].Area {
			continue
		}
		if i > 0 && (p.Seats[i-1].Row != s.Row || p.Seats[i-1].Section != s.Section) {
			rows = append(rows, draftRow{})
		}
		r := &rows[len(rows)-1]
		r.seats = append(r.seats, draftSeat{x: s.X, y: s.Y})
	}
	return typical([]draftSection{{rows: rows}})
}

func TestTheDirtyHallKeepsItsUuids(t *testing.T) {
	t.Parallel()
	res := chart(t, "pretix-hall.json")
	for _, s := range res.Plan.Seats {
		if len(s.ID) != 36 {
			t.Fatalf("seat %+v has not its uuid", s)
		}
	}
	last := res.Repairs[len(res.Repairs)-1]
	if last.Count != 60 || !strings.Contains(last.String(), "30 values of seat_guid") {
		t.Errorf("repair %v", last)
	}
}

func TestAreasOfTheSmallChartAreCounted(t *testing.T) {
	t.Parallel()
	p := chart(t, "seatsio-areas.json").Plan
	for _, name := range []string{"GA1", "GA2"} {
		s := p.Sections[p.SectionNamed(name)]
		if !s.Area || s.Count != 100 || p.Label(s.First) != name+"/1" || p.Label(s.First+99) != name+"/100" {
			t.Errorf("area %+v begins with %s", s, p.Label(s.First))
		}
	}
}

func TestReadingTwiceGivesTheSamePlan(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{smallPretix, smallSeatsio, smallOwn} {
		one, err := Read(strings.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		two, err := Read(strings.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one, two) {
			t.Errorf("%s differs from itself", one.Format)
		}
	}
}

func TestFormat_RoundTrips(t *testing.T) {
	t.Parallel()
	plans := map[string]*seats.Plan{}
	for _, name := range Names() {
		plans[name], _ = Named(name)
	}
	for _, doc := range []string{smallPretix, smallSeatsio, smallOwn} {
		res, err := Read(strings.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		plans[res.Format] = res.Plan
	}
	for name, p := range plans {
		var file bytes.Buffer
		if err := Write(&file, p); err != nil {
			t.Fatal(err)
		}
		res, err := Read(&file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(res.Plan, p) || len(res.Repairs) > 0 || res.Format != FormatOwn {
			t.Errorf("%s came back different, with repairs %v", name, res.Repairs)
		}
	}
}

func TestAFailingReaderIsAnErrorOfItsOwn(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	if _, err := Read(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
