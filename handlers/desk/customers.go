package desk

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

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
	if web.WantsJSON(r) && wantsChanges(r, customerChanges) {
		return h.changedCustomers(w, r, m)
	}
	if p.Tag = r.URL.Query().Get("tag"); p.Tag != "" {
		p.List, err = h.Server.Customers.Tagged(r.Context(), m, p.Tag)
	} else if p.Words != "" {
		p.List, p.More, err = h.Server.Customers.Find(r.Context(), m, p.Words, customers.Rows)
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

// customerChanges is the list of the customers that changed, for cursors.
const customerChanges = "customer changes"

// changedCustomers answers with a page of the customers that changed since a time or a cursor. There is always a next one, to ask for later.
func (h *Handlers) changedCustomers(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	page, err := changesPage(r, customerChanges, customers.Rows)
	if err != nil {
		return err
	}
	if r.URL.Query().Get("q")+r.URL.Query().Get("tag") != "" {
		return web.Invalid(text.Mark("q, tag and updated_since do not go together."))
	}
	list, place, more, err := h.Server.Customers.Changed(r.Context(), h.Organizers, m, page)
	if errors.Is(err, paging.ErrAhead) {
		return web.ErrCursor
	}
	if err != nil {
		return err
	}
	answer := customersAnswer{Customers: []customerBody{}, More: more, Cursor: place.Cursor(customerChanges)}
	for _, c := range list {
		answer.Customers = append(answer.Customers, describeCustomer(c))
	}
	return web.WriteJSON(w, http.StatusOK, answer)
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

type importedAnswer struct {
	Added    int  `json:"added"`
	Changed  int  `json:"changed"`
	Same     int  `json:"unchanged"`
	Withheld int  `json:"consents_withheld"`
	Repeated bool `json:"repeated"`
}

// ImportCustomers answers POST /desk/customers/imports: a list as a file or as a text.
func (h *Handlers) ImportCustomers(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, typed, err := customerList(r)
	var list []customers.Listed
	if err == nil {
		list, err = customers.Read(typed)
	}
	var done customers.Imported
	if err == nil {
		done, err = h.Server.Customers.Import(r.Context(), h.Organizers, m, deskKeyOf(r, form), list)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showCustomers(w, r, m, deskStatus(err), desk.CustomersPage{Form: form, Wrong: words})
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, importedAnswer(done))
	}
	return h.showCustomers(w, r, m, http.StatusOK, desk.CustomersPage{Imported: &done})
}

// customerList reads a list from a form: from its file, if it has one, or from the field customers.
func customerList(r *http.Request) (form url.Values, list string, err error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		form, err = deskForm(r)
		return form, strings.Join(form["customers"], "\n"), err
	}
	defer web.RemoveFiles(r)
	if err := r.ParseMultipartForm(web.BodyLimit); err != nil {
		return nil, "", web.TooLargeOr(err, text.Mark("The form cannot be read: its file is broken or too large."))
	}
	if form, err = deskForm(r); err != nil {
		return nil, "", err
	}
	f, err := fileOf(r.MultipartForm, "file")
	if err != nil || f.content == nil {
		return form, form.Get("customers"), err
	}
	if wrong := misnamed(f.name, f.content, desk.CustomerFiles); wrong != nil {
		return form, "", wrong
	}
	content := f.content
	if !utf8.Valid(content) {
		content, _ = charmap.Windows1252.NewDecoder().Bytes(content) // every byte is a character there
	}
	return form, string(content), nil
}

type duplicatesBody struct {
	Why       customers.Why  `json:"why"`
	Customers []customerBody `json:"customers"`
}

type duplicatesAnswer struct {
	Duplicates []duplicatesBody `json:"duplicates"`
	More       bool             `json:"more"`
}

// DuplicateCustomers answers GET /desk/customers/duplicates
func (h *Handlers) DuplicateCustomers(w http.ResponseWriter, r *http.Request, m organizers.Member) (err error) {
	var p desk.DuplicatesPage
	if p.List, p.More, err = h.Server.Customers.Duplicates(r.Context(), m); err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		p.Frame = h.frame(w, r, m, text.T(r.Context(), "Possible duplicates"))
		p.Path = desk.CustomersPath
		return web.WritePage(w, r, http.StatusOK, desk.Duplicates(p))
	}
	answer := duplicatesAnswer{[]duplicatesBody{}, p.More}
	for _, g := range p.List {
		body := duplicatesBody{Why: g.Why}
		for _, c := range g.List {
			body.Customers = append(body.Customers, describeCustomer(c))
		}
		answer.Duplicates = append(answer.Duplicates, body)
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// MergeCustomers answers POST /desk/customers/{id}/merges: with other records, by their ids or by the email of one.
func (h *Handlers) MergeCustomers(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, err := seats.ParseID(r.PathValue("id"))
	if err != nil {
		return errNoCustomer
	}
	var with []seats.ID
	for _, written := range form["with"] {
		other, err := seats.ParseID(written)
		if err != nil {
			return errNoCustomer
		}
		with = append(with, other)
	}
	if email := form.Get("email"); email != "" {
		other, missing := h.Server.Customers.ByEmail(r.Context(), m, email)
		if with = append(with, other); errors.Is(missing, customers.ErrNone) {
			missing = &seats.ValidationError{Message: text.Mark("No customer of your team has the email “%s”. Nothing was changed."), Args: []any{email}}
		}
		err = missing
	}
	if err == nil {
		err = h.Server.Customers.Merge(r.Context(), h.Organizers, m, deskKeyOf(r, form), id, with)
	}
	return h.mergeDone(w, r, m, id, form, err, "merged")
}

// SeparateCustomer answers POST /desk/customers/{id}/separations: of one address.
func (h *Handlers) SeparateCustomer(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, err := seats.ParseID(r.PathValue("id"))
	if err != nil {
		return errNoCustomer
	}
	err = h.Server.Customers.Separate(r.Context(), h.Organizers, m, deskKeyOf(r, form), id, strings.ToLower(strings.TrimSpace(form.Get("email"))))
	return h.mergeDone(w, r, m, id, form, err, "separated")
}

// mergeDone answers a change of what addresses a record has.
func (h *Handlers) mergeDone(w http.ResponseWriter, r *http.Request, m organizers.Member, id seats.ID, form url.Values, err error, done string) error {
	if errors.Is(err, customers.ErrNone) {
		return errNoCustomer
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showRecord(w, r, m, deskStatus(err), id, desk.CustomerPage{MergeForm: form, MergeWrong: words})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.CustomerPath(id), done)
}
