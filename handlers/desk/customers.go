package desk

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

var errNoCustomer = web.NewProblem(404, "unknown", text.Mark("There is no such customer in your team."), nothingChanged, text.Mark("Find the customer by name or email. An erased person is not listed."))

type customerBody struct {
	ID     seats.ID   `json:"id"`
	Name   string     `json:"name"`
	Email  string     `json:"email"`
	Orders int        `json:"orders"`
	Last   *time.Time `json:"last_order_at,omitempty"`
}

func describeCustomer(c customers.Customer) customerBody {
	return customerBody{c.ID, c.Name, c.Email, c.Orders, ofOrder(c, c.Last)}
}

// ofOrder is the moment of an order of a customer; nil for one without orders.
func ofOrder(c customers.Customer, at time.Time) *time.Time {
	if c.Orders == 0 {
		return nil
	}
	at = at.UTC()
	return &at
}

type customersAnswer struct {
	Customers []customerBody `json:"customers"`
	More      bool           `json:"more"`
	Next      string         `json:"next,omitempty"` // the cursor, too
	Cursor    string         `json:"next_cursor,omitempty"`
}

// Customers answers GET /desk/customers
func (h *Handlers) Customers(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showCustomers(w, r, m, http.StatusOK, desk.CustomersPage{})
}

// showCustomers writes the customers that are looked for, with what p knows besides.
func (h *Handlers) showCustomers(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.CustomersPage) (err error) {
	p.Words = strings.TrimSpace(r.URL.Query().Get("q"))
	if p.Tag = r.URL.Query().Get("tag"); p.Tag != "" {
		p.List, err = h.Server.Customers.Tagged(r.Context(), m, p.Tag)
	} else if p.Words != "" {
		p.List, p.More, err = h.Server.Customers.Find(r.Context(), m, p.Words)
	} else {
		p.List, p.Next, err = h.latestCustomers(r, m)
	}
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		if p.Tags, err = h.Server.Customers.Tags(r.Context(), m); err != nil {
			return err
		}
		p.Frame = h.frame(w, r, m, text.T(r.Context(), "Customers"))
		p.Path = desk.CustomersPath
		return web.WritePage(w, r, status, desk.Customers(p))
	}
	answer := customersAnswer{Customers: []customerBody{}, More: p.More || p.Next != "", Next: p.Next, Cursor: p.Next}
	for _, c := range p.List {
		answer.Customers = append(answer.Customers, describeCustomer(c))
	}
	return web.WriteJSON(w, status, answer)
}

// latestCustomers reads a page of those who ordered last, and the cursor of the next one; empty if there is none.
func (h *Handlers) latestCustomers(r *http.Request, m organizers.Member) (list []customers.Customer, next string, err error) {
	const of = "customers"
	page, err := web.Page(r, of, customers.Rows)
	if err != nil {
		return nil, "", err
	}
	if before := r.URL.Query().Get("before"); before != "" && page.After == (paging.Place{}) {
		var ok bool
		if page.After, ok = paging.Read(of, before); !ok {
			return nil, "", web.Invalid(text.Mark("before is not the next of an answer."))
		}
	}
	list, place, err := h.Server.Customers.Latest(r.Context(), m, page)
	return list, place.Cursor(of), err
}

type recordBody struct {
	customerBody
	Emails        []string         `json:"emails"`
	First         *time.Time       `json:"first_order_at,omitempty"`
	Spent         []moneyBody      `json:"spent"`
	Tickets       int              `json:"tickets_past"`
	Came          int              `json:"checked_in"`
	Credit        []moneyBody      `json:"credit"`
	Unsubscribed  bool             `json:"unsubscribed"`
	Left          []string         `json:"unsubscribed_emails"`
	Imported      []importedBody   `json:"imported"`
	Subscriptions []string         `json:"subscriptions"`
	Note          string           `json:"note"`
	Tags          []string         `json:"tags"`
	Memberships   []membershipBody `json:"memberships"`
	Waiting       []waitingBody    `json:"waiting_list"`
	Purchases     []purchaseBody   `json:"purchases"`
}

type importedBody struct {
	Email    string    `json:"email"`
	Name     string    `json:"name"`
	Phone    string    `json:"phone"`
	Language string    `json:"language"`
	AgreedOn string    `json:"consent,omitempty"` // a day
	AgreedBy string    `json:"consent_source,omitempty"`
	At       time.Time `json:"imported_at"`
	By       string    `json:"imported_by"`
}

type moneyBody struct {
	Currency string `json:"currency"`
	Amount   int64  `json:"amount"`
}

type waitingBody struct {
	Event    string    `json:"event"`
	Quantity int       `json:"quantity"`
	State    string    `json:"state"`
	Joined   time.Time `json:"joined_at"`
}

type purchaseBody struct {
	Code      string    `json:"code"`
	State     string    `json:"state"`
	Event     string    `json:"event"`
	StartsAt  time.Time `json:"starts_at"`
	Currency  string    `json:"currency"`
	Paid      int64     `json:"paid"`
	CreatedAt time.Time `json:"created_at"`
	Tickets   int       `json:"tickets"`
	Came      int       `json:"checked_in"`
	Terms     int       `json:"terms,omitempty"`
}

func describeRecord(c customers.Record, of []memberships.Membership) recordBody {
	b := recordBody{customerBody: describeCustomer(c.Customer), Emails: c.Emails, First: ofOrder(c.Customer, c.First), Spent: []moneyBody{}, Tickets: c.Tickets, Came: c.Came, Credit: []moneyBody{}, Unsubscribed: len(c.Unsubscribed) > 0, Left: append([]string{}, c.Unsubscribed...), Imported: []importedBody{}, Subscriptions: append([]string{}, c.Subscriptions...), Note: c.Note.Text, Tags: append([]string{}, c.Note.Tags...), Memberships: describeMemberships(of), Waiting: []waitingBody{}, Purchases: []purchaseBody{}}
	for _, i := range c.Imported {
		b.Imported = append(b.Imported, importedBody{i.Email, i.Name, i.Phone, i.Language, dayOf(i.AgreedOn), i.AgreedBy, i.At.UTC(), i.By})
	}
	for _, s := range c.Spent {
		b.Spent = append(b.Spent, moneyBody(s))
	}
	for _, s := range c.Credit {
		b.Credit = append(b.Credit, moneyBody(s))
	}
	for _, e := range c.Waiting {
		b.Waiting = append(b.Waiting, waitingBody{e.Event, e.Quantity, e.State, e.Joined.UTC()})
	}
	for _, o := range c.Purchases {
		b.Purchases = append(b.Purchases, purchaseBody{o.Code, o.State, o.Event, o.StartsAt.UTC(), o.Currency, o.Paid, o.CreatedAt.UTC(), o.Tickets, o.Came, o.Terms})
	}
	return b
}

// dayOf writes a day; empty for none.
func dayOf(day time.Time) string {
	if day.IsZero() {
		return ""
	}
	return day.Format(time.DateOnly)
}

// Customer answers GET /desk/customers/{id}
func (h *Handlers) Customer(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showCustomer(w, r, m, http.StatusOK, desk.CustomerPage{})
}

func (h *Handlers) showCustomer(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.CustomerPage) error {
	id, err := seats.ParseID(r.PathValue("id"))
	if err != nil {
		return errNoCustomer
	}
	return h.showRecord(w, r, m, status, id, p)
}

// showRecord writes what is known of the customer of an order, with what p knows besides.
func (h *Handlers) showRecord(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, id seats.ID, p desk.CustomerPage) (err error) {
	if p.Record, err = h.Server.Customers.Record(r.Context(), m, id); errors.Is(err, customers.ErrNone) {
		return errNoCustomer
	} else if err != nil {
		return err
	}
	if p.Memberships, err = h.Server.Memberships.Of(r.Context(), m, p.Record.Emails); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeRecord(p.Record, p.Memberships))
	}
	if p.Kinds, err = h.Server.Memberships.Kinds(r.Context(), m); err != nil {
		return err
	}
	p.Frame = h.frame(w, r, m, cmp.Or(p.Record.Name, p.Record.Email))
	return web.WritePage(w, r, status, desk.Customer(p))
}

// NoteCustomer answers POST /desk/customers/{id}
func (h *Handlers) NoteCustomer(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, err := seats.ParseID(r.PathValue("id"))
	if err != nil {
		return errNoCustomer
	}
	n := customers.Note{Text: form.Get(customers.FieldNote), Tags: customers.ReadTags(strings.Join(form[customers.FieldTags], ","))}
	err = h.Server.Customers.SetNote(r.Context(), h.Organizers, m, deskKeyOf(r, form), id, n)
	if errors.Is(err, customers.ErrNone) {
		return errNoCustomer
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showCustomer(w, r, m, deskStatus(err), desk.CustomerPage{Form: form, Wrong: words})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.CustomerPath(id), "set")
}
