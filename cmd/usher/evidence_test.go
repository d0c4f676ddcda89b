package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestTheEvidenceOfARoomHasAllThatHappenedNoHolderUnlessAskedAndNoFormula(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	p, _ := plan.Named("conference")
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, p); err != nil {
		t.Fatal(err)
	}
	rooms := waitingroom.Control{DB: db, Who: "=HYPERLINK(\"http://evil.example\")"}
	opens := time.Unix(2e9, 0)
	if _, err := rooms.Create(t.Context(), waitingroom.NewRoom{Name: "Evening", Events: []string{"evening"}, OpensAt: &opens}); err != nil {
		t.Fatal(err)
	}
	if err := rooms.Rate(t.Context(), "evening", 3); err != nil {
		t.Fatal(err)
	}
	who, gaveUp := seats.NewID(), seats.NewID()
	for _, sql := range []string{
		`INSERT INTO called SELECT id, 1, 10, now() FROM room`, `INSERT INTO called SELECT id, 1, 25, now() + interval '1 second' FROM room`,
		`INSERT INTO admission SELECT id, 1, 7, '` + who.String() + `', now() + interval '2 seconds', 2, now() + interval '5 seconds', 'bought', 4 FROM room`,
		`INSERT INTO admission SELECT id, 1, 8, '` + gaveUp.String() + `', now() + interval '3 seconds', 0, now() + interval '3 seconds', 'gave up', 0 FROM room`,
	} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var lines []waitingroom.Evidence
	if err := rooms.Evidence(t.Context(), "evening", false, func(e waitingroom.Evidence) error { lines = append(lines, e); return nil }); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range lines {
		kinds = append(kinds, e.Kind)
		if text, _ := json.Marshal(e); strings.Contains(string(text), who.String()) {
			t.Errorf("without --holders it says %s", text)
		}
	}
	if got := strings.Join(kinds, " "); got != "room control control call call admission admission" {
		t.Fatalf("the evidence is %s", got)
	}
	if r := lines[0].Room; r == nil || r.Rate != 3 || r.Slug != "evening" {
		t.Errorf("the rules are %+v", r)
	}
	if a, b := lines[3], lines[4]; a.First != 1 || a.Number != 10 || b.First != 11 || b.Number != 25 {
		t.Errorf("the calls are %d…%d and %d…%d", a.First, a.Number, b.First, b.Number)
	}
	if a := lines[5]; a.Number != 7 || a.Entered != 2 || a.Outcome != "bought" || a.Seats != 4 || a.LeftAt == nil || a.Who != "" {
		t.Errorf("the admission is %+v", a)
	}
	if a := lines[6]; a.Number != 8 || a.Entered != 0 || a.Outcome != "gave up" || a.Seats != 0 {
		t.Errorf("who gave up is %+v", a)
	}
	for _, asked := range []bool{false, true} {
		var out bytes.Buffer
		if err := evidenceCSV(t.Context(), &out, rooms, "evening", asked); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), who.String()) != asked {
			t.Errorf("asked for holders (%v) it says %s", asked, out.String())
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(rows) != 8 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsRune("=+-@|＝", []rune(cell)[0]) {
					t.Errorf("%q is a formula", cell)
				}
			}
		}
	}
}
