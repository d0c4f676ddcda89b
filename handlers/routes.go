package handlers

import (
	"net/http"

	"github.com/usherbox/usher/static"
)

// route is one address and what answers it.
type route struct {
	pattern string
	handler handler
}

// table is every address of the site, to be read from top to bottom.
func (h *Handlers) table() []route {
	return []route{
		{"GET /{$}", h.home},
		{"GET /events", h.events},
		{"GET /events/{slug}", h.with(h.event)},
		{"GET /events/{slug}/sections/{section}", h.with(h.section)},
		{"GET /events/{slug}/seats", h.with(h.seats)},
		{"GET /events/{slug}/map.bin", h.with(h.mapBin)},
		{"GET /events/{slug}/geometry/{file}", h.with(h.geometry)},
		{"GET /events/{slug}/live", h.with(h.live)},

		{"POST /events/{slug}/claims", h.with(h.claim)},
		{"DELETE /events/{slug}/claims/{idx}", h.with(h.release)},
		{"DELETE /events/{slug}/claims", h.with(h.releaseAll)},
		{"POST /events/{slug}/releases", h.with(h.releaseForm)},
		{"GET /events/{slug}/hold", h.with(h.hold)},
		{"POST /events/{slug}/hold/extension", h.with(h.extend)},

		{"GET /openapi.yaml", h.openapi},
		{"GET /healthz", h.healthz},
		{"GET /readyz", h.readyz},
	}
}

func (h *Handlers) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range h.table() {
		mux.HandleFunc(r.pattern, h.answer(r.handler))
	}
	mux.Handle("GET /static/", static.Handler())
	return h.unrouted(mux)
}

// unrouted answers addresses and methods that are not in the table with a page of ours.
func (h *Handlers) unrouted(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := &statusOnly{header: http.Header{}}
		mux.ServeHTTP(probe, r)
		if probe.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", probe.header.Get("Allow"))
			h.fail(w, r, errMethod)
			return
		}
		h.fail(w, r, errNoPage)
	})
}

// statusOnly takes the mux's own answer, of which only status and Allow are wanted.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header { return s.header }

func (s *statusOnly) WriteHeader(status int) { s.status = status }

func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
