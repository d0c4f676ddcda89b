package main

import (
	"cmp"
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
	"github.com/usherbox/usher/seats"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/rehearsal"
)

// rehearseCommand sends the crowd that an organizer expects to a copy of an event. Pointers are flags with a default of the preset.
type rehearseCommand struct {
	Slug    string         `arg:"" help:"The event's word in addresses."`
	People  *int           `placeholder:"PEOPLE" help:"How many people come: 2000, or as many as with the preset."`
	Over    *time.Duration `placeholder:"TIME" help:"The time within which they come: 10m, or as long as with the preset."`
	Phones  *share         `placeholder:"SHARE" help:"Share that comes with a phone, and asks for the best seats instead of pointing at some: 70%."`
	Party   string         `placeholder:"PARTIES" help:"How many tickets people want, each size with its share, as 1:20,2:60,4:20."`
	Bots    *share         `placeholder:"SHARE" help:"Share that are programs, which come first and take as much as they may get: 2%, or as with the preset."`
	Preset  string         `placeholder:"NAME" help:"A usual crowd, for the flags that are left out: quiet, popular, rush, hype, camp."`
	Faster  float64        `default:"1" placeholder:"TIMES" help:"Speed of the rehearsal: so many times as fast as the sale. All times of the report are those of the sale. With a waiting room: 1."`
	Absent  share          `default:"35%" placeholder:"SHARE" help:"Share that does not come when called from the waiting room."`
	Report  string         `placeholder:"FILE" help:"File for the report in JSON, which is written again each second; empty: none."`
	Seed    uint64         `default:"1" placeholder:"NUMBER" help:"Number that makes two crowds alike."`
	Sockets int            `default:"50" placeholder:"SOCKETS" help:"Open sockets that watch the live map meanwhile."`
	Whole   bool           `name:"whole-machine" help:"Take all cores, at the usual priority: on a machine where no box office runs."`
	DatabaseSettings

	house string // how an open box office is reached, whose database another process runs; empty: it is not open
}

// Run is the command.
func (c *rehearseCommand) Run(ctx context.Context, sh *shell) (err error) {
	if _, err := c.crowd(1000); err != nil { // before anything is opened
		return misuse(err)
	}
	if !c.Whole {
		if err := beGentle(); err != nil {
			return err
		}
	}
	capacity, room := 0, false
	err = c.inHouse(ctx, sh, func(house *pgx.Conn) (err error) {
		capacity, room, err = rehearsal.Sale(ctx, house, c.Slug)
		return err
	})
	if err != nil {
		return err
	}
	if room && c.Faster != 1 {
		return misuse(errors.New("--faster is of no use here: the event has a waiting room, and its pace is part of the sale"))
	}
	crowd, err := c.crowd(capacity)
	if err != nil {
		return misuse(err)
	}
	r := &rehearsing{rehearseCommand: c, sh: sh, report: rehearsal.Report{
		State: rehearsal.Running, Event: c.Slug, Preset: c.Preset, People: crowd.People, Over: rehearsal.SecondsOf(time.Duration(float64(crowd.Over) * c.Faster)), Started: time.Now().UTC().Truncate(time.Second),
		Sections: []rehearsal.SoldOut{}, Prices: []rehearsal.SoldOut{}, Broken: []rehearsal.Broken{}, Details: []string{},
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
	r.report.Live, r.report.Still, r.report.State, r.report.Ended = nil, false, rehearsal.Done, time.Now().UTC().Truncate(time.Second)
	if err != nil {
		r.report.State, r.report.Error, r.report.Busy = rehearsal.Failed, err.Error(), errors.Is(err, errBusy)
	}
	if failed := r.write(); err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	return writeRehearsed(sh.stdout, &r.report)
}

// mistakes are faults in words.
func mistakes(ctx context.Context, faults []rehearsal.Fault) []rehearsal.Mistake {
	list := []rehearsal.Mistake{}
	for _, f := range faults {
		list = append(list, rehearsal.Mistake{Name: f.Name, Severity: f.Severity, Wrong: f.Wrong.In(ctx), Do: f.Do.In(ctx)})
	}
	return list
}

// rehearsing is a rehearsal under way.
type rehearsing struct {
	*rehearseCommand
	sh    *shell
	view  *rehearsal.View
	still rush.Standstill // stops the crowd while the box office sells

	mu     sync.Mutex
	report rehearsal.Report
	memory float64 // MB, the most that was seen
}

// write writes the report. It needs mu once the crowd comes.
func (r *rehearsing) write() error {
	if r.Report == "" {
		return nil
	}
	return r.report.Write(r.Report)
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
	room, faults, err := c.copy(ctx, sh, conn, crowd.People)
	if err != nil {
		return err
	}
	r.report.Faults = mistakes(ctx, faults)
	crowd.URL, crowd.Event, crowd.Still = server.URL, c.Slug, &r.still
	if room != nil {
		if err := c.openRoom(ctx, server, room, crowd); err != nil {
			return err
		}
	}
	r.view = &rehearsal.View{Address: server.URL, Event: c.Slug, Faster: c.Faster, Dial: func(ctx context.Context) (*pgx.Conn, error) { return seatsdb.Dial(ctx, shadow.DSN) }}
	defer r.view.Close()
	return r.send(ctx, server, conn, crowd, room != nil)
}

// copy copies the event from the house, and looks for mistakes in its settings.
func (c *rehearseCommand) copy(ctx context.Context, sh *shell, to *pgx.Conn, people int) (room *rehearsal.Room, faults []rehearsal.Fault, err error) {
	err = c.inHouse(ctx, sh, func(house *pgx.Conn) (err error) {
		if room, err = rehearsal.Copy(ctx, house, to, c.Slug, c.Faster); err != nil {
			return err
		}
		faults, err = rehearsal.CheckSettings(ctx, house, c.Slug, people)
		return err
	})
	return room, faults, err
}

// inHouse does something with the database of the house.
func (c *rehearseCommand) inHouse(ctx context.Context, sh *shell, do func(house *pgx.Conn) error) (err error) {
	db, err := startDatabase(ctx, &c.DatabaseSettings, newLog(sh.stderr, "text"))
	if err != nil {
		return err
	}
	defer closing(&err, db.close)
	if db.private == nil || !db.private.Owned() {
		c.house = db.dsn
	}
	house, err := seatsdb.Dial(ctx, db.dsn)
	if err != nil {
		return fmt.Errorf("the database cannot be reached: %w", err)
	}
	defer func() { _ = house.Close(ctx) }() // nothing was left undone on it
	if err := c.enter(ctx, house); err != nil {
		return err
	}
	err = do(house)
	switch {
	case errors.Is(err, rehearsal.ErrNoEvent):
		return fmt.Errorf("there is no event %q; nothing was rehearsed", c.Slug)
	case errors.Is(err, rehearsal.ErrVersion):
		return errors.New("the box office runs another version of usher: rehearse with that one, or update it first")
	}
	return err
}

// openRoom puts a waiting room with the same settings before the event of the shadow.
func (c *rehearseCommand) openRoom(ctx context.Context, server *rush.Server, room *rehearsal.Room, crowd *rush.Crowd) error {
	rate := 0.0
	if room.Rate != nil {
		rate = *room.Rate
	}
	flags := []string{
		"--name", "Rehearsal", "--slug", "rehearsal", "--events", c.Slug, "--slots", strconv.Itoa(room.Slots), "--rate", fmt.Sprintf("%g", rate),
		"--valid", room.Valid.String(), "--idle", room.Idle.String(), "--stay", room.Stay.String(),
	}
	crowd.Scenario, crowd.Room, crowd.Slots, crowd.Faster = rush.Room, "rehearsal", room.Slots, 1
	crowd.Absent, crowd.Looks = float64(c.Absent), 500
	if !room.Scheduled {
		return server.CreateOpenRoom(ctx, flags...)
	}
	crowd.Open = func(ctx context.Context) error { return server.CloseLobby(ctx, crowd.Room) }
	return server.CreateRoom(ctx, flags...)
}

// weighEvery is the time from one look at the memory of all processes to the next: it takes the processor some milliseconds.
const weighEvery = 10 * time.Second

const (
	viewEvery = 2 * time.Second // from one look at the sale to the next
	viewTime  = 5 * time.Second // that a look may take: the shadow has what processor is left
)

// look reads the sale as the desk shows it, again and again until ctx ends, beside the crowd, which waits for no look. The rehearsal goes on
// without what is not to be had now.
func (r *rehearsing) look(ctx context.Context) {
	for seats.Sleep(ctx, viewEvery) == nil && r.still.Wait(ctx) == nil {
		looking, cancel := context.WithTimeout(ctx, viewTime)
		live, err := r.view.Look(looking)
		cancel()
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(r.sh.stderr, "usher: the live view:", err)
		}
		r.mu.Lock()
		r.report.Live = cmp.Or(live, r.report.Live)
		r.mu.Unlock()
	}
}

// send lets the crowd come, and reads how it went from its answers and from the database of the shadow.
func (r *rehearsing) send(ctx context.Context, server *rush.Server, conn *pgx.Conn, crowd *rush.Crowd, room bool) error {
	var unwritten error
	looked := time.Time{}
	crowd.Live = func(l rush.Live) {
		memory := 0.0
		stood, still := r.still.Total()
		if !still && time.Since(looked) > weighEvery {
			memory, looked = server.UsedByAll().MemoryMB, time.Now()
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.memory, r.report.Progress = max(r.memory, memory), rehearsal.Progress(l)
		r.report.Stood, r.report.Still = rehearsal.SecondsOf(stood), still
		unwritten = errors.Join(unwritten, r.write())
	}
	began, err := rehearsal.Now(ctx, conn)
	if err != nil {
		return err
	}
	before, from := server.UsedByAll(), time.Now()
	looking, stop := context.WithCancel(ctx)
	var looks sync.WaitGroup
	if r.Report != "" {
		looks.Go(func() { r.look(looking) })
	}
	crowded, err := r.sendAside(ctx, crowd)
	stop()
	looks.Wait()
	if err != nil {
		return err
	}
	if crowded.Failed() {
		fmt.Fprintf(r.sh.stderr, "usher: the last that the shadow said:\n%s\n", server.Log())
	}
	stood, _ := r.still.Total()
	after, took := server.UsedByAll(), time.Duration(float64(time.Since(from)-stood)*r.Faster)
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.report
	if err := p.ReadSales(ctx, conn, began, r.Faster); err != nil {
		return err
	}
	if room {
		if p.Waits, err = rehearsal.ReadPromises(ctx, conn); err != nil {
			return err
		}
		waits := make([]rehearsal.Wait, 0, len(crowded.Room.Waits))
		for _, w := range crowded.Room.Waits {
			waits = append(waits, rehearsal.Wait(w))
		}
		p.Waits.Of(waits, crowd.Over, r.Faster)
	}
	p.Progress.Holding, p.Progress.Left = 0, p.Progress.Arrived-p.Progress.Bought // some gave seats back, or let them expire
	p.Claims = rehearsal.Claims{Count: crowded.Claims, P50: crowded.ClaimP50, P99: crowded.ClaimP99, Refused: crowded.Taken}
	within := p.Over.Duration()
	if room { // which spreads the work
		within = took
	}
	p.Machine = rehearsal.MachineOf(after.CPU-before.CPU, int64(max(r.memory, after.MemoryMB)*(1<<20)), within)
	p.Late = rehearsal.SecondsOf(crowded.Late)
	p.Broken, p.Details = broken(crowded), append(p.Details, crowded.Lies()...)
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
		for _, a := range r.Waits.Arrivals {
			waited := "none was let in"
			if a.In > 0 {
				waited = fmt.Sprintf("%d were let in, 95 of 100 of them after %s to %s", a.In, a.Least, a.Most)
			}
			t.add("  %d came from %s to %s: %s.", a.Came, a.From, a.To, waited)
		}
	}
	t.add("Claims: %d, half answered within %.0f ms, 99 of 100 within %.0f ms. %d found a seat taken.", r.Claims.Count, r.Claims.P50, r.Claims.P99, r.Claims.Refused)
	t.add("Machine: %.2f cores on average for this pace, so %d with a reserve for peaks; %d MB of memory.", r.Machine.Busy, r.Machine.Cores, r.Machine.PeakMemory>>20)
	if r.Slow() {
		t.add("This machine was too busy: people came up to %s late. The times above are longer than those of the sale.", r.Late)
	}
	if r.Stood > 0 {
		t.add("The rehearsal stood still for %s, while the box office sold. Times, waits and sales may differ from those of the sale for that.", r.Stood)
	}
	for _, b := range r.Broken {
		t.add("Broke: %s %s", thousands(b.Count), brokenWords[b.What])
	}
	for _, what := range r.Details {
		t.add("  %s", what)
	}
	if len(r.Broken) == 0 {
		t.add("Nothing broke.")
	}
	if len(r.Faults) > 0 {
		t.add("\nPossible mistakes in the settings:")
	}
	for _, f := range r.Faults {
		t.add("  %s: %s %s", f.Severity, f.Wrong, f.Do)
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

var brokenWords = map[string]string{rehearsal.SoldTwice: "seats sold twice", rehearsal.Untrue: "untrue answers", rehearsal.Unanswered: "requests without a proper answer"}

// broken lists what went wrong, and how often.
func broken(p *rush.Report) []rehearsal.Broken {
	list := []rehearsal.Broken{{What: rehearsal.SoldTwice, Count: p.Oversold}, {What: rehearsal.Untrue, Count: p.Untrue}, {What: rehearsal.Unanswered, Count: p.Errors}}
	return slices.DeleteFunc(list, func(b rehearsal.Broken) bool { return b.Count == 0 })
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

// crowd is the crowd of the flags at an event with so many seats, with times as short as the rehearsal is faster.
func (c *rehearseCommand) crowd(capacity int) (*rush.Crowd, error) {
	p := rehearsal.Standard
	if c.Preset != "" {
		list := rehearsal.Presets(capacity)
		i := slices.IndexFunc(list, func(p rehearsal.Crowd) bool { return p.Preset == c.Preset })
		if i < 0 {
			return nil, fmt.Errorf("--preset is %q; there are quiet, popular, rush, hype and camp, without those of more than %d people at this event", c.Preset, rehearsal.MostPeople)
		}
		p = list[i]
	}
	if c.Faster < 1 || c.Faster > 1000 {
		return nil, fmt.Errorf("--faster is %g; it is 1 to 1000", c.Faster)
	}
	if c.Absent < 0 || c.Absent > 1 {
		return nil, fmt.Errorf("--absent is %g; it is a share, 0%% to 100%%", float64(c.Absent))
	}
	parties, err := readParties(cmp.Or(c.Party, p.Party))
	if err != nil {
		return nil, err
	}
	short := func(d time.Duration) time.Duration { return time.Duration(float64(d) / c.Faster) }
	crowd := &rush.Crowd{
		Own: true, Scenario: rush.Stadium, People: or(c.People, p.People), Over: short(or(c.Over, p.Over.Duration())), Think: short(4 * time.Second),
		Parties: parties, Phones: float64(or(c.Phones, share(p.Phones)/100)), Bots: float64(or(c.Bots, share(p.Bots)/100)), Pays: true, Buy: true,
		Expire: 0.05, GiveUp: 0.05, Watchers: c.Sockets, Seed: c.Seed, Connections: 128,
	}
	if crowd.People > rehearsal.MostPeople {
		return nil, fmt.Errorf("--people is %d; the most is %d", crowd.People, rehearsal.MostPeople)
	}
	return crowd, crowd.Check()
}

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
