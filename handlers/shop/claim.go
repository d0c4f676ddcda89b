package shop

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// Claim answers POST /events/{slug}/claims
func (h *Handlers) Claim(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	request, key, err := decodeClaim(r)
	if err != nil {
		return err
	}
	if web.IsForm(r) { // a page has one seat chosen at a time; programs name all that they want
		request.Sent, request.Seats = request.Seats, s.WithWholeLabels(request.Seats)
	}
	if err := takeProposal(r, s, &request); err != nil {
		return err
	}
	if request.Access, err = h.accessOf(w, r, s); err != nil {
		return err
	}
	holder, known := h.Holder(r)
	if !known {
		holder = h.NewHolder(w, r, s)
	}
	admitted, err := h.admitClaim(w, r, s, holder, known, max(request.Size(), len(s.WithParty(nil, request.Sent))), key)
	if err != nil {
		if errors.Is(err, errChallenge) {
			return h.challenged(w, r, s, comeFrom(r, s))
		}
		return err
	}
	defer admitted.end(nil)
	welcome := func(http.ResponseWriter) string { return "" }
	if !known { // only now: a session with a holder could claim elsewhere
		if welcome, err = h.NewSession(r, holder); err != nil {
			admitted.giveBack()
			return err
		}
	}
	if err := withParty(r, s, holder, known, &request); err != nil {
		admitted.giveBack()
		return err
	}
	hold, err := h.claimAdmitted(w, r, s, request, admitted)
	if refusal, is := errors.AsType[*seats.Conflict](err); is {
		return h.refuse(w, r, s, refusal)
	}
	if err != nil {
		return err
	}
	h.tellNewcomer(r, s, welcome(w), hold)
	return h.answerHold(w, r, s, hold, http.StatusCreated)
}

// withParty adds the seats that a visitor has to take beside the one that they chose at a shared table.
func withParty(r *http.Request, s *seats.Sale, holder seats.ID, known bool, request *seats.ClaimRequest) error {
	if !s.AtShared(request.Sent) {
		return nil
	}
	var has []int
	if known {
		hold, err := s.Hold(r.Context(), holder)
		if err != nil && !errors.Is(err, seats.ErrNoHold) {
			return err
		}
		if !hold.Expired {
			has = hold.Seats
		}
	}
	request.Seats = s.WithParty(has, request.Seats)
	return nil
}

// claimAdmitted claims seats for a visitor whom admitClaim admitted, and ends that.
func (h *Handlers) claimAdmitted(w http.ResponseWriter, r *http.Request, s *seats.Sale, request seats.ClaimRequest, admitted *admission) (hold seats.Hold, err error) {
	if room := h.Rooms.Of(s.Event.ID); room != nil { // the claim itself refuses who was not let in
		if _, err := h.enter(w, r, room, admitted.holder); err != nil {
			admitted.giveBack()
			return hold, err
		}
	}
	began := time.Now()
	hold, err = s.Claim(r.Context(), admitted.holder, admitted.key, request)
	h.Rooms.Answered(time.Since(began), err)
	if err != nil {
		admitted.end(err)
		if refusal, is := errors.AsType[*seats.Conflict](err); is {
			h.Sales.Refused(s.Event.ID, refusal.Code)
		}
		return hold, err
	}
	admitted.granted(len(hold.Seats))
	return hold, nil
}

// refuse says why not: as JSON, or on the page again.
func (h *Handlers) refuse(w http.ResponseWriter, r *http.Request, s *seats.Sale, refusal *seats.Conflict) error {
	if web.WantsJSON(r) {
		return h.WriteRefusal(w, r, s, refusal)
	}
	if room := h.Rooms.Of(s.Event.ID); refusal.Code == seats.CodeWaitingRoom && room != nil {
		http.Redirect(w, r, shop.RoomPath(room.Slug), http.StatusSeeOther)
		return nil
	}
	message := &shop.Message{Text: refusal.In(h.Reading(r)), Nearest: refusal.Nearest}
	return h.showFrom(w, r, s, http.StatusConflict, message)
}

// decodeClaim reads a request and its key from JSON or a form, strictly: what is not understood is refused.
func decodeClaim(r *http.Request) (seats.ClaimRequest, string, error) {
	var request seats.ClaimRequest
	var err error
	switch {
	case web.IsForm(r):
		if request, err = decodeForm(r); err != nil {
			return seats.ClaimRequest{}, "", err
		}
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return seats.ClaimRequest{}, "", err
		}
		if request, err = DecodeClaimRequest(body); err != nil {
			return seats.ClaimRequest{}, "", err
		}
	default:
		return seats.ClaimRequest{}, "", web.ErrMedia
	}
	key, err := web.KeyOf(r)
	return request, key, err
}

// DecodeClaimRequest reads the JSON of a claim.
func DecodeClaimRequest(body []byte) (request seats.ClaimRequest, err error) {
	return request, web.DecodeJSON(body, &request)
}

func decodeForm(r *http.Request) (request seats.ClaimRequest, err error) {
	if err := web.ParseForm(r); err != nil {
		return request, err
	}
	f := r.PostForm
	request.Seats, request.Area, request.Type = f["seat"], f.Get("area"), f.Get("type")
	if request.Quantity, err = web.WholeNumber(f, "quantity"); err != nil {
		return request, err
	}
	if request.Best, err = web.WholeNumber(f, "best"); err != nil {
		return request, err
	}
	if request.Tickets, err = ticketsOf(f); err != nil {
		return request, err
	}
	if request.Best != 0 || request.Tickets != nil && request.Area == "" && !f.Has(shop.ProposalField) {
		request.Category = f.Get("category")
	}
	return request, nil
}

// ticketsOf reads how many tickets of each type a form asks for; nil if it has no such fields.
func ticketsOf(f url.Values) (tickets map[string]int, err error) {
	for field := range f {
		key, is := strings.CutPrefix(field, shop.TicketsPrefix)
		if !is {
			continue
		}
		n, err := web.WholeNumber(f, field)
		if err != nil {
			return nil, err
		}
		if tickets == nil {
			tickets = map[string]int{}
		}
		if n != 0 {
			tickets[key] = n
		}
	}
	if tickets != nil && len(tickets) == 0 {
		return nil, web.Invalid(text.Mark("Choose at least one ticket."))
	}
	return tickets, nil
}
