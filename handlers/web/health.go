package web

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Healthz answers GET /healthz: the process answers. If it does not, it should be started again; nothing else is a reason for that, least
// of all a database that is gone.
func (h *Server) Healthz(w http.ResponseWriter, _ *http.Request) error {
	return WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

const (
	readyWithin = time.Second
	readyFor    = time.Second // a write is good for that long, however many ask
)

// readiness is how the last write went.
type readiness struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

func (d *readiness) ask(ctx context.Context, write func(context.Context) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.at) >= readyFor {
		d.err = write(ctx)
		d.at = time.Now()
	}
	return d.err
}

// Readyz answers GET /readyz: this node should be sent requests. It should not while it closes, while the database does not keep what it
// is told, and while it hears nothing of what other nodes sell.
func (h *Server) Readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), readyWithin) // others wait for the answer, too
	defer cancel()
	if h.Unready != nil {
		if why := h.Unready(); why != "" {
			return WriteJSON(w, http.StatusServiceUnavailable, map[string]string{"status": why})
		}
	}
	err := h.Inventory.Ping(ctx)
	if err == nil {
		err = h.durable.ask(ctx, h.Inventory.Ready)
	}
	if err != nil {
		h.About(w, r).Warn("not ready", "error", err)
		return WriteJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "the database does not answer, or takes nothing"})
	}
	return WriteJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
