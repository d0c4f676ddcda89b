package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

func read(t *testing.T, file string) *Result {
	t.Helper()
	res, err := Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// labels are all labels of a plan, in order.
func labels(p *seats.Plan) string {
	var all []string
	for i := range p.Seats {
		all = append(all, p.Label(i))
	}
	return strings.Join(all, " ")
}

func TestACleanPlanIsNotRepaired(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{smallPretix, smallSeatsio, smallOwn} {
		if res := read(t, doc); len(res.Repairs) > 0 {
			t.Errorf("%s: %v", res.Format, res.Repairs)
		}
	}
}

func TestADuplicateSeatIDIsRepairedAndReported(t *testing.T) {
	t.Parallel()
	res := read(t, swap(t, smallPretix, `"uuid": "u2"`, `"uuid": "u1"`))
	if got := res.Plan.Seats[0].ID + " " + res.Plan.Seats[1].ID; got != "a1 a2" {
		t.Errorf("ids %s", got)
	}
	if len(res.Repairs) != 1 || res.Repairs[0].Kind != "duplicate-id" || res.Repairs[0].Count != 2 {
		t.Errorf("repairs %v", res.Repairs)
	}
}

func TestASeatWithoutAnyIDIsKnownByItsPlace(t *testing.T) {
	t.Parallel()
	file := swap(t, smallPretix, `"seat_guid": "a1", "uuid": "u1", `, "")
	if id := read(t, file).Plan.Seats[0].ID; id != "Hall/A/1" {
		t.Errorf("id %s", id)
	}
}

func TestANumberTwiceInARowIsRepairedAndReported(t *testing.T) {
	t.Parallel()
	res := read(t, swap(t, smallPretix, `"seat_number": "2"`, `"seat_number": "1"`))
	if got := labels(res.Plan); got != "Hall/A/1 Hall/A/1 (2) Hall/B/1 Hall/B/2 Hall/B/3" {
		t.Errorf("labels %s", got)
	}
	if kindsOf(res.Repairs) != "Hall:duplicate-label" {
		t.Errorf("repairs %v", res.Repairs)
	}
}

// zone is a pretix zone of blocks, each 500 units from the last, with the same labels in their rows.
func zone(blocks, rows, length int) string {
	var b strings.Builder
	for block := range blocks {
		for row := range rows {
			fmt.Fprintf(&b, `{"row_number": "%c", "position": {"x": %d, "y": %d}, "seats": [`, 'A'+row, 500*block, 25*row)
			for n := range length {
				fmt.Fprintf(&b, `{"seat_number": "%d", "category": "C", "position": {"x": %d, "y": 0}},`, n+1, 20*n)
			}
			b.WriteString("]},")
		}
	}
	file := `{"name": "Barn", "categories": [{"name": "C"}], "zones": [{"name": "Floor", "rows": [` + b.String() + `]}]}`
	return strings.ReplaceAll(file, ",]", "]")
}

func TestRowsThatRepeatBecomeOneSectionForEachBlock(t *testing.T) {
	t.Parallel()
	res := read(t, zone(3, 2, 4))
	var names []string
	for _, s := range res.Plan.Sections {
		names = append(names, fmt.Sprint(s.Name, "=", s.Count))
	}
	if got := strings.Join(names, " "); got != "Floor 1=8 Floor 2=8 Floor 3=8" {
		t.Errorf("sections %s", got)
	}
	if kindsOf(res.Repairs) != "Floor:duplicate-label" || res.Repairs[0].Count != 16 {
		t.Errorf("repairs %v", res.Repairs)
	}
}

func TestTwoSectionsOfOneNameGetDifferentOnes(t *testing.T) {
	t.Parallel()
	res := read(t, smallFloors)
	if got := labels(res.Plan); got != "Seats/A/1 Seats/A/2 Seats (2)/A/1 Seats (2)/A/2" {
		t.Errorf("labels %s", got)
	}
	if kindsOf(res.Repairs) != "Seats:duplicate-section" {
		t.Errorf("repairs %v", res.Repairs)
	}
	if res.Plan.Seats[2].Y-res.Plan.Seats[0].Y < 40 {
		t.Error("the floors are drawn on each other")
	}
}

func TestRepair_OverlappingBlocksAreMoved(t *testing.T) {
	t.Parallel()
	file := strings.Replace(zone(1, 2, 4), `"zones": [`, `"zones": [{"name": "Balcony", `+strings.SplitN(zone(1, 2, 4), `"name": "Floor", `, 2)[1][:len(strings.SplitN(zone(1, 2, 4), `"name": "Floor", `, 2)[1])-2]+",", 1)
	res := read(t, file)
	if kindsOf(res.Repairs) != "Floor:overlap" {
		t.Errorf("repairs %v", res.Repairs)
	}
	if len(overlaps(res.Plan)) > 0 || res.Plan.Seats[8].Y <= res.Plan.Seats[7].Y {
		t.Errorf("seats at %v and %v", res.Plan.Seats[7], res.Plan.Seats[8])
	}
}

func TestNamesThatBreakALabelAreCleaned(t *testing.T) {
	t.Parallel()
	file := swap(t, smallPretix, `"name": "Hall"`, `"name": " Left/Right\n"`)
	file = swap(t, file, `"row_number": "A"`, `"row_number": ""`)
	res := read(t, file)
	if got := res.Plan.Label(0); got != "Left-Right/1/1" {
		t.Errorf("label %s", got)
	}
	if kindsOf(res.Repairs) != ":name" || res.Repairs[0].Count != 2 {
		t.Errorf("repairs %v", res.Repairs)
	}
}

func TestPiecesOfARowAreOneRowWithAnAisle(t *testing.T) {
	t.Parallel()
	file := swap(t, smallPretix, `"row_number": "B"`, `"row_number": "A"`)
	file = strings.NewReplacer(`"seat_number": 1`, `"seat_number": 11`, `"seat_number": 2`, `"seat_number": 12`).Replace(file)
	p := read(t, file).Plan
	if got := labels(p); got != "Hall/A/1 Hall/A/2 Hall/A/11 Hall/A/12 Hall/A/3" {
		t.Errorf("labels %s", got)
	}
	if p.Seats[1].Flags&seats.AisleAfter == 0 || p.Seats[3].Flags&seats.AisleAfter == 0 || p.Seats[0].Flags != 0 {
		t.Errorf("flags %v %v %v", p.Seats[0].Flags, p.Seats[1].Flags, p.Seats[3].Flags)
	}
}
