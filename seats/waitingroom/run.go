package waitingroom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats"
)

const (
	paceBusy = time.Second      // between two looks at rooms in use: the tick, and what a lost bell costs
	paceCalm = 2 * time.Second  // at rooms where nobody waits
	paceIdle = 30 * time.Second // at rooms that nobody can be kept waiting in
	busyFor  = 10 * time.Second // how long a room counts as in use after its last change
)

// Run listens for changes of rooms, closes lobbies, draws, and calls numbers, until ctx is done; then it waits for the
// statements that are under way. It is safe on all nodes at once. While the database is gone it tries again; nobody is
// called or let in then, and what everybody is shown stays.
func (g *Gate) Run(ctx context.Context) error { return g.keepOn(ctx, g.follow) }

// keepOn does something again and again that ends only when the database is lost.
func (g *Gate) keepOn(ctx context.Context, follow func(context.Context) error) error {
	defer g.lanes.Wait()
	for failures := 1; ; failures++ {
		began := time.Now()
		err := follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > busyFor {
			failures = 1
		}
		if failures > 1 { // one connection that broke is not worth a word to those who wait
			for _, r := range g.Rooms() {
				r.away()
			}
		}
		g.log.Warn("the waiting rooms lost the database; nobody is let in until it is back", "error", err)
		if err := seats.Sleep(ctx, 100*time.Millisecond+rand.N(400*time.Millisecond)); err != nil {
			return err
		}
	}
}

const listenSQL = `LISTEN usher_room`

// follow listens first, then looks, then waits: nothing can fall between.
func (g *Gate) follow(ctx context.Context) error {
	conn, err := seats.Dial(ctx, g.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }() // it only listens
	if _, err := conn.Exec(ctx, listenSQL); err != nil {
		return err
	}
	if err := g.keys.again(ctx); err != nil {
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		for {
			bell, err := conn.WaitForNotification(ctx)
			if err == nil && bell.Payload == keysBell {
				err = g.keys.again(ctx)
			}
			if err != nil {
				return err
			}
			g.poke()
		}
	})
	both.Go(func() error { return g.lookOnAndOn(ctx) })
	return both.Wait()
}

func (g *Gate) lookOnAndOn(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-g.wake:
		case <-timer.C:
		}
		if err := g.look(ctx); err != nil {
			return err
		}
		timer.Reset(g.pace())
	}
}

// look reads all rooms and does what is due in each.
func (g *Gate) look(ctx context.Context) error {
	if err := g.load(ctx); err != nil {
		return err
	}
	for _, r := range g.Rooms() {
		if err := r.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pace is how long nobody need look at the rooms, if no bell rings.
func (g *Gate) pace() time.Duration {
	pace := paceIdle
	for _, r := range g.Rooms() {
		pace = min(pace, r.pace())
	}
	return pace
}

func (r *Room) pace() time.Duration {
	s := r.state.Load()
	switch s.Phase {
	case PhaseThrough, PhaseEnded:
		return paceIdle
	case PhaseDrawing:
		return paceBusy
	case PhaseLobby:
		if left := s.OpensAt.Sub(s.Now); left < paceCalm {
			return max(left, 10*time.Millisecond)
		}
	case PhaseOpen:
		if s.Serving < s.last() {
			return paceBusy
		}
	}
	if time.Since(time.Unix(0, r.moved.Load())) < busyFor {
		return paceBusy
	}
	return paceCalm
}

// poke makes the loop look now.
func (g *Gate) poke() {
	select {
	case g.wake <- struct{}{}:
	default: // it is about to
	}
}

const ringSQL = `SELECT pg_notify('usher_room', $1)`

// ring tells all nodes that a room is at a version now. It may be lost: the next look finds it, too.
func (g *Gate) ring(ctx context.Context, room, version int64) {
	if _, err := g.db.Exec(ctx, ringSQL, fmt.Sprintf("%d:%d", room, version)); err != nil && ctx.Err() == nil {
		g.log.Warn("the bell of a room was not rung; other nodes learn of its change by their own look", "room", room, "error", err)
	}
}
