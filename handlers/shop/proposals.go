package shop

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// ProposalsAnswer is what a party could claim. It is not held.
type ProposalsAnswer struct {
	Proposals []ProposalBody `json:"proposals"`
	Anew      bool           `json:"anew"` // there are no others, so that these were proposed before
}

// ProposalBody is seats for a party.
type ProposalBody struct {
	Seats    []string `json:"seats"`
	Idx      []int    `json:"idx"`
	Why      string   `json:"why,omitempty"` // value, closest or cheapest
	Price    int64    `json:"price"`         // of all, with fees and taxes
	Currency string   `json:"currency"`
}

// Proposals answers GET /events/{slug}/proposals: up to three places for a party, on the map or as JSON. They are held once they
// are claimed.
func (h *Handlers) Proposals(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	asked, err := partyOf(s, r.URL.Query())
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		return h.showProposing(w, r, s, asked)
	}
	if r, err = h.Visited(r); err != nil {
		return err
	}
	codes, err := h.codesOf(r, s)
	if err != nil {
		return err
	}
	sale, err := h.asSeen(r, s)
	if err != nil {
		return err
	}
	sale.Unlock(codes)
	made := sale.Propose(s, asked)
	answer := ProposalsAnswer{[]ProposalBody{}, made.Anew}
	for _, p := range made.List {
		answer.Proposals = append(answer.Proposals, ProposalBody{web.Labels(s, p.Seats), p.Seats, p.Why, p.Price, s.Event.Currency})
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// showProposing shows the event's page with proposals for a party.
func (h *Handlers) showProposing(w http.ResponseWriter, r *http.Request, s *seats.Sale, asked shop.Party) error {
	w.Header().Add("Vary", "Usher-Fragment")
	return h.showSaying(w, r, s, -1, http.StatusOK, nil, func(*shop.Codes) {}, func(sale *shop.Sale) {
		made := sale.Propose(s, asked)
		sale.Proposals = &made
	})
}

// partyOf reads whom the form of the best seats is for.
func partyOf(s *seats.Sale, q url.Values) (p shop.Party, err error) {
	if p.Tickets, err = ticketsOf(q); err != nil {
		return p, err
	}
	if p.Size, err = web.WholeNumber(q, "best"); err != nil {
		return p, err
	}
	for _, n := range p.Tickets {
		p.Size += n
	}
	if p.Size < 1 || p.Size > s.Event.SeatsPerHolder {
		return p, web.Invalid(text.Mark("Choose 1 to %d seats."), s.Event.SeatsPerHolder)
	}
	if p.Category = q.Get("category"); p.Category != "" && s.Plan.CategoryKeyed(p.Category) < 0 {
		return p, web.Invalid(text.Mark("This event has no such category."))
	}
	if most := q.Get("most"); most != "" {
		if p.Most, err = strconv.ParseInt(most, 10, 64); err != nil || p.Most < 0 {
			return p, web.Invalid(text.Mark("The highest price is not a whole number."))
		}
	}
	p.Apart, p.Aisle = q.Has("party") && !q.Has("together"), q.Has("aisle")
	if p.Not, err = idxsOf(s, strings.Join(q["not"], " ")); err != nil {
		return p, err
	}
	return p, nil
}

// idxsOf reads seats as forms name them: their idx, with spaces between.
func idxsOf(s *seats.Sale, list string) (idxs []int, err error) {
	for field := range strings.FieldsSeq(list) {
		idx, err := strconv.Atoi(field)
		if err != nil || idx < 0 || idx >= len(s.Plan.Seats) {
			return nil, web.Invalid(text.Mark("This event has no such seat."))
		}
		idxs = append(idxs, idx)
	}
	return idxs, nil
}

// takeProposal claims the seats of the proposal that a form chose.
func takeProposal(r *http.Request, s *seats.Sale, request *seats.ClaimRequest) error {
	if !web.IsForm(r) || !r.PostForm.Has(shop.ProposalField) {
		return nil
	}
	idxs, err := idxsOf(s, r.PostForm.Get(shop.ProposalField))
	request.Proposed = true
	request.Seats = append(request.Seats, web.Labels(s, idxs)...)
	return err
}
