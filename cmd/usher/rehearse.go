package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/cmd/usher/rush"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/rehearsal"
)

// rehearseCommand sends the crowd that an organizer expects to a copy of an event. Pointers are flags with a default of the preset.
type rehearseCommand struct {
	Slug    string         `arg:"" help:"The event's word in addresses."`
	People  *int           `placeholder:"PEOPLE" help:"How many people come: 1000, or as many as with the preset."`
	Over    *time.Duration `placeholder:"TIME" help:"The time within which they come: 1m, or as long as with the preset."`
	Phones  *share         `placeholder:"SHARE" help:"Share that comes with a phone, and asks for the best seats instead of pointing at some: 70%."`
	Party   string         `placeholder:"PARTIES" help:"How many tickets people want, each size with its share, as 1:20,2:60,4:20."`
	Bots    *share         `placeholder:"SHARE" help:"Share that are programs, which come first and take as much as they may get: none."`
	Preset  string         `placeholder:"NAME" help:"Figures of a known sale, for the flags that are left out: camp, conference, hall, stadium."`
	Faster  float64        `default:"1" placeholder:"TIMES" help:"Speed of the rehearsal: so many times as fast as the sale. All times of the report are those of the sale."`
	Absent  share          `default:"35%" placeholder:"SHARE" help:"Share that does not come when called from the waiting room."`
	Report  string         `placeholder:"FILE" help:"File for the report in JSON, which is written again each second; empty: none."`
	Seed    uint64         `default:"1" placeholder:"NUMBER" help:"Number that makes two crowds alike."`
	Sockets int            `default:"50" placeholder:"SOCKETS" help:"Open sockets that watch the live map meanwhile."`
	DatabaseSettings
}

// Run is the command.
func (c *rehearseCommand) Run(ctx context.Context, sh *shell) (err error) {
	crowd, err := c.crowd()
	if err != nil {
		return misuse(err)
	}
	if err := beGentle(); err != nil {
		return err
	}
	r := &rehearsing{faster: c.Faster, file: c.Report, report: rehearsal.Report{
		State: rehearsal.Running, Event: c.Slug, Preset: c.Preset, People: crowd.People, Over: rehearsal.SecondsOf(time.Duration(float64(crowd.Over) * c.Faster)), Started: time.Now().UTC().Truncate(time.Second),
		Sections: []rehearsal.SoldOut{}, Prices: []rehearsal.SoldOut{}, Broke: []string{},
	}}
	if err := r.write(); err != nil {
		return misuse(err)
	}
	err = c.rehearse(ctx, sh, crowd, r)
	if ctx.Err() != nil {
		err = errors.New("the rehearsal was stopped before its end")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.State, r.report.Ended = rehearsal.Done, time.Now().UTC().Truncate(time.Second)
	if err != nil {
		r.report.State, r.report.Error = rehearsal.Failed, err.Error()
	}
	if failed := r.write(); err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	return writeRehearsed(sh.stdout, &r.report)
}

// rehearsing is a rehearsal under way.
type rehearsing struct {
	faster float64
	file   string // empty: the report is not written

	mu     sync.Mutex
	report rehearsal.Report
	memory float64 // MB, the most that was seen
}

// write writes the report. It needs mu once the crowd comes.
func (r *rehearsing) write() error {
	if r.file == "" {
		return nil
	}
	return r.report.Write(r.file)
}

// rehearse opens the shadow, copies the event into it, sends the crowd and reads how it went.
func (c *rehearseCommand) rehearse(ctx context.Context, sh *shell, crowd *rush.Crowd, r *rehearsing) (err error) {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	server, err := rush.StartShadow(ctx, program, crowd.Watchers)
	if err != nil {
		return err
	}
	defer closing(&err, server.Stop)
	shadow, err := postgres.Start(ctx, server.Data(), newLog(io.Discard, "text")) // the server runs it
	if err != nil {
		return err
	}
	conn, err := seatsdb.Dial(ctx, shadow.DSN)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }() // the shadow ends
	room, err := c.copy(ctx, sh, conn)
	if err != nil {
		return err
	}
	crowd.URL, crowd.Event = server.URL, c.Slug
	if room != nil {
		if err := c.openRoom(ctx, server, room, crowd); err != nil {
			return err
		}
	}
	return r.send(ctx, server, conn, crowd, room != nil, sh.stderr)
}

// copy copies the event from the house.
func (c *rehearseCommand) copy(ctx context.Context, sh *shell, to *pgx.Conn) (room *rehearsal.Room, err error) {
	db, err := startDatabase(ctx, &c.DatabaseSettings, newLog(sh.stderr, "text"))
	if err != nil {
		return nil, err
	}
	defer closing(&err, db.close)
	house, err := seatsdb.Dial(ctx, db.dsn)
	if err != nil {
		return nil, fmt.Errorf("the database cannot be reached: %w", err)
	}
	defer func() { _ = house.Close(ctx) }() // nothing was left undone on it
	if err := c.enter(ctx, house); err != nil {
		return nil, err
	}
	room, err = rehearsal.Copy(ctx, house, to, c.Slug, c.Faster)
	switch {
	case errors.Is(err, rehearsal.ErrNoEvent):
		return nil, fmt.Errorf("there is no event %q; nothing was rehearsed", c.Slug)
	case errors.Is(err, rehearsal.ErrVersion):
		return nil, errors.New("the box office runs another version of usher: rehearse with that one, or update it first")
	}
	return room, err
}

// openRoom puts a waiting room with the same settings before the event of the shadow.
func (c *rehearseCommand) openRoom(ctx context.Context, server *rush.Server, room *rehearsal.Room, crowd *rush.Crowd) error {
	short := func(d time.Duration) string {
		return max(time.Second, time.Duration(float64(d)/c.Faster)).Round(time.Millisecond).String()
	}
	rate := 0.0
	if room.Rate != nil {
		rate = *room.Rate * c.Faster
	}
	flags := []string{
		"--name", "Rehearsal", "--slug", "rehearsal", "--events", c.Slug, "--slots", strconv.Itoa(room.Slots), "--rate", fmt.Sprintf("%g", rate),
		"--valid", short(room.Valid), "--idle", short(room.Idle), "--stay", short(room.Stay),
	}
	crowd.Scenario, crowd.Room, crowd.Slots, crowd.Faster = rush.Room, "rehearsal", room.Slots, c.Faster
	crowd.Absent, crowd.Looks = float64(c.Absent), 500
	if !room.Scheduled {
		return server.CreateOpenRoom(ctx, flags...)
	}
	crowd.Open = func(ctx context.Context) error { return server.CloseLobby(ctx, crowd.Room) }
	return server.CreateRoom(ctx, flags...)
}

// weighEvery is the time from one look at the memory of all processes to the next: it takes the processor some milliseconds.
const weighEvery = 10 * time.Second

// send lets the crowd come, and reads how it went from its answers and from the database of the shadow.
func (r *rehearsing) send(ctx context.Context, server *rush.Server, conn *pgx.Conn, crowd *rush.Crowd, room bool, stderr io.Writer) error {
	var unwritten error
	looked := time.Time{}
	crowd.Live = func(l rush.Live) {
		memory := 0.0
		if time.Since(looked) > weighEvery {
			memory, looked = server.UsedByAll().MemoryMB, time.Now()
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.memory, r.report.Progress = max(r.memory, memory), rehearsal.Progress(l)
		unwritten = errors.Join(unwritten, r.write())
	}
	began, err := rehearsal.Now(ctx, conn)
	if err != nil {
		return err
	}
	before, from := server.UsedByAll(), time.Now()
	crowded, err := rush.Run(ctx, crowd)
	if err != nil {
		return err
	}
	if crowded.Failed() {
		fmt.Fprintf(stderr, "usher: the last that the shadow said:\n%s\n", server.Log())
	}
	after, took := server.UsedByAll(), time.Duration(float64(time.Since(from))*r.faster)
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.report
	if err := p.ReadSales(ctx, conn, began, r.faster); err != nil {
		return err
	}
	if room {
		if p.Waits, err = rehearsal.ReadPromises(ctx, conn); err != nil {
			return err
		}
		p.Waits.Of(crowded.Room.Waited, r.faster)
	}
	p.Progress.Holding, p.Progress.Left = 0, p.Progress.Arrived-p.Progress.Bought // some gave seats back, or let them expire
	p.Claims = rehearsal.Claims{Count: crowded.Claims, P50: crowded.ClaimP50, P99: crowded.ClaimP99, Refused: crowded.Taken}
	within := p.Over.Duration()
	if room { // which spreads the work
		within = took
	}
	p.Machine = machine(after.CPU-before.CPU, max(r.memory, after.MemoryMB), within)
	p.Broke = broke(crowded)
	return unwritten
}

// writeRehearsed writes the report of a rehearsal for people.
func writeRehearsed(w io.Writer, r *rehearsal.Report) error {
	t := &lines{w: w}
	t.add("%d people came to %s within %s.", r.People, r.Event, r.Over)
	digits := pricing.Decimals(r.Currency)
	t.add("%d bought tickets for %.*f %s, %d left without any.", r.Progress.Bought, digits, float64(r.Money)/math.Pow10(digits), r.Currency, r.Progress.Left)
	for _, part := range []struct {
		name string
		list []rehearsal.SoldOut
	}{{"Section", r.Sections}, {"Price", r.Prices}} {
		t.add("")
		for _, s := range part.list {
			after := "does not sell out"
			if s.After != nil {
				after = "is sold out after " + s.After.String()
			}
			t.add("%s %s: %d of %d seats sold, %s", part.name, s.Name, s.Sold, s.Seats, after)
		}
	}
	t.add("")
	if r.Waits != nil {
		t.add("Waits: half of those let in up to %s, 95 of 100 up to %s, the longest %s. %d of %d promised times held.", r.Waits.P50, r.Waits.P95, r.Waits.Max, r.Waits.Kept, r.Waits.Promised)
	}
	t.add("Claims: %d, half answered within %.0f ms, 99 of 100 within %.0f ms. %d found a seat taken.", r.Claims.Count, r.Claims.P50, r.Claims.P99, r.Claims.Refused)
	t.add("Machine: %s.", r.Machine.Needed)
	for _, what := range r.Broke {
		t.add("Broke: %s", what)
	}
	if len(r.Broke) == 0 {
		t.add("Nothing broke.")
	}
	return t.err
}

// lines writes lines until one fails.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) add(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format+"\n", args...)
	}
}

// machine says what the sale needs: twice the cores that the box office and PostgreSQL worked on average, for the peaks.
func machine(cpu, memory float64, within time.Duration) rehearsal.Machine {
	cores := cpu / max(within.Seconds(), 1)
	return rehearsal.Machine{
		CPUSeconds: math.Round(cpu*100) / 100, PeakMemory: int64(memory * (1 << 20)),
		Needed: fmt.Sprintf("%.2f cores on average for this pace, so %d with a reserve for peaks; %.0f MB of memory", cores, int(math.Ceil(2*cores)), memory),
	}
}

// broke lists what went wrong, and how often.
func broke(p *rush.Report) []string {
	list := []string{}
	for _, one := range []struct {
		n    int
		what string
	}{{p.Oversold, "seats sold twice"}, {p.Untrue, "untrue answers"}, {p.Errors, "requests without a proper answer"}} {
		if one.n > 0 {
			list = append(list, thousands(one.n)+" "+one.what)
		}
	}
	return append(list, p.Lies()...)
}

// lowest is the priority of a rehearsal, as nice(1) counts.
const lowest = 19

// beGentle gives this process, and those it starts, the lowest priority and one core.
func beGentle() error {
	runtime.GOMAXPROCS(1)
	if err := os.Setenv("GOMAXPROCS", "1"); err != nil {
		return err
	}
	if err := yield(); err != nil {
		return fmt.Errorf("rehearse: %w", err)
	}
	return nil
}

// preset is a crowd of a known sale.
type preset struct {
	people  int
	over    time.Duration
	parties string
	phones  share
}

// presets are named for what was sold. docs/rehearsal.md says where their figures come from.
var presets = map[string]preset{
	"":           {people: 1000, over: time.Minute, parties: "1:20,2:60,3:8,4:12", phones: 0.7},
	"camp":       {people: 967, over: 17 * time.Second, parties: "1:100", phones: 0.5},
	"conference": {people: 200_000, over: 5 * time.Second, parties: "1:1,2:1,3:1,4:1,5:1,6:1", phones: 0.5},
	"hall":       {people: 1200, over: 10 * time.Second, parties: "1:100", phones: 0.5},
	"stadium":    {people: 2_000_000, over: 400 * time.Second, parties: "1:1,2:1,3:1,4:1,5:1,6:1", phones: 0.5},
}

// crowd is the crowd of the flags, with times as short as the rehearsal is faster.
func (c *rehearseCommand) crowd() (*rush.Crowd, error) {
	p, known := presets[c.Preset]
	if !known {
		return nil, fmt.Errorf("--preset is %q; there are camp, conference, hall and stadium", c.Preset)
	}
	if c.Faster < 1 || c.Faster > 1000 {
		return nil, fmt.Errorf("--faster is %g; it is 1 to 1000", c.Faster)
	}
	if c.Absent < 0 || c.Absent > 1 {
		return nil, fmt.Errorf("--absent is %g; it is a share, 0%% to 100%%", float64(c.Absent))
	}
	if c.Party != "" {
		p.parties = c.Party
	}
	parties, err := readParties(p.parties)
	if err != nil {
		return nil, err
	}
	short := func(d time.Duration) time.Duration { return time.Duration(float64(d) / c.Faster) }
	crowd := &rush.Crowd{
		Own: true, Scenario: rush.Stadium, People: or(c.People, p.people), Over: short(or(c.Over, p.over)), Think: short(4 * time.Second),
		Parties: parties, Phones: float64(or(c.Phones, p.phones)), Bots: float64(or(c.Bots, 0)), Pays: true, Buy: true,
		Expire: 0.05, GiveUp: 0.05, Watchers: c.Sockets, Seed: c.Seed, Connections: 128,
	}
	if crowd.People > mostPeople {
		return nil, fmt.Errorf("--people is %d; the most is %d", crowd.People, mostPeople)
	}
	return crowd, crowd.Check()
}

// mostPeople is a bound on the memory of the crowd.
const mostPeople = 5_000_000

// readParties reads "1:20,2:60": sizes with their shares, of any sum.
func readParties(text string) (list []rush.Party, err error) {
	for part := range strings.SplitSeq(text, ",") {
		size, weight, ok := strings.Cut(strings.TrimSpace(part), ":")
		n, bad := strconv.Atoi(size)
		w, wrong := strconv.Atoi(strings.TrimSuffix(weight, "%"))
		if !ok || bad != nil || wrong != nil || n < 1 || w < 1 || slices.ContainsFunc(list, func(p rush.Party) bool { return p.Size == n }) {
			return nil, fmt.Errorf("--party %q is not a list of sizes with their shares, as 1:20,2:60,4:20", text)
		}
		list = append(list, rush.Party{Size: n, Weight: w})
	}
	return list, nil
}

// inherited is what the program of a rehearsal gets of our environment. It gets no address of a mail server, no key of a card provider and
// no key that opens secrets of the database.
var inherited = []string{"PATH", "HOME", "TMPDIR", "LANG", "TZ", "GOCOVERDIR"}

// ofPostgres begins the names of what clients of PostgreSQL read.
const ofPostgres = "PG"

// rehearsalOf makes the program that rehearses a sale of the box office in a database: this one, as another process.
func rehearsalOf(cfg *DatabaseSettings, db *database) rehearsal.Command {
	return func(ctx context.Context, args ...string) *exec.Cmd {
		self, err := os.Executable()
		cmd := exec.CommandContext(ctx, self, args...)
		cmd.Err = err
		cmd.Env = []string{"DATABASE_URL=" + db.dsn, "USHER_DATABASE_PLAINTEXT=" + strconv.FormatBool(cfg.DatabasePlain)}
		for _, variable := range os.Environ() {
			if name, _, _ := strings.Cut(variable, "="); slices.Contains(inherited, name) || strings.HasPrefix(name, ofPostgres) {
				cmd.Env = append(cmd.Env, variable)
			}
		}
		cmd.Env = append(cmd.Env, rush.EndsWithInput+"=1")
		if _, err := cmd.StdinPipe(); err != nil { // which closes when this process ends, in whatever way
			cmd.Err = errors.Join(cmd.Err, err)
		}
		endsWithUs(cmd)
		return cmd
	}
}
