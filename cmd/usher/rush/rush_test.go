package rush

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOf120PeopleFor100SeatsExactly100GetOne(t *testing.T) {
	t.Parallel()
	report := send(t, true, &Crowd{Event: hall(t, 100, false, time.Minute), Scenario: FirstFree, People: 120, Over: time.Second})
	if report.Got != 100 || report.SoldOut != 20 || report.taken != 100 {
		t.Errorf("%d got a seat and %d were told that it is sold out, want 100 and 20; %d seats are taken", report.Got, report.SoldOut, report.taken)
	}
}

func TestPlaces_300PeopleFor20GetTrueAnswers(t *testing.T) {
	t.Parallel()
	report := send(t, true, &Crowd{Event: hall(t, 20, true, time.Minute), Scenario: Places, People: 300, Over: time.Second, Repeat: 0.5})
	if report.taken != 20 || report.Got+report.SoldOut != 300 {
		t.Errorf("%d of 20 places are taken; %d people got some and %d were told that it is sold out, of 300", report.taken, report.Got, report.SoldOut)
	}
}

func TestARealSaleTenfoldGoesWithoutAnError(t *testing.T) {
	t.Parallel()
	course := OnSale()[3:6] // its three busiest seconds
	report := send(t, true, &Crowd{Event: hall(t, 4000, true, time.Minute), Scenario: Replay, Course: course, Speed: 10})
	if want := 10 * sum(course); report.People != want || report.Got != want {
		t.Errorf("%d of %d people got a ticket, want all %d", report.Got, report.People, want)
	}
}

func TestHold_ExpiredOrReleasedSeatsGoToOthers(t *testing.T) {
	t.Parallel()
	report := send(t, true, &Crowd{
		Event: hall(t, 300, false, time.Second), Scenario: Stadium, People: 600, Over: 3 * time.Second,
		Think: 20 * time.Millisecond, Expire: 0.3, GiveUp: 0.3, Repeat: 0.3,
	})
	if report.Expired == 0 || report.Got < 120 {
		t.Errorf("the time of %d people ran out, and %d got seats; seats did not come back", report.Expired, report.Got)
	}
}

func TestWatchers_SeeSeatsChange(t *testing.T) {
	t.Parallel()
	report := send(t, true, &Crowd{Event: hall(t, 200, true, time.Minute), Scenario: Places, People: 100, Over: time.Second, Watchers: 50, Dead: 10})
	if report.Dead != 10 || report.LetGo > 10 {
		t.Errorf("of %d dead watchers %d were let go", report.Dead, report.LetGo)
	}
	if report.Frames == 0 || report.LagP50 <= 0 || report.LagP99 > 10_000 {
		t.Errorf("50 watchers saw %d seats go, half of them within %.1f ms and 99 %% within %.1f ms", report.Frames, report.LagP50, report.LagP99)
	}
}

func TestTwoCrowdsAtOneEventAreNotTakenForLies(t *testing.T) {
	t.Parallel()
	event := hall(t, 100, true, time.Minute)
	first := send(t, false, &Crowd{Event: event, Scenario: Places, People: 20, Over: time.Second})
	second := send(t, false, &Crowd{Event: event, Scenario: Places, People: 100, Over: time.Second})
	if first.taken+second.taken != 100 {
		t.Errorf("the crowds hold %d and %d of 100 places", first.taken, second.taken)
	}
}

func TestACrowdThatIsStoppedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	own, err := StartServer(t.Context(), program, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := own.CreateEvent(t.Context(), "--plan", "theatre", "--name", "Stopped"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err = Run(ctx, &Crowd{URL: own.URL, Event: "stopped", Scenario: FirstFree, People: 100, Over: time.Hour})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the crowd was stopped", err)
	}
	if err := own.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(own.dir); !os.IsNotExist(err) {
		t.Errorf("the folder %s is still there (%v)", own.dir, err)
	}
	if err := own.cmd.Process.Signal(syscall.Signal(0)); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("the server still runs: %v", err)
	}
}

func TestTheReportHasItsFields(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := (&Report{People: 3, P99: 1.23456}).JSON(&out); err != nil {
		t.Fatal(err)
	}
	want := "people got sold_out refused lapsed errors untrue oversold seconds claims_per_s orders orders_per_s orders_seconds published_orders_per_s p50_ms p95_ms p99_ms max_ms claim_p50_ms claim_p99_ms lag_p50_ms lag_p99_ms server_rss_mb server_cpu_s crowd_cpu_s frames dead let_go back away_ms desks desk_news desk_mb"
	var fields map[string]float64
	if err := json.Unmarshal(out.Bytes(), &fields); err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(want) {
		if _, there := fields[name]; !there {
			t.Errorf("no %s in %s", name, out.String())
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		t.Errorf("%v is too much", fields)
	}
}

func TestBehindOneAddress_VisitorsGetSeatsWhileAvailable(t *testing.T) {
	t.Parallel()
	report := send(t, true, &Crowd{Event: hall(t, 36, true, time.Minute), Scenario: Replay, Course: []int{20, 20}, Speed: 1, OneAddress: true})
	if report.taken != 36 || report.Got != 36 || report.SoldOut != 4 {
		t.Errorf("%d of 36 places are taken; %d got one and %d were told that it is sold out, of 40", report.taken, report.Got, report.SoldOut)
	}
	if report.Worked == 0 || report.Worked > 10 {
		t.Errorf("%d of 40 browsers were checked; 30 places need no check, and no browser is checked when it is sold out", report.Worked)
	}
}

// A network holds 60 of 100 places at once. More of its people get some as those before them order.
func TestBehindOneAddress_AllPlacesAreSoldAlthoughANetworkHoldsAFewAtOnce(t *testing.T) {
	t.Parallel()
	report := send(t, true, &Crowd{Event: hall(t, 100, true, time.Minute), Scenario: Replay, Course: []int{110}, Speed: 1, Think: 3 * time.Second, Buy: true, OneAddress: true})
	if report.Orders != 100 || report.Got != 100 || report.SoldOut != 10 {
		t.Errorf("%d of 100 places are sold; %d people were told that it is sold out, of 110", report.Got, report.SoldOut)
	}
	if report.Waited == 0 {
		t.Error("no claim waited until the network held fewer places")
	}
}
