package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/usherbox/usher/seats"
)

// killServer ends PostgreSQL and measures how soon a claim is granted again.
func (r *run) killServer(ctx context.Context, how syscall.Signal) error {
	return r.alonely(func() error {
		killed := r.history.now()
		if err := r.server.die(ctx, how); err != nil {
			return err
		}
		r.firstGrant(ctx, map[string]int64{afterKill: r.history.now(), afterKillAll: killed})
		return nil
	})
}

// fullDisk lets nothing be written for a while.
func (r *run) fullDisk(ctx context.Context, _ *node, random *rand.Rand) error {
	if err := fillDisk(r.server.dir); err != nil {
		return err
	}
	err := moment(ctx, random, 2*time.Second)
	if e := emptyDisk(r.server.dir); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	conn, err := r.server.connect(ctx, "postgres") // it may have died of it
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// clockJumps sets the database's clock ahead. It stays ahead: a clock that is set back has holds live on that were over, which
// no promise is made about.
func (r *run) clockJumps(ctx context.Context, _ *node, random *rand.Rand) error {
	ahead := r.history.skew.now() + time.Duration(200+random.IntN(10_000))*time.Millisecond
	err := r.alonely(func() error { return r.setClock(ctx, ahead) })
	if err != nil {
		return err
	}
	return moment(ctx, random, time.Second)
}

// clockStep is how long before and after the second at which its processes read the new time no statement is sent.
const clockStep = 60 * time.Millisecond

// untilRead is how long it takes until every process of the database has read a time that was written at a moment: a bit more than until
// the next second. On a busy machine it may be written late, when some have read the old time for that second already.
func untilRead(written time.Time) time.Duration {
	return written.Truncate(time.Second).Add(time.Second + clockStep).Sub(written)
}

// setClock sets the clock between two seconds, while nothing passes between the nodes and the database: two processes of it
// never answer by two clocks.
func (r *run) setClock(ctx context.Context, ahead time.Duration) error {
	now := time.Now()
	if err := seats.Sleep(ctx, now.Truncate(time.Second).Add(2*time.Second-2*clockStep).Sub(now)); err != nil {
		return err
	}
	return r.history.skew.to(r.history.now, ahead, func() error {
		for _, n := range r.nodes {
			n.db.stalled.Store(true)
			defer n.db.stalled.Store(false)
		}
		time.Sleep(clockStep) // what is under way ends
		err := setClock(r.server.clock, ahead)
		time.Sleep(untilRead(time.Now()))
		return err
	})
}

// standbyPromoted has a standby take over for a server that dies, in synchronous mode: nothing is lost. The death alone is
// measured, not how long it takes to make a standby.
func (r *run) standbyPromoted(ctx context.Context, _ *node, random *rand.Rand) error {
	next, err := r.server.standby(ctx)
	if err != nil {
		return err
	}
	if err := moment(ctx, random, time.Second); err != nil {
		return errors.Join(err, next.forget(ctx))
	}
	return r.alonely(func() error {
		var died int64
		err := next.takesOver(ctx, func() {
			died = r.history.now()
			for _, n := range r.nodes {
				n.db.cutAll()
			}
		})
		if err == nil {
			r.firstGrant(ctx, map[string]int64{afterFailover: died, afterPromoted: r.history.now()})
			err = r.server.checkpoint(ctx, r.database) // maps must not change with it
		}
		return err
	})
}
