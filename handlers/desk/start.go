package desk

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// Checklist answers GET /desk/events/{slug}/checklist: what an event has, and what its sale still needs.
func (h *Handlers) Checklist(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	facts, err := h.factsOf(r.Context(), s)
	if err != nil {
		return err
	}
	p := desk.ChecklistPage{Facts: facts}
	if p.Test, err = h.TestSales.Of(r.Context(), s.Event.ID); err != nil {
		return err
	}
	if p.Test != "" {
		p.TestURL = h.At(r, "/events/"+p.Test)
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, checklistAnswer(p))
	}
	return h.showChecklist(w, r, m, s, http.StatusOK, p)
}

func (h *Handlers) showChecklist(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.ChecklistPage) error {
	p.Frame, p.Checks, p.SaleKey = h.eventFrame(w, r, m, s, text.T(r.Context(), "Checklist")), events.Readiness(p.Facts), seats.NewID().String()
	return web.WritePage(w, r, status, desk.Checklist(p))
}

// factsOf is what the program knows of an event that is to go on sale.
func (h *Handlers) factsOf(ctx context.Context, s *seats.Sale) (events.Facts, error) {
	return h.factsWith(ctx, s, s.Event, s)
}

// factsWith is factsOf an event that gets the settings of one event and the prices of another before its sale starts.
func (h *Handlers) factsWith(ctx context.Context, s *seats.Sale, settings seats.Event, priced *seats.Sale) (events.Facts, error) {
	f := events.Facts{Event: settings, Seats: len(s.Plan.Seats), Sections: len(s.Plan.Sections), Table: s.LargestWhole(), Party: s.LargestParty()}
	f.Event.Status = s.Event.Status
	f.Lowest, f.Highest = priceRange(priced)
	for _, n := range s.Snapshot().Counts.Sold {
		f.Sold += int(n)
	}
	if f.Highest > 0 {
		f.Methods = slices.DeleteFunc(h.Orders.Methods(settings, f.Highest), func(method string) bool { return method == payments.Credit }) // few people have credit
		f.Pays = slices.ContainsFunc(f.Methods, func(method string) bool { return method != payments.Demo })
	}
	about, err := h.Pages.Event(ctx, s.Event.ID)
	if err != nil {
		return f, err
	}
	f.Described = slices.ContainsFunc(about.Texts, func(t pages.EventText) bool { return t.Description != "" })
	f.Pictured = len(about.Pictures) > 0
	published, err := h.Pages.Published(ctx, s.Event.Team)
	if err != nil {
		return f, err
	}
	has := func(kind pages.Kind) bool {
		return slices.ContainsFunc(published, func(p pages.Ref) bool { return p.Team == s.Event.Team && p.Kind == kind })
	}
	f.Terms, f.Privacy, f.Imprint = has(pages.Terms), has(pages.Privacy), has(pages.Imprint)
	return f, nil
}

// priceRange is the lowest price above 0 and the highest one of any ticket type; 0 if nothing costs anything.
func priceRange(s *seats.Sale) (lowest, highest int64) {
	for kind := range s.Prices.Types {
		for category := range s.Plan.Categories {
			price, sold := s.Prices.Price(0, kind, category)
			if !sold || price == 0 || s.Prices.Types[kind].Retired {
				continue
			}
			if highest = max(highest, price); lowest == 0 || price < lowest {
				lowest = price
			}
		}
	}
	return lowest, highest
}

// startsSale reports whether a change starts the sale of an event that was never on sale, or is a draft again.
func startsSale(e seats.Event, to seats.Status) bool {
	return (e.Status == seats.Draft || e.Status == seats.Scheduled) && (to == seats.OnSale || to == seats.Scheduled)
}

// codeNotReady is the code of a refusal: the event lacks what a sale needs, and the organizer did not say that it starts anyway.
const codeNotReady = "not_ready"

// notReady refuses to start a sale for a program.
func notReady(ctx context.Context, missing []events.Point) error {
	names := make([]string, len(missing))
	for i, p := range missing {
		names[i] = text.T(ctx, desk.PointWords(p))
	}
	return &seats.Conflict{
		Code: codeNotReady, Message: text.Mark("The sale was not started. Missing: %s. Complete it, or send anyway with the request."),
		Args: []any{strings.Join(names, text.T(ctx, ", "))},
	}
}

type checkBody struct {
	Point events.Point      `json:"point"`
	State events.CheckState `json:"state"`
	Asks  bool              `json:"asks"` // the sale starts without it only with anyway
}

func checklistAnswer(p desk.ChecklistPage) any {
	f := p.Facts
	answer := struct {
		Event  string       `json:"event"`
		Status seats.Status `json:"status"`
		Ready  bool         `json:"ready"` // nothing asks
		Checks []checkBody  `json:"checks"`

		Test *testSaleAnswer `json:"test,omitempty"` // the test sale that runs
	}{Event: f.Event.Slug, Status: f.Event.Status, Ready: true}
	for _, c := range events.Readiness(f) {
		answer.Ready = answer.Ready && !c.Asks
		answer.Checks = append(answer.Checks, checkBody{c.Point, c.State, c.Asks})
	}
	if p.Test != "" {
		answer.Test = &testSaleAnswer{p.Test, p.TestURL}
	}
	return answer
}
