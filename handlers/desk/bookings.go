package desk

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// bookingBody is the booking of a group for programs.
type bookingBody struct {
	ID             seats.ID         `json:"id"`
	State          string           `json:"state"`
	Name           string           `json:"name"`
	Email          string           `json:"email"`
	Organisation   string           `json:"organisation"`
	Note           string           `json:"note"`
	BookedAt       time.Time        `json:"booked_at"`
	Until          time.Time        `json:"until"`
	Places         int              `json:"places"`
	Seats          []string         `json:"seats"`
	Prices         []bookings.Price `json:"prices"`
	Currency       string           `json:"currency"`
	Total          int64            `json:"total"`
	Due            int64            `json:"due"`
	Order          string           `json:"order,omitempty"`
	OrderCancelled bool             `json:"order_cancelled,omitempty"`
	Deposit        *depositBody     `json:"deposit,omitempty"`
}

// depositBody is the deposit of a group for programs. Link is the address of its page.
type depositBody struct {
	Amount     int64      `json:"amount"`
	Due        time.Time  `json:"due"`
	Refundable *time.Time `json:"refundable,omitempty"`
	PaidAt     *time.Time `json:"paid_at,omitempty"`
	Method     string     `json:"method,omitempty"`
	Outcome    string     `json:"outcome,omitempty"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
	Link       string     `json:"link"`

	Documents []web.InvoiceBody `json:"documents,omitempty"`
}

func describeBooking(s *seats.Sale, k desk.GroupBooking) bookingBody {
	return bookingBody{
		k.ID, k.State, k.Name, k.Email, k.Organisation, k.Note, k.At.UTC(), k.Until.UTC(), k.Places, web.Labels(s, k.Seats), append([]bookings.Price{}, k.Prices...),
		s.Event.Currency, k.Sum, k.Due, k.Order, k.OrderCancelled, describeDeposit(k.Deposit),
	}
}

func describeDeposit(d *bookings.Deposit) *depositBody {
	if d == nil {
		return nil
	}
	return &depositBody{d.Amount, d.Due.UTC(), web.UTC(d.Refundable), web.UTC(d.PaidAt), d.Method, d.Outcome, web.UTC(d.EndedAt), shop.DepositPath(d.Code), nil}
}

// sumOf puts what a booking costs beside it: its order, or its option at this moment.
func sumOf(s *seats.Sale, k bookings.Booking) desk.GroupBooking {
	one := desk.GroupBooking{Booking: k, Sum: k.Total}
	if k.State == bookings.Option {
		if _, cost, err := k.Quote(s); err == nil { // what is wrong with it is said on its page
			one.Sum = cost.Total
		}
	}
	return one
}

// ListBookings answers GET /desk/events/{slug}/bookings; with seats, the form begins with them.
func (h *Handlers) ListBookings(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showBookings(w, r, m, s, http.StatusOK, desk.BookingsPage{Form: r.URL.Query()})
}

func (h *Handlers) showBookings(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.BookingsPage) error {
	const of = "bookings"
	page, err := web.Page(r, of, paging.Most)
	if err != nil {
		return err
	}
	list, next, err := h.Bookings.List(r.Context(), m, s.Event.ID, page)
	if err != nil {
		return err
	}
	p.Next, p.Part = next.Cursor(of), next != nil || page.After.N != 0
	for _, k := range list {
		p.List = append(p.List, sumOf(s, k))
	}
	if web.WantsJSON(r) {
		answer := struct {
			Bookings []bookingBody `json:"bookings"`
			Next     string        `json:"next_cursor,omitempty"`
		}{[]bookingBody{}, p.Next}
		for _, k := range p.List {
			answer.Bookings = append(answer.Bookings, describeBooking(s, k))
		}
		return web.WriteJSON(w, status, answer)
	}
	p.Frame, p.Plan, p.Prices = h.eventFrame(w, r, m, s, text.T(r.Context(), "Group bookings")), s.Plan, s.Prices
	p.Path = desk.BookingsPath(s.Event.Slug)
	if p.Chosen, err = chosen(s, p.Form); err != nil {
		p.Chosen = nil
	}
	return web.WritePage(w, r, status, desk.Bookings(p))
}

// optionOf reads what a form asks for.
func optionOf(s *seats.Sale, form url.Values) (o bookings.Request, err error) {
	f := fieldReader{form: form, sale: s}
	o = bookings.Request{Contact: bookings.Contact{Name: f.text("name"), Email: f.text("email"), Organisation: f.text("organisation"), Note: f.text("note")}, Count: f.whole("number"), Category: -1}
	if name := f.text("category"); name != "" {
		if o.Category = slices.IndexFunc(s.Plan.Categories, func(c seats.Category) bool { return c.Name == name }); o.Category < 0 {
			return o, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no category “%s”. Nothing was changed."), Args: []any{name}}
		}
	}
	if until := f.moment("until"); until != nil {
		o.Until = *until
	}
	if f.is("deposit") {
		o.Deposit = f.deposit()
	}
	o.Withdraw = form.Has("deposit") && o.Deposit == nil
	for _, kind := range s.Prices.Order() {
		p := bookings.Price{Type: s.Prices.Types[kind].Key, Count: f.whole("tickets." + s.Prices.Types[kind].Key)}
		if typed := f.text("price." + p.Type); typed != "" {
			each, err := pricing.ReadAmount(typed, s.Event.Currency)
			if err != nil {
				f.fail(wrongIn(err))
			}
			p.Each = &each
		}
		if p.Count != 0 || p.Each != nil {
			o.Prices = append(o.Prices, p)
		}
	}
	if f.err != nil {
		return o, f.err
	}
	o.Seats, err = chosen(s, form)
	return o, err
}

// deposit reads the terms of a deposit.
func (f *fieldReader) deposit() *bookings.DepositTerms {
	amount, percent, _, err := pricing.ReadPrice(f.text("deposit"), f.sale.Event.Currency)
	t := bookings.DepositTerms{Amount: amount, Refundable: f.moment("deposit_refundable")}
	if percent != nil {
		t.Amount, t.Percent = 0, *percent
	}
	if err != nil {
		f.fail(wrongIn(err))
	}
	if due := f.moment("deposit_due"); due != nil {
		t.Due = *due
	}
	return &t
}

// TakeOption answers POST /desk/events/{slug}/bookings
func (h *Handlers) TakeOption(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	var id seats.ID
	option, err := optionOf(s, form)
	if err == nil {
		id, err = h.Bookings.Take(r.Context(), m, deskKeyOf(r, form), s, option)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showBookings(w, r, m, s, deskStatus(err), desk.BookingsPage{Form: form, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	return h.booked(w, r, m, s, id, "option", http.StatusCreated)
}

// booked answers what was done with a booking: its page, or the booking as it is now.
func (h *Handlers) booked(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, id seats.ID, done string, status int) error {
	k, err := h.Bookings.Find(r.Context(), m, s.Event.ID, id)
	if err != nil {
		return err
	}
	one := describeBooking(s, sumOf(s, k))
	if one.Deposit != nil {
		documents, err := h.Server.Invoices.OfDeposit(r.Context(), id)
		if err != nil {
			return err
		}
		for _, d := range documents {
			one.Deposit.Documents = append(one.Deposit.Documents, web.DescribeInvoice(d))
		}
	}
	return deskWith(w, r, desk.BookingPath(s.Event.Slug, id), done, status, struct {
		Booking bookingBody `json:"booking"`
	}{one})
}

// bookingID is that of the address.
func bookingID(r *http.Request) (seats.ID, error) {
	id, err := seats.ParseID(r.PathValue("booking"))
	if err != nil {
		return id, bookings.ErrNone
	}
	return id, nil
}

// Booking answers GET /desk/events/{slug}/bookings/{booking}
func (h *Handlers) Booking(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	id, err := bookingID(r)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return h.booked(w, r, m, s, id, "", http.StatusOK)
	}
	return h.showBooking(w, r, m, s, id, http.StatusOK, desk.BookingPage{})
}

func (h *Handlers) showBooking(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, id seats.ID, status int, p desk.BookingPage) error {
	k, err := h.Bookings.Find(r.Context(), m, s.Event.ID, id)
	if err != nil {
		return err
	}
	p.Booking, p.Plan, p.Prices = sumOf(s, k), s.Plan, s.Prices
	p.Frame = h.eventFrame(w, r, m, s, p.Booking.Who(r.Context()))
	p.Path = desk.BookingsPath(s.Event.Slug)
	if p.Documents, err = h.Server.Invoices.OfDeposit(r.Context(), id); err != nil {
		return err
	}
	if p.Payment, err = h.Bookings.LastPayment(r.Context(), id); err != nil {
		return err
	}
	if p.Country, _, err = h.Server.Invoices.Issuer(r.Context(), m.Team); err != nil {
		return err
	}
	if k.State == bookings.Option {
		var company *orders.Billing
		var seller orders.Seller
		if p.Part == "confirm" { // the total is that of the company that was typed
			if company, seller, err = h.companyOf(r, m, p.Form); err != nil {
				return err
			}
		}
		if p.Lines, p.Cost, err = k.QuoteFor(s, company, seller); err != nil {
			words, refused := deskRefused(r, err)
			if !refused {
				return err
			}
			p.Unpriced = words
		}
	}
	if k.Order != "" {
		if p.Order, err = h.Orders.Find(r.Context(), k.Order); err != nil {
			return err
		}
		if p.Invoices, err = h.Server.Invoices.Of(r.Context(), k.Order); err != nil {
			return err
		}
	}
	return web.WritePage(w, r, status, desk.Booking(p))
}

// onBooking does something with the booking of the address, and answers.
func (h *Handlers) onBooking(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, part, done string, do func(id seats.ID, form url.Values, key string) error) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, err := bookingID(r)
	if err != nil {
		return err
	}
	err = do(id, form, deskKeyOf(r, form))
	if words, refused := deskRefused(r, err); refused {
		return h.showBooking(w, r, m, s, id, deskStatus(err), desk.BookingPage{Part: part, Form: form, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	return h.booked(w, r, m, s, id, done, http.StatusOK)
}

// ChangeBooking answers POST /desk/events/{slug}/bookings/{booking}
func (h *Handlers) ChangeBooking(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.onBooking(w, r, m, s, "change", "set", func(id seats.ID, form url.Values, key string) error {
		option, err := optionOf(s, form)
		if err != nil {
			return err
		}
		return h.Bookings.Change(r.Context(), m, key, s, id, option)
	})
}

// ReduceBooking answers POST /desk/events/{slug}/bookings/{booking}/seats
func (h *Handlers) ReduceBooking(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.onBooking(w, r, m, s, "reduce", "unblocked", func(id seats.ID, form url.Values, key string) error {
		f := fieldReader{form: form, sale: s}
		keep := f.whole("keep")
		if f.err != nil {
			return f.err
		}
		these, err := chosen(s, form)
		if err != nil {
			return err
		}
		return h.Bookings.Reduce(r.Context(), m, key, s, id, these, keep)
	})
}

// companyOf is the company that an invoice is for, nil for the contact, and the team that issues it.
func (h *Handlers) companyOf(r *http.Request, m organizers.Member, form url.Values) (b *orders.Billing, seller orders.Seller, err error) {
	f := fieldReader{form: form}
	if company := f.text(orders.FieldCompany); company != "" {
		b = &orders.Billing{
			Company: company, Street: f.text(orders.FieldStreet), Postcode: f.text(orders.FieldPostcode), City: f.text(orders.FieldCity),
			Country: f.text(orders.FieldCountry), VATID: f.text(orders.FieldVATID),
		}
	}
	seller, err = h.Seller(r, m.Team, b)
	return b, seller, err
}

// ConfirmBooking answers POST /desk/events/{slug}/bookings/{booking}/order
func (h *Handlers) ConfirmBooking(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.onBooking(w, r, m, s, "confirm", "booking-confirmed", func(id seats.ID, form url.Values, key string) (err error) {
		f := fieldReader{form: form, sale: s}
		var c bookings.Confirming
		if due := f.moment("due"); due != nil {
			c.Due = *due
		}
		if f.is("total") {
			total := int64(f.whole("total"))
			c.Total = &total
		}
		if f.err != nil {
			return f.err
		}
		if c.Billing, c.Seller, err = h.companyOf(r, m, form); err != nil {
			return err
		}
		_, err = h.Bookings.Confirm(r.Context(), m, key, s, id, c)
		return err
	})
}

// PayDeposit answers POST /desk/events/{slug}/bookings/{booking}/deposit/payment
func (h *Handlers) PayDeposit(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.onBooking(w, r, m, s, "deposit", "paid", func(id seats.ID, form url.Values, key string) error {
		f := fieldReader{form: form, sale: s}
		p := bookings.DepositPayment{Method: cmp.Or(f.text("till"), f.text("method"))}
		if f.is("amount") {
			shown := int64(f.whole("amount"))
			p.Shown = &shown
		}
		if f.err != nil {
			return f.err
		}
		session, err := h.tillTaking(r, m, s.Event.Currency, form)
		if err != nil {
			return err
		}
		if session != 0 {
			p.Entry = till.OfDeposit(session, id, p.Method, false)
		}
		if entry := f.text("entry"); entry != "" {
			of, err := seats.ParseID(entry)
			if err != nil || p.Method != payments.Invoice {
				return banktransfer.ErrNoEntry
			}
			p.Statement, p.Entry = &of, seats.Both(p.Entry, banktransfer.AsDeposit(m.Team, of, id))
		}
		return h.Bookings.PayDeposit(r.Context(), m, key, s, id, p)
	})
}

// EndDeposit answers POST /desk/events/{slug}/bookings/{booking}/deposit/end
func (h *Handlers) EndDeposit(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.onBooking(w, r, m, s, "deposit", "set", func(id seats.ID, form url.Values, key string) error {
		f := fieldReader{form: form, sale: s}
		end := bookings.DepositEnd{Outcome: f.text("outcome"), Back: cmp.Or(f.text("till"), f.text("method"))}
		if end.Outcome == bookings.Retained {
			return h.Bookings.EndDeposit(r.Context(), m, key, s, id, end)
		}
		session, err := h.tillTaking(r, m, s.Event.Currency, form)
		if err != nil {
			return err
		}
		if session != 0 {
			end.Entry = till.OfDeposit(session, id, end.Back, true)
		}
		end.Entry = seats.Both(end.Entry, organizers.TellOwners(m, organizers.NoticeDepositPaidBack, s.Event.Name))
		return h.Bookings.EndDeposit(r.Context(), m, key, s, id, end)
	})
}

// CancelBooking answers POST /desk/events/{slug}/bookings/{booking}/cancellation
func (h *Handlers) CancelBooking(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.onBooking(w, r, m, s, "cancel", "cancelled", func(id seats.ID, _ url.Values, key string) error {
		return h.Bookings.Cancel(r.Context(), m, key, s, id)
	})
}

// NameBooking answers POST /desk/events/{slug}/bookings/{booking}/names
func (h *Handlers) NameBooking(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.onBooking(w, r, m, s, "names", "set", func(id seats.ID, form url.Values, key string) error {
		k, err := h.Bookings.Find(r.Context(), m, s.Event.ID, id)
		if err != nil {
			return err
		}
		if k.Order == "" || k.OrderCancelled {
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("There are no tickets to write names on: confirm the booking first. Nothing was changed.")}
		}
		order, err := h.Orders.Find(r.Context(), k.Order)
		if err != nil {
			return err
		}
		var shown *int
		f := fieldReader{form: form, sale: s}
		if f.is("tickets") {
			n := f.whole("tickets")
			shown = &n
		}
		if f.err != nil {
			return f.err
		}
		names := strings.Split(strings.TrimRight(strings.ReplaceAll(strings.Join(form["names"], "\n"), "\r\n", "\n"), " \n"), "\n")
		act := organizers.Action{Key: key, Form: []any{"names", k.ID, names, shown}, What: text.Mark("wrote the names of a group of"), Subject: "events/" + s.Event.Slug + "/bookings/" + k.ID.String()}
		return h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
			return h.Orders.WriteNames(r.Context(), order, names, shown, also)
		})
	})
}
