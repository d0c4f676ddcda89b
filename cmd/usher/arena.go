package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/arena"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/rehearsal"
	"github.com/usherbox/usher/seats/waitingroom"
)

// arenaCommand runs a public house that anybody may attack: a sale each hour, with referees on one page.
type arenaCommand struct {
	Data    string        `name:"data" default:"./arena" placeholder:"FOLDER" help:"Folder of the arena: its state, and the private Postgres of its house. It is never that of a real box office."`
	Address string        `name:"address" default:":8080" placeholder:"ADDRESS" help:"Address to listen on."`
	URL     string        `name:"url" placeholder:"ADDRESS" help:"Public address of the arena, such as https://arena.example.org; empty: as listened on."`
	Header  string        `name:"address-header" placeholder:"HEADER" help:"Header in which a proxy in front adds the address of the browser, such as X-Forwarded-For; empty: there is no proxy."`
	Proxies string        `name:"proxies" placeholder:"NETWORKS" help:"Networks of proxies that may set the address header; empty: this machine and private networks."`
	Contact string        `name:"security-contact" placeholder:"ADDRESS" help:"Address for reports of security holes, such as mailto:security@example.org; empty: the page names SECURITY.md."`
	Every   time.Duration `name:"every" default:"1h" placeholder:"TIME" help:"Time from the opening of one sale to that of the next."`
	For     time.Duration `name:"for" default:"20m" placeholder:"TIME" help:"How long a sale lasts."`
	Seats   int           `name:"seats" default:"500" placeholder:"SEATS" help:"Seats of a sale."`
	People  int           `name:"people" default:"0" placeholder:"PEOPLE" help:"Honest people that the program sends to each sale; 0: none."`
	Sales   int           `name:"sales" default:"0" placeholder:"SALES" help:"End after so many sales, with an error if there was a finding in them; 0: go on for ever."`
	Twin    string        `name:"twin" placeholder:"FILE" help:"File of planted bugs that the referees caught, as make arena writes it, to be shown on the page; empty: none is shown."`
}

// mostArenaSeats bounds the work of a look at the books.
const mostArenaSeats = 50_000

// foundInArena is the error of an arena that ended with findings.
type foundInArena struct{ findings, sales int }

func (e foundInArena) Error() string {
	return fmt.Sprintf("%s in %s", counted(e.findings, "finding"), counted(e.sales, "sale"))
}

// check refuses what makes no sense.
func (c *arenaCommand) check(sh *shell) error {
	switch {
	case sh.env("DATABASE_URL") != "" || sh.env("DATABASE_DIRECT_URL") != "":
		return errors.New("DATABASE_URL is set: a real box office is not to be attacked. An arena has a PostgreSQL of its own; unset DATABASE_URL")
	case c.For < time.Second || c.Every <= c.For:
		return fmt.Errorf("--for is %s and --every %s; a sale lasts a second or longer, and the next one opens after its end", c.For, c.Every)
	case c.Seats < 1 || c.Seats > mostArenaSeats:
		return fmt.Errorf("--seats is %d; it is 1 to %d", c.Seats, mostArenaSeats)
	case c.People < 0 || c.People > rehearsal.MostPeople:
		return fmt.Errorf("--people is %d; it is 0 to %d", c.People, rehearsal.MostPeople)
	case c.Sales < 0:
		return fmt.Errorf("--sales is %d; 0 is no end", c.Sales)
	}
	return nil
}

// Names in the folder of an arena.
const (
	stateFile   = "arena.json"
	lockFile    = "arena.lock" // locked by the process in use
	housePrefix = "house-"     // of the data folders of houses
)

// Run is the command.
func (c *arenaCommand) Run(ctx context.Context, sh *shell) (err error) {
	if err := c.check(sh); err != nil {
		return misuse(err)
	}
	lock, err := c.lock()
	if err != nil {
		return err
	}
	defer closing(&err, lock.Close)
	a, err := c.open()
	if err != nil {
		return err
	}
	sales, _ := a.Sales()
	r := &arenaRun{arenaCommand: c, arena: a, log: newLog(sh.stderr, "text"), shell: sh, before: sales, found: a.Found()}
	if s, under := a.Sale(); under { // it counts, and so does what was found in it
		r.before, r.found = r.before-1, r.found-s.Findings
	}
	for {
		if err := r.house(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if r.ended() {
			return r.verdict()
		}
	}
}

// lock makes this process the one that uses the folder, until the file is closed. It refuses the folder of a real box office, and one in use.
func (c *arenaCommand) lock() (*os.File, error) {
	if _, err := os.Stat(filepath.Join(c.Data, stateFile)); errors.Is(err, fs.ErrNotExist) {
		for _, name := range []string{"postgres", "secret.key"} {
			if _, err := os.Lstat(filepath.Join(c.Data, name)); err == nil {
				return nil, usageError{fmt.Sprintf("%s is the data folder of a box office, which is not to be attacked: choose another --data", c.Data)}
			}
		}
	}
	if err := os.MkdirAll(c.Data, 0o755); err != nil { // the user of PostgreSQL passes through
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(c.Data, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = usageError{fmt.Sprintf("another usher arena uses %s: end that one first, or choose another --data", c.Data)}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// open reads the state of the arena.
func (c *arenaCommand) open() (*arena.Arena, error) {
	a, err := arena.Open(filepath.Join(c.Data, stateFile))
	if err != nil {
		return nil, err
	}
	a.Every, a.For, a.Contact = c.Every, c.For, c.Contact
	if c.Twin == "" {
		return a, nil
	}
	text, err := os.ReadFile(c.Twin)
	if err == nil {
		err = json.Unmarshal(text, &a.Twin)
	}
	if err != nil {
		return nil, misuse(fmt.Errorf("--twin: %w", err))
	}
	return a, nil
}

// arenaRun is an arena that runs.
type arenaRun struct {
	*arenaCommand
	arena  *arena.Arena
	log    *slog.Logger
	shell  *shell
	before int // sales that ended before this process began
	found  int // findings in them
	blind  int // sales of this process that a referee could not look at to the end

	node *node  // of the house in use
	own  string // its address on this machine
}

// ended reports whether all of the sales that were asked for are over.
func (r *arenaRun) ended() bool {
	n, _ := r.arena.Sales()
	_, under := r.arena.Sale()
	return r.Sales > 0 && !under && n-r.before >= r.Sales
}

// verdict is what the program ends with.
func (r *arenaRun) verdict() error {
	n, _ := r.arena.Sales()
	if found := r.arena.Found() - r.found; found > 0 {
		return foundInArena{found, n - r.before}
	}
	if r.blind > 0 {
		return blind{fmt.Errorf("the referees could not look at %s to the end", counted(r.blind, "sale"))}
	}
	_, err := fmt.Fprintf(r.shell.stdout, "%s, no finding.\n", counted(n-r.before, "sale"))
	return err
}

// A house is used for so many sales or so long, and is then removed with all that was typed there.
const houseFor = 24 * time.Hour

// folderOf is the data folder of a house.
func (r *arenaRun) folderOf(house int) string {
	return filepath.Join(r.Data, housePrefix+strconv.Itoa(house))
}

// settings are those of a house that has no data folder yet.
func (r *arenaRun) settings() (*Config, error) {
	cfg := &Config{
		Addr: r.Address, URL: r.URL, Log: "text", Sockets: realtime.SocketsPerAddress, PerProgram: web.RequestsPerProgram, Claims: shop.ClaimsPerVisitor,
		Joins: web.JoinsPerNetwork, Looks: waitingroom.LooksPerSecond, Header: r.Header, Proxies: r.Proxies, Requests: "off", TraceRatio: 1, Contact: r.Contact,
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.transport, cfg.arena = mail.Nowhere{}, r.arena
	return cfg, nil
}

// enter returns the number of the house in use. It makes the next one where there is none or the old one is used up, and removes those
// that are of no more use: also what a crash left of them.
func (r *arenaRun) enter() (house int, err error) {
	house, _ = r.arena.House()
	if _, under := r.arena.Sale(); !under && r.usedUp() {
		if house, err = r.arena.Move(time.Now()); err != nil {
			return 0, err
		}
	}
	entries, err := os.ReadDir(r.Data)
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		number, is := strings.CutPrefix(entry.Name(), housePrefix)
		if old, err := strconv.Atoi(number); !is || err != nil || r.arena.Needs(old) {
			continue
		}
		if err := removeHouse(filepath.Join(r.Data, entry.Name())); err != nil {
			return 0, err
		}
	}
	return house, nil
}

// usedUp reports whether the next sale needs another house: there is none, this one had enough sales or time, or it has a finding, which
// would be found again in each sale.
func (r *arenaRun) usedUp() bool {
	house, since := r.arena.House()
	sales, _ := r.arena.Sales()
	return house == 0 || time.Since(since) >= houseFor || sales%arena.MostSales == 0 || r.arena.IsBroken()
}

// removeHouse removes a data folder, and the data where they were put elsewhere because that folder was closed to the server.
func removeHouse(dir string) error {
	var errs []error
	if elsewhere, err := os.Readlink(filepath.Join(dir, "postgres")); err == nil {
		errs = append(errs, os.RemoveAll(elsewhere))
	}
	return errors.Join(append(errs, os.RemoveAll(dir))...)
}

// house opens a house, and runs its sales until it is to be left.
func (r *arenaRun) house(ctx context.Context) (err error) {
	cfg, err := r.settings()
	if err != nil {
		return err
	}
	listener, err := listen(ctx, cfg.Addr)
	if err != nil {
		return err
	}
	defer closing(&err, listener.Close)
	number, err := r.enter()
	if err != nil {
		return err
	}
	cfg.Data = r.folderOf(number)
	db, err := openDatabase(ctx, &cfg.DatabaseSettings, r.log)
	if err != nil {
		return err
	}
	defer closing(&err, db.close)
	if err := db.sealSecrets(ctx, &cfg.DatabaseSettings, r.log); err != nil {
		return err
	}
	defer closing(&err, r.arena.Save) // when all requests are answered
	node, group := open(ctx, cfg, db, listener, nil, &leaving{}, r.log)
	defer closing(&err, group.stop)
	r.node, r.own = node, ownAddress(listener)
	r.arena.CountBy(countSeats(node.office))
	if _, err := fmt.Fprintf(r.shell.stdout, "\n  The arena is at %s/arena\n\n", address(cfg, listener)); err != nil {
		return err
	}
	within, end := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		failed <- group.wait(within)
		end()
	}()
	err = r.run(within)
	end()
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		err = nil // it was told to end, or a part of the house failed
	}
	return errors.Join(err, <-failed)
}

// countSeats counts the seats of an event as its map shows them.
func countSeats(office *seats.Inventory) func(slug string) (free, held, sold int, known bool) {
	total := func(counts []int) (n int) {
		for _, one := range counts {
			n += one
		}
		return n
	}
	return func(slug string) (free, held, sold int, known bool) {
		for _, s := range office.Open() {
			if s.Event.Slug == slug {
				c := s.Bitmap().Counts
				return total(c.Free), total(c.Held), total(c.Sold), true
			}
		}
		return 0, 0, 0, false
	}
}

// counting has an arena count each answer besides.
func counting(a *arena.Arena, observe web.Observe) web.Observe {
	if a == nil {
		return observe
	}
	return func(route string) func(int, time.Duration, string, string) {
		note := observe(route)
		return func(status int, took time.Duration, request, trace string) {
			note(status, took, request, trace)
			a.Answered(route, status)
		}
	}
}
