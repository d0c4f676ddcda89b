package desk

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/lists"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type membershipsAnswer struct {
	Kinds       []membershipKindBody `json:"kinds"`
	Memberships []membershipBody     `json:"memberships"`
	Next        string               `json:"next_cursor,omitempty"`
}

type membershipKindBody struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Text     string `json:"text"`
	Currency string `json:"currency"`
	Price    int64  `json:"price"`
	Months   int    `json:"months"`
	Valid    int    `json:"valid"`
}

type membershipBody struct {
	ID       seats.ID          `json:"id"`
	Kind     int64             `json:"kind"`
	Name     string            `json:"name"`
	Email    string            `json:"email"`
	Card     string            `json:"card"`
	From     string            `json:"from"`
	Until    string            `json:"until"`
	State    memberships.State `json:"state"`
	Currency string            `json:"currency"`
	Price    int64             `json:"price"`
	GivenAt  time.Time         `json:"given_at"`
	GivenBy  string            `json:"given_by"`
	EndedAt  *time.Time        `json:"ended_at,omitempty"`
	Customer string            `json:"customer,omitempty"`
}

func describeMemberships(list []memberships.Membership) []membershipBody {
	bodies := []membershipBody{}
	for _, o := range list {
		b := membershipBody{o.ID, o.Kind, o.Name, o.Email, o.Card, o.From.Format(time.DateOnly), o.Until.Format(time.DateOnly), o.State, o.Currency, o.Price, o.GivenAt.UTC(), o.GivenBy, o.EndedAt, ""}
		if o.Customer != (seats.ID{}) {
			b.Customer = o.Customer.String()
		}
		bodies = append(bodies, b)
	}
	return bodies
}

// Memberships answers GET /desk/memberships
func (h *Handlers) Memberships(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showMemberships(w, r, m, http.StatusOK, desk.MembershipsPage{})
}

// showMemberships writes the kinds and the members that are looked for, with what p knows besides.
func (h *Handlers) showMemberships(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.MembershipsPage) (err error) {
	const of = "memberships"
	page, err := web.Page(r, of, memberships.Rows)
	if err != nil {
		return err
	}
	if p.Filter, err = membershipFilter(r.URL.Query()); err != nil {
		return err
	}
	if p.Kinds, err = h.Server.Memberships.Kinds(r.Context(), m); err != nil {
		return err
	}
	list, next, err := h.Server.Memberships.List(r.Context(), m, p.Filter, page)
	if err != nil {
		return err
	}
	p.List, p.Next = list, next.Cursor(of)
	if !web.WantsJSON(r) {
		p.Frame = h.frame(w, r, m, text.T(r.Context(), "Memberships"))
		p.Path = desk.CustomersPath
		return web.WritePage(w, r, status, desk.Memberships(p))
	}
	answer := membershipsAnswer{[]membershipKindBody{}, describeMemberships(list), p.Next}
	for _, k := range p.Kinds {
		answer.Kinds = append(answer.Kinds, membershipKindBody(k))
	}
	return web.WriteJSON(w, status, answer)
}

// membershipFilter reads which memberships are looked for.
func membershipFilter(q url.Values) (f memberships.Filter, err error) {
	f.Show, f.Words = memberships.Show(q.Get("show")), q.Get("q")
	if !f.Show.Known() {
		return f, web.Invalid(text.Mark("show is soon, over or all."))
	}
	f.Kind, err = membershipKind(q)
	return f, err
}

// membershipKind is the kind that is named; 0 for none.
func membershipKind(form url.Values) (kind int64, err error) {
	if written := form.Get("kind"); written != "" {
		if kind, err = strconv.ParseInt(written, 10, 64); err != nil {
			return 0, memberships.ErrNone
		}
	}
	return kind, nil
}

// SetMembershipKind answers POST /desk/memberships/kinds: with a kind it changes it, without one it adds one.
func (h *Handlers) SetMembershipKind(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	k := memberships.Kind{Name: form.Get("name"), Text: form.Get("text"), Currency: strings.ToUpper(strings.TrimSpace(form.Get("currency")))}
	if k.ID, err = membershipKind(form); err != nil {
		return err
	}
	if price := strings.TrimSpace(form.Get("price")); price != "" {
		k.Price, err = pricing.ReadAmount(price, k.Currency)
	}
	if err == nil {
		k.Months, _ = strconv.Atoi(strings.TrimSpace(form.Get("months"))) // 0 is refused
		err = h.Server.Memberships.SetKind(r.Context(), m, deskKeyOf(r, form), k)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showMemberships(w, r, m, deskStatus(err), desk.MembershipsPage{Form: form, Wrong: words, Refused: desk.FormKind})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.MembershipsPath, "set")
}

// GiveMembership answers POST /desk/memberships: to a customer, or to whom the form names.
func (h *Handlers) GiveMembership(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	path, g := desk.MembershipsPath, memberships.Given{Name: strings.TrimSpace(form.Get("name")), Email: form.Get("email"), Card: strings.TrimSpace(form.Get("card"))}
	customer, err := h.customerOf(r.Context(), m, form)
	if err != nil {
		return err
	}
	if customer.Email != "" {
		path, g.Name, g.Email = desk.CustomerPath(customer.ID), customer.Name, customer.Email
	}
	kind, err := membershipKind(form)
	if err != nil {
		return err
	}
	if err = daysOf(form, &g); err == nil {
		err = h.Server.Memberships.Give(r.Context(), m, deskKeyOf(r, form), kind, g)
	}
	if words, refused := deskRefused(r, err); refused {
		if customer.Email != "" {
			return h.showRecord(w, r, m, deskStatus(err), customer.ID, desk.CustomerPage{MemberForm: form, MemberWrong: words})
		}
		return h.showMemberships(w, r, m, deskStatus(err), desk.MembershipsPage{Form: form, Wrong: words})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, path, "member")
}

// customerOf is the customer that a form names; one without an email if it names none.
func (h *Handlers) customerOf(ctx context.Context, m organizers.Member, form url.Values) (c customers.Customer, err error) {
	written := form.Get("customer")
	if written == "" {
		return c, nil
	}
	id, err := seats.ParseID(written)
	if err != nil {
		return c, errNoCustomer
	}
	found, err := h.Server.Customers.Record(ctx, m, id)
	if errors.Is(err, customers.ErrNone) {
		err = errNoCustomer
	}
	return found.Customer, err
}

// daysOf reads the first and the last day of a membership.
func daysOf(form url.Values, g *memberships.Given) error {
	for name, to := range map[string]*time.Time{"from": &g.From, "until": &g.Until} {
		var ok bool
		if *to, ok = lists.Day(strings.TrimSpace(form.Get(name))); !ok {
			return seats.Unchanged(text.Say("“%s” is not a day such as 2030-01-31 or 31.1.2030.", form.Get(name)))
		}
	}
	return nil
}

// ImportMemberships answers POST /desk/memberships/imports
func (h *Handlers) ImportMemberships(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	kind, err := membershipKind(form)
	if err != nil {
		return err
	}
	added := 0
	list, err := memberships.Read(strings.Join(form["members"], "\n"))
	if err == nil {
		added, err = h.Server.Memberships.Import(r.Context(), m, deskKeyOf(r, form), kind, list)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showMemberships(w, r, m, deskStatus(err), desk.MembershipsPage{Form: form, Wrong: words, Refused: desk.FormImport})
	}
	if err != nil {
		return err
	}
	return deskWith(w, r, desk.MembershipsPath, "members", http.StatusOK, map[string]int{"added": added})
}

// EndMembership answers POST /desk/memberships/{membership}/end
func (h *Handlers) EndMembership(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, err := seats.ParseID(r.PathValue("membership"))
	if err != nil {
		return memberships.ErrNone
	}
	path := desk.MembershipsPath
	customer, err := h.customerOf(r.Context(), m, form)
	if err != nil {
		return err
	}
	if customer.Email != "" {
		path = desk.CustomerPath(customer.ID)
	}
	err = h.Server.Memberships.End(r.Context(), m, deskKeyOf(r, form), id)
	if words, refused := deskRefused(r, err); refused {
		return h.showMemberships(w, r, m, deskStatus(err), desk.MembershipsPage{Wrong: words})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, path, "member-ended")
}

// MembershipsFile answers GET /desk/memberships/members.csv: the members that the page lists with the same filter.
func (h *Handlers) MembershipsFile(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := membershipFilter(r.URL.Query())
	if err != nil {
		return err
	}
	if err := h.Organizers.Record(r.Context(), m, text.Mark("exported members"), "memberships", map[string]string{"as": "csv"}); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="members.csv"`)
	return h.writeSheet(w, r, "csv", time.UTC, func(to sheet) error {
		if err := to.row("email", "name", "from", "until", "card", "membership", "state", "currency", "price", "given at", "given by", "ended at"); err != nil {
			return err
		}
		return h.Server.Memberships.Each(r.Context(), m, f, func(o memberships.Membership) error {
			return to.row(o.Email, o.Name, o.From.Format(time.DateOnly), o.Until.Format(time.DateOnly), o.Card, o.Title, string(o.State), o.Currency, amount{o.Price, pricing.Decimals(o.Currency)}, o.GivenAt, o.GivenBy, momentCell(o.EndedAt))
		})
	})
}
