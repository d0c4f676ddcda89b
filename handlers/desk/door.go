package desk

import (
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// Doors answers GET /desk/events/{slug}/doors
func (h *Handlers) Doors(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showDoors(w, r, m, s, http.StatusOK, "")
}

type turnoutBody struct {
	Tickets int `json:"tickets"`
	Came    int `json:"came"`
	Links   int `json:"links"` // that let people in
}

// showDoors shows who came, with the link that was just made, if one was: no other page ever has it.
func (h *Handlers) showDoors(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, link string) error {
	turnout, err := h.Orders.Turnout(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, turnoutBody{turnout.Tickets, turnout.Came, turnout.Open()})
	}
	page := desk.DoorsPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "Door")), Turnout: turnout, Link: link}
	page.Style = "desk.css desk_live.css"
	return web.WritePage(w, r, status, desk.Doors(page))
}

// OpenDoor answers POST /desk/events/{slug}/doors
func (h *Handlers) OpenDoor(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	secret := ""
	act := organizers.Action{Key: deskKeyOf(r, form), Form: []any{"open a door", s.Event.Slug}, What: text.Mark("opened the door"), Subject: "events/" + s.Event.Slug + "/doors"}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		secret, err = h.Orders.OpenDoor(r.Context(), s.Event.Slug, also)
		return err
	})
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
	return h.showDoors(w, r, m, s, http.StatusCreated, link)
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
