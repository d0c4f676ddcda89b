package torture

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
	calm := r.calm(ctx)
	at := r.history.now()
	if calm {
		r.alone.Store(&others{n.number, at})
	}
	n.kill()
	if calm && len(r.nodes) > 1 {
		r.socketsRight(ctx, afterNode, at)
	}
	err := moment(ctx, random, 500*time.Millisecond)
	r.alone.Store(nil)
	if err != nil {
		return err
	}
	return r.back(ctx, n)
}

// restartAll restarts one node after the other, as for a new version.
func (r *run) restartAll(ctx context.Context) error {
	for _, n := range r.nodes {
		calm := r.calm(ctx)
		at := r.history.now()
		if err := n.restart(r.database); err != nil {
			r.history.violated("nodes", "%v", err)
		}
		if calm && len(r.nodes) > 1 {
			r.socketsRight(ctx, afterRestart, at)
		}
		if err := r.back(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// cutBells cuts the connections of a node that carry news, some times.
func (r *run) cutBells(ctx context.Context, n *node, random *rand.Rand) error {
	if r.calm(ctx) {
		at := r.history.now()
		n.db.cutBells()
		r.socketsRight(ctx, afterListen, at)
	}
	for range random.IntN(4) {
		n.db.cutBells()
		if err := moment(ctx, random, 300*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
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
