package shop

import (
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoLog = web.NewProblem(404, "unknown", text.Mark("This event has no public log, or not this part of it."), text.Mark("Tickets are valid without it."), text.Mark("Look at the event again in a minute."))

// PublicLog answers GET /events/{slug}/log
func (h *Handlers) PublicLog(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	log, err := h.Logs.Published(r.Context(), s.Event.ID)
	if err != nil {
		return noLog(err)
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, web.LogAnswer(log))
	}
	p := shop.LogPage{Log: log, Home: h.Origin(r)}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Reported: h.Fairness.Is(r.Context(), s.Event)}
	p.Page = views.Page{Title: text.T(r.Context(), "Public log of the sale") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Script: "log.js", Style: "room.css"}
	return web.WritePage(w, r, http.StatusOK, shop.Log(p))
}

func noLog(err error) error {
	if errors.Is(err, publiclog.ErrNone) {
		return errNoLog
	}
	return err
}

// PublicCheckpoint answers GET /events/{slug}/log/checkpoint
func (h *Handlers) PublicCheckpoint(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	signed, _, err := h.Logs.Checkpoint(r.Context(), s.Event.ID)
	if err != nil {
		return noLog(err)
	}
	return writeLog(w, "text/plain; charset=utf-8", []byte(signed))
}

// PublicCosigned answers GET /events/{slug}/log/cosigned
func (h *Handlers) PublicCosigned(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	signed, err := h.Logs.Cosigned(r.Context(), s.Event.ID)
	if err != nil {
		return noLog(err)
	}
	return writeLog(w, "text/plain; charset=utf-8", []byte(signed))
}

// PublicLogKey answers GET /events/{slug}/log/key
func (h *Handlers) PublicLogKey(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	_, key, err := h.Logs.Checkpoint(r.Context(), s.Event.ID)
	if err != nil {
		return noLog(err)
	}
	return writeLog(w, "text/plain; charset=utf-8", []byte(key+"\n"))
}

// PublicTile answers GET /events/{slug}/log/tile/{tile...}
func (h *Handlers) PublicTile(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	level, n, width, ok := publiclog.ParseTile(r.PathValue("tile"))
	if !ok {
		return errNoLog
	}
	read := func() ([]byte, error) { return h.Logs.Tile(r.Context(), s.Event.ID, level, n, width) }
	if level == publiclog.EntriesLevel {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)) // a bundle may be large
		read = func() ([]byte, error) { return h.Logs.Entries(r.Context(), s.Event.ID, n, width) }
	}
	content, err := read()
	if err != nil {
		return noLog(err)
	}
	return writeLog(w, "application/octet-stream", content)
}

func writeLog(w http.ResponseWriter, kind string, content []byte) error {
	w.Header().Set("Content-Type", kind)
	_, err := w.Write(content)
	return err
}
