package handlers

import (
	"context"
	"net/http"
	"time"
)

// GET /healthz: the process answers.
func (h *Handlers) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

const readyWithin = time.Second

// GET /readyz: the database answers, too.
func (h *Handlers) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
	defer cancel()
	if err := h.office.Ping(ctx); err != nil {
		h.log.Warn("not ready", "error", err)
		return writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "the database does not answer"})
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
