package desk

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views/desk"
)

type readerBody struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Online bool   `json:"online"`
}

// Readers answers GET /desk/till/sessions/{id}/reader: the card readers that a session may use.
func (h *Handlers) Readers(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	s, err := h.tillSession(r, m, r.PathValue("id"))
	if err != nil {
		return err
	}
	return h.showReaders(w, r, m, http.StatusOK, desk.ReadersPage{Session: s})
}

func (h *Handlers) showReaders(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.ReadersPage) error {
	team, err := h.readerTeam(r, m)
	if err != nil {
		return err
	}
	list, err := h.readers(r, team)
	switch {
	case err != nil && web.WantsJSON(r):
		return err
	case err != nil:
		p.Message = errReaders.In(r.Context())
	}
	if web.WantsJSON(r) {
		answer := struct {
			Team    int64        `json:"team"`
			Reader  string       `json:"reader"`
			Readers []readerBody `json:"readers"`
		}{m.Team, p.Session.Reader, []readerBody{}}
		for _, one := range list {
			answer.Readers = append(answer.Readers, readerBody(one))
		}
		return web.WriteJSON(w, status, answer)
	}
	p.Frame, p.Readers = h.frame(w, r, m, text.T(r.Context(), "Card reader")), list
	p.Style, p.Team = "desk.css till.css", team
	return web.WritePage(w, r, status, desk.Readers(p))
}

// readerTeam is the team that readers have to be assigned to; 0: there is one team, which may use all.
func (h *Handlers) readerTeam(r *http.Request, m organizers.Member) (int64, error) {
	several, err := h.Organizers.Several(r.Context())
	if err != nil || !several {
		return 0, err
	}
	return m.Team, nil
}

// readers are the card readers that a team may use; none without a provider that has some, errReaders if it does not answer.
func (h *Handlers) readers(r *http.Request, team int64) ([]payments.Reader, error) {
	list, err := h.Orders.Payments.Readers(r.Context(), team)
	if err != nil && !errors.Is(err, payments.ErrNoProvider) {
		h.Log.WarnContext(r.Context(), "card readers", "error", err)
		return nil, errReaders
	}
	return list, nil
}

// reader is a card reader that the team of a member may use; errNoReader if there is no such one.
func (h *Handlers) reader(r *http.Request, team int64, id string) (payments.Reader, error) {
	list, err := h.readers(r, team)
	if err != nil {
		return payments.Reader{}, err
	}
	at := slices.IndexFunc(list, func(one payments.Reader) bool { return one.ID == id })
	if at < 0 {
		return payments.Reader{}, errNoReader
	}
	return list[at], nil
}

// mayCharge refuses a reader that was taken away from the member's team since they chose it.
func (h *Handlers) mayCharge(r *http.Request, m organizers.Member, s till.Session) error {
	team, err := h.readerTeam(r, m)
	if err != nil || team == 0 {
		return err
	}
	_, err = h.reader(r, team, s.Reader)
	if err == errNoReader {
		return &seats.Conflict{Code: orders.CodeReader, Message: text.Mark("The card reader “%s” is not of your team. Nothing was sold. Choose another one at your till."), Args: []any{s.ReaderLabel}}
	}
	return err
}

var (
	errReaders  = &seats.Conflict{Code: orders.CodeReader, Message: text.Mark("The card provider does not answer. Nothing was changed. Try again in a moment.")}
	errNoReader = &seats.ValidationError{Message: text.Mark("There is no such card reader. Nothing was changed.")}
)

// UseReader answers POST /desk/till/sessions/{id}/reader
func (h *Handlers) UseReader(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	s, err := h.tillSession(r, m, r.PathValue("id"))
	if err != nil {
		return err
	}
	err = h.useReader(r, m, s, form)
	if words, refused := deskRefused(r, err); refused {
		return h.showReaders(w, r, m, deskStatus(err), desk.ReadersPage{Session: s, Message: words})
	}
	if err != nil {
		return err
	}
	if s, err = till.Find(r.Context(), h.Organizers, m, s.ID); err != nil {
		return err
	}
	return deskWith(w, r, desk.TillSessionPath(s.ID), "set", http.StatusOK, describeSession(s))
}

// useReader sets the reader that a form names, once, if the card provider has it.
func (h *Handlers) useReader(r *http.Request, m organizers.Member, s till.Session, form url.Values) error {
	id := form.Get("reader")
	act := organizers.Action{
		Key: deskKeyOf(r, form), Form: []any{"reader", s.ID, id}, What: text.Mark("chose the card reader of the till"), Subject: "till/sessions/" + strconv.FormatInt(s.ID, 10), Detail: map[string]any{"reader": id},
	}
	return h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		label := ""
		if id != "" {
			team, err := h.readerTeam(r, m)
			if err != nil {
				return err
			}
			one, err := h.reader(r, team, id)
			if err != nil {
				return err
			}
			label = one.Label
		}
		return till.UseReader(r.Context(), h.Organizers, m, s.ID, id, label, also)
	})
}

// sellAtReader begins the sale of a form at the card reader of the member's till, once, and returns the code of its payment.
func (h *Handlers) sellAtReader(r *http.Request, m organizers.Member, form url.Values, parts []orders.OfficePart) (code string, err error) {
	key := deskKeyOf(r, form)
	lead := parts[0].Sale
	act := officeAction(key, form.Get("paid_by"), parts, text.Mark("began a sale at the card reader"))
	begin := func(at payments.AtTill, also seats.TxHook) (err error) {
		code, err = h.Orders.PayAtOffice(r.Context(), MemberKey(m, key), parts, at, also)
		return err
	}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		if !h.Orders.Payments.HasReaders() {
			return &seats.Conflict{Code: orders.CodeReader, Message: text.Mark("No card provider is set up here. Nothing was sold. Choose another way to pay.")}
		}
		s, err := till.ReaderOf(r.Context(), h.Organizers, m, lead.Event.Currency)
		if err != nil {
			return err
		}
		if err := h.mayCharge(r, m, s); err != nil {
			return err
		}
		return till.Begin(s.ID, func(open seats.TxHook) error {
			return begin(payments.AtTill{Reader: s.Reader, Label: s.ReaderLabel, Session: s.ID}, seats.Both(open, also))
		})
	})
	if err == nil && code == "" { // the form came before: the payment that it began. No other one begins
		err = begin(payments.AtTill{}, nil)
	}
	return code, err
}

// takesCards reports whether a card reader takes money for an event.
func (h *Handlers) takesCards(e seats.Event) bool {
	return h.Orders.Payments.HasReaders() && !e.Demo && e.TestOf == 0
}

// leadToReader answers with a payment that began at a card reader, or redirects to it.
func (h *Handlers) leadToReader(w http.ResponseWriter, r *http.Request, m organizers.Member, code string) error {
	if !web.WantsJSON(r) {
		http.Redirect(w, r, desk.ReaderPaymentPath(code), http.StatusSeeOther)
		return nil
	}
	p, err := h.Orders.ReaderPayment(r.Context(), code)
	if err != nil {
		return err
	}
	w.Header().Set("Location", h.At(r, desk.ReaderPaymentPath(code)))
	return h.showReaderPayment(w, r, m, http.StatusAccepted, p)
}

type readerPaymentBody struct {
	Code     string          `json:"code"`
	Event    string          `json:"event"`
	State    desk.AtReader   `json:"state"`
	Currency string          `json:"currency"`
	Amount   int64           `json:"amount"` // at the reader
	GiftCard int64           `json:"gift_card,omitempty"`
	Reader   string          `json:"reader"`
	Label    string          `json:"label"`
	Reason   string          `json:"reason,omitempty"`
	Order    *web.OrderBody  `json:"order,omitempty"`
	Also     []web.OrderBody `json:"also,omitempty"`
}

type readerPaymentAnswer struct {
	Payment readerPaymentBody `json:"payment"`
}

// ReaderPayment answers GET /desk/till/payments/{code}: how a sale at a card reader stands. It asks the card provider.
func (h *Handlers) ReaderPayment(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	p, err := h.readerPayment(r, m)
	if err != nil {
		return err
	}
	if desk.StandsAt(p.Payment).UnderWay() {
		if err := h.Orders.Payments.Ask(r.Context(), p.Payment); err != nil {
			return err
		}
		if p, err = h.Orders.ReaderPayment(r.Context(), p.Code); err != nil {
			return err
		}
	}
	return h.showReaderPayment(w, r, m, http.StatusOK, p)
}

// readerPayment is the payment of the address, if it is of an event of the member.
func (h *Handlers) readerPayment(r *http.Request, m organizers.Member) (orders.OfReader, error) {
	p, err := h.Orders.ReaderPayment(r.Context(), r.PathValue("code"))
	if err != nil {
		return p, err
	}
	s, err := h.Inventory.Sale(r.Context(), p.Event)
	if err == nil && !m.Owns(s.Event) {
		err = payments.ErrNoPayment
	}
	return p, err
}

func (h *Handlers) showReaderPayment(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p orders.OfReader) error {
	stands := desk.StandsAt(p.Payment)
	if !web.WantsJSON(r) {
		if stands == desk.ReaderSold {
			http.Redirect(w, r, soldPath(m, p.Orders[0].Event, p.Orders[0].Code)+"?done=sold", http.StatusSeeOther)
			return nil
		}
		page := desk.ReaderPaymentPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Card reader")), Payment: p.Payment, Stands: stands}
		page.Style, page.Script = "desk.css till.css", "desk_reader.js"
		if stands.UnderWay() {
			page.Refresh = "3;url=" + desk.ReaderPaymentPath(p.Code)
		}
		return web.WritePage(w, r, status, desk.ReaderPayment(page))
	}
	b := readerPaymentBody{Code: p.Code, Event: p.Event, State: stands, Currency: p.Currency, Amount: p.Amount - p.Credit, GiftCard: p.Credit, Reader: p.Till.Reader, Label: p.Till.Label}
	if stands == desk.ReaderFailed {
		b.Reason = payments.Reason(p.Reason).In(r.Context())
	}
	if stands == desk.ReaderSold {
		for i, of := range p.Orders {
			s, err := h.Inventory.Sale(r.Context(), of.Event)
			if err != nil {
				return err
			}
			o, err := h.Orders.Find(r.Context(), of.Code)
			if err != nil {
				return err
			}
			if one := web.DescribeOrder(s, o); i == 0 {
				b.Order = &one
			} else {
				b.Also = append(b.Also, one)
			}
		}
	}
	return web.WriteJSON(w, status, readerPaymentAnswer{b})
}

// CancelReaderPayment answers POST /desk/till/payments/{code}/cancellation. A payment that is over stays as it is.
func (h *Handlers) CancelReaderPayment(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	p, err := h.readerPayment(r, m)
	if err != nil {
		return err
	}
	detail := map[string]any{"amount": p.Amount - p.Credit, "currency": p.Currency, "reader": p.Till.Label}
	if err := till.NoteCancel(r.Context(), h.Organizers, m, deskKeyOf(r, form), p.Code, "events/"+p.Event+"/orders", detail); err != nil {
		return err
	}
	if _, err := h.Orders.Payments.Stop(r.Context(), p.Code); err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		http.Redirect(w, r, desk.ReaderPaymentPath(p.Code), http.StatusSeeOther)
		return nil
	}
	if p, err = h.Orders.ReaderPayment(r.Context(), p.Code); err != nil {
		return err
	}
	return h.showReaderPayment(w, r, m, http.StatusOK, p)
}
