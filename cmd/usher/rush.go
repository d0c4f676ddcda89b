package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
)

// rushCommand sends a crowd to a box office and checks the answers. Pointers are flags with a default of the scenario.
type rushCommand struct {
	URL         string         `name:"url" placeholder:"ADDRESS" help:"Address of a box office that is open; empty: one of its own, which ends with the crowd."`
	Event       string         `placeholder:"SLUG" help:"The event's word in addresses, at --url."`
	Scenario    string         `default:"first-free" help:"What people do: first-free, places, stadium, replay, room."`
	People      *int           `placeholder:"PEOPLE" help:"How many people come: 1,200, or more for a large scenario."`
	Over        *time.Duration `placeholder:"TIME" help:"The time within which they come: 10s, or more for a large scenario."`
	Seats       int            `placeholder:"SEATS" help:"Make a hall of so many seats."`
	Places      int            `placeholder:"PLACES" help:"Make an area of so many places."`
	Plan        string         `placeholder:"PLAN" help:"Make an event of this plan: a file, or the name of one that comes with usher."`
	Hold        *time.Duration `placeholder:"TIME" help:"How long seats of that event are held: 8m, or less in some scenarios."`
	Think       *time.Duration `placeholder:"TIME" help:"Time between looking at the map and claiming, about."`
	GiveUp      *share         `placeholder:"SHARE" help:"Share that gives its seats back, as 10% or 0.1."`
	Expire      *share         `placeholder:"SHARE" help:"Share that lets its hold expire; in a stadium 10% if left out."`
	Repeat      share          `placeholder:"SHARE" help:"Share that sends a granted claim again."`
	Buy         *bool          `help:"Order what is held: open the checkout, fill it in, confirm. The tickets have to be free, and their event must not confirm the email: the crowd reads none."`
	Room        string         `placeholder:"SLUG" help:"The waiting room's word in addresses, at --url."`
	Slots       *int           `placeholder:"PEOPLE" help:"People inside at once: of a room of our own 5000 if left out, at --url what it has."`
	Faster      float64        `default:"20" placeholder:"TIMES" help:"Speed of the people in front of a waiting room: so many times as fast as real ones."`
	Absent      *share         `placeholder:"SHARE" help:"Share of them that does not come when called, 35% if left out."`
	Looks       int            `default:"2000" placeholder:"LOOKS" help:"Most looks of them at the line per second."`
	Again       time.Duration  `placeholder:"TIME" help:"How long a person without an answer asks again, with the same key, as a page does while nodes are restarted."`
	OneAddress  bool           `name:"behind-one-address" help:"All people come from one address, as phones behind a carrier's router do, and order what they hold; at --url they always come from one."`
	Connections int            `placeholder:"N" help:"Most connections at once; 0: 512, or what the limit of open files allows."`
	Handshakes  bool           `help:"Each step of a person is a connection of their own, as of a browser that was away: at an https address with a whole TLS handshake at first, and resumed ones later."`
	Watchers    int            `placeholder:"SOCKETS" help:"Open sockets that only watch."`
	Dead        int            `placeholder:"SOCKETS" help:"Sockets of them that ask for the map and then stop reading. The others should not notice."`
	Desks       int            `placeholder:"DESKS" help:"Live desks of organizers that are open meanwhile, at a box office of its own."`
	Arrivals    string         `placeholder:"FILE" help:"File of a replay: how many people come in each second; empty: a real sale."`
	Speed       int            `default:"1" placeholder:"TIMES" help:"Times as many people in a replay: 1, 10, 100."`
	Seed        uint64         `default:"1" placeholder:"NUMBER" help:"Number that makes two crowds alike."`
	JSON        bool           `name:"json" help:"Report in JSON."`
	Greedy      int            `placeholder:"PEOPLE" help:"Instead: so many people, each of whom tries for ten tickets of an event with a limit of 2, with new cookies and other spellings of their email."`
	Types       int            `placeholder:"PEOPLE" help:"Instead: so many people who buy tickets of three types while two phases of the sale end, one after a number of seats and one at a time."`
	Gentle      bool           `help:"Instead: an endless quiet crowd at every event of --url."`

	crowd rush.Crowd
}

// share is a part of the crowd, from 0 to 1.
type share float64

// UnmarshalText reads "10%" or "0.1".
func (s *share) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(string(text), "%")
	f, err := strconv.ParseFloat(number, 64)
	if percent {
		f /= 100
	}
	*s = share(f)
	return err
}

// Run is the command.
func (r *rushCommand) Run(ctx context.Context, sh *shell) (err error) {
	if err := r.complete(); err != nil {
		return misuse(err)
	}
	if r.Gentle {
		return rush.Gentle(ctx, r.URL, sh.stdout)
	}
	if r.Greedy > 0 {
		return r.sendGreedy(ctx, sh)
	}
	if r.Types > 0 {
		return r.sendTypes(ctx, sh)
	}
	if isTerminal(sh.stderr) {
		r.crowd.Progress = sh.stderr
	}
	server := (*rush.Server)(nil)
	if r.crowd.URL == "" {
		if server, err = r.startServer(ctx); err != nil {
			return err
		}
		defer closing(&err, server.Stop)
	}
	report, err := sendCrowd(ctx, &r.crowd, server, sh.stderr)
	if err != nil {
		return err
	}
	return r.print(sh, report)
}

// sendCrowd lets the crowd come and adds what our own server used for it.
func sendCrowd(ctx context.Context, crowd *rush.Crowd, server *rush.Server, stderr io.Writer) (*rush.Report, error) {
	if server == nil {
		return rush.Run(ctx, crowd)
	}
	before := server.Used()
	report, err := rush.Run(ctx, crowd)
	if err != nil {
		return nil, err
	}
	after := server.Used()
	if report.Failed() {
		fmt.Fprintf(stderr, "usher: the last that the server said:\n%s\n", server.Log())
	}
	report.ServerRSS, report.ServerCPU = after.MemoryMB, after.CPU-before.CPU
	return report, nil
}

func (r *rushCommand) print(sh *shell, report *rush.Report) error {
	write := report.Text
	if r.JSON {
		write = report.JSON
		for _, lie := range report.Lies() {
			fmt.Fprintln(sh.stderr, "usher:", lie)
		}
	}
	if err := write(sh.stdout); err != nil {
		return err
	}
	if report.Failed() {
		return fmt.Errorf("the box office failed the crowd: %d untrue answers, %d seats sold twice, %d errors", report.Untrue, report.Oversold, report.Errors)
	}
	return nil
}

// complete refuses what makes no sense together, and fills in the defaults of the scenario.
func (r *rushCommand) complete() (err error) {
	if err := r.fits(); err != nil {
		return err
	}
	r.crowd = rush.Crowd{
		URL: r.URL, Own: r.URL == "", Event: r.Event, Scenario: r.Scenario, People: or(r.People, 1200), Over: or(r.Over, 10*time.Second), Think: or(r.Think, 0),
		GiveUp: float64(or(r.GiveUp, 0)), Expire: float64(or(r.Expire, 0)), Repeat: float64(r.Repeat), Buy: or(r.Buy, r.OneAddress && r.URL == ""), Room: r.Room, Slots: or(r.Slots, 0),
		Faster: r.Faster, Absent: float64(or(r.Absent, 0)), Looks: r.Looks, Again: r.Again, OneAddress: r.OneAddress, Connections: r.Connections, Handshakes: r.Handshakes,
		Phones: 0.5, Watchers: r.Watchers, Dead: r.Dead, Desks: r.Desks, Speed: r.Speed, Seed: r.Seed,
	}
	p := &r.crowd
	switch {
	case r.Gentle:
		return nil
	case p.Scenario == rush.Replay:
		p.Course = rush.OnSale()
		if r.Arrivals != "" {
			p.Course, err = readCourse(r.Arrivals)
		}
	case p.Scenario == rush.Places:
		p.People, p.Over = or(r.People, 200_000), or(r.Over, 5*time.Second)
	case p.Scenario == rush.Stadium:
		p.People, p.Over, p.Expire = or(r.People, 30_000), or(r.Over, 20*time.Second), float64(or(r.Expire, 0.1))
	case p.Scenario == rush.Room:
		p.People, p.Early = or(r.People, 2_000_000), 0.005
		p.Over, p.Think = or(r.Over, time.Duration(p.People)*time.Second/5000), or(r.Think, time.Second)
		p.Expire, p.GiveUp, p.Absent = float64(or(r.Expire, 0.05)), float64(or(r.GiveUp, 0.05)), float64(or(r.Absent, 0.35))
		p.Buy = or(r.Buy, true)
		if p.Own {
			p.Slots = or(r.Slots, 5000)
		}
	}
	if err != nil {
		return err
	}
	return p.Check()
}

// or is the value of a flag, or what it defaults to.
func or[T any](flag *T, fallback T) T {
	if flag == nil {
		return fallback
	}
	return *flag
}

// hold is how long seats of an event of our own are held.
func (r *rushCommand) hold() time.Duration {
	switch r.Scenario {
	case rush.Stadium:
		return or(r.Hold, max(r.crowd.Over*3/4, 2*time.Second))
	case rush.Room:
		return or(r.Hold, r.faster(8*time.Minute))
	}
	return or(r.Hold, 8*time.Minute)
}

// fits refuses flags that are missing, or useless, at a box office of our own or at another one.
func (r *rushCommand) fits() error {
	own := r.URL == ""
	switch {
	case r.Gentle && own:
		return errors.New("--gentle needs the --url of a box office that is open")
	case r.Greedy < 0 || r.Greedy > mostGreedy:
		return fmt.Errorf("--greedy is 1 to %d people", mostGreedy)
	case r.Greedy > 0 && !own:
		return errors.New("--greedy has an event of its own, and no --url")
	case r.Types < 0 || r.Types > mostTypes:
		return fmt.Errorf("--types is 1 to %d people", mostTypes)
	case r.Types > 0 && !own:
		return errors.New("--types has an event of its own, and no --url")
	case r.Gentle, own:
		return nil
	case r.Event == "":
		return errors.New("--event is missing: the event that the crowd comes to")
	case r.Scenario == rush.Room && r.Room == "":
		return errors.New("--room is missing: the waiting room of the crowd")
	case r.Seats > 0 || r.Places > 0 || r.Plan != "":
		return errors.New("--seats, --places and --plan make an event; at --url the crowd comes to one that is there")
	case r.Desks > 0:
		return errors.New("--desks signs an organizer up, which only a box office of its own lets it do")
	}
	return nil
}

// faster is a time of real people, as short as the crowd in front of a waiting room is faster.
func (r *rushCommand) faster(d time.Duration) time.Duration {
	return max(time.Second, time.Duration(float64(d)/max(1, r.Faster))).Round(time.Millisecond)
}

func readCourse(file string) ([]int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return rush.ReadArrivals(string(text))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

const (
	greedyLimit       = 2
	greedyTries       = 5  // orders of as many tickets as the limit: ten tickets
	greedyConnections = 64 // at once
	mostGreedy        = (seats.MaxSeats - 2*greedyLimit*greedyConnections) / greedyLimit
)

// sendGreedy sends people who want more than the limit to an event of their own.
func (r *rushCommand) sendGreedy(ctx context.Context, sh *shell) (err error) {
	r.Places, r.crowd.Buy = r.Greedy*greedyLimit+2*greedyLimit*greedyConnections, true
	server, err := r.startServer(ctx)
	if err != nil {
		return err
	}
	defer closing(&err, server.Stop)
	g := rush.Greed{
		URL: server.URL, Event: r.crowd.Event, People: r.Greedy, Limit: greedyLimit, Tries: greedyTries, Connections: greedyConnections, Seed: r.crowd.Seed,
	}
	report, err := g.Run(ctx)
	if err != nil {
		return err
	}
	if report.Failed() {
		fmt.Fprintf(sh.stderr, "usher: the last that the server said:\n%s\n", server.Log())
	}
	if r.JSON {
		err = json.NewEncoder(sh.stdout).Encode(report)
	} else {
		err = report.Text(sh.stdout)
	}
	if err == nil && report.Failed() {
		err = fmt.Errorf("the limit per person did not hold: %d people above it, %d below, %d untrue answers, %d errors", report.Above, report.Below, report.Untrue, report.Errors)
	}
	return err
}

const mostTypes = 20_000

// sendTypes sends people who buy tickets of several types, of which half as many as people are sold at the early price.
func (r *rushCommand) sendTypes(ctx context.Context, sh *shell) (err error) {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	server, err := rush.StartServer(ctx, program, 0)
	if err != nil {
		return err
	}
	defer closing(&err, server.Stop)
	c := rush.Types{URL: server.URL, People: r.Types, Early: max(1, r.Types/2), Over: r.crowd.Over, Connections: min(64, r.crowd.Connections), Seed: r.crowd.Seed}
	if c.Event, c.Setup, err = server.TypesEvent(ctx, c.People); err != nil {
		return err
	}
	report, err := c.Run(ctx)
	if err != nil {
		return err
	}
	if report.Failed() {
		fmt.Fprintf(sh.stderr, "usher: the last that the server said:\n%s\n", server.Log())
	}
	if r.JSON {
		err = json.NewEncoder(sh.stdout).Encode(report)
	} else {
		err = report.Text(sh.stdout)
	}
	if err == nil && report.Failed() {
		err = fmt.Errorf("prices were not kept: %d seats at the early price of %d, %d wrong prices or sums, %d errors", report.Phases[rush.EarlyPhase], report.Early, report.Untrue, report.Errors)
	}
	return err
}

// startServer starts a server with an event for the crowd.
func (r *rushCommand) startServer(ctx context.Context) (_ *rush.Server, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "usher-plan-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	from, err := r.planFile(filepath.Join(dir, "hall.json"))
	if err != nil {
		return nil, err
	}
	server, err := rush.StartServer(ctx, program, r.crowd.Watchers)
	if err != nil {
		return nil, err
	}
	event := []string{"--plan", from, "--name", "Rush", "--hold", r.hold().String(), "--extensions", "1000", "--paid-ahead=false"}
	if r.Greedy > 0 {
		event = append(event, "--limit", strconv.Itoa(greedyLimit), "--confirm-email", "never") // the crowd reads no mail
	}
	if r.crowd.Buy { // for nothing: what is paid later waits for its email to be confirmed, and the crowd reads no mail
		categories := []seats.Category{{Key: "A"}}
		if p, named := plan.Named(r.Plan); named {
			categories = p.Categories
		}
		for _, c := range categories {
			event = append(event, "--price", c.Key+"=0")
		}
	}
	if err := server.CreateEvent(ctx, event...); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	if r.crowd.Scenario == rush.Room {
		if err := r.openRoom(ctx, server); err != nil {
			return nil, errors.Join(err, server.Stop())
		}
	}
	r.crowd.URL, r.crowd.Event = server.URL, "rush"
	if r.crowd.Desks > 0 {
		if r.crowd.Setup, err = server.SetupLink(ctx); err != nil {
			return nil, errors.Join(err, server.Stop())
		}
	}
	return server, nil
}

// openRoom puts a waiting room before the event, with times as much shorter as the crowd is faster.
func (r *rushCommand) openRoom(ctx context.Context, server *rush.Server) error {
	p := &r.crowd
	p.Room, p.Open = "rush", func(ctx context.Context) error { return server.CloseLobby(ctx, p.Room) }
	return server.CreateRoom(ctx, "--name", "Rush", "--slug", p.Room, "--events", "rush", "--slots", strconv.Itoa(p.Slots),
		"--valid", r.faster(10*time.Minute).String(), "--idle", r.faster(5*time.Minute).String(), "--stay", r.faster(30*time.Minute).String())
}

// planFile is the plan of "usher event create": that of the flags, or that of the scenario.
func (r *rushCommand) planFile(file string) (string, error) {
	if r.Plan == "" && r.Seats == 0 && r.Places == 0 {
		switch r.crowd.Scenario {
		case rush.Stadium:
			r.Plan = "stadium"
		case rush.Places:
			r.Places = 200
		case rush.Replay:
			r.Places = min(r.crowd.People, seats.MaxSeats)
		case rush.Room:
			r.Seats = 50_000
		default:
			r.Seats = 1000
		}
	}
	if r.Plan != "" {
		return r.Plan, nil
	}
	hall, err := rush.Hall(max(r.Seats, r.Places), r.Places > 0)
	if err != nil {
		return "", err
	}
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	return file, errors.Join(plan.Write(f, hall), f.Close())
}
