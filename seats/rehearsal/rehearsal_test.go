package rehearsal

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest"
)

// The report is where $4 says: usher rehearse SLUG --report FILE.
const (
	running  = `echo '{"state":"running","people":2000,"progress":{"arrived":7},"live":{"faster":2,"sale":{"Sold":5},"map":"YSBtYXA=","room":null}}' > "$4.new"; mv "$4.new" "$4"; `
	finished = `echo '{"state":"done","people":2000,"money":4200,"currency":"EUR","sections":[{"name":"Stalls","seats":10,"sold":10,"after":61.5}]}' > "$4.new"; mv "$4.new" "$4"; `
)

func (h *house) ask(t *testing.T) {
	t.Helper()
	if err := h.Ask(t.Context(), h.ann, h.event, Standard, seats.NewID().String()); err != nil {
		t.Fatal(err)
	}
}

// until waits for a rehearsal that is as it should be.
func (h *house) until(t *testing.T, is func(r *Rehearsal) bool) *Rehearsal {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		r, err := h.Latest(t.Context(), h.ann, h.event.ID)
		if err != nil {
			t.Fatal(err)
		}
		if r != nil && is(r) {
			return r
		}
		if time.Now().After(end) {
			t.Fatalf("the rehearsal is %+v", r)
		}
		if err := seats.Sleep(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func in(s State) func(r *Rehearsal) bool { return func(r *Rehearsal) bool { return r.State == s } }

func TestRehearsal_ItsReportIsShownWhileItRunsAndAtTheEnd(t *testing.T) {
	t.Parallel()
	goOn := filepath.Join(t.TempDir(), "go-on")
	h := open(t, running+`until [ -e `+goOn+` ]; do sleep 0.02; done; `+finished)
	seatstest.Run(t, h.db, h.Job())
	h.ask(t)
	r := h.until(t, func(r *Rehearsal) bool { return r.State == StateRunning && r.Report != nil })
	if l := r.Report.Live; l == nil || l.Sale.Sold != 5 || string(l.Map) != "a map" {
		t.Errorf("the live view: %+v", l)
	}
	if r.Report.Progress.Arrived != 7 || r.Crowd != Standard || r.EndedAt != nil {
		t.Errorf("while it runs: %+v", r)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r = h.until(t, in(StateDone))
	if r.Report.Money != 4200 || len(r.Report.Sections) != 1 || *r.Report.Sections[0].After != 61.5 || r.EndedAt == nil {
		t.Errorf("at the end: %+v", r.Report)
	}
}

func TestRehearsal_ItsProgramIsToldOfTheEventAndTheCrowd(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "arguments")
	h := open(t, `echo "$@" > `+to+`; `+finished)
	seatstest.Run(t, h.db, h.Job())
	h.ask(t)
	h.until(t, in(StateDone))
	said, err := os.ReadFile(to)
	if err != nil || !strings.HasPrefix(string(said), "rehearse evening --report /") || !strings.HasSuffix(string(said), " --people 2000 --over 10m0s --phones 70% --party 1:20,2:60,4:20 --bots 2% --faster 1.00\n") {
		t.Errorf("%v %s", err, said)
	}
}

func TestRehearsal_WaitingRoomRunsAsFastAsTheSale(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "arguments")
	h := open(t, `echo "$@" > `+to+`; `+finished)
	if _, err := h.db.Exec(t.Context(), `WITH r AS (INSERT INTO room (slug, name, mode, phase, slots) VALUES ('r', 'R', 'auto', 'open', 10) RETURNING id) UPDATE event SET room_id = r.id FROM r`); err != nil {
		t.Fatal(err)
	}
	long := Standard
	long.Over = SecondsOf(longestRoom) + 1
	err := h.Ask(t.Context(), h.ann, h.event, long, "long")
	if refused, is := errors.AsType[*seats.Conflict](err); !is || !strings.Contains(refused.Error(), "up to 40 minutes") {
		t.Fatalf("more than 40 minutes: %v", err)
	}
	long.Over--
	if err := h.Ask(t.Context(), h.ann, h.event, long, "as long as it may be"); err != nil {
		t.Fatal(err)
	}
	seatstest.Run(t, h.db, h.Job())
	h.until(t, in(StateDone))
	said, err := os.ReadFile(to)
	if err != nil || !strings.HasSuffix(string(said), " --over 40m0s --phones 70% --party 1:20,2:60,4:20 --bots 2% --faster 1.00\n") {
		t.Errorf("%v %s", err, said)
	}
}

func TestReport_SlowMachineIsTold(t *testing.T) {
	t.Parallel()
	for late, slow := range map[Seconds]bool{0: false, 2: false, 2.1: true} {
		if r := (&Report{Late: late}); r.Slow() != slow {
			t.Errorf("%v late: %v", late, r.Slow())
		}
	}
}

func TestRehearsal_OneSaleIsRehearsedAtATime(t *testing.T) {
	t.Parallel()
	h := open(t, "")
	h.ask(t)
	err := h.Ask(t.Context(), h.ann, h.event, Standard, "another")
	if refused, is := errors.AsType[*seats.Conflict](err); !is || !strings.Contains(refused.Error(), "one is rehearsed at a time") {
		t.Fatalf("a second one: %v", err)
	}
	if err := h.Stop(t.Context(), h.ann, h.event, "stop"); err != nil {
		t.Fatal(err)
	}
	h.until(t, in(StateStopped))
	h.ask(t)
}

func TestRehearsal_OneThatIsStoppedEndsItsProgram(t *testing.T) {
	t.Parallel()
	ended := filepath.Join(t.TempDir(), "ended")
	h := open(t, `trap 'touch `+ended+`; exit 1' TERM; `+running+`while :; do sleep 0.02; done`)
	seatstest.Run(t, h.db, h.Job())
	h.ask(t)
	h.until(t, func(r *Rehearsal) bool { return r.Report != nil })
	if err := h.Stop(t.Context(), h.ann, h.event, "stop"); err != nil {
		t.Fatal(err)
	}
	r := h.until(t, in(StateStopped))
	if _, err := os.Stat(ended); err != nil {
		t.Errorf("its program was not ended: %v", err)
	}
	if r.Report == nil || r.Report.Progress.Arrived != 7 {
		t.Errorf("its report is lost: %+v", r.Report)
	}
}

func TestRehearsal_OneWhoseProgramFailsSaysSo(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it says so":          `echo '{"state":"failed","error":"no room on the disk"}' > "$4"; exit 1`,
		"it ends too early":   running,
		"it leaves no report": `exit 1`,
		"it is not there":     `exec /nowhere/usher`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, script)
			seatstest.Run(t, h.db, h.Job())
			h.ask(t)
			if r := h.until(t, in(StateFailed)); r.Report != nil && r.Report.Error != "" {
				t.Errorf("what is for the log is shown: %q", r.Report.Error)
			}
		})
	}
}

func TestRehearsal_OneWhoseNodeEndedIsBrokenOff(t *testing.T) {
	t.Parallel()
	h := open(t, "")
	h.ask(t)
	if _, err := h.db.Exec(t.Context(), `UPDATE rehearsal SET state = 'running', seen_at = clock_timestamp() - interval '29 seconds'`); err != nil {
		t.Fatal(err)
	}
	if n, err := h.run(t.Context(), h.until(t, in(StateRunning)).ID.String()); n != 0 || err != nil {
		t.Fatalf("one that another node runs: %d, %v", n, err)
	}
	if _, err := h.db.Exec(t.Context(), `UPDATE rehearsal SET seen_at = clock_timestamp() - interval '31 seconds'`); err != nil {
		t.Fatal(err)
	}
	if n := seatstest.Do(t.Context(), t, h.db, h.Job()); n != 1 {
		t.Errorf("%d were marked", n)
	}
	h.until(t, in(StateBroken))
	h.ask(t)
}

func TestRehearsal_ANodeThatEndsBreaksItOff(t *testing.T) {
	t.Parallel()
	h := open(t, running+`while :; do sleep 0.02; done`)
	h.ask(t)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	id := h.until(t, in(StateAsked)).ID.String()
	go func() { _, err := h.run(ctx, id); done <- err }()
	h.until(t, func(r *Rehearsal) bool { return r.Report != nil })
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
	h.until(t, in(StateBroken))
}

func TestRehearsal_ACrowdThatCannotComeIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []Crowd{
		{People: 0, Over: 60, Party: "1:100"},
		{People: 200_001, Over: 60, Party: "1:100"},
		{People: 10, Over: 0, Party: "1:100"},
		{People: 10, Over: 6*3600 + 1, Party: "1:100"},
		{People: 10, Over: 60, Party: "1:100", Phones: 101},
		{People: 10, Over: 60, Party: "1:100", Bots: -1},
		{People: 10, Over: 60, Party: ""},
		{People: 10, Over: 60, Party: "1:50,2:49"},
		{People: 10, Over: 60, Party: "1:50,1:50"},
		{People: 10, Over: 60, Party: "0:100"},
		{People: 10, Over: 60, Party: "two:100"},
		{People: 10, Over: 60, Party: "1:150,2:-50"},
		{People: 10, Over: 60, Party: "1:50,01:50"},
		{People: 10, Over: 60, Party: "1:100,2:0"},
		{People: 10, Over: 60e12, Party: "1:100"},
		{People: 10, Over: Seconds(math.NaN()), Party: "1:100"},
		{People: 10, Over: 60, Party: "1:100", Preset: "--report"},
	} {
		if _, is := errors.AsType[*seats.ValidationError](c.Check(1000)); !is {
			t.Errorf("%+v: %v", c, c.Check(1000))
		}
	}
	if err := Standard.Check(1000); err != nil {
		t.Error(err)
	}
	for _, p := range Presets(50_000) {
		if err := p.Check(50_000); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, is := errors.AsType[*seats.ValidationError](Presets(1000)[3].Check(50_000)); !is {
		t.Error("forty people came for each of 50,000 seats")
	}
}

func TestRehearsal_AnotherTeamSeesNone(t *testing.T) {
	t.Parallel()
	h := open(t, "")
	h.ask(t)
	h.ann.Team = 99
	if r, err := h.Latest(t.Context(), h.ann, h.event.ID); r != nil || err != nil {
		t.Errorf("%+v %v", r, err)
	}
}

func TestRehearsals_RemoveFoldersOfKilledNodes(t *testing.T) {
	t.Parallel()
	in := t.TempDir()
	for name, age := range map[string]time.Duration{folders + "killed": 2 * atMost, folders + "runs": time.Second, "other": 2 * atMost} {
		dir, then := filepath.Join(in, name), time.Now().Add(-age)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.Chtimes(dir, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	sweep(in)
	left, err := filepath.Glob(filepath.Join(in, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "other" || filepath.Base(left[1]) != folders+"runs" {
		t.Errorf("%v are left, %v", left, err)
	}
}
