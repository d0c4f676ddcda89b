package torture

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"
)

// killServer ends PostgreSQL and measures how soon somebody is granted a claim again.
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

// clockJumps sets the database's clock ahead some times. It stays ahead: a clock that is set back has holds live on that were
// over, which no promise is made about.
func (r *run) clockJumps(ctx context.Context, _ *node, random *rand.Rand) error {
	for range 1 + random.IntN(3) {
		ahead := r.history.skew.now() + time.Duration(200+random.IntN(5_000))*time.Millisecond
		if err := r.setClock(ahead); err != nil {
			return err
		}
		if err := moment(ctx, random, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// clockStep is within which every process of the server has read the new time.
const clockStep = 20 * time.Millisecond

func (r *run) setClock(ahead time.Duration) error {
	return r.history.skew.to(r.history.now, ahead, func() error {
		err := setClock(r.server.clock, ahead)
		time.Sleep(clockStep)
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
			r.firstGrant(ctx, map[string]int64{afterFailover: died})
		}
		return err
	})
}
