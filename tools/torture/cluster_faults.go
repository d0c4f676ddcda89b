package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Faults of a cluster. Each returns once the harm is done; mend undoes it after orders are confirmed again.
var clusterFaults = []fault{
	{"node of usher killed", "kill -9 of a node of usher, which is started again", func(ctx context.Context, r *run, n *node, _ *rand.Rand) error {
		n.kill()
		return r.back(ctx, n)
	}},
	{"HAProxy and PgBouncer killed", "both, and started again after a second", func(ctx context.Context, r *run, _ *node, _ *rand.Rand) error {
		err := r.server.cluster.door.kill()
		return errors.Join(err, seats.Sleep(ctx, time.Second), r.server.cluster.openDoor())
	}},
	{"PostgreSQL of the leader killed", "kill -9 of its first process", onLeader(func(_ context.Context, _ *cluster, leader, _ *host) error { return leader.killServer() })},
	{"leader killed", "every process of its machine: PostgreSQL, Patroni, etcd", onLeader(func(_ context.Context, _ *cluster, leader, _ *host) error { return leader.kill() })},
	{"synchronous standby killed", "every process of its machine", onLeader(func(_ context.Context, _ *cluster, _, standby *host) error { return standby.kill() })},
	{"leader and its etcd cut off", "no packet to or from the machine of the leader", onLeader(func(ctx context.Context, _ *cluster, leader, _ *host) error { return leader.cutOff(ctx) })},
	{"leader cut off from the others", "no packet between the leader and the other servers; nodes of usher reach all", onLeader(func(ctx context.Context, c *cluster, leader, _ *host) error {
		err := c.others(leader, func(other *host) error { return leader.cutFrom(ctx, other) })
		return errors.Join(err, seats.Sleep(ctx, leaderTime)) // without synchronous replication, it goes on
	})},
	{"synchronous standby cut off", "no packet to or from its machine", onLeader(func(ctx context.Context, _ *cluster, _, standby *host) error { return standby.cutOff(ctx) })},
	{"etcd of the leader killed", "one of three", onLeader(func(_ context.Context, _ *cluster, leader, _ *host) error { return leader.end("etcd") })},
	{"etcd lost", "two of three are killed, for longer than a leader may be silent: no majority", onLeader(func(ctx context.Context, _ *cluster, leader, standby *host) error {
		return errors.Join(leader.end("etcd"), standby.end("etcd"), seats.Sleep(ctx, leaderTime+10*time.Second))
	})},
	{"switchover", "Patroni is told to have the synchronous standby lead", onLeader(func(ctx context.Context, c *cluster, leader, standby *host) error {
		return c.tell(ctx, leader, http.MethodPost, "/switchover", map[string]string{"leader": leader.name, "candidate": standby.name})
	})},
	{"leader killed while commits wait", "no standby hears of commits; then the leader's PostgreSQL is killed, then its machine", onLeader(func(ctx context.Context, c *cluster, leader, _ *host) error {
		err := c.others(leader, func(other *host) error { return leader.stopSending(ctx, other) })
		return errors.Join(err, seats.Sleep(ctx, 2*time.Second), leader.killServer(), seats.Sleep(ctx, time.Second), leader.kill())
	})},
	{commitsCancelled, "no standby hears of commits; an operator cancels those that wait, a node of usher dies, then the leader", func(ctx context.Context, r *run, n *node, _ *rand.Rand) error {
		return r.cancelCommits(ctx, n)
	}},
}

const commitsCancelled = "commits cancelled while they wait"

// ClusterFaultNames lists the faults of a cluster.
func ClusterFaultNames() (names []string) {
	for _, f := range clusterFaults {
		names = append(names, f.name)
	}
	return names
}

// onLeader does something to the leader or its synchronous standby.
func onLeader(do func(ctx context.Context, c *cluster, leader, standby *host) error) func(context.Context, *run, *node, *rand.Rand) error {
	return func(ctx context.Context, r *run, _ *node, _ *rand.Rand) error {
		leader, standby, err := r.server.cluster.roles(ctx)
		if err != nil {
			return err
		}
		if standby == nil && r.server.cluster.asynchronous {
			standby = r.server.cluster.another(leader)
		}
		if standby == nil {
			return errors.New("there is no synchronous standby")
		}
		return do(ctx, r.server.cluster, leader, standby)
	}
}

func (c *cluster) others(h *host, do func(*host) error) (err error) {
	for _, other := range c.members {
		if other != h {
			err = errors.Join(err, do(other))
		}
	}
	return err
}

func (c *cluster) another(h *host) *host {
	return c.members[(slices.Index(c.members, h)+1)%len(c.members)]
}

// dialLeader is the way past PgBouncer.
func dialLeader() (net.Conn, error) {
	return net.DialTimeout("tcp", doorAddress+":5000", 2*time.Second)
}

// PostgreSQL then says that the commit succeeded, with a warning that a standby may not have it.
const cancelWaitsSQL = `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`

// cancelCommits cancels commits that wait for a standby. The leader dies before a standby has them.
func (r *run) cancelCommits(ctx context.Context, n *node) error {
	c := r.server.cluster
	leader, _, err := c.roles(ctx)
	if err != nil {
		return err
	}
	err = c.onLeader(ctx, "postgres", "postgres", func(conn *pgx.Conn) error {
		err := c.others(leader, func(other *host) error { return leader.stopSending(ctx, other) })
		cancelled := 0
		for i := 0; i < 12 && err == nil; i++ {
			var some int
			err = errors.Join(seats.Sleep(ctx, 200*time.Millisecond), conn.QueryRow(ctx, cancelWaitsSQL).Scan(&some))
			if cancelled += some; i == 6 {
				n.kill()
			}
		}
		if cancelled == 0 {
			err = errors.Join(err, errors.New("no commit waited"))
		}
		return err
	})
	return errors.Join(err, leader.kill(), r.back(ctx, n))
}

// outage is one fault, from its begin until all was whole again.
type outage struct {
	fault      string
	begin, end int64
}

const (
	leaderTime = 20 * time.Second       // ttl in contrib/patroni.yml
	faultTime  = 8 * time.Second        // a fault lasts at least
	steadyTime = 2 * time.Second        // orders are confirmed before the next fault
	resumeTime = 2 * time.Minute        // until orders are confirmed again
	recentTime = 500 * time.Millisecond // the last order was confirmed before
)

// failOver does each fault once, in an order drawn from the seed, again and again until the time is over.
func (r *run) failOver(ctx context.Context) error {
	random, began := r.source(1), time.Now()
	for len(r.faults) > 0 {
		bag := slices.Clone(r.faults)
		random.Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
		for _, f := range bag {
			if err := r.failOnce(ctx, f, random); err != nil || ctx.Err() != nil {
				return err
			}
		}
		if time.Since(began) > r.settings.For || r.settings.once {
			return nil
		}
	}
	return nil
}

// faultTries is how often a fault is tried: the fault before it may have left no leader, no standby, or no commit that waits.
const faultTries = 3

// failOnce does a fault once, and undoes it.
func (r *run) failOnce(ctx context.Context, f fault, random *rand.Rand) error {
	for try := 1; ; try++ {
		done, err := r.tryFault(ctx, f, random)
		if done || err != nil || ctx.Err() != nil {
			return err
		}
		if try == faultTries {
			return fmt.Errorf("torture: the fault %q could not be done in %d tries", f.name, try)
		}
	}
}

// tryFault does a fault, waits until orders are confirmed again, and undoes it. done is false if it could not be done.
func (r *run) tryFault(ctx context.Context, f fault, random *rand.Rand) (done bool, err error) {
	if err := r.sells(ctx, steadyTime, "before "+f.name); err != nil {
		return false, err
	}
	began := r.history.now()
	failed := f.do(ctx, r, r.nodes[random.IntN(len(r.nodes))], random)
	if r.happened(f.name, failed); failed == nil {
		if e := seats.Sleep(ctx, time.Duration(began-r.history.now())+faultTime); e != nil {
			return false, e
		}
		if err := r.sells(ctx, time.Second, "after "+f.name); err != nil {
			r.history.violated("recovery", "%v", err)
		}
	}
	if err := r.server.cluster.mend(ctx); err != nil {
		return false, err
	}
	fmt.Fprintf(os.Stderr, "%s: %s, %.0f s until all was whole\n", time.Now().Format(time.TimeOnly), f.name, time.Duration(r.history.now()-began).Seconds())
	if failed != nil {
		return false, nil
	}
	r.mu.Lock()
	r.outages = append(r.outages, outage{f.name, began, r.history.now()})
	r.mu.Unlock()
	return true, nil
}

// mend undoes every fault, and waits until the cluster is whole.
func (c *cluster) mend(ctx context.Context) error {
	for _, h := range c.members {
		if err := errors.Join(h.mend(ctx), c.startEtcd(h), c.startPatroni(h)); err != nil {
			return err
		}
	}
	return errors.Join(c.openDoor(), c.becomesHealthy(ctx))
}

// sells waits until orders are confirmed, one after the other, for some time.
func (r *run) sells(ctx context.Context, long time.Duration, when string) error {
	since := r.history.now()
	for deadline := time.Now().Add(resumeTime); time.Now().Before(deadline); {
		now := r.history.now()
		if now-r.figures.ordered.Load() > int64(recentTime) {
			since = now
		}
		if now-since > int64(long) {
			return nil
		}
		if err := seats.Sleep(ctx, moments); err != nil {
			return err
		}
	}
	return fmt.Errorf("torture: no orders are confirmed %s, for %s", when, resumeTime)
}

// judgeOutages notes for each fault the longest time between one order that was confirmed and the next.
func (r *run) judgeOutages() {
	var orders []int64
	for _, o := range r.history.all() {
		if o.kind == kindOrder && o.granted() {
			orders = append(orders, o.end)
		}
	}
	slices.Sort(orders)
	for _, f := range r.outages {
		longest := int64(0)
		for i := 1; i < len(orders); i++ {
			if orders[i] > f.begin && orders[i-1] < f.end {
				longest = max(longest, orders[i]-orders[i-1])
			}
		}
		r.figures.add(f.fault, time.Duration(longest))
	}
}

// deadlocks is what the logs of all members say.
func (c *cluster) deadlocks(string) (list []string, err error) {
	for _, h := range c.members {
		text, e := os.ReadFile(filepath.Join(h.dir, "patroni.log"))
		err = cmp.Or(err, e)
		list = append(list, deadlocksIn(string(text), "usher")...)
	}
	return list, err
}

// outageBar is the longest that orders may stop for any fault: Patroni waits 20 s for a leader that went silent.
const outageBar = time.Minute
