//go:build sizes

package rush

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestS1_200000PeopleFor200PlacesGetTrueAnswers(t *testing.T) { // not parallel: each has the machine to itself
	if r := rushes(t, "--scenario", Places, "--people", "200000", "--places", "200", "--over", "5s"); r.Got+r.SoldOut != 200_000 || r.Got < 34 {
		t.Errorf("of 200,000 people %d got places and %d were told that there are none", r.Got, r.SoldOut)
	}
}

func TestS5_200000VisitorsFor5000SeatsGetTrueAnswers(t *testing.T) { // not parallel: each has the machine to itself
	r := rushes(t, "--scenario", Room, "--people", "200000", "--seats", "5000", "--slots", "2000", "--faster", "120", "--over", "4s")
	if r.Room == nil || r.Room.Lobby+r.Room.Line != 200_000 || r.Room.Doubles+r.Room.Gaps+r.Room.WrongNumbers+r.Room.Early > 0 || r.Orders == 0 {
		t.Errorf("%d orders; the waiting room: %+v", r.Orders, r.Room)
	}
}

func TestS5_2000000VisitorsOfAStadiumsRoomGetTrueAnswers(t *testing.T) { // not parallel: each has the machine to itself
	r := rushes(t, "--scenario", Room, "--plan", "stadium", "--people", "2000000")
	if r.Room == nil || r.Room.Lobby+r.Room.Line != 2_000_000 || r.Room.Doubles+r.Room.Gaps+r.Room.WrongNumbers+r.Room.Early > 0 || r.Orders == 0 {
		t.Errorf("%d orders; the waiting room: %+v", r.Orders, r.Room)
	}
}

// A sale of 50,000 seats and 40,000 orders is checked from outside by its public log, with both checkers, while the books are read from
// inside: all say that it is right, and strangers know within 30 seconds.
func TestAudit_OfARealSaleAgreesWithTheCheckerAndVerify(t *testing.T) { // not parallel: it has the machine to itself
	checker := filepath.Join(t.TempDir(), "checker")
	if out, err := exec.Command("go", "build", "-C", "../../../tools", "-o", checker, "./checker").CombinedOutput(); err != nil {
		t.Fatalf("build the second checker: %v\n%s", err, out)
	}
	slug := hall(t, 50_000, true, 30*time.Minute)
	report := send(t, true, &Crowd{Event: slug, Scenario: Places, People: 40_000, Parties: []Party{{Size: 1, Weight: 3}, {Size: 2, Weight: 1}}, Over: 2 * time.Minute, Buy: true})
	t.Logf("%d orders for %d seats, %.0f a second", report.Orders, report.taken, report.OrdersPerS)
	if report.Orders < 39_000 || report.taken < 49_000 {
		t.Errorf("%d orders of about 40,000, %d of 50,000 seats are sold", report.Orders, report.taken)
	}
	log := server.URL + "/events/" + slug + "/log"
	time.Sleep(5 * time.Second) // the log follows within seconds
	var all sync.WaitGroup
	for _, judge := range [][]string{{program, "audit", log}, {checker, log}, {program, "verify", "--data", server.Data(), "--event", slug}} {
		all.Go(func() {
			began := time.Now()
			out, err := exec.CommandContext(t.Context(), judge[0], judge[1:]...).CombinedOutput()
			took := time.Since(began)
			t.Logf("%v took %.1f s:\n%s", judge, took.Seconds(), out)
			if err != nil || took > 30*time.Second {
				t.Errorf("%v: %v after %.1f s, want 30 at most", judge, err, took.Seconds())
			}
			if now := fmt.Sprintf(" %d sold", report.taken); judge[1] == "audit" && !strings.Contains(strings.ReplaceAll(string(out), ",", ""), now) {
				t.Errorf("usher audit does not say%s", now)
			}
		})
	}
	all.Wait()
}
