package handlers

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/static"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// atDoor finds what the link of the address is good for.
func (h *Handlers) atDoor(w http.ResponseWriter, r *http.Request) (orders.Doorway, *seats.Sale, error) {
	d, err := h.orders.Doorway(r.Context(), r.PathValue("secret"))
	if err != nil {
		return d, nil, err
	}
	s, err := h.office.Sale(r.Context(), d.Event)
	return d, s, err
}

// GET /door/{secret}
func (h *Handlers) door(w http.ResponseWriter, r *http.Request) error {
	d, s, err := h.atDoor(w, r)
	if err != nil {
		return err
	}
	return h.showDoor(w, r, d, s, desk.DoorPage{})
}

func (h *Handlers) showDoor(w http.ResponseWriter, r *http.Request, d orders.Doorway, s *seats.Sale, p desk.DoorPage) (err error) {
	if p.Keys, err = h.orders.PublicKeys(r.Context()); err != nil {
		return err
	}
	p.Page = views.Page{Title: "Door · " + s.Event.Name, Nonce: nonce(w), Script: "door.js", Style: "order.css"}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: rand.Text()}
	p.Address = "/door/" + r.PathValue("secret")
	p.EventID = d.EventID
	return writePage(w, r, http.StatusOK, desk.Door(p))
}

// GET /door/worker.js keeps the pages of doors in the browser; its address is its scope.
func (h *Handlers) doorWorker(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	_, _ = w.Write(static.Script("worker.js")) // a reader who is gone needs none
	return nil
}

type expectedBody struct {
	ID      string `json:"id"`
	Seat    string `json:"seat"`
	Revoked bool   `json:"revoked"`
	In      bool   `json:"in"`
	Message string `json:"message,omitempty"` // when and where somebody went in with it
}

// GET /door/{secret}/tickets
func (h *Handlers) expected(w http.ResponseWriter, r *http.Request) error {
	d, s, err := h.atDoor(w, r)
	if err != nil {
		return err
	}
	list, err := h.orders.Expected(r.Context(), d)
	if err != nil {
		return err
	}
	tickets := make([]expectedBody, len(list))
	for i, e := range list {
		tickets[i] = expectedBody{ID: e.ID.String(), Seat: s.Plan.Words(e.Idx), Revoked: e.Revoked, In: e.In != nil}
		if e.In != nil {
			tickets[i].Message = desk.VerdictWords(s.Event, orders.Verdict{Word: orders.ScanAgain, At: *e.In, Place: e.Place})
		}
	}
	return writeJSON(w, http.StatusOK, map[string]any{"tickets": tickets})
}

// scanned is a scan as programs send it, and forms with the same names.
type scanned struct {
	Key    string `json:"key"`
	Code   string `json:"code"`
	Ticket string `json:"ticket"`
	Place  string `json:"place"`
	At     int64  `json:"at"` // milliseconds since 1970; 0 for now
}

type verdictBody struct {
	Word    string       `json:"word"`
	Message string       `json:"message"`
	Ticket  string       `json:"ticket,omitempty"`
	Seat    string       `json:"seat,omitempty"`
	Name    string       `json:"name,omitempty"`
	Choices []choiceBody `json:"choices,omitempty"`
}

type choiceBody struct {
	ID   string `json:"id"`
	Seat string `json:"seat"`
}

// POST /door/{secret}/scans
func (h *Handlers) scan(w http.ResponseWriter, r *http.Request) error {
	scan, err := decodeScan(r)
	if err != nil {
		return err
	}
	d, s, err := h.atDoor(w, r)
	if err != nil {
		return err
	}
	v, err := h.orders.Scan(r.Context(), d, scan)
	var refusal *seats.Refusal
	if errors.As(err, &refusal) && wantsJSON(r) {
		return h.refuse(w, r, s, refusal)
	}
	if err != nil {
		return err
	}
	if !wantsJSON(r) {
		return h.showDoor(w, r, d, s, desk.DoorPage{Verdict: &v, Code: scan.Code, Place: scan.Place})
	}
	body := verdictBody{Word: v.Word, Message: desk.VerdictWords(s.Event, v), Name: v.Name}
	if v.Ticket.ID != (seats.ID{}) {
		body.Ticket, body.Seat = v.Ticket.ID.String(), s.Plan.Words(v.Ticket.Idx)
	}
	for _, t := range v.Choices {
		body.Choices = append(body.Choices, choiceBody{t.ID.String(), s.Plan.Words(t.Idx)})
	}
	return writeJSON(w, http.StatusOK, body)
}

func decodeScan(r *http.Request) (scan orders.Scan, err error) {
	var asked scanned
	if isForm(r) {
		if err := parseForm(r); err != nil {
			return scan, err
		}
		f := r.PostForm
		asked = scanned{Key: f.Get("key"), Code: f.Get("code"), Ticket: f.Get("ticket"), Place: f.Get("place")}
	} else {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return scan, err
		}
		if err := decodeJSON(body, &asked); err != nil {
			return scan, err
		}
	}
	scan = orders.Scan{Key: asked.Key, Code: asked.Code, Place: asked.Place}
	if asked.At > 0 {
		scan.At = time.UnixMilli(asked.At)
	}
	if asked.Ticket != "" {
		if scan.Ticket, err = seats.ParseID(asked.Ticket); err != nil {
			return scan, orders.ErrNoTicket
		}
	}
	return scan, nil
}
