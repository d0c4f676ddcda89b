package waitingroom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
)

const (
	paceBusy = time.Second      // between two refreshes of rooms in use: the tick, and the delay after a lost notification
	paceCalm = 2 * time.Second  // of open rooms without waiting visitors
	paceIdle = 30 * time.Second // of rooms in which visitors cannot wait
	busyFor  = 10 * time.Second // how long a room counts as in use after its last change
)

// Run listens for changes of rooms, closes lobbies, draws, and calls numbers, until ctx is done. Then it waits for the
// statements under way. It is safe on all nodes at once. While the database is gone it tries again: no number is called, no
// visitor is admitted, and the published status stays.
func (rs *Rooms) Run(ctx context.Context) error { return rs.runUntilDone(ctx, rs.follow) }

// runUntilDone calls follow again whenever it lost the database.
func (rs *Rooms) runUntilDone(ctx context.Context, follow func(context.Context) error) error {
	defer rs.running.Wait()
	for failures := 1; ; failures++ {
		began := time.Now()
		err := follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > busyFor {
			failures = 1
		}
		if failures > 1 { // a single broken connection is not shown to visitors
			for _, r := range rs.All() {
				r.markAway()
			}
		}
		rs.log.Warn("the waiting rooms lost the database; no visitor is admitted until it is back", "error", err)
		if err := seats.Sleep(ctx, 100*time.Millisecond+rand.N(400*time.Millisecond)); err != nil {
			return err
		}
	}
}

const channel = "usher_room"

// follow listens first and refreshes then, so that no change is missed.
func (rs *Rooms) follow(ctx context.Context) error {
	conn, err := database.Dial(ctx, rs.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }() // it only listens
	if err := database.Listen(ctx, conn, channel); err != nil {
		return err
	}
	if err := rs.keys.again(ctx); err != nil {
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		for {
			notification, err := conn.WaitForNotification(ctx)
			if err == nil && notification.Payload == keysChanged {
				err = rs.keys.again(ctx)
			}
			if err != nil {
				return err
			}
			rs.poke()
		}
	})
	both.Go(func() error { return rs.refreshLoop(ctx) })
	return both.Wait()
}

func (rs *Rooms) refreshLoop(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if err := rs.refresh(ctx); err != nil {
			return err
		}
		timer.Reset(rs.pace())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-rs.wake:
		case <-timer.C:
		}
	}
}

// refresh reads all rooms and does what is due in each.
func (rs *Rooms) refresh(ctx context.Context) error {
	if err := rs.load(ctx); err != nil {
		return err
	}
	for _, r := range rs.All() {
		if err := r.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pace is the time until the next refresh without a notification.
func (rs *Rooms) pace() time.Duration {
	pace := paceIdle
	for _, r := range rs.All() {
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
	if time.Since(time.Unix(0, r.changedAt.Load())) < busyFor {
		return paceBusy
	}
	return paceCalm
}

// poke makes the loop refresh now.
func (rs *Rooms) poke() {
	select {
	case rs.wake <- struct{}{}:
	default: // it is about to
	}
}

const notifySQL = `SELECT pg_notify(house_channel('usher_room'), $1)`

// notify tells all nodes the new version of a room. If it is lost, their next refresh finds the change.
func (rs *Rooms) notify(ctx context.Context, room, version int64) {
	if _, err := rs.db.Exec(ctx, notifySQL, fmt.Sprintf("%d:%d", room, version)); err != nil && ctx.Err() == nil {
		rs.log.Warn("failed to notify other nodes of a waiting room's change; their next refresh finds it", "room", room, "error", err)
	}
}
