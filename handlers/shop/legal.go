package shop

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoText = web.NewProblem(404, "unknown", text.Mark("There is no such text here."), text.Mark("Orders and tickets are as they were."), text.Mark("Ask the organizer of the event."))

type legalBody struct {
	Team      int64      `json:"team"`
	TeamName  string     `json:"team_name"`
	Kind      pages.Kind `json:"kind"`
	Version   int        `json:"version"`
	Path      string     `json:"path"`
	Text      string     `json:"text,omitempty"` // Markdown
	HTML      string     `json:"html,omitempty"`
	Published *time.Time `json:"published_at,omitempty"`
}

// LegalTexts answers GET /legal/{kind}: it leads to the text of the only team that has one, or lists those of all teams.
func (h *Handlers) LegalTexts(w http.ResponseWriter, r *http.Request) error {
	kind := pages.Kind(r.PathValue("kind"))
	all, err := h.Pages.Published(r.Context(), 0)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(all), func(t pages.Ref) bool { return t.Kind != kind })
	switch {
	case len(list) == 0:
		return errNoText
	case web.WantsJSON(r):
		texts := make([]legalBody, len(list))
		for i, t := range list {
			texts[i] = legalBody{Team: t.Team, TeamName: t.TeamName, Kind: t.Kind, Version: t.Version, Path: views.LegalPath(t.Team, t.Kind)}
		}
		return web.WriteJSON(w, http.StatusOK, map[string][]legalBody{"texts": texts})
	case len(list) == 1:
		http.Redirect(w, r, views.LegalPath(list[0].Team, kind), http.StatusSeeOther)
		return nil
	}
	page := views.Page{Title: text.T(r.Context(), views.LegalWords(kind)), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Style: "list.css legal.css"}
	return web.WritePage(w, r, http.StatusOK, shop.LegalList(shop.LegalListPage{Page: page, Texts: list}))
}

// LegalText answers GET /legal/{team}/{kind}, with ?version= as it was published before.
func (h *Handlers) LegalText(w http.ResponseWriter, r *http.Request) error {
	team, err := strconv.ParseInt(r.PathValue("team"), 10, 64)
	if err != nil {
		return errNoText
	}
	version := 0
	if number := r.URL.Query().Get("version"); number != "" {
		if version, err = strconv.Atoi(number); err != nil || version < 1 || version > 1<<30 {
			return errNoText
		}
	}
	t, err := h.Pages.Find(r.Context(), team, pages.Kind(r.PathValue("kind")), version)
	if errors.Is(err, pages.ErrNoText) || err == nil && web.Elsewhere(r, team) {
		return errNoText
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		at := t.At.UTC()
		return web.WriteJSON(w, http.StatusOK, legalBody{t.Team, t.TeamName, t.Kind, t.Number, views.LegalPath(t.Team, t.Kind), t.Text, pages.HTML(t.Text), &at})
	}
	page := views.Page{Title: text.T(r.Context(), views.LegalWords(t.Kind)) + " · " + t.TeamName, Nonce: web.Nonce(w), Legal: h.Legal(r, team), Branding: h.Branding(r, team), Style: "list.css legal.css"}
	return web.WritePage(w, r, http.StatusOK, shop.Legal(shop.LegalPage{Page: page, Text: t}))
}
