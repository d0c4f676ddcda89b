package rush

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"
)

// The systems that Usher was asked to be. Each crowd is one of the built program's, at a box office of its own, and the program
// judges every answer: it ends with an error if one of them was untrue, a seat was sold twice or a request failed.
func rushes(t *testing.T, flags ...string) (report Report) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"rush", "--json"}, flags...)...)
	var out, said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = withoutSettings(cmd.Environ()), &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("usher rush %v: %v\n%s\n%s", flags, err, out.String(), said.String())
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	t.Logf("usher rush %v: %s", flags, out.String())
	return report
}

// tellsEverybody fails if a person got neither seats nor the answer that there are none.
func tellsEverybody(t *testing.T, r Report, people, seats int) {
	t.Helper()
	if r.People != people || r.Got != seats || r.SoldOut != people-seats || r.Untrue+r.Oversold+r.Errors > 0 {
		t.Errorf("of %d people %d got one of %d seats and %d were told that it is sold out; %d untrue answers, %d sold twice, %d errors",
			r.People, r.Got, seats, r.SoldOut, r.Untrue, r.Oversold, r.Errors)
	}
}

// 1,000 seats, 1,200 people, and everybody takes the first one that is available.
func TestS3_Of1200PeopleFor1000SeatsExactly1000GetOne(t *testing.T) {
	t.Parallel()
	tellsEverybody(t, rushes(t, "--people", "1200", "--seats", "1000", "--over", "1s"), 1200, 1000)
}

// A free conference at a tenth of its size: people ask for one to six places.
func TestS1_20000PeopleFor20PlacesGetTrueAnswers(t *testing.T) {
	t.Parallel()
	if r := rushes(t, "--scenario", Places, "--people", "20000", "--places", "20", "--over", "2s"); r.Got+r.SoldOut != 20_000 || r.Got < 4 {
		t.Errorf("of 20,000 people %d got places and %d were told that there are none", r.Got, r.SoldOut)
	}
}

// Tickets in quantities: all or nothing, given back by some, or when their time runs out, claimed again with the same key by
// some, ordered by the others.
func TestS2_QuantitiesAreHeldAllOrNothingAndComeBack(t *testing.T) {
	t.Parallel()
	r := rushes(t, "--scenario", Places, "--people", "1500", "--places", "3000", "--over", "6s", "--hold", "2s", "--expire", "20%", "--give-up", "10%", "--repeat", "20%", "--buy")
	if r.Expired == 0 || r.Orders < 500 || r.Got+r.SoldOut != 1500 {
		t.Errorf("%d people got places, %d ordered, the time of %d ran out, %d were told that there are none", r.Got, r.Orders, r.Expired, r.SoldOut)
	}
}

// A stadium behind a waiting room: a tenth of its seats, and people enough to sell it out and to turn others away. A tenth of its people
// takes minutes and slows all crowds beside it: it is one of the sizes.
func TestS5_10000VisitorsFor5000SeatsGetTrueAnswers(t *testing.T) {
	t.Parallel()
	r := rushes(t, "--scenario", Room, "--people", "10000", "--seats", "5000", "--slots", "2000", "--faster", "120", "--over", "4s")
	if r.Room == nil || r.Room.Lobby+r.Room.Line != 10_000 || r.Room.Doubles+r.Room.Gaps+r.Room.WrongNumbers+r.Room.Early > 0 || r.Room.Admitted == 0 || r.Orders == 0 {
		t.Errorf("%d orders; the waiting room: %+v", r.Orders, r.Room)
	}
}
