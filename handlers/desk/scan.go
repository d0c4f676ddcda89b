package desk

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/static"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// atDoor finds what the link of the address is good for.
func (h *Handlers) atDoor(w http.ResponseWriter, r *http.Request) (orders.Doorway, *seats.Sale, error) {
	d, err := h.Orders.Doorway(r.Context(), r.PathValue("secret"))
	if err != nil {
		return d, nil, err
	}
	s, err := h.Inventory.Sale(r.Context(), d.Event)
	return d, s, err
}

// Door answers GET /door/{secret}
func (h *Handlers) Door(w http.ResponseWriter, r *http.Request) error {
	d, s, err := h.atDoor(w, r)
	if err != nil {
		return err
	}
	return h.showDoor(w, r, d, s, desk.DoorPage{})
}

func (h *Handlers) showDoor(w http.ResponseWriter, r *http.Request, d orders.Doorway, s *seats.Sale, p desk.DoorPage) (err error) {
	if p.Keys, err = h.Orders.PublicKeys(r.Context()); err != nil {
		return err
	}
	p.Page = views.Page{Title: "Door · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Script: "door.js", Style: "door.css"}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: rand.Text()}
	p.Address = "/door/" + r.PathValue("secret")
	p.EventID, p.Device, p.Reentry = d.EventID, d.Device, d.Reentry
	if !s.Event.HasGate(p.Device.Gate) {
		p.Device.Gate = ""
	}
	return web.WritePage(w, r, http.StatusOK, desk.Door(p))
}

// DoorWorker answers GET /door/worker.js keeps the pages of doors in the browser; its address is its scope.
func (h *Handlers) DoorWorker(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	_, _ = w.Write(static.Script("worker.js")) // a reader who is gone needs none
	return nil
}

type ExpectedBody struct {
	ID      string `json:"id"`
	Seat    string `json:"seat"`
	Revoked bool   `json:"revoked"`
	In      bool   `json:"in"`
	Out     bool   `json:"out,omitempty"`     // it went out since, and may come in again
	Gate    string `json:"gate,omitempty"`    // that it has to go to other gates, in words
	Message string `json:"message,omitempty"` // when and where the ticket was scanned before, or that it was replaced
	Type    string `json:"type,omitempty"`    // if the event has several
	Proof   string `json:"proof,omitempty"`   // to be shown for it
	Name    string `json:"name"`              // on the ticket

	Rotation []byte `json:"rotation,omitempty"` // the key of its rotating code; left out if that does not rotate
}

// Expected answers GET /door/{secret}/tickets
func (h *Handlers) Expected(w http.ResponseWriter, r *http.Request) error {
	d, s, err := h.atDoor(w, r)
	if err != nil {
		return err
	}
	list, err := h.Orders.Expected(r.Context(), d)
	if err != nil {
		return err
	}
	tickets := make([]ExpectedBody, len(list))
	for i, e := range list {
		tickets[i] = ExpectedBody{ID: e.ID.String(), Seat: s.Plan.Words(e.Idx), Revoked: e.Revoked, In: e.In != nil, Out: e.In != nil && e.Out && d.Reentry, Type: e.Type, Proof: e.Proof, Name: e.Name, Rotation: e.Rotation}
		if e.Replaced {
			tickets[i].Message = desk.VerdictWords(r.Context(), s.Event, orders.Verdict{Word: orders.ScanRevoked, Ticket: orders.Ticket{Replaced: true}})
		}
		if e.In != nil {
			tickets[i].Message = desk.VerdictWords(r.Context(), s.Event, orders.Verdict{Word: orders.ScanAgain, At: *e.In, Place: e.Place, By: e.By})
		}
		if len(e.Gates) > 0 {
			tickets[i].Gate = desk.VerdictWords(r.Context(), s.Event, orders.Verdict{Word: orders.ScanGate, Gates: e.Gates})
		}
	}
	return web.WriteJSON(w, http.StatusOK, map[string]any{"tickets": tickets})
}

// scanned is a scan as programs send it, and forms with the same names.
type scanned struct {
	Key    string `json:"key"`
	Code   string `json:"code"`
	Ticket string `json:"ticket"`
	Place  string `json:"place"`
	Way    string `json:"way"` // in or out; empty: in
	At     int64  `json:"at"`  // milliseconds since 1970; 0 for now
}

type VerdictBody struct {
	Word    string       `json:"word"`
	Message string       `json:"message"`
	Ticket  string       `json:"ticket,omitempty"`
	Seat    string       `json:"seat,omitempty"`
	Type    string       `json:"type,omitempty"`  // if the event has several
	Proof   string       `json:"proof,omitempty"` // to be shown for it
	Name    string       `json:"name,omitempty"`
	Choices []choiceBody `json:"choices,omitempty"`
}

type choiceBody struct {
	ID   string `json:"id"`
	Seat string `json:"seat"`
	Name string `json:"name,omitempty"` // that the buyer gave for it
}

// Scan answers POST /door/{secret}/scans
func (h *Handlers) Scan(w http.ResponseWriter, r *http.Request) error {
	scan, err := decodeScan(r)
	if err != nil {
		return err
	}
	d, s, err := h.atDoor(w, r)
	if err != nil {
		return err
	}
	v, err := h.Orders.Scan(r.Context(), d, scan)
	var refusal *seats.Conflict
	if errors.As(err, &refusal) && web.WantsJSON(r) {
		return h.WriteRefusal(w, r, s, refusal)
	}
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		return h.showDoor(w, r, d, s, desk.DoorPage{Verdict: &v, Code: scan.Code, Place: scan.Place, Out: scan.Out})
	}
	body := VerdictBody{Word: v.Word, Message: desk.VerdictWords(r.Context(), s.Event, v), Name: v.Name}
	if v.Ticket.ID != (seats.ID{}) {
		body.Ticket, body.Seat, body.Type, body.Proof = v.Ticket.ID.String(), s.Plan.Words(v.Ticket.Idx), v.Ticket.Type, v.Ticket.Proof
	}
	for _, t := range v.Choices {
		body.Choices = append(body.Choices, choiceBody{t.ID.String(), s.Plan.Words(t.Idx), t.Name})
	}
	return web.WriteJSON(w, http.StatusOK, body)
}

func decodeScan(r *http.Request) (scan orders.Scan, err error) {
	var asked scanned
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return scan, err
		}
		f := r.PostForm
		asked = scanned{Key: f.Get("key"), Code: f.Get("code"), Ticket: f.Get("ticket"), Place: f.Get("place"), Way: f.Get("way")}
	} else {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return scan, err
		}
		if err := web.DecodeJSON(body, &asked); err != nil {
			return scan, err
		}
	}
	if asked.Way != "" && asked.Way != "in" && asked.Way != "out" {
		return scan, &seats.ValidationError{Message: text.Mark("A scan goes in or out. This one let no visitor pass.")}
	}
	scan = orders.Scan{Key: asked.Key, Code: asked.Code, Place: asked.Place, Out: asked.Way == "out"}
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
