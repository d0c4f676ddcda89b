package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats"
)

// fault is one thing that goes wrong in the world. It returns when it is over.
type fault struct {
	name  string
	about string
	do    func(ctx context.Context, r *run, n *node, random *rand.Rand) error
}

// most is how long what stops a node may last, by and large: so short that people do something in between.
const most = 900 * time.Millisecond

// moment is for how long something lasts that is not over at once.
func moment(ctx context.Context, random *rand.Rand, about time.Duration) error {
	return seats.Sleep(ctx, about/4+time.Duration(random.Int64N(int64(about))))
}

// faults are all that the torture knows to do.
var faults = slices.Concat(heavy, light)

// heavy faults take the whole cluster: there is one at a time.
var heavy = []fault{
	{"node killed", "kill -9 of a node, which is started again", func(ctx context.Context, r *run, n *node, random *rand.Rand) error {
		return r.killNode(ctx, n, random)
	}},
	{"rolling restart", "SIGTERM of each node in turn, each started again", func(ctx context.Context, r *run, _ *node, _ *rand.Rand) error {
		return r.restartAll(ctx)
	}},
	{"database killed", "kill -9 of PostgreSQL, which recovers", func(ctx context.Context, r *run, _ *node, _ *rand.Rand) error {
		return r.killServer(ctx, syscall.SIGKILL)
	}},
	{"database stopped", "immediate stop of PostgreSQL, which recovers", func(ctx context.Context, r *run, _ *node, _ *rand.Rand) error {
		return r.server.die(ctx, syscall.SIGQUIT)
	}},
	{standbyPromoted, "PostgreSQL dies for good, and a standby for which every commit waited takes over", func(ctx context.Context, r *run, n *node, random *rand.Rand) error {
		return r.standbyPromoted(ctx, n, random)
	}},
	{diskFull, "nothing can be written on the disk of PostgreSQL and of the nodes", func(ctx context.Context, r *run, n *node, random *rand.Rand) error {
		return r.fullDisk(ctx, n, random)
	}},
	{clockJumps, "the clock of PostgreSQL jumps ahead by seconds", func(ctx context.Context, r *run, n *node, random *rand.Rand) error {
		return r.clockJumps(ctx, n, random)
	}},
	{"backends terminated", "pg_terminate_backend of every connection", func(ctx context.Context, r *run, _ *node, _ *rand.Rand) error {
		return r.terminate(ctx)
	}},
	{"LISTEN lost", "the connections that carry news are cut", func(ctx context.Context, r *run, n *node, random *rand.Rand) error {
		return r.cutNotifications(ctx, n, random)
	}},
}

// light faults are of one node or its connections. They go on beside the others, but for moments in which something is
// measured.
var light = []fault{
	{"node stopped", "SIGSTOP of a node and SIGCONT", func(ctx context.Context, _ *run, n *node, random *rand.Rand) error {
		n.signal(syscall.SIGSTOP)
		defer n.signal(syscall.SIGCONT)
		return moment(ctx, random, most)
	}},
	{"database connections cut", "every connection of a node to the database closed", func(_ context.Context, _ *run, n *node, _ *rand.Rand) error {
		n.db.cutAll()
		return nil
	}},
	{"database connections half closed", "the database hears no more from a node", func(_ context.Context, _ *run, n *node, _ *rand.Rand) error {
		n.db.halfClose()
		return nil
	}},
	{"database stalled", "nothing passes between a node and the database, nothing is closed", func(ctx context.Context, _ *run, n *node, random *rand.Rand) error {
		n.db.stalled.Store(true)
		defer n.db.stalled.Store(false)
		return moment(ctx, random, most)
	}},
	{"database slow", "every message to and from the database takes longer", func(ctx context.Context, _ *run, n *node, random *rand.Rand) error {
		n.db.delay.Store(int64(5+random.IntN(30)) * int64(time.Millisecond))
		defer n.db.delay.Store(0)
		return moment(ctx, random, most)
	}},
	{"answer to COMMIT lost", "the connection is cut when the answer to a COMMIT comes, again and again", func(ctx context.Context, _ *run, n *node, random *rand.Rand) error {
		n.db.loseNext.Store(int64(3 + random.IntN(20)))
		defer n.db.loseNext.Store(0)
		return moment(ctx, random, 700*time.Millisecond)
	}},
	{"COMMIT lost", "the connection is cut before a write arrives, again and again", func(ctx context.Context, _ *run, n *node, random *rand.Rand) error {
		n.db.stopNext.Store(int64(3 + random.IntN(20)))
		defer n.db.stopNext.Store(0)
		return moment(ctx, random, 700*time.Millisecond)
	}},
	{"LISTEN dead", "the connections that carry news carry nothing and are not closed", func(ctx context.Context, _ *run, n *node, random *rand.Rand) error {
		n.db.stallNotifications()
		return moment(ctx, random, 700*time.Millisecond)
	}},
	{"client connections cut", "every connection of clients to a node closed, with their requests and sockets", func(_ context.Context, _ *run, n *node, _ *rand.Rand) error {
		n.clients.cutAll()
		return nil
	}},
	{"clients stalled", "nothing passes between clients and a node", func(ctx context.Context, _ *run, n *node, random *rand.Rand) error {
		n.clients.stalled.Store(true)
		defer n.clients.stalled.Store(false)
		return moment(ctx, random, most)
	}},
	{"clients slow", "every message between clients and a node takes longer", func(ctx context.Context, _ *run, n *node, random *rand.Rand) error {
		n.clients.delay.Store(int64(10+random.IntN(60)) * int64(time.Millisecond))
		defer n.clients.delay.Store(0)
		return moment(ctx, random, most)
	}},
	{"dead readers", "sockets that are never read at the other end", func(_ context.Context, r *run, n *node, random *rand.Rand) error {
		for range 1 + random.IntN(10) {
			r.deadReader(n)
		}
		return nil
	}},
}

// Faults that not every machine lets us do.
const (
	diskFull        = "disk full"
	clockJumps      = "clock jumps"
	standbyPromoted = "standby promoted"
)

// FaultNames lists all faults.
func FaultNames() (names []string) {
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}

const terminateSQL = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()`

func (r *run) terminate(ctx context.Context) error {
	conn, err := r.server.connect(ctx, r.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it did what it was for
	_, err = conn.Exec(ctx, terminateSQL, r.database)
	return err
}

// known are the faults of this kind of torture.
func (r *run) known() []fault {
	if r.server.cluster != nil {
		return clusterFaults
	}
	return faults
}

// breakThings does one heavy fault after the other, and light ones beside them, drawn from the seed, until told to end.
func (r *run) breakThings(ctx context.Context, end <-chan struct{}) error {
	if r.server.cluster != nil {
		return r.failOver(ctx)
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		return r.breakOne(ctx, end, r.chosen(heavy), r.source(1), func() func() { return func() {} })
	})
	both.Go(func() error { return r.breakOne(ctx, end, r.chosen(light), r.source(2), r.beside) })
	return both.Wait()
}

// beside lets a light fault happen, unless something is measured. The fault is over when what it returns is called.
func (r *run) beside() func() {
	r.measured.RLock()
	return r.measured.RUnlock
}

// chosen are the faults of a sort that this run does.
func (r *run) chosen(sort []fault) (list []fault) {
	for _, f := range sort {
		if slices.ContainsFunc(r.faults, func(g fault) bool { return g.name == f.name }) {
			list = append(list, f)
		}
	}
	return list
}

// breakOne does one fault after the other. Each kind has its turn before one comes a second time.
func (r *run) breakOne(ctx context.Context, end <-chan struct{}, list []fault, random *rand.Rand, begin func() func()) error {
	var bag []fault
	for {
		if len(bag) == 0 {
			bag = slices.Clone(list)
			random.Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
		}
		if len(bag) == 0 {
			return nil
		}
		f := bag[0]
		bag = bag[1:]
		over := begin()
		err := f.do(ctx, r, r.nodes[random.IntN(len(r.nodes))], random)
		over()
		if ctx.Err() != nil {
			return nil
		}
		r.happened(f.name, err)
		select {
		case <-end:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(r.settings.Rest/2 + time.Duration(random.Int64N(int64(r.settings.Rest)))):
		}
	}
}

// happened counts a fault, or keeps why it could not be done: the run goes on, and its end shows whether everything heals.
func (r *run) happened(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.undone = append(r.undone, fmt.Sprintf("%s: %v", name, err))
		return
	}
	r.did[name]++
}
