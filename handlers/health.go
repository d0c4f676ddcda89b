package handlers

import (
	"context"
	"net/http"
	"time"
)

// GET /healthz: the process answers. If it does not, it should be started again; nothing else is a reason for that, least
// of all a database that is gone.
func (h *Handlers) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

const readyWithin = time.Second

// GET /readyz: this node should be sent requests. It should not while it closes, while the database does not answer, and
// while it hears nothing of what other nodes sell.
func (h *Handlers) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
	defer cancel()
	if h.unready != nil {
		if why := h.unready(); why != "" {
			return writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": why})
		}
	}
	if err := h.office.Ping(ctx); err != nil {
		h.about(w, r).Warn("not ready", "error", err)
		return writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "the database does not answer"})
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
