package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/rehearsal"
	"github.com/usherbox/usher/seats/seatstest"
)

// builtProgram builds the program once: a rehearsal starts its own file again.
func builtProgram(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "usher")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", file, ".").CombinedOutput(); err != nil {
		t.Fatalf("build usher: %v\n%s", err, out)
	}
	return file
}

// makeEvening puts an event of a theatre on sale.
func makeEvening(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	theatre, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), conn, events.Settings{Name: "Evening", StartsAt: time.Unix(4e9, 0)}, theatre); err != nil {
		t.Fatal(err)
	}
}

// houseRows counts the rows of each table of a house, and sums up what is in them.
func houseRows(t *testing.T, conn *pgx.Conn) (all string) {
	t.Helper()
	rows, _ := conn.Query(t.Context(), `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var sum string
		if err := conn.QueryRow(t.Context(), fmt.Sprintf(`SELECT concat(count(*), ' ', md5(string_agg(t::text, ',' ORDER BY t::text))) FROM %q t`, name)).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		all += name + " " + sum + "\n"
	}
	return all
}

func TestRehearse_RunsBesideAHouse(t *testing.T) {
	t.Parallel()
	program := builtProgram(t)
	for name, does := range map[string]func(t *testing.T, program string){
		"a small theatre agrees with its ledger and touches nothing": rehearseTheatre,
		"stopped in the middle it leaves nothing":                    stopRehearsal,
		"killed in the middle it leaves no process":                  killRehearsal,
		"it gives way to all others":                                 rehearsalGivesWay,
		"it stands still while the box office sells":                 rehearseBesideASale,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			does(t, program)
		})
	}
}

func rehearseTheatre(t *testing.T, program string) {
	var called atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	defer hook.Close()
	dsn := seatstest.DSN(t)
	conn, err := seatsdb.Dial(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	dir := t.TempDir()
	environment := append(os.Environ(), "DATABASE_URL="+dsn, "USHER_HOOKS_INSIDE=true", "USHER_SMTP=smtp://"+strings.TrimPrefix(hook.URL, "http://")+"?tls=optional", "USHER_MAIL_FROM=a@example.org", "OTEL_EXPORTER_OTLP_ENDPOINT="+hook.URL, "TMPDIR="+dir)
	usher := func(args ...string) (string, string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		var out, said bytes.Buffer
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = environment, dir, &out, &said
		if err := cmd.Run(); err != nil {
			t.Fatalf("usher %v: %v\n%s\n%s", args, err, out.String(), said.String())
		}
		return out.String(), said.String()
	}
	makeEvening(t, conn)
	if _, err := conn.Exec(t.Context(), `INSERT INTO hook (team_id, url, kinds) VALUES (1, $1, '{order.placed}')`, hook.URL+"/hook"); err != nil {
		t.Fatal(err)
	}
	before, report := houseRows(t, conn), filepath.Join(dir, "report.json")

	out, said := usher("rehearse", "evening", "--people", "100", "--over", "8s", "--faster", "4", "--party", "2:1,4:3", "--bots", "4%", "--report", report, "--sockets", "5", "--whole-machine")
	if after := houseRows(t, conn); after != before {
		t.Errorf("a rehearsal changed the house: it had\n%s\nand has\n%s", before, after)
	}
	if n := called.Load(); n > 0 {
		t.Errorf("something outside was called %d times", n)
	}
	r, err := rehearsal.Read(report)
	if err != nil {
		t.Fatal(err)
	}
	if r.State != rehearsal.Done || r.People != 100 || r.Over != 8 || r.Ended.Before(r.Started) {
		t.Errorf("the report says %+v", r)
	}
	if len(r.Broken) > 0 {
		t.Errorf("it broke: %v\n%s", r.Details, said)
	}
	sold := 0
	for _, s := range r.Sections {
		sold += s.Sold
	}
	byPrice := 0
	for _, s := range r.Prices {
		byPrice += s.Sold
	}
	if sold < 2*r.Progress.Bought || sold != byPrice || r.Money < int64(sold)*100 || r.Claims.Count < r.Progress.Bought || r.Progress.Arrived != 100 {
		t.Errorf("%d seats were sold by section, %d by price, for %d: %+v", sold, byPrice, r.Money, r)
	}
	if !slices.ContainsFunc(r.Faults, func(m rehearsal.Mistake) bool { return m.Name == "address" && m.Severity == rehearsal.Harms }) || !strings.Contains(out, "The event page has no address of the venue. Enter street and town.") {
		t.Errorf("it found the mistakes %+v and says\n%s", r.Faults, out)
	}
	if r.Machine.CPUSeconds <= 0 || r.Machine.PeakMemory <= 0 || !strings.Contains(out, "Nothing broke.") {
		t.Errorf("the machine was %+v, and the command says\n%s", r.Machine, out)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "usher-rush-*")); err != nil || len(left) > 0 {
		t.Errorf("the rehearsal left %v", left)
	}
}

// aRehearsal is a rehearsal under way, to which people come.
type aRehearsal struct {
	cmd      *exec.Cmd
	dir      string // its temporary folder
	report   string // the file
	dsn      string // of the house
	children []int
}

// launchRehearsal begins a rehearsal of a house of its own.
func launchRehearsal(t *testing.T, program string, flags ...string) aRehearsal {
	t.Helper()
	dsn, dir := seatstest.DSN(t), t.TempDir()
	conn, err := seatsdb.Dial(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	makeEvening(t, conn)
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := aRehearsal{dir: dir, report: filepath.Join(dir, "report.json"), dsn: dsn}
	a.cmd = exec.CommandContext(t.Context(), program, append([]string{"rehearse", "evening", "--people", "1000", "--over", "5m", "--report", a.report}, flags...)...)
	a.cmd.Env = append(os.Environ(), "DATABASE_URL="+dsn, "TMPDIR="+dir)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return a
}

// startRehearsal begins a rehearsal of a house of its own, and waits until people come.
func startRehearsal(t *testing.T, program string, flags ...string) aRehearsal {
	t.Helper()
	a := launchRehearsal(t, program, flags...)
	within(t, 8*time.Minute, "no person came", func() bool {
		r, err := rehearsal.Read(a.report)
		return err == nil && r.State == rehearsal.Running && r.Progress.Arrived > 0
	})
	if a.children = childrenOf(t, a.cmd.Process.Pid); len(a.children) == 0 {
		t.Fatal("the rehearsal has no shadow")
	}
	return a
}

// within waits until something is so.
func within(t *testing.T, most time.Duration, not string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > most {
			t.Fatalf("%s within %s", not, most)
		}
	}
}

func stopRehearsal(t *testing.T, program string) {
	a := startRehearsal(t, program, "--whole-machine")
	within(t, 3*time.Minute, "no sold seat is in the live view", func() bool {
		r, err := rehearsal.Read(a.report)
		return err == nil && r.Live != nil && r.Live.Sale.Sold > 0 && r.Live.Sale.Capacity() == 988 && len(r.Live.Map) > 988/4 && r.Live.Room == nil
	})
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Wait(); err == nil {
		t.Error("a rehearsal that was stopped ends as if it were done")
	}
	r, err := rehearsal.Read(a.report)
	if err != nil || r.State != rehearsal.Failed || r.Error == "" || r.Live != nil {
		t.Errorf("the report says %+v, %v", r, err)
	}
	for _, pid := range a.children {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d goes on", pid)
		}
	}
	if left, err := filepath.Glob(filepath.Join(a.dir, "usher-rush-*")); err != nil || len(left) > 0 {
		t.Errorf("the rehearsal left %v", left)
	}
}

// One that gives way gets nothing while others want its core, so only its beginning is waited for.
func rehearsalGivesWay(t *testing.T, program string) {
	a := launchRehearsal(t, program)
	within(t, 8*time.Minute, "it has no shadow", func() bool {
		a.children = childrenOf(t, a.cmd.Process.Pid)
		return len(a.children) > 0
	})
	for _, pid := range append(a.children, a.cmd.Process.Pid) {
		nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
		if err != nil && errors.Is(err, syscall.ESRCH) {
			continue // it did what it was started for
		}
		if err != nil || nice != 1 { // the system call has 20 less it
			t.Errorf("process %d of a rehearsal has priority %d, %v", pid, nice, err)
		}
	}
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = a.cmd.Wait() // it was stopped, and ends what it started
}

func killRehearsal(t *testing.T, program string) {
	a := startRehearsal(t, program, "--whole-machine")
	t.Cleanup(func() {
		for _, pid := range a.children {
			if goesOn(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may end by itself
			}
		}
	})
	for _, pid := range a.children { // it takes the whole machine
		if nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid); err != nil || nice != 20 {
			t.Errorf("process %d of a rehearsal that gives way to none has priority %d, %v", pid, nice, err)
		}
	}
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = a.cmd.Wait() // it was killed
	within(t, 30*time.Second, "its shadow did not end", func() bool {
		return !slices.ContainsFunc(a.children, func(pid int) bool { return goesOn(pid) })
	})
}

// A node announces a change each quarter of a second.
func rehearseBesideASale(t *testing.T, program string) {
	a := startRehearsal(t, program, "--whole-machine")
	ctx, cancel := context.WithCancel(t.Context())
	var node sync.WaitGroup
	notifier := realtime.NewNotifier(a.dsn, newLog(io.Discard, "text"))
	node.Go(func() { _ = notifier.Run(ctx) }) // it ends with ctx
	node.Go(func() {
		for version := int64(1); seats.Sleep(ctx, 250*time.Millisecond) == nil; version++ {
			notifier.Notify(1, version)
		}
	})
	read := func() (r *rehearsal.Report) {
		within(t, time.Minute, "there is no report", func() (is bool) {
			var err error
			r, err = rehearsal.Read(a.report)
			return err == nil
		})
		return r
	}
	within(t, time.Minute, "it did not stand still", func() bool { return read().Stood > 0 })
	before := read()
	within(t, time.Minute, "it did not stand still for long", func() bool { return read().Stood > before.Stood+4 })
	if r := read(); r.Progress.Arrived > before.Progress.Arrived+5 {
		t.Errorf("%d people had come when it stood still, and %d some seconds later", before.Progress.Arrived, r.Progress.Arrived)
	}
	cancel()
	node.Wait()
	within(t, time.Minute, "it did not go on", func() bool { r := read(); return !r.Still && r.Progress.Arrived > before.Progress.Arrived+5 })
	stood := read().Stood
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = a.cmd.Wait() // it was stopped
	if r := read(); r.Stood != stood || r.Still || r.Busy {
		t.Errorf("in the end the report says that it stood still for %v, %v; %v before", r.Stood, r.Still, stood)
	}
}

func TestAside_StandsStillWhileSeatsChangeAndEndsIfThatIsMostOfTheTime(t *testing.T) {
	t.Parallel()
	dsn := seatstest.DSN(t)
	conn, err := seatsdb.Dial(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	const listeners = ` FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()`
	heard := func() (is bool) {
		if err := conn.QueryRow(t.Context(), `SELECT count(*) > 0`+listeners).Scan(&is); err != nil {
			t.Fatal(err)
		}
		return is
	}
	still := &rush.Standstill{}
	stands := func() bool { _, now := still.Total(); return now }
	var said bytes.Buffer
	a := &aside{house: dsn, crowd: still, most: 4 * time.Second, began: time.Now(), stderr: &said}
	ended := make(chan error, 1)
	go func() { ended <- a.run(t.Context()) }()
	within(t, 10*time.Second, "it does not listen", heard)
	if stands() {
		t.Error("it stands still although nothing is sold")
	}
	exec(`SELECT pg_notify(house_channel('usher'), '1:1')`)
	within(t, 10*time.Second, "it did not stand still", stands)
	within(t, 10*time.Second, "it did not go on", func() bool { return !stands() })
	exec(`SELECT pg_terminate_backend(pid)` + listeners)
	within(t, 10*time.Second, "it did not stand still while it heard nothing", stands)
	within(t, 10*time.Second, "it did not listen again", heard)
	within(t, 10*time.Second, "it did not go on", func() bool { return !stands() })
	for end := time.After(time.Minute); ; {
		exec(`SELECT pg_notify(house_channel('usher'), '1:2')`)
		select {
		case err := <-ended:
			if stood, _ := still.Total(); !errors.Is(err, errBusy) || stood < 4*time.Second {
				t.Errorf("it ended with %v after it had stood still for %v", err, stood)
			}
			if !strings.Contains(said.String(), "cannot hear whether the box office sells") {
				t.Errorf("it said %q", said.String())
			}
			return
		case <-end:
			t.Fatal("it goes on beside a sale that does not end")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// goesOn reports whether a process has not ended. One whose parent was killed may wait for another parent to hear of its end.
func goesOn(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))[0]
	return state != "Z" && state != "X"
}

// childrenOf lists the processes that a process started.
func childrenOf(t *testing.T, pid int) (list []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // that thread ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			var child int
			if err := json.Unmarshal([]byte(word), &child); err != nil {
				t.Fatal(err)
			}
			list = append(append(list, child), childrenOf(t, child)...)
		}
	}
	return list
}

func TestRehearse_RefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{
		{"--preset", "opera"},
		{"--party", "2"},
		{"--party", "0:5"},
		{"--party", "1:1,1:2"},
		{"--people", "0"},
		{"--people", "6000000"},
		{"--over", "-1s"},
		{"--phones", "120%"},
		{"--bots", "-1%"},
		{"--faster", "0.5"},
		{"--absent", "2"},
	} {
		_, err := try(t, append([]string{"rehearse", "evening"}, flags...)...)
		if exitCode(err, new(bytes.Buffer)) != 2 {
			t.Errorf("%v: %v", flags, err)
		}
	}
}

func TestRehearse_PresetsAreThoseOfTheDesk(t *testing.T) {
	t.Parallel()
	for _, p := range rehearsal.Presets(1000) {
		c := rehearseCommand{Preset: p.Preset, Faster: 1}
		crowd, err := c.crowd(1000)
		if err != nil || crowd.People != p.People || crowd.Over != p.Over.Duration() || crowd.Bots*100 != float64(p.Bots) || crowd.Phones*100 != float64(p.Phones) || len(crowd.Parties) == 0 {
			t.Errorf("preset %q: %+v, %v", p.Preset, crowd, err)
		}
	}
	if _, err := (&rehearseCommand{Preset: "hype", Faster: 1}).crowd(50_000); err == nil {
		t.Error("two million people come")
	}
}

func TestReport_TextSaysMoneyInUnitsOfItsCurrency(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]string{"EUR": "for 12.34 EUR", "JPY": "for 1234 JPY"} {
		var text strings.Builder
		if err := writeRehearsed(&text, &rehearsal.Report{Money: 1234, Currency: currency}); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v: %s", err, text.String())
		}
	}
}

func TestReport_TextSaysForHowLongItStoodStill(t *testing.T) {
	t.Parallel()
	for stood, want := range map[rehearsal.Seconds]bool{0: false, 12: true} {
		var text strings.Builder
		if err := writeRehearsed(&text, &rehearsal.Report{Stood: stood}); err != nil || strings.Contains(text.String(), "stood still for 12s") != want {
			t.Errorf("%v: %v: %s", stood, err, text.String())
		}
	}
}

func TestReport_TextHasTheRangesOfWaits(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	err := writeRehearsed(&text, &rehearsal.Report{Waits: &rehearsal.Waits{Arrivals: []rehearsal.WaitRange{{From: 0, To: 120, Came: 80, In: 60, Least: 31, Most: 400}, {From: 120, To: 240, Came: 7}}}})
	for _, want := range []string{"80 came from 0s to 2m0s: 60 were let in, 95 of 100 of them after 31s to 6m40s.", "7 came from 2m0s to 4m0s: none was let in."} {
		if err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v: nothing says %q: %s", err, want, text.String())
		}
	}
}

func TestRehearsal_ItsProgramGetsNoSecretButTheDatabase(t *testing.T) {
	for _, name := range []string{"USHER_SMTP", "USHER_STRIPE_KEY", "USHER_STRIPE_WEBHOOK", "USHER_SECRET_KEY", "DATABASE_DIRECT_URL", "SOMETHING_ELSE"} {
		t.Setenv(name, "secret-of-"+name)
	}
	t.Setenv("PGSSLROOTCERT", "/etc/root.crt")
	cmd := rehearsalOf(&DatabaseSettings{DatabasePlain: true}, &database{dsn: "postgres://usher@db/usher"})(t.Context(), "rehearse", "evening")
	for _, want := range []string{"DATABASE_URL=postgres://usher@db/usher", "USHER_DATABASE_PLAINTEXT=true", "PGSSLROOTCERT=/etc/root.crt"} {
		if !slices.Contains(cmd.Env, want) {
			t.Errorf("%s is missing in %v", want, cmd.Env)
		}
	}
	if all := strings.Join(cmd.Env, "\n"); strings.Contains(all, "secret-of-") {
		t.Errorf("it gets %s", all)
	}
	if !slices.Equal(cmd.Args[1:], []string{"rehearse", "evening"}) {
		t.Errorf("it is told %v", cmd.Args)
	}
	if !slices.Contains(cmd.Env, rush.EndsWithInput+"=1") || cmd.Stdin == nil {
		t.Error("it does not end with its node")
	}
}

func TestShadow_OnlyItsPrivateDatabaseMayLoseData(t *testing.T) {
	t.Parallel()
	dsn := seatstest.DSN(t) + " options='-c synchronous_commit=off'"
	for _, test := range []struct {
		cfg  DatabaseSettings
		good bool
	}{
		{DatabaseSettings{shadow: true}, true},
		{DatabaseSettings{}, false},
		{DatabaseSettings{shadow: true, DatabaseURL: dsn}, false},
	} {
		if err := prepare(t.Context(), dsn, &test.cfg); (err == nil) != test.good {
			t.Errorf("shadow %v, address %v: %v", test.cfg.shadow, test.cfg.DatabaseURL != "", err)
		}
	}
}
