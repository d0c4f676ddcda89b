package rush

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/waitingroom"
)

func TestRoom_3000VisitorsGetTrueAnswers(t *testing.T) {
	t.Parallel()
	event := hall(t, 200, false, 30*time.Second)
	err := server.CreateRoom(t.Context(), "--name", t.Name(), "--slug", event, "--events", event, "--slots", "200", "--valid", "30s", "--idle", "20s", "--stay", "60s")
	if err != nil {
		t.Fatal(err)
	}
	report := send(t, true, &Crowd{
		Event: event, Scenario: Room, People: 3000, Over: 3 * time.Second, Buy: true, GiveUp: 0.05,
		Room: event, Slots: 200, Faster: 60, Absent: 0.35, Early: 0.02, Looks: 100,
		Open: func(ctx context.Context) error { return server.CloseLobby(ctx, event) },
	})
	room := report.Room
	if int(room.Lobby+room.Line) != 3000 || room.Doubles+room.Gaps+room.WrongNumbers+room.Early > 0 {
		t.Errorf("3000 people have %d + %d places, %d twice and %d without a person; %d numbers are not those of the draw, %d came in early",
			room.Lobby, room.Line, room.Doubles, room.Gaps, room.WrongNumbers, room.Early)
	}
	if report.taken != 200 || room.Admitted == 0 || room.Away == 0 || room.TriedEarly == 0 || report.SoldOut == 0 {
		t.Errorf("%d of 200 seats are sold; %d were let in, %d were away, %d tried early, %d were told it is sold out",
			report.taken, room.Admitted, room.Away, room.TriedEarly, report.SoldOut)
	}
	f := waitingroom.FairnessOf(exported(t, event))
	if f.People != 3000 || f.Called != room.Called || f.Came != int64(room.Admitted) || f.Bought != int64(report.Orders) || f.Seats != *f.Tickets || f.Seats < f.Bought || f.Early > 0 || !f.Repeated {
		t.Errorf("by the exported evidence %d of %d people were called, %d came and %d bought %d of %d seats, %d came in early, and the draw is the same again: %v; by the crowd %d, %d and %d",
			f.Called, f.People, f.Came, f.Bought, f.Seats, *f.Tickets, f.Early, f.Repeated, room.Called, room.Admitted, report.Orders)
	}
	if sum := together(f.Groups, waitingroom.ByNumber); sum.People != f.People || sum.Came != f.Came || sum.Bought != f.Bought || sum.Seats != f.Seats {
		t.Errorf("the groups by number have %+v together, of %+v", sum, f)
	}
}

// exported is the evidence of a room of the shared server, as "usher room export" writes it.
func exported(t *testing.T, room string) (list []waitingroom.Evidence) {
	t.Helper()
	lines, err := server.ask(t.Context(), "room", "export", room)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(lines) {
		var e waitingroom.Evidence
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, e)
	}
	return list
}

// together is all groups of a kind together.
func together(groups []waitingroom.Group, by string) (all waitingroom.Group) {
	for _, g := range groups {
		if g.By == by {
			all.People, all.Came, all.Bought, all.Seats = all.People+g.People, all.Came+g.Came, all.Bought+g.Bought, all.Seats+g.Seats
		}
	}
	return all
}

// waitAt lets a small crowd wait in front of an office of the tests.
func waitAt(t *testing.T, lie string) *Report {
	t.Helper()
	o, url := openRoomOffice(t, lie)
	report, err := Run(t.Context(), &Crowd{
		URL: url, Event: "evening", Scenario: Room, People: 200, Over: 500 * time.Millisecond, Connections: 8, Seed: 7, Own: true,
		Room: "evening", Slots: roomSlots, Faster: 100, Absent: 0.2, Early: 0.3, Looks: 200, Open: o.close,
	})
	if err != nil {
		t.Error(err)
		return &Report{}
	}
	return report
}

func TestAnHonestWaitingRoomIsNotAccused(t *testing.T) {
	t.Parallel()
	report := waitAt(t, "")
	in := slices.DeleteFunc(slices.Clone(report.Room.Waits), func(w Wait) bool { return !w.In })
	if len(report.Room.Waits) != 200 || len(in) < report.Got || len(in) > report.Room.Admitted || slices.ContainsFunc(in, func(w Wait) bool { return w.Took <= 0 || w.Came >= 500*time.Millisecond }) {
		t.Errorf("%d were let in, and %d of %d people waited until then: %v", report.Room.Admitted, len(in), len(report.Room.Waits), in)
	}
	if report.Failed() || report.Got == 0 || report.SoldOut == 0 || report.Room.Admitted == 0 {
		t.Errorf("%d got places, %d were told that it is sold out, %d were let in; found: %s", report.Got, report.SoldOut, report.Room.Admitted, strings.Join(report.Lies(), "\n"))
	}
}

func TestTheJudgeFindsEveryPlantedLieOfAWaitingRoom(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for lie, word := range roomLies { // all at once: most of the time they wait
		all.Go(func() {
			report := waitAt(t, lie)
			all := strings.Join(report.Lies(), "\n")
			if !report.Failed() || !slices.ContainsFunc(strings.Split(word, "|"), func(w string) bool { return strings.Contains(all, w) }) {
				t.Errorf("%q was not found: untrue %d, errors %d, %q", lie, report.Untrue, report.Errors, all)
			}
		})
	}
	all.Wait()
}

func TestABrowserKeepsTheLastOfEachCookie(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]string{
		{"", "", ""},
		{"", "a=1", "a=1"},
		{"a=1", "", "a=1"},
		{"a=1", "a=2", "a=2"},
		{"a=1; b=1", "a=2", "a=2; b=1"},
		{"ab=1", "a=2; c=3", "a=2; c=3; ab=1"},
	} {
		if got := merge(test[0], test[1]); got != test[2] {
			t.Errorf("%q and then %q: it keeps %q, want %q", test[0], test[1], got, test[2])
		}
	}
}

// The last seats of a sale in real time may be held for minutes, in which no other person can be called; free ones may not wait.
func TestRoom_WaitsForTheLastHoldsAndNotForFreeSeats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		free, held int
		faster     float64
		want       time.Duration
	}{
		{0, 6, 1, lastHolds}, {0, 6, 20, stuck}, {1, 6, 1, stuck}, {0, 0, 1, stuck},
	} {
		if got := (&roomStatus{Free: c.free, Held: c.held}).patience(c.faster); got != c.want {
			t.Errorf("with %d seats free and %d held, %v times as fast, it waits %s, want %s", c.free, c.held, c.faster, got, c.want)
		}
	}
}
