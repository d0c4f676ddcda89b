package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats"
)

// rushCall is what was asked of the crowd.
type rushCall struct {
	crowd         rush.Crowd
	plan          string
	seats, places int
	hold          time.Duration
	course        string
	json, gentle  bool
	greedy        int // people
}

// rushIn sends a crowd to a box office and says what it was told.
func rushIn(ctx context.Context, c *call) (err error) {
	var r rushCall
	if err := r.parse(c); err != nil {
		return err
	}
	if r.gentle {
		return rush.Gentle(ctx, r.crowd.URL, c.stdout)
	}
	if r.greedy > 0 {
		return r.sendGreedy(ctx, c)
	}
	if isTerminal(c.stderr) {
		r.crowd.Progress = c.stderr
	}
	server := (*rush.Server)(nil)
	if r.crowd.URL == "" {
		if server, err = r.openHouse(ctx); err != nil {
			return err
		}
		defer closing(&err, server.Stop)
	}
	report, err := sendCrowd(ctx, &r.crowd, server, c.stderr)
	if err != nil {
		return err
	}
	return r.print(c, report)
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

func (r *rushCall) print(c *call, report *rush.Report) error {
	write := report.Text
	if r.json {
		write = report.JSON
		for _, lie := range report.Lies() {
			fmt.Fprintln(c.stderr, "usher:", lie)
		}
	}
	if err := write(c.stdout); err != nil {
		return err
	}
	if report.Failed() {
		return fmt.Errorf("the box office failed the crowd: %d untrue answers, %d seats sold twice, %d errors", report.Untrue, report.Oversold, report.Errors)
	}
	return nil
}

func (r *rushCall) parse(c *call) error {
	fs := c.flags()
	p := &r.crowd
	fs.StringVar(&p.URL, "url", "", "`address` of a box office that is open; empty: one of its own, which ends with the crowd")
	fs.StringVar(&p.Event, "event", "", "the event's `word` in addresses, at --url")
	fs.StringVar(&p.Scenario, "scenario", rush.FirstFree, "`what` people do: "+strings.Join(rush.Scenarios, ", "))
	fs.IntVar(&p.People, "people", 1200, "how many `people` come")
	fs.DurationVar(&p.Over, "over", 10*time.Second, "the `time` within which they come")
	fs.IntVar(&r.seats, "seats", 0, "make a hall of so many `seats`")
	fs.IntVar(&r.places, "places", 0, "make an area of so many `places`")
	fs.StringVar(&r.plan, "plan", "", "make an event of this `plan`, a file or the name of one that comes with usher")
	fs.DurationVar(&r.hold, "hold", 8*time.Minute, "how `long` seats of that event are held")
	fs.DurationVar(&p.Think, "think", 0, "`time` between looking at the map and claiming, about")
	fs.Func("give-up", "`share` that gives its seats back, as 10% or 0.1", share(&p.GiveUp))
	fs.Func("lapse", "`share` that lets its time run out; in a stadium 10% if left out", share(&p.Lapse))
	fs.Func("repeat", "`share` that sends a granted claim again", share(&p.Repeat))
	fs.BoolVar(&p.Buy, "buy", false, "order what is held: open the checkout, fill it in, confirm; the tickets have to be free, and their event to confirm no email: the crowd reads none")
	fs.StringVar(&p.Room, "room", "", "the waiting room's `word` in addresses, at --url")
	fs.IntVar(&p.Slots, "slots", 0, "`people` inside at once: of a room of our own 5000 if left out, at --url what it has")
	fs.Float64Var(&p.Faster, "faster", 20, "`times` as fast as people are those in front of a waiting room")
	fs.Func("absent", "`share` of them that does not come when called, 35% if left out", share(&p.Absent))
	fs.IntVar(&p.Looks, "looks", 2000, "most `looks` of them at the line per second")
	fs.DurationVar(&p.Again, "again", 0, "for how `long` somebody asks again, with the same key, who gets no answer: as a page does while nodes are restarted")
	fs.BoolVar(&p.OneAddress, "behind-one-address", false, "everybody comes from one address, as phones behind a carrier's router do; at --url they always do")
	fs.IntVar(&p.Connections, "connections", 0, "most `connections` at once; 0: 512, or what the limit of open files allows")
	fs.IntVar(&p.Watchers, "watchers", 0, "open `sockets` that only watch")
	fs.IntVar(&p.Dead, "dead", 0, "`sockets` of them that ask for the map and read nothing any more; who reads is to notice nothing of it")
	fs.IntVar(&p.Desks, "desks", 0, "live `desks` of organizers that are open meanwhile, at a box office of its own")
	fs.StringVar(&r.course, "arrivals", "", "`file` of a replay: how many people come in each second; empty: a real sale")
	fs.IntVar(&p.Speed, "speed", 1, "`times` as many people in a replay: 1, 10, 100")
	fs.Uint64Var(&p.Seed, "seed", 1, "`number` that makes two crowds alike")
	fs.BoolVar(&r.json, "json", false, "report in JSON")
	fs.IntVar(&r.greedy, "greedy", 0, "instead: so many `people`, each of whom tries for ten tickets of an event with a limit of 2, with new cookies and other spellings of their email")
	fs.BoolVar(&r.gentle, "gentle", false, "an endless quiet crowd at every event of --url instead")
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := r.complete(given); err != nil {
		return c.misuse(err)
	}
	return nil
}

// complete refuses what makes no sense together, and fills in what the scenario says and nobody else did.
func (r *rushCall) complete(given map[string]bool) (err error) {
	p := &r.crowd
	p.Own = p.URL == ""
	if err := r.fits(); err != nil {
		return err
	}
	if r.gentle {
		setUnless(given["lapse"], &p.Lapse, 0.1)
		return nil
	}
	switch p.Scenario {
	case rush.Replay:
		p.Course = rush.OnSale()
		if r.course != "" {
			p.Course, err = readCourse(r.course)
		}
	case rush.Places:
		setUnless(given["people"], &p.People, 200_000)
		setUnless(given["over"], &p.Over, 5*time.Second)
	case rush.Stadium:
		setUnless(given["lapse"], &p.Lapse, 0.1)
		setUnless(given["people"], &p.People, 30_000)
		setUnless(given["over"], &p.Over, 20*time.Second)
		setUnless(given["hold"], &r.hold, max(p.Over*3/4, 2*time.Second))
	case rush.Room:
		r.completeRoom(given)
	}
	if err != nil {
		return err
	}
	return p.Check()
}

// completeRoom fills in how people are who wait.
func (r *rushCall) completeRoom(given map[string]bool) {
	p := &r.crowd
	setUnless(given["people"], &p.People, 2_000_000)
	setUnless(given["over"], &p.Over, time.Duration(p.People)*time.Second/5000)
	setUnless(given["think"], &p.Think, time.Second)
	setUnless(given["lapse"], &p.Lapse, 0.05)
	setUnless(given["give-up"], &p.GiveUp, 0.05)
	setUnless(given["absent"], &p.Absent, 0.35)
	p.Early = 0.005
	setUnless(given["slots"] || !p.Own, &p.Slots, 5000)
	setUnless(given["buy"], &p.Buy, true)
	setUnless(given["hold"], &r.hold, r.faster(8*time.Minute))
}

// fits says what is missing, or of no use, at a house of our own or at another one.
func (r *rushCall) fits() error {
	p := &r.crowd
	switch {
	case r.gentle && p.Own:
		return errors.New("--gentle needs the --url of a box office that is open")
	case r.greedy < 0 || r.greedy > mostGreedy:
		return fmt.Errorf("--greedy is 1 to %d people", mostGreedy)
	case r.greedy > 0 && !p.Own:
		return errors.New("--greedy has an event of its own, and no --url")
	case r.gentle, p.Own:
		return nil
	case p.Event == "":
		return errors.New("--event is missing: which one shall the crowd come to?")
	case p.Scenario == rush.Room && p.Room == "":
		return errors.New("--room is missing: in front of which waiting room shall the crowd wait?")
	case r.seats > 0 || r.places > 0 || r.plan != "":
		return errors.New("--seats, --places and --plan make an event; at --url the crowd comes to one that is there")
	case p.Desks > 0:
		return errors.New("--desks signs an organizer up, which only a box office of its own lets it do")
	}
	return nil
}

// faster is how long something lasts for a crowd in front of a waiting room that lasts so long for people.
func (r *rushCall) faster(d time.Duration) time.Duration {
	return max(time.Second, time.Duration(float64(d)/max(1, r.crowd.Faster))).Round(time.Millisecond)
}

func setUnless[T any](given bool, p *T, value T) {
	if !given {
		*p = value
	}
}

func readCourse(file string) ([]int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return rush.ReadArrivals(string(text))
}

// share reads "10%" or "0.1".
func share(p *float64) func(string) error {
	return func(text string) (err error) {
		number, percent := strings.CutSuffix(text, "%")
		*p, err = strconv.ParseFloat(number, 64)
		if percent {
			*p /= 100
		}
		return err
	}
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
func (r *rushCall) sendGreedy(ctx context.Context, c *call) (err error) {
	r.places, r.crowd.Buy = r.greedy*greedyLimit+2*greedyLimit*greedyConnections, true
	server, err := r.openHouse(ctx)
	if err != nil {
		return err
	}
	defer closing(&err, server.Stop)
	g := rush.Greed{
		URL: server.URL, Event: r.crowd.Event, People: r.greedy, Limit: greedyLimit, Tries: greedyTries, Connections: greedyConnections, Seed: r.crowd.Seed,
	}
	report, err := g.Run(ctx)
	if err != nil {
		return err
	}
	if report.Failed() {
		fmt.Fprintf(c.stderr, "usher: the last that the server said:\n%s\n", server.Log())
	}
	if r.json {
		err = json.NewEncoder(c.stdout).Encode(report)
	} else {
		err = report.Text(c.stdout)
	}
	if err == nil && report.Failed() {
		err = fmt.Errorf("the limit per person did not hold: %d people above it, %d below, %d untrue answers, %d errors", report.Above, report.Below, report.Untrue, report.Errors)
	}
	return err
}
