package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// Rolling is what came of restarting one node after the other while a crowd came.
type Rolling struct {
	Nodes    int      `json:"nodes"`
	People   int      `json:"people"`
	Seconds  float64  `json:"seconds"`
	Orders   int      `json:"orders"`
	Errors   int      `json:"errors"`   // requests without a proper answer, asked again with their key for ten seconds
	Untrue   int      `json:"untrue"`   // answers that were not true
	Oversold int      `json:"oversold"` // grants of a seat that another visitor had
	Sockets  int      `json:"sockets"`
	Came     int      `json:"came_back"`      // sockets that ended with their node and were open again at another
	Worst    float64  `json:"worst_ms"`       // from the end of a socket to the first frame of the next
	Middle   float64  `json:"median_ms"`      //
	Lies     []string `json:"lies,omitempty"` // some answers that were not true
	Most     int      `json:"most_100ms"`     // came back within the same tenth of a second
}

const (
	rollingNodes   = 3
	rollingPeople  = 6000
	rollingSeats   = 12000
	rollingSockets = 150
	rollingTime    = 20 * time.Second
	socketsBack    = 5 * time.Second
)

// Roll restarts each of three nodes, as for a new version, under the crowd of usher rush that orders what it gets. A client without an
// answer asks again with the same key: no client may see an error, and sockets come back soon, not all at once.
func Roll(ctx context.Context, server *Server, s Settings) (*Rolling, error) {
	s.Nodes, s.Watchers, s.Clients, s.Scenes, s.none, s.Faults = rollingNodes, rollingSockets, 1, nil, true, nil
	r, err := open(ctx, server, s)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.openRush(ctx); err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	for _, w := range r.watchers {
		go w.watch(watching)
	}
	if !r.becomes(ctx, func() bool { t, err := r.truth(ctx); return err == nil && r.shown(&t) }) {
		return nil, errors.New("torture: the sockets were never open")
	}
	door, err := newProxy(r.anyNode(), false)
	if err != nil {
		return nil, err
	}
	defer door.close()
	var restarts sync.WaitGroup
	began := time.Now()
	going, lively := make(chan struct{}), r.newClient(0) // a socket that says nothing for long is taken for a dead one
	restarts.Go(func() { lively.come(ctx, going, lively.takesAndLetsGo) })
	restarts.Go(func() { r.restartUnder(ctx) })
	report, err := rush.Run(ctx, &rush.Crowd{
		URL: "http://" + door.addr(), Event: rushSlug, Scenario: rush.Stadium, People: rollingPeople, Over: rollingTime, Buy: true, Own: true,
		Connections: 128, Again: 10 * time.Second, Seed: s.Seed,
	})
	close(going)
	restarts.Wait()
	if err != nil {
		return nil, err
	}
	sleepWell := seats.Sleep(ctx, time.Second) // for the last sockets
	stop()
	roll := r.rolled(began)
	roll.People, roll.Seconds, roll.Orders, roll.Errors, roll.Untrue, roll.Oversold = report.People, report.Seconds, report.Orders, report.Errors, report.Untrue, report.Oversold
	roll.Lies = report.Lies()[:min(len(report.Lies()), 5)]
	return roll, sleepWell
}

// takesAndLetsGo changes the map about twice a second.
func (c *client) takesAndLetsGo(ctx context.Context) {
	c.claim(ctx, c.pick(1))
	c.release(ctx, -1)
	c.rest(ctx, time.Second)
}

const rushSlug = "torture-rush"

func (r *run) openRush(ctx context.Context) error {
	plan, err := rush.Hall(rollingSeats, false)
	if err != nil {
		return err
	}
	plan.Categories[0].Price = 0 // an order to be paid later would wait for an email that the crowd does not read
	return r.within(ctx, func(conn *pgx.Conn) error {
		_, err := events.Create(ctx, conn, events.Settings{Name: "Rush", Slug: rushSlug, StartsAt: time.Unix(4e9, 0)}, plan)
		return err
	})
}

// anyNode leads to one node after the other, as a reverse proxy without sticky sessions does: to the next one if none
// listens.
func (r *run) anyNode() func() (net.Conn, error) {
	var turn atomic.Int64
	return func() (conn net.Conn, err error) {
		for range 2 * len(r.nodes) {
			n := r.nodes[int(turn.Add(1))%len(r.nodes)]
			if conn, err = n.reach(); err == nil {
				return conn, nil
			}
		}
		return nil, fmt.Errorf("torture: no node listens: %w", err)
	}
}

// restartUnder restarts one node after the other, each once the one before is ready.
func (r *run) restartUnder(ctx context.Context) {
	for _, n := range r.nodes {
		if seats.Sleep(ctx, 2*time.Second) != nil {
			return
		}
		r.restart(n)
		if err := r.back(ctx, n); err != nil {
			return
		}
		r.becomes(ctx, func() bool { return r.ready(ctx, n) })
	}
}

// rolled tells how sockets came back.
func (r *run) rolled(began time.Time) *Rolling {
	roll := &Rolling{Nodes: len(r.nodes), Sockets: len(r.watchers)}
	var gaps []time.Duration
	within := map[int64]int{}
	for _, w := range r.watchers {
		w.mu.Lock()
		for _, g := range w.gaps {
			gaps = append(gaps, g.took)
			at := g.at.Sub(began).Milliseconds() / 100
			within[at]++
			roll.Most = max(roll.Most, within[at])
		}
		w.mu.Unlock()
	}
	if roll.Came = len(gaps); roll.Came > 0 {
		slices.Sort(gaps)
		roll.Middle, roll.Worst = round(float64(gaps[len(gaps)/2])/1e6), round(float64(gaps[len(gaps)-1])/1e6)
	}
	return roll
}

// Failed reports whether a client saw an error, or sockets came back late or all at once.
func (r *Rolling) Failed(bars bool) bool {
	return r.Errors+r.Untrue+r.Oversold > 0 || bars && (r.Came < r.Sockets || r.Worst > float64(socketsBack.Milliseconds()) || r.Most > r.Sockets/3)
}

// String is a line of the report.
func (r *Rolling) String() string {
	return fmt.Sprintf("%d nodes restarted in turn under %d people: %d orders, %d errors, %d answers untrue, %d oversold; %d sockets came back, %.0f ms at worst, %.0f ms in the middle, at most %d within a tenth of a second",
		r.Nodes, r.People, r.Orders, r.Errors, r.Untrue, r.Oversold, r.Came, r.Worst, r.Middle, r.Most)
}
