package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest/race"
)

// edit is something for the editor to do, and what came of it; see static/testdata/edit.mjs.
type edit struct {
	Document json.RawMessage `json:"document,omitempty"` // random if left out
	Seed     int             `json:"seed"`
	Steps    int             `json:"steps"`
	Day      bool            `json:"day,omitempty"`
	Fault    []string        `json:"fault,omitempty"` // planted: script, what stands there, what shall
}

type edited struct {
	Document json.RawMessage       `json:"document"`
	Seats    map[string]editedSeat `json:"seats"`
	Problems []string              `json:"problems"`
	Told     meant                 `json:"told"` // of a day
}

type editedSeat struct {
	Section  string   `json:"section"`
	Row      string   `json:"row"`
	Number   string   `json:"number"`
	X        float64  `json:"x"`
	Y        float64  `json:"y"`
	Category string   `json:"category"`
	Flags    []string `json:"flags"`
}

// editor has the real scripts of the editor do edits.
func editor(t *testing.T, edits ...edit) []edited {
	t.Helper()
	asked, err := json.Marshal(edits)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "../../static/testdata/edit.mjs")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(asked), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the editor's scripts need Node 18 or newer: %v", err)
	}
	var answers []edited
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

func TestEveryPlanGoesThroughTheEditorWithoutAChange(t *testing.T) {
	t.Parallel()
	files := everyFile(t)
	var names []string
	var edits []edit
	for name, data := range files {
		names = append(names, name)
		edits = append(edits, edit{Document: opened(t, data).Document})
	}
	for i, e := range editor(t, edits...) {
		before, after := opened(t, files[names[i]]), opened(t, e.Document)
		if !reflect.DeepEqual(before.Plan, after.Plan) || !bytes.Equal(before.Document, after.Document) {
			t.Errorf("%s: it is another plan", names[i])
		}
	}
}

func TestEditor_ChangesOnlyEditedParts(t *testing.T) {
	t.Parallel()
	var names []string
	var edits []edit
	for name, data := range everyFile(t) {
		document := opened(t, data).Document
		names = append(names, name)
		edits = append(edits, edit{Document: document, Seed: len(document), Steps: 5})
	}
	for seed := range race.Rounds(80) {
		names = append(names, fmt.Sprintf("random plan %d", seed))
		edits = append(edits, edit{Seed: seed + 1, Steps: 15})
	}
	refused := 0
	for i, e := range editor(t, edits...) {
		o, err := Open(bytes.NewReader(e.Document))
		switch {
		case len(e.Problems) > 0:
			refused++ // the editor said so itself
		case err != nil:
			t.Errorf("%s: it cannot be read: %v", names[i], err)
		case len(o.Repairs) > 0:
			t.Errorf("%s: the editor saw nothing to complain of, and there was to repair: %s", names[i], o.Repairs[0])
		default:
			for _, wrong := range compareSeats(o.Plan, e.Seats) {
				t.Errorf("%s: %s", names[i], wrong)
			}
		}
	}
	t.Logf("%d of %d plans could not be saved, as the editor said", refused, len(edits))
	if refused > len(edits)*2/3 {
		t.Error("most plans were refused: this test sees little")
	}
}

func seatOf(p *seats.Plan, s *seats.Seat) editedSeat {
	return editedSeat{p.Sections[s.Section].Name, s.Row, s.Number, s.X, s.Y, p.Categories[s.Category].Key, append([]string{}, s.Flags.Names()...)}
}

// compareSeats tells the first seats of a plan that are not what the editor had.
func compareSeats(p *seats.Plan, want map[string]editedSeat) (wrong []string) {
	for i := range p.Seats {
		s := &p.Seats[i]
		w, ok := want[s.ID]
		got := seatOf(p, s)
		if !ok || !reflect.DeepEqual(got, w) {
			wrong = append(wrong, fmt.Sprintf("seat %s is %+v, and was %+v in the editor", s.ID, got, w))
		}
	}
	if len(p.Seats) != len(want) {
		wrong = append(wrong, fmt.Sprintf("%d seats of %d arrived", len(p.Seats), len(want)))
	}
	return wrong[:min(len(wrong), 3)]
}

func TestALostOrMovedSeatIsNoticed(t *testing.T) {
	t.Parallel()
	e := editor(t, edit{Document: opened(t, []byte(smallOwn)).Document, Seed: 1})[0]
	p := opened(t, e.Document).Plan
	if wrong := compareSeats(p, e.Seats); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	p.Seats[3].X += 0.1
	if len(compareSeats(p, e.Seats)) == 0 {
		t.Error("a moved seat is not noticed")
	}
	p.Seats[3].X -= 0.1
	delete(e.Seats, p.Seats[5].ID)
	if len(compareSeats(p, e.Seats)) == 0 {
		t.Error("a seat that is not in the editor is not noticed")
	}
}
