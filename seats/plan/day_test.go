package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest/race"
)

// meant is what a day in the editor was meant to change (static/testdata/day.mjs), seats by their ids.
type meant struct {
	Moved    []string   `json:"moved"`
	By       [2]float64 `json:"by"`
	Renamed  []string   `json:"renamed"`
	Row      string     `json:"row"`
	Flagged  []string   `json:"flagged"`
	Flag     string     `json:"flag"`
	Removed  []string   `json:"removed"`
	Tables   int        `json:"tables"` // more than before
	Laid     []string   `json:"laid"`   // stand somewhere else in their area
	Added    []string   `json:"added"`
	Priced   []string   `json:"priced"`
	Category string     `json:"category"`
	Text     string     `json:"text"`
	Wrong    string     `json:"wrong"` // what undoing and doing again did not bring back
}

// want is what a seat is after the day.
func (d meant) want(id string, s editedSeat) editedSeat {
	if slices.Contains(d.Moved, id) {
		s.X, s.Y = s.X+d.By[0], s.Y+d.By[1]
	}
	if slices.Contains(d.Renamed, id) {
		s.Row = d.Row
	}
	if slices.Contains(d.Flagged, id) && !slices.Contains(s.Flags, d.Flag) {
		s.Flags = append(s.Flags, d.Flag)
		slices.Sort(s.Flags)
	}
	if slices.Contains(d.Priced, id) {
		s.Category = d.Category
	}
	return s
}

// lost tells what a plan lost over a day, or has too much, besides what was meant.
func (d meant) lost(before, after *seats.Plan) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	has := map[string]editedSeat{}
	for i := range after.Seats {
		has[after.Seats[i].ID] = seatOf(after, &after.Seats[i])
	}
	if n := len(before.Seats) - len(d.Removed) + len(d.Added); len(has) != n {
		add("%d seats, want %d", len(has), n)
	}
	for i := range before.Seats {
		id := before.Seats[i].ID
		got, there := has[id]
		if there == slices.Contains(d.Removed, id) {
			add("seat %s is there: %t", id, there)
			continue
		}
		want := d.want(id, seatOf(before, &before.Seats[i]))
		slices.Sort(got.Flags)
		slices.Sort(want.Flags)
		moved := slices.Contains(d.Moved, id) && math.Abs(got.X-want.X) < .06 && math.Abs(got.Y-want.Y) < .06 // it rounds to a tenth
		if moved || slices.Contains(d.Laid, id) {
			got.X, got.Y = want.X, want.Y
		}
		if there && !reflect.DeepEqual(got, want) {
			add("seat %s is %+v, want %+v", id, got, want)
		}
	}
	return append(wrong, d.lostAround(before, after)...)
}

// lostAround is lost for everything but seats.
func (d meant) lostAround(before, after *seats.Plan) (wrong []string) {
	isTable := func(s seats.Shape) bool { return s.Role == "table" }
	drawn := func(p *seats.Plan) []seats.Shape { return slices.DeleteFunc(slices.Clone(p.Shapes), isTable) }
	was, is := drawn(before), drawn(after)
	if len(is) != len(was)+1 || !slices.EqualFunc(was, is[:len(was)], func(a, b seats.Shape) bool { return reflect.DeepEqual(a, b) }) || is[len(was)].Text != d.Text {
		wrong = append(wrong, fmt.Sprintf("the shapes are %+v, and were %+v", is, was))
	}
	if more := (len(after.Shapes) - len(is)) - (len(before.Shapes) - len(was)); more != d.Tables {
		wrong = append(wrong, fmt.Sprintf("%d tables more, want %d", more, d.Tables))
	}
	if n := len(before.Categories); len(after.Categories) != n+1 || !reflect.DeepEqual(before.Categories, after.Categories[:n]) {
		wrong = append(wrong, fmt.Sprintf("the categories are %+v, and were %+v", after.Categories, before.Categories))
	}
	for i, s := range before.Sections {
		if len(after.Sections) <= i || after.Sections[i].Name != s.Name || after.Sections[i].Area != s.Area {
			wrong = append(wrong, fmt.Sprintf("section %s is not what it was", s.Name))
		}
	}
	if after.Name != before.Name || !reflect.DeepEqual(after.Focus, before.Focus) || after.Width < before.Width || after.Height < before.Height {
		wrong = append(wrong, "the drawing is another one")
	}
	return wrong
}

// lostOutlines lists the sections that lost their drawn outline. Other outlines go around the seats, wherever these are.
func lostOutlines(t *testing.T, before, after []byte) (wrong []string) {
	t.Helper()
	drawn := func(file []byte) (list [][2]string) {
		var doc struct {
			Sections []struct {
				Name    string
				Outline json.RawMessage
			}
		}
		if err := json.Unmarshal(file, &doc); err != nil {
			t.Fatal(err)
		}
		for _, s := range doc.Sections {
			list = append(list, [2]string{s.Name, string(s.Outline)})
		}
		return list
	}
	is := drawn(after)
	for _, was := range drawn(before) {
		if !slices.Contains(is, was) {
			wrong = append(wrong, "the outline of "+was[0]+" is another one")
		}
	}
	return wrong
}

// day is a file that an organizer edits for a day, in the editor as it is or with a fault planted.
type day struct {
	name  string
	file  []byte
	fault []string
}

// lostOver imports files, spends a day with each in the editor, exports and imports it again, and tells what each lost.
func lostOver(t *testing.T, days []day) map[string][]string {
	t.Helper()
	before, edits := make([]*Opened, len(days)), make([]edit, len(days))
	for i, d := range days {
		before[i] = opened(t, d.file)
		edits[i] = edit{Document: before[i].Document, Seed: i + 1, Day: true, Fault: d.fault}
	}
	all := map[string][]string{}
	for i, e := range editor(t, edits...) {
		lost := e.Problems
		if e.Told.Wrong != "" {
			lost = append(lost, e.Told.Wrong)
		}
		after, err := Open(bytes.NewReader(e.Document)) // saved
		if err != nil {
			all[days[i].name] = append(lost, err.Error())
			continue
		}
		again := opened(t, Indented(after.Document)) // downloaded, and imported anew
		if len(after.Repairs)+len(again.Repairs) > 0 || !bytes.Equal(after.Document, again.Document) {
			lost = append(lost, fmt.Sprintf("what was exported is imported as something else: %v", after.Repairs))
		}
		lost = append(lost, lostOutlines(t, before[i].Document, again.Document)...)
		all[days[i].name] = append(lost, e.Told.lost(before[i].Plan, again.Plan)...)
	}
	return all
}

// randomFiles are random plans as files.
func randomFiles(t *testing.T, n int) (list []day) {
	t.Helper()
	edits := make([]edit, n)
	for i := range edits {
		edits[i].Seed = i + 1
	}
	for i, e := range editor(t, edits...) {
		list = append(list, day{name: fmt.Sprintf("random plan %d", i+1), file: e.Document})
	}
	return list
}

func TestPlan_ImportEditExportLosesNothingElse(t *testing.T) {
	t.Parallel()
	days := randomFiles(t, race.Rounds(60))
	files := everyFile(t)
	delete(files, "floors") // one moves away where the one before it grows
	for name, data := range files {
		days = append(days, day{name: name, file: data})
	}
	for name, lost := range lostOver(t, days) {
		if len(lost) > 0 {
			t.Errorf("%s: %d things, such as %s", name, len(lost), lost[0])
		}
	}
}

func TestEditor_PlantedLossesAreNoticed(t *testing.T) {
	t.Parallel()
	var days []day
	for name, fault := range map[string][]string{
		"nothing":         {"editor_model", "JSON.stringify(plan)", "JSON.stringify(plan, null)"},
		"flags":           {"editor_model", "JSON.stringify(plan)", "JSON.stringify(plan, (k, v) => k === 'flags' ? undefined : v)"},
		"shapes":          {"editor_model", "JSON.stringify(plan)", "JSON.stringify({...plan, shapes: plan.shapes?.slice(1)})"},
		"prices of seats": {"editor_model", "JSON.stringify(plan)", "JSON.stringify(plan, (k, v) => k === 'seats' ? v.map(({category, ...s}) => s) : v)"},
		"a step undone":   {"editor_history", "past: h.past.slice(0, -1), future", "past: h.past.slice(0, -2), future"},
		"rows moved":      {"editor_shape", "tenth(x + dx)", "tenth(x - dx)"},
		"outlines":        {"editor_model", "JSON.stringify(plan)", "JSON.stringify(plan, (k, v) => k === 'outline' ? v.slice(1) : v)"},
		"another row":     {"editor_section", "const rows = mapped(section.rows, named)", "const rows = mapped(section.rows, named)?.slice(1)"},
	} {
		days = append(days, day{name, []byte(smallOwn), fault})
	}
	for name, lost := range lostOver(t, days) {
		if noticed := len(lost) > 0; noticed == (name == "nothing") {
			t.Errorf("%s: lost is said to be %q", name, lost)
		}
	}
}
