package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments/stripe/standin"
)

// Settings say how much of everything there is.
type Settings struct {
	Program  string        // the file of usher
	Checker  string        // the file of tools/checker; empty: public logs are not judged
	For      time.Duration // how long clients come while things break
	Nodes    int
	Clients  int
	Watchers int
	Seed     uint64
	Hold     time.Duration          // how long seats are held
	Think    time.Duration          // between two things a client does, about
	Rest     time.Duration          // between two faults, about
	Look     time.Duration          // between two looks at the books
	Judge    time.Duration          // the most the judge may take to find an order of all operations
	Faults   []string               // only these; empty: all
	Env      []string               // for the nodes besides
	Until    func([]Violation) bool // ends it early
	Hot      int                    // how many seats most people want
	Scenes   []string               // what is tried beside the hall
	Bars     bool                   // recovery that takes too long is a violation

	provoke  func(context.Context, *run) error // who comes, instead of a crowd
	none     bool                              // no faults at all
	once     bool                              // each fault of a cluster once, whatever the time
	tries    int                               // how often a client asks again
	patience time.Duration                     // in which a node must be ready
	right    time.Duration                     // in which every map must be right again; of a good build only slow machines need much
}

func (s *Settings) complete() error {
	set(&s.Nodes, 2)
	set(&s.Clients, 8)
	set(&s.Hot, hallSeats/3)
	set(&s.Watchers, 2*s.Nodes)
	set(&s.Hold, 2*time.Second)
	set(&s.Rest, 250*time.Millisecond)
	set(&s.Look, 200*time.Millisecond)
	set(&s.Judge, 5*time.Minute)
	set(&s.For, 10*time.Second)
	set(&s.patience, patience)
	set(&s.right, patience)
	set(&s.tries, mostTries)
	for _, name := range s.Scenes {
		if !slices.Contains(Scenes(), name) {
			return fmt.Errorf("there is no scene %q", name)
		}
	}
	for _, name := range s.Faults {
		if !slices.Contains(FaultNames(), name) && !slices.Contains(ClusterFaultNames(), name) {
			return fmt.Errorf("there is no fault %q", name)
		}
	}
	return nil
}

func set[T comparable](p *T, fallback T) {
	var zero T
	if *p == zero {
		*p = fallback
	}
}

// run is one torture under way.
type run struct {
	settings Settings
	server   *Server
	database string
	bank     *standin.Fake
	plan     *seats.Plan
	plans    map[string]*seats.Plan // by scene
	labels   map[string]int
	nodes    []*node
	watchers []*watcher
	faults   []fault
	history  *history
	pictures *pictures
	figures  figures
	alone    atomic.Pointer[others] // while a node is away and nothing else is wrong
	plain    *http.Client

	orders    sync.Map // confirmed and not cancelled: code → order
	door      door     // where tickets are scanned
	roots     roots    // of public logs that were seen
	leaves    int64    // of public logs that were audited
	rooted    int      // signed roots that were held against them
	judged    int      // operations on tickets that the judge of the door could order
	numbers   sync.Map // places in front of the waiting room: kind and index → holder
	news      atomic.Int64
	came      atomic.Int64 // people of provocations
	confirmed int          // orders
	lost      int          // orders that were confirmed and are not there
	captured  int64        // by the bank, in cents
	refunded  int64
	snapshots atomic.Int64
	ghostly   int
	converged time.Duration

	measured sync.RWMutex // held while something is measured, which nothing else may disturb
	eye      eye

	mu          sync.Mutex
	did         map[string]int // faults, by name
	outages     []outage
	undone      []string // faults that could not be done, and why
	deadReaders []net.Conn
}

// Run tortures nodes on a server and judges what came of it. The error is for a torture that could not be; what went wrong
// is in the report.
func Run(ctx context.Context, server *Server, s Settings) (_ *Report, err error) {
	defer func() { err = errors.Join(err, server.rightTime()) }()
	r, err := open(ctx, server, s)
	if err != nil {
		return nil, err
	}
	defer r.close()
	took, err := r.suffer(ctx)
	if err != nil {
		return nil, err
	}
	return r.report(took), ctx.Err()
}

// open makes a database of its own on the server and starts its nodes.
func open(ctx context.Context, server *Server, s Settings) (*run, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	r := &run{
		settings: s, server: server, plan: hall(), labels: map[string]int{}, history: newHistory(), pictures: newPictures(), did: map[string]int{},
		plain: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	for _, step := range []func(context.Context) error{r.chooseFaults, r.putOnSale, r.addNodes, r.heal} { // healed, they run
		if err := step(ctx); err != nil {
			r.close()
			return nil, err
		}
	}
	return r, nil
}

// addNodes adds nodes that do not run yet, a bank if clients are to pay, and pages that look at a map.
func (r *run) addNodes(context.Context) error {
	s := &r.settings
	env := s.Env
	if r.plays(scenePaid) {
		r.bank = standin.Start()
		env = append(slices.Clone(env), "USHER_STRIPE_KEY=sk_test_torture", "USHER_STRIPE_WEBHOOK_SECRET="+standin.Secret, "USHER_STRIPE_URL="+r.bank.URL)
	}
	for i := range s.Nodes {
		n, err := newNode(i, s.Program, r.server.dir+"/"+r.database, r.server.dial, env)
		if err != nil {
			return err
		}
		if r.server.cluster != nil {
			if n.direct, err = newProxy(dialLeader, true); err != nil {
				return err
			}
		}
		r.nodes = append(r.nodes, n)
	}
	for i := range s.Watchers {
		r.watchers = append(r.watchers, &watcher{run: r, number: i, opened: i, random: r.source(uint64(i) + 100)})
	}
	return nil
}

// chooseFaults takes those that were asked for, and of all those that this machine lets us do.
func (r *run) chooseFaults(context.Context) error {
	for _, f := range r.known() {
		why, missing := r.server.missing[f.name]
		switch asked := slices.Contains(r.settings.Faults, f.name); {
		case asked && missing:
			return fmt.Errorf("the fault %q cannot be done here: %s", f.name, why)
		case asked, len(r.settings.Faults) == 0 && !r.settings.none && !missing:
			r.faults = append(r.faults, f)
		}
	}
	return nil
}

// putOnSale makes the events, in a database of their own.
func (r *run) putOnSale(ctx context.Context) (err error) {
	r.plans = map[string]*seats.Plan{"": r.plan}
	for idx := range r.plan.Seats {
		r.labels[r.plan.Label(idx)] = idx
	}
	if r.database, err = r.server.newDatabase(ctx); err != nil {
		return err
	}
	conn, err := r.server.connect(ctx, r.database)
	if err != nil {
		return err
	}
	_, err = events.Create(ctx, conn, events.Settings{
		Name: eventName, Slug: eventSlug, StartsAt: time.Unix(4e9, 0), HoldLength: r.settings.Hold, SeatsPerHolder: hallLimit, Extensions: 3,
	}, r.plan)
	if err == nil {
		err = r.setScenes(ctx, conn)
	}
	return errors.Join(err, conn.Close(ctx))
}

// source is the luck of one part of the run, the same in each run with the same seed.
func (r *run) source(part uint64) *rand.Rand { return rand.New(rand.NewPCG(r.settings.Seed, part)) }

func (r *run) close() {
	for _, n := range r.nodes {
		n.close()
	}
	if r.bank != nil {
		r.bank.Close()
	}
	r.eye.shut(context.Background())
}
