package desk

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// Doors answers GET /desk/events/{slug}/doors
//
// The page asks for itself every few seconds while it is open. If nothing happened since, it is not made. With print, it is the list
// of all attendees by name, on paper.
func (h *Handlers) Doors(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if !web.WantsJSON(r) && r.URL.Query().Get("print") != "" {
		return h.doorPaper(w, r, m, s)
	}
	if !web.WantsJSON(r) && !s.Event.Online.On {
		mark, err := h.Orders.DoorMark(r.Context(), s.Event.ID) // read before the page: what happens in between is in both
		if err != nil {
			return err
		}
		tag := `W/"` + mark + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	return h.showDoors(w, r, m, s, http.StatusOK, desk.DoorsPage{})
}

type turnoutBody struct {
	Tickets   int            `json:"tickets"`
	Came      int            `json:"came"`
	Inside    int            `json:"inside"` // of those that came: the ones that did not go out since
	Links     int            `json:"links"`  // that let people in
	Devices   []deviceBody   `json:"devices"`
	Conflicts []conflictBody `json:"conflicts"`
}

// deviceBody is a link for the door.
type deviceBody struct {
	ID       int64      `json:"id"`
	Name     string     `json:"name"`
	Gate     string     `json:"gate"` // empty: all
	Open     bool       `json:"open"`
	Scans    int        `json:"scans"`
	Admitted int        `json:"admitted"`
	SeenAt   *time.Time `json:"seen_at,omitempty"`
}

// conflictBody is an entry that should not have been.
type conflictBody struct {
	Seat    string     `json:"seat"`
	Why     string     `json:"why"` // twice, cancelled, replaced or still
	At      time.Time  `json:"at"`
	By      string     `json:"by"`
	OtherAt *time.Time `json:"other_at,omitempty"` // of the entry of the seat that counts
	OtherBy string     `json:"other_by,omitempty"`
}

func turnoutOf(s *seats.Sale, t orders.Turnout) turnoutBody {
	b := turnoutBody{Tickets: t.Tickets, Came: t.Came, Inside: t.Inside, Links: t.Open(), Devices: []deviceBody{}, Conflicts: []conflictBody{}}
	for _, l := range t.Links {
		b.Devices = append(b.Devices, deviceBody{ID: l.ID, Name: l.Name, Gate: l.Gate, Open: l.ClosedAt == nil, Scans: l.Scans, Admitted: l.Admitted, SeenAt: l.SeenAt})
	}
	for _, c := range t.Conflicts {
		one := conflictBody{Seat: s.Plan.Label(c.Idx), Why: c.Why(), At: c.At, By: c.By, OtherBy: c.OtherBy}
		if !c.OtherAt.IsZero() {
			one.OtherAt = &c.OtherAt
		}
		b.Conflicts = append(b.Conflicts, one)
	}
	return b
}

// showDoors shows who came, with the link that was just made, if one was: no other page ever has it.
func (h *Handlers) showDoors(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, page desk.DoorsPage) error {
	turnout, err := h.Orders.Turnout(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, turnoutOf(s, turnout))
	}
	page.Frame, page.Plan, page.Turnout = h.eventFrame(w, r, m, s, text.T(r.Context(), "Door")), s.Plan, turnout
	page.Style, page.Script = "desk.css desk_live.css", "desk_doors.js"
	return web.WritePage(w, r, status, desk.Doors(page))
}

func (h *Handlers) doorPaper(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if err := h.Organizers.Record(r.Context(), m, "exported attendees", "events/"+s.Event.Slug+"/doors", map[string]string{"as": "print"}); err != nil {
		return err
	}
	p := desk.DoorPaperPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "Attendees")), Plan: s.Plan}
	if err := h.Orders.Lines(r.Context(), s.Event.Slug, func(l orders.Line) error {
		p.Add(l)
		return nil
	}); err != nil {
		return err
	}
	p.Style = "desk.css till.css"
	return web.WritePage(w, r, http.StatusOK, desk.DoorPaper(p))
}

// OpenDoor answers POST /desk/events/{slug}/doors
func (h *Handlers) OpenDoor(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	device := orders.Device{Name: strings.TrimSpace(form.Get("name")), Gate: form.Get("gate")}
	about := []any{"open a door", s.Event.Slug}
	if device != (orders.Device{}) {
		about = append(about, device)
	}
	secret := ""
	act := organizers.Action{Key: deskKeyOf(r, form), Form: about, What: text.Mark("opened the door"), Subject: "events/" + s.Event.Slug + "/doors"}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		if device.Gate != "" && !s.Event.HasGate(device.Gate) {
			return &seats.ValidationError{Message: text.Mark("This event has no gate “%s”. No link was made."), Args: []any{device.Gate}}
		}
		secret, err = h.Orders.OpenDoorFor(r.Context(), s.Event.Slug, device, also)
		return err
	})
	if words, refused := deskRefused(r, err); refused {
		return h.showDoors(w, r, m, s, deskStatus(err), desk.DoorsPage{Message: words, Asked: device})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	if secret == "" { // the form came before
		return deskWith(w, r, desk.DoorsPath(s.Event.Slug), "door", http.StatusOK, map[string]string{"link": ""})
	}
	link := h.Origin(r) + "/door/" + secret
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusCreated, map[string]string{"link": link})
	}
	return h.showDoors(w, r, m, s, http.StatusCreated, desk.DoorsPage{Link: link, Asked: device})
}

// CloseDoors answers POST /desk/events/{slug}/doors/closing
func (h *Handlers) CloseDoors(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	var closed int64
	act := organizers.Action{Key: deskKeyOf(r, form), Form: []any{"close the doors", s.Event.Slug}, What: text.Mark("closed the door"), Subject: "events/" + s.Event.Slug + "/doors"}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		closed, err = h.Orders.CloseDoors(r.Context(), s.Event.Slug, also)
		return err
	})
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	return deskWith(w, r, desk.DoorsPath(s.Event.Slug), "doors-closed", http.StatusOK, map[string]int64{"closed": closed})
}

// CloseDoor answers POST /desk/events/{slug}/doors/{door}/closing
func (h *Handlers) CloseDoor(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, _ := strconv.ParseInt(r.PathValue("door"), 10, 64) // no door is number 0
	act := organizers.Action{Key: deskKeyOf(r, form), Form: []any{"close a door", s.Event.Slug, id}, What: text.Mark("closed one link to the door"), Subject: "events/" + s.Event.Slug + "/doors", Detail: map[string]any{"id": id}}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		return h.Orders.CloseDoor(r.Context(), s.Event.ID, id, also)
	})
	if errors.Is(err, orders.ErrNoDoor) {
		return organizers.ErrNotYours
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	return deskWith(w, r, desk.DoorsPath(s.Event.Slug), "door-closed", http.StatusOK, map[string]int64{"closed": 1})
}
