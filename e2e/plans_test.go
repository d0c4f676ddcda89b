package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedPlans are seating plans other people drew in other programs. They are not part of the project.
const sharedPlans = "../../shared/plans"

func sharedPlan(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(sharedPlans, name)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		t.Skipf("%s is not here", path)
	}
	return path
}

func TestPlansOfOtherProgramsGoOnSaleWithAllTheirSeats(t *testing.T) {
	t.Parallel()
	for name, seats := range map[string]int{
		"pretix-hall-738.json": 738, "seatsio-racetrack-8897.json": 8897, "seatsio-small-ga.json": 232, "seatsio-tables.json": 12,
	} {
		t.Run(strings.TrimSuffix(name, ".json"), func(t *testing.T) {
			t.Parallel()
			slug := house.event(t, sharedPlan(t, name))
			if r := someProgram(t, house).remaining(slug); r.Seats != seats || r.Free != seats {
				t.Errorf("on sale are %+v, want %d seats, all free", r, seats)
			}
		})
	}
}

func TestAPlanOf8897SeatsIsClaimedHeldAndLapsesOnItsPage(t *testing.T) {
	t.Parallel()
	slug := house.event(t, sharedPlan(t, "seatsio-racetrack-8897.json"), "--hold", "12s")
	ann, bob := someone(t, house, "ann", desktop), someone(t, house, "bob", phone)
	ann.openSection(slug, 0)
	bob.openSection(slug, 0)
	label := ann.firstFreeSeat()
	ann.take(label)
	bob.seesTaken(label)
	if r := someProgram(t, house).remaining(slug); r.Held != 1 || r.Free != 8896 {
		t.Errorf("the counts are %+v, want 1 held and 8,896 free", r)
	}
	bob.seesFree(label)
	ann.seesLapsed()
}
