package desk

import (
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

type (
	shareBody struct {
		ID        int64      `json:"id"`
		Name      string     `json:"name"`
		Maker     string     `json:"maker"`
		CreatedAt time.Time  `json:"created_at"`
		ExpiresAt time.Time  `json:"expires_at"`
		RevokedAt *time.Time `json:"revoked_at,omitempty"`
	}
	SharesAnswer struct {
		Shares []shareBody `json:"shares"`
	}
	linkMade struct {
		Link string `json:"link"`
	}
)

// Shares answers GET /desk/events/{slug}/shares
func (h *Handlers) Shares(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showShares(w, r, m, s, http.StatusOK, desk.SharesPage{})
}

func (h *Handlers) showShares(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.SharesPage) (err error) {
	if p.List, err = h.Organizers.Shares(r.Context(), m, s.Event.ID); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := SharesAnswer{Shares: []shareBody{}}
		for _, one := range p.List {
			answer.Shares = append(answer.Shares, shareBody{one.ID, one.Name, one.Maker, one.CreatedAt.UTC(), one.ExpiresAt.UTC(), one.RevokedAt})
		}
		return web.WriteJSON(w, status, answer)
	}
	p.Frame = h.eventFrame(w, r, m, s, text.T(r.Context(), "Links to the live desk"))
	return web.WritePage(w, r, status, desk.Shares(p))
}

// Share answers POST /desk/events/{slug}/shares
//
// The page that answers has the link in it, once: no other page ever has.
func (h *Handlers) Share(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	token, err := h.Organizers.Share(r.Context(), m, s.Event.ID, s.Event.Slug, asked.Name, asked.Days, asked.Key)
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !web.WantsJSON(r):
		return h.showShares(w, r, m, s, http.StatusUnprocessableEntity, desk.SharesPage{Name: asked.Name, Days: asked.Days, Mistakes: mistakes})
	case err != nil:
		return err
	}
	link := ""
	if token != "" {
		link = h.Origin(r) + desk.BoardPath(token)
	}
	switch {
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusCreated, linkMade{link})
	case link == "": // a repeat of the form
		return deskDone(w, r, desk.SharesPath(s.Event.Slug), "shared")
	}
	return h.showShares(w, r, m, s, http.StatusCreated, desk.SharesPage{Link: link, Name: asked.Name})
}

// Unshare answers POST /desk/events/{slug}/shares/{id}/revocation
func (h *Handlers) Unshare(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	id, err := deskID(r)
	if err != nil {
		return err
	}
	return h.hookAct(w, r, desk.SharesPath(s.Event.Slug), "unshared", func(asked deskAsked) error {
		return h.Organizers.RevokeShare(r.Context(), m, s.Event.ID, s.Event.Slug, id, asked.Key)
	})
}

// boardWay is the view of a live desk by its shared link.
func (h *Handlers) boardWay(r *http.Request) way {
	return way{window: sales.All, wall: true, language: text.Tag(h.Reading(r))}
}

var errNoBoard = web.NewProblem(404, "unknown", text.Mark("This link does not work: it was revoked, it has expired, or a letter of it is missing."), text.Mark("Nothing was changed."), text.Mark("Ask the organizer for a new one."))

// OnBoard makes a handler of one about the event that a link leads to.
func (h *Handlers) OnBoard(next func(http.ResponseWriter, *http.Request, organizers.Member, *seats.Sale) error) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		slug, m, err := h.Organizers.ByShare(r.Context(), r.PathValue("token"))
		if errors.Is(err, organizers.ErrNoLink) {
			return errNoBoard
		}
		if err != nil {
			return err
		}
		s, err := h.Inventory.Sale(r.Context(), slug)
		if err != nil {
			return err
		}
		w.Header().Set("X-Robots-Tag", "noindex")
		return next(w, r, m, s)
	}
}

// Board answers GET /boards/{token}
func (h *Handlers) Board(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, web.Describe(s, s.Snapshot(), h.Hub.Now()))
	}
	p, err := h.Desks.picture(r.Context(), s, m, h.boardWay(r))
	if err != nil {
		return err
	}
	p.Board = desk.BoardPath(r.PathValue("token"))
	p.Frame.Page = views.Page{Title: s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Style: "desk.css desk_live.css", Script: "desk.js"}
	return web.WritePage(w, r, http.StatusOK, desk.Board(p))
}

// BoardFeed answers GET /boards/{token}/live
func (h *Handlers) BoardFeed(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.follow(w, r, s, h.Desks.join(s, m, h.boardWay(r)), func() bool {
		_, _, err := h.Organizers.ByShare(r.Context(), r.PathValue("token"))
		return err == nil
	})
}
