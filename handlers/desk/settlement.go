package desk

import (
	"net/http"
	"net/url"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

type settlementAnswer struct {
	At       time.Time          `json:"at"`
	Currency string             `json:"currency"`
	Rows     []settledBody      `json:"rows"`
	Total    sumsBody           `json:"total"`
	Tickets  int64              `json:"net_of_tickets"`
	Unpaid   int64              `json:"unpaid"`
	Shares   []settledShareBody `json:"shares"`
	Promoter int64              `json:"due_to_promoter"`
}

type settledBody struct {
	Category string `json:"category"`
	Type     string `json:"type"`
	Line     string `json:"line"`
	sumsBody
}

type settledShareBody struct {
	Name    string `json:"name"`
	Percent string `json:"percent"`
	Of      string `json:"of"`
	Amount  int64  `json:"amount"`
}

// Settlement answers GET /desk/events/{slug}/settlement
func (h *Handlers) Settlement(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showSettlement(w, r, m, s, http.StatusOK, nil, "")
}

func (h *Handlers) showSettlement(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, form url.Values, wrong string) error {
	settled, err := h.Server.Books.Settlement(r.Context(), m, s.Event.Slug)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := settlementAnswer{settled.At.UTC(), settled.Event.Currency, []settledBody{}, describeSums(settled.Total), settled.Tickets, settled.Unpaid, []settledShareBody{}, settled.Promoter}
		for _, row := range settled.Rows {
			answer.Rows = append(answer.Rows, settledBody{row.Category, row.Type, row.Line, describeSums(row.Sums)})
		}
		for _, share := range settled.Shares {
			answer.Shares = append(answer.Shares, settledShareBody{share.Name, pricing.Percentage(share.Percent), share.Of, share.Amount})
		}
		return web.WriteJSON(w, status, answer)
	}
	p := desk.SettlementPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "Settlement")), Settlement: settled, Form: form, Wrong: wrong}
	p.Path = desk.SettlementPath(s.Event.Slug)
	return web.WritePage(w, r, status, desk.Settlement(p))
}

// SettlementPaper answers GET /desk/events/{slug}/settlement.pdf
func (h *Handlers) SettlementPaper(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	settled, err := h.Server.Books.Settlement(r.Context(), m, s.Event.Slug)
	if err != nil {
		return err
	}
	paper := shop.Settlement{Settlement: settled, Place: views.PlaceIn(r.Context(), s.Event), Team: m.TeamName, Method: desk.MethodName}
	web.WritePDF(w, s.Event.Slug+"-settlement", shop.SettlementPaper(r.Context(), paper, h.Print(r, m.Team)))
	return nil
}

// SetShares answers POST /desk/events/{slug}/settlement
func (h *Handlers) SetShares(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	shares, err := sharesOf(form)
	if err == nil {
		err = h.Server.Books.SetShares(r.Context(), m, s.Event, shares, deskKeyOf(r, form))
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showSettlement(w, r, m, s, deskStatus(err), form, words)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.SettlementPath(s.Event.Slug), "set")
}

// sharesOf reads the rows of the form. One without a name and a percentage is none.
func sharesOf(form url.Values) (list []books.Share, err error) {
	f := &fieldReader{}
	for i := range max(len(form["name"]), len(form["percent"])) {
		f.form = url.Values{}
		for _, name := range []string{"name", "percent", "of"} {
			if i < len(form[name]) {
				f.form.Set(name, form[name][i])
			}
		}
		if f.text("name") != "" || f.text("percent") != "" {
			list = append(list, books.Share{Name: f.text("name"), Percent: f.percent("percent"), Of: f.text("of")})
		}
	}
	return list, f.err
}
