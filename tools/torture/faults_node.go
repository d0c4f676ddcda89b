package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"syscall"
	"time"

	"github.com/usherbox/usher/seats"
)

// killNode kills a node. Where nothing else is wrong, people at other nodes must notice nothing, and the sockets it had are
// soon right again at others.
func (r *run) killNode(ctx context.Context, n *node, random *rand.Rand) error {
	err := r.alonely(func() error {
		calm := r.calm(ctx)
		at := r.history.now()
		if calm {
			r.alone.Store(&others{n.number, at})
		}
		defer r.alone.Store(nil)
		n.kill()
		if calm && len(r.nodes) > 1 {
			r.socketsRight(ctx, afterNode, at)
		}
		return moment(ctx, random, 300*time.Millisecond)
	})
	if err != nil {
		return err
	}
	return r.back(ctx, n)
}

// restartAll restarts one node after the other, as for a new version. How soon sockets are right is measured at the first.
func (r *run) restartAll(ctx context.Context) error {
	first, rest := r.nodes[0], r.nodes[1:]
	err := r.alonely(func() error {
		calm := r.calm(ctx)
		at := r.history.now()
		r.restart(first)
		if calm && len(rest) > 0 {
			r.socketsBack(ctx, afterRestart, at)
		}
		return r.back(ctx, first)
	})
	for _, n := range rest {
		if err != nil {
			return err
		}
		r.restart(n)
		err = r.back(ctx, n)
	}
	return err
}

func (r *run) restart(n *node) {
	if err := n.restart(r.database); err != nil {
		r.history.violated("nodes", "%v", err)
	}
}

// cutNotifications cuts the connections of a node that carry news, some times.
func (r *run) cutNotifications(ctx context.Context, n *node, random *rand.Rand) error {
	err := r.alonely(func() error {
		if r.calm(ctx) {
			at := r.history.now()
			n.db.cutNotifications()
			r.socketsRight(ctx, afterListen, at)
		}
		return ctx.Err()
	})
	for range random.IntN(4) {
		if err != nil {
			return err
		}
		n.db.cutNotifications()
		err = moment(ctx, random, 300*time.Millisecond)
	}
	return err
}

// alonely does what is measured, while no light fault happens.
func (r *run) alonely(do func() error) error {
	r.measured.Lock()
	defer r.measured.Unlock()
	return do()
}

// back starts a node and waits until it answers.
func (r *run) back(ctx context.Context, n *node) error {
	if err := n.start(r.database); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if status, _, err := r.get(ctx, n, "/healthz"); err == nil && status == http.StatusOK {
			n.answered()
			return nil
		}
		n.signal(syscall.SIGCONT) // whatever another fault did to it
		if err := n.start(r.database); err != nil {
			return err
		}
		if err := seats.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	r.history.violated("nodes", "node %d did not come back:\n%s", n.number, n.log)
	return nil
}
