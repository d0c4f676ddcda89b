package desk

import (
	"net/http"
	"net/url"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type parcelBody struct {
	Order    string         `json:"order"`
	Name     string         `json:"name"`
	To       orders.Address `json:"to"`
	Tickets  int            `json:"tickets"`
	Paid     bool           `json:"paid"`
	PostedAt *time.Time     `json:"posted_at,omitempty"`
}

// Post answers GET /desk/events/{slug}/post
func (h *Handlers) Post(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	list, err := h.Orders.Parcels(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		return web.WritePage(w, r, http.StatusOK, desk.Post(desk.PostPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "To post")), Parcels: list, Key: seats.NewID().String()}))
	}
	answer := struct {
		Parcels []parcelBody `json:"parcels"`
	}{[]parcelBody{}}
	for _, p := range list {
		answer.Parcels = append(answer.Parcels, parcelBody{p.Code, p.Name, p.To, p.Tickets, p.Paid, p.PostedAt})
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// MarkPosted answers POST /desk/events/{slug}/post
func (h *Handlers) MarkPosted(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	codes, posted := form["order"], form.Get("undo") == ""
	what := text.Mark("noted tickets as posted")
	if !posted {
		what = text.Mark("noted tickets as not posted")
	}
	deed := organizers.Action{Key: deskKeyOf(r, form), Form: []any{what, codes}, What: what, Subject: "events/" + s.Event.Slug + "/orders", Detail: url.Values{"order": codes}}
	if err := h.Organizers.WithAudit(r.Context(), m, deed, func(also seats.TxHook) error {
		return h.Orders.MarkPosted(r.Context(), s.Event.ID, codes, posted, also)
	}); err != nil {
		return err
	}
	return deskDone(w, r, desk.PostPath(s.Event.Slug), "posted")
}
