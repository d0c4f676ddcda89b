package desk

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type comparisonAnswer struct {
	Before int            `json:"hours_before"`
	Rows   []comparedBody `json:"performances"`
}

type comparedBody struct {
	Event    string    `json:"event"`
	StartsAt time.Time `json:"starts_at"`
	Currency string    `json:"currency"`
	Then     sumsBody  `json:"then"`
	Now      sumsBody  `json:"now"`
}

// Comparison answers GET /desk/events/{slug}/comparison
func (h *Handlers) Comparison(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	with := strings.TrimSpace(r.URL.Query().Get("with"))
	c, err := h.Server.Books.Compare(r.Context(), m, s.Event.Slug, with)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := comparisonAnswer{int(c.Before.Hours()), []comparedBody{}}
		for _, row := range c.Rows {
			answer.Rows = append(answer.Rows, comparedBody{row.Event.Slug, row.Event.StartsAt.UTC(), row.Event.Currency, describeSums(row.Then), describeSums(row.Now)})
		}
		return web.WriteJSON(w, http.StatusOK, answer)
	}
	p := desk.ComparisonPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "Comparison")), Comparison: c, With: with}
	p.Path = desk.ComparisonPath(s.Event.Slug)
	if p.Others, err = h.comparable(r.Context(), m, s.Event, with); err != nil {
		return err
	}
	return web.WritePage(w, r, http.StatusOK, desk.Comparison(p))
}

// comparable lists the other events of the team, the last to begin first, and the chosen one in any case.
func (h *Handlers) comparable(ctx context.Context, m organizers.Member, e seats.Event, chosen string) ([]overview.Event, error) {
	list, err := h.Overview.First(ctx, m, overview.Filter{Show: overview.All, Public: true}, overview.MostOffered)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(o overview.Event) bool { return o.Slug == e.Slug })
	if chosen == "" || slices.ContainsFunc(list, func(o overview.Event) bool { return o.Slug == chosen }) {
		return list, nil
	}
	other, err := h.Inventory.Sale(ctx, chosen) // the comparison found it among the events of the team
	if err != nil {
		return nil, err
	}
	return append(list, overview.Event{Event: other.Event}), nil
}
