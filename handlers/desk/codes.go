package desk

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// codeRows is how many lines a page of the list of codes usually has.
const codeRows = 300

type codesAnswer struct {
	Currency string      `json:"currency"`
	Codes    []codeGroup `json:"codes"`
	Blocks   []blockBody `json:"blocks"` // that codes can unlock
	Next     string      `json:"next_cursor,omitempty"`
}

type codeGroup struct {
	Code       string            `json:"code"` // the first one of them
	Name       string            `json:"name"`
	Count      int               `json:"count"`
	Percent    string            `json:"percent,omitempty"`
	Amount     int64             `json:"amount,omitempty"`
	PerOrder   bool              `json:"per_order"`
	Types      []string          `json:"types"`
	Categories []string          `json:"categories"`
	Tickets    int               `json:"tickets"`
	Most       int               `json:"most"`
	PerPerson  int               `json:"per_person"`
	Presale    int               `json:"person_tickets"` // of one person before the sale
	From       *time.Time        `json:"from,omitempty"`
	Until      *time.Time        `json:"until,omitempty"`
	Unlocks    unlocksBody       `json:"unlocks"`
	Members    string            `json:"members,omitempty"` // the kind of membership that they were mailed for
	State      pricing.CodeState `json:"state"`
	Orders     int               `json:"orders"`
	Saved      int64             `json:"saved"`
}

// unlocksBody is what a code unlocks.
type unlocksBody struct {
	Types   []string   `json:"types"`
	Blocks  []seats.ID `json:"blocks"`
	Presale bool       `json:"presale"`
}

// Codes answers GET /desk/events/{slug}/codes
func (h *Handlers) Codes(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	var form url.Values
	if q := r.URL.Query(); q.Has("unlocks_blocks") || q.Has("presale") { // from the page of blocks, or of a series
		form = q
	}
	return h.showCodes(w, r, m, s, http.StatusOK, form, "")
}

func (h *Handlers) showCodes(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, form url.Values, wrong string) error {
	p := desk.CodesPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "Codes")), Plan: s.Plan, List: s.Prices, Form: form, Wrong: wrong}
	p.Path = desk.CodesPath(s.Event.Slug)
	const of = "codes"
	page, err := web.Page(r, of, codeRows)
	if err != nil {
		return err
	}
	groups, next, err := pricing.Groups(r.Context(), h.Organizers, m, s.Event.ID, page)
	if err != nil {
		return err
	}
	p.Groups, p.Next = groups, next.Cursor(of)
	if p.Blocks, err = h.Blocks.List(r.Context(), m, s.Event.ID); err != nil {
		return err
	}
	p.Blocks = slices.DeleteFunc(p.Blocks, func(b blocks.Block) bool { return b.Blocked == 0 || b.Kind == seats.BlockGroup })
	if p.Kinds, err = h.Server.Memberships.Kinds(r.Context(), m); err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		if p.Others, err = h.otherEvents(r.Context(), m, s.Event); err != nil {
			return err
		}
		dates, err := h.datesToCome(r.Context(), m, s.Event)
		if err != nil {
			return err
		}
		p.Dates = len(dates)
		if p.Subscriptions, err = h.Server.Subscriptions.List(r.Context(), m); err != nil {
			return err
		}
		return web.WritePage(w, r, status, desk.Codes(p))
	}
	answer := codesAnswer{s.Event.Currency, []codeGroup{}, []blockBody{}, p.Next}
	for _, b := range p.Blocks {
		answer.Blocks = append(answer.Blocks, describeBlock(b))
	}
	for _, g := range p.Groups {
		body := codeGroup{
			Code: g.Code.Code, Name: g.Name, Count: g.Count, Amount: g.Amount, PerOrder: g.PerOrder, Types: typeKeys(s, g.Types), Categories: categoryKeys(s, g.Categories),
			Tickets: g.Tickets, Most: g.Most, PerPerson: g.PerPerson, Presale: g.PersonTickets, From: g.BeginsAt, Until: g.EndsAt, State: g.State, Unlocks: unlocksBody{typeKeys(s, g.UnlocksTypes), append([]seats.ID{}, g.UnlocksBlocks...), g.Presale}, Members: g.Members, Orders: g.Uses, Saved: g.Saved,
		}
		if g.Percent > 0 {
			body.Percent = pricing.Percentage(g.Percent)
		}
		answer.Codes = append(answer.Codes, body)
	}
	return web.WriteJSON(w, status, answer)
}

// otherEvents lists the next other events of the team.
func (h *Handlers) otherEvents(ctx context.Context, m organizers.Member, e seats.Event) ([]overview.Event, error) {
	list, err := h.Overview.First(ctx, m, overview.Filter{Show: overview.Coming}, overview.MostOffered)
	return slices.DeleteFunc(list, func(o overview.Event) bool { return o.Slug == e.Slug || o.Status == seats.Cancelled }), err
}

// datesToCome lists the other performances to come of the series that an event belongs to; none if it belongs to none.
func (h *Handlers) datesToCome(ctx context.Context, m organizers.Member, e seats.Event) (slugs []string, err error) {
	in, err := h.Productions.Of(ctx, e.ID) // e.Series may lack a series that was made this second
	if errors.Is(err, series.ErrNoSeries) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, list, err := h.Productions.Performances(ctx, m, in.Slug)
	for _, p := range list {
		if p.Slug != e.Slug && p.Status != seats.Cancelled && p.Status != seats.Closed && p.StartsAt.After(h.Hub.Now()) {
			slugs = append(slugs, p.Slug)
		}
	}
	return slugs, err
}

// NewCodes answers POST /desk/events/{slug}/codes
func (h *Handlers) NewCodes(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	var of []eventCodes
	number := 0
	to, err := h.recipientsOf(r.Context(), m, form, s.Event)
	if err == nil {
		of, number, err = h.codesFor(r.Context(), m, s, form, len(to.Emails))
	}
	if err == nil {
		err = h.createCodes(r, m, form, of, number, to)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showCodes(w, r, m, s, deskStatus(err), form, words)
	}
	if err != nil {
		return err
	}
	if len(to.Emails) > 0 {
		h.Organizers.MailWritten()
		return deskDone(w, r, desk.CodesPath(s.Event.Slug), "codes-mailed")
	}
	return deskDone(w, r, desk.CodesPath(s.Event.Slug), "codes")
}

// recipientsOf reads to whom codes are mailed: to a list, to the members of a kind today, or to the subscribers of a season.
func (h *Handlers) recipientsOf(ctx context.Context, m organizers.Member, form url.Values, e seats.Event) (to pricing.Mailing, err error) {
	kind, err := membershipKind(url.Values{"kind": form["members"]})
	if err != nil {
		return to, err
	}
	listed, subscription := strings.TrimSpace(strings.Join(form["emails"], "")) != "", form.Get("subscribers")
	switch people := kind != 0 || subscription != ""; {
	case people && m.Test:
		return to, &seats.ValidationError{Message: text.Mark("A test sale mails no codes to members or subscribers. Nothing was changed. Name a list of email addresses.")}
	case people && listed, kind != 0 && subscription != "":
		return to, &seats.ValidationError{Message: text.Mark("Email codes to a list, to members or to subscribers, not to several of them at once. Nothing was changed.")}
	case kind != 0:
		to, err = h.codesOfMembers(ctx, m, kind, e)
	case subscription != "":
		to.Emails, err = h.codesOfSubscribers(ctx, m, subscription)
	default:
		var wrong string
		if to.Emails, wrong = seats.Addresses(strings.Join(form["emails"], "\n")); wrong != "" {
			err = &seats.ValidationError{Message: text.Mark("“%s” is not an email address."), Args: []any{wrong}}
		}
	}
	if err != nil {
		return to, err
	}
	return h.mailing(ctx, form, e, to)
}

// codesOfMembers are the members of a kind today.
func (h *Handlers) codesOfMembers(ctx context.Context, m organizers.Member, kind int64, e seats.Event) (to pricing.Mailing, err error) {
	list, err := h.Server.Memberships.Recipients(ctx, m, kind, e.ID)
	if err != nil {
		return to, err
	}
	for _, one := range list {
		to.Emails, to.Members = append(to.Emails, one.Email), append(to.Members, one.Membership)
	}
	if len(to.Emails) == 0 {
		return to, &seats.ValidationError{Message: text.Mark("This kind has no members today, so no code was created.")}
	}
	return to, nil
}

// codesOfSubscribers are the addresses with a valid ticket of a subscription now.
func (h *Handlers) codesOfSubscribers(ctx context.Context, m organizers.Member, slug string) ([]string, error) {
	emails, err := h.Server.Subscriptions.Recipients(ctx, m, slug)
	switch {
	case errors.Is(err, subscriptions.ErrNoSubscription):
		return nil, &seats.ValidationError{Unknown: true, Message: text.Mark("Your team has no such subscription. Nothing was changed.")}
	case err != nil:
		return nil, err
	case len(emails) == 0:
		return nil, &seats.ValidationError{Message: text.Mark("This subscription has no subscribers, so no code was created.")}
	}
	return emails, nil
}

// mailing checks that an event can be mailed about, and finds where the mail leads to: to the series, if the codes are for its other performances, too.
func (h *Handlers) mailing(ctx context.Context, form url.Values, e seats.Event, to pricing.Mailing) (pricing.Mailing, error) {
	var wrong text.Message
	switch {
	case len(to.Emails) == 0:
		return to, nil
	case len(to.Emails) > pricing.MostCodes:
		wrong = text.Say("You can create at most %d codes at once.", pricing.MostCodes)
	case len(form["events"]) > 0:
		wrong = text.Say("Codes are emailed for one event or for one series. Nothing was changed.")
	case e.Status == seats.Draft:
		wrong = text.Say("The email leads to the page of the event, and a draft has none. Put the event on sale, or announce when the sale begins, then email the codes.")
	case e.Status == seats.Cancelled || e.Status == seats.Closed:
		wrong = text.Say("Nothing is on sale in this event any more, so no code was emailed.")
	case form.Get("series") != "":
		in, err := h.Productions.Of(ctx, e.ID)
		if err != nil && !errors.Is(err, series.ErrNoSeries) {
			return to, err
		}
		to.Series = in.Slug
		return to, nil
	default:
		return to, nil
	}
	return to, &seats.ValidationError{Message: wrong.ID, Args: wrong.Args}
}

// eventCodes are the terms of new codes in an event.
type eventCodes struct {
	event seats.Event
	code  pricing.Code
}

// mostEvents is in how many events codes are made at once.
const mostEvents = 50

// codesFor reads the terms of new codes in this event, in the other dates of its series if the form says so, and in the others that
// it names.
func (h *Handlers) codesFor(ctx context.Context, m organizers.Member, s *seats.Sale, form url.Values, mailed int) (of []eventCodes, number int, err error) {
	c, number, err := codesOf(form, s, mailed)
	if err != nil {
		return nil, 0, err
	}
	if len(form["events"]) > mostEvents {
		return nil, 0, &seats.ValidationError{Message: text.Mark("Choose at most %d events. Nothing was changed."), Args: []any{mostEvents}}
	}
	slugs := form["events"]
	if form.Get("series") != "" {
		dates, err := h.datesToCome(ctx, m, s.Event)
		if err != nil {
			return nil, 0, err
		}
		slugs = append(dates, slugs...)
	}
	of = []eventCodes{{s.Event, c}}
	for _, slug := range slugs {
		if slices.ContainsFunc(of, func(e eventCodes) bool { return e.event.Slug == slug }) {
			continue
		}
		other, err := h.Inventory.Sale(ctx, slug)
		if errors.Is(err, seats.ErrNoEvent) || err == nil && !m.Owns(other.Event) {
			return nil, 0, &seats.ValidationError{Unknown: true, Message: text.Mark("Your team has no event “%s”. Nothing was changed."), Args: []any{slug}}
		}
		if err != nil {
			return nil, 0, err
		}
		one, err := codeIn(form, c, s.Event, other, mailed)
		if err != nil {
			return nil, 0, err
		}
		of = append(of, eventCodes{other.Event, one})
	}
	return of, number, nil
}

// codeIn reads the terms of a code in another event, by the same keys of ticket types and categories.
func codeIn(form url.Values, c pricing.Code, first seats.Event, other *seats.Sale, mailed int) (pricing.Code, error) {
	one, _, err := codesOf(form, other, mailed)
	var wrong *seats.ValidationError
	switch e := other.Event; {
	case errors.As(err, &wrong):
		return one, &seats.ValidationError{Message: text.Mark("%s: %s"), Args: []any{e.Name, wrong}}
	case err != nil:
		return one, err
	case c.Amount > 0 && e.Currency != first.Currency:
		return one, &seats.ValidationError{Message: text.Mark("%s has its prices in %s. An amount off is for events in one currency. Nothing was changed."), Args: []any{e.Name, e.Currency}}
	case len(c.UnlocksBlocks) > 0:
		return one, &seats.ValidationError{Message: text.Mark("Reserved seats are those of one event. Nothing was changed. Create this code in one event.")}
	}
	return one, nil
}

// mostCodeRows is how many codes one form makes, counted in each event. A transaction of more would last minutes.
const mostCodeRows = 500_000

// createCodes makes the same codes in all of the events, or in none. Each counts its uses by itself.
func (h *Handlers) createCodes(r *http.Request, m organizers.Member, form url.Values, of []eventCodes, number int, to pricing.Mailing) error {
	codes := []string{of[0].code.Code}
	if codes[0] == "" {
		codes = newCodes(number)
	}
	if len(codes)*len(of) > mostCodeRows {
		return &seats.ValidationError{Message: text.Mark("You can create at most %d codes at once, counted in each event. Nothing was changed."), Args: []any{mostCodeRows}}
	}
	in := make([]events.CodesIn, len(of))
	for i, e := range of {
		in[i] = events.CodesIn{Slug: e.event.Slug, Terms: e.code}
	}
	what, first := text.Mark("created codes for"), of[0]
	if len(to.Emails) > 0 {
		what = text.Mark("emailed codes for")
	}
	detail := map[string]any{"name": first.code.Name, "codes": len(codes), "percent": first.code.Percent, "amount": first.code.Amount}
	action := organizers.Action{Key: deskKeyOf(r, form), Form: []any{"codes", first.event.Slug, form}, What: what, Subject: "events/" + first.event.Slug, Detail: detail}
	return h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
		return events.AddCodes(r.Context(), h.Inventory, in, codes, to, pricing.Noting(r.Context(), m, what, detail), also)
	})
}

// newCodes makes codes that cannot be guessed.
func newCodes(n int) []string {
	codes := make([]string, n)
	for i := range codes {
		codes[i] = pricing.NewCode()
	}
	return codes
}

// codesOf reads the terms of new codes, so many of which are mailed. The code is empty if they are random.
func codesOf(form url.Values, s *seats.Sale, mailed int) (c pricing.Code, number int, err error) {
	f := &fieldReader{form: form, sale: s}
	c = pricing.Code{
		Code: pricing.SpellCode(f.text("code")), Name: strings.Join(strings.Fields(f.text("name")), " "), Most: f.whole("most"), PerPerson: f.whole("per_person"), PersonTickets: f.whole("person_tickets"),
		BeginsAt: f.moment("from"), EndsAt: f.moment("until"),
	}
	c.UnlocksTypes, c.UnlocksBlocks, c.Presale = f.types("unlocks_types", s.Prices), f.ids("unlocks_blocks"), f.is("presale")
	if f.text("off") != "" || !c.Unlocks() {
		c.Percent, c.Amount = f.off("off")
	}
	c.Tickets, c.Types, c.Categories = f.whole("tickets"), f.types("types", s.Prices), f.categories("categories")
	c.PerOrder = f.is("per_order") && c.Amount > 0
	number = f.whole("number")
	if mailed > 0 && (number != 0 || f.text("code") != "") {
		f.fail(text.Say("Each person on your list gets a code of their own. Leave the code and the number empty."))
	}
	number = max(number, mailed)
	wrong := pricing.CheckCode(c)
	switch {
	case f.err != nil:
	case f.text("code") != "" && c.Code == "":
		f.fail(text.Say(badCode))
	case f.text("code") != "" && number > 1:
		f.fail(text.Say("A code of your own is one code. Leave it empty to get %d random codes.", number))
	case f.text("code") == "" && number == 0:
		f.fail(text.Say("Enter a code, or how many random codes you want."))
	case number < 0 || number > pricing.MostCodes:
		f.fail(text.Say("You can create at most %d codes at once.", pricing.MostCodes))
	case number > 1 && c.Name == "":
		f.fail(text.Say("Give these codes a name, so that you find them in the list."))
	case wrong.ID != "":
		f.fail(wrong)
	}
	return c, number, f.err
}

// StopCodes answers POST /desk/events/{slug}/codes/retirements
func (h *Handlers) StopCodes(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	err = pricing.StopCodes(r.Context(), h.Organizers, m, deskKeyOf(r, form), s.Event, pricing.SpellCode(form.Get("code")), form.Get("group") != "")
	if words, refused := deskRefused(r, err); refused {
		return h.showCodes(w, r, m, s, deskStatus(err), nil, words)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.CodesPath(s.Event.Slug), "stopped")
}

// exportCodes lists the codes that have a name, or all codes.
func exportCodes(m organizers.Member, name string) func(*Handlers, context.Context, *seats.Sale, sheet) error {
	return func(h *Handlers, ctx context.Context, s *seats.Sale, to sheet) error {
		if err := to.row("code", "name", "percent off", "amount off", "off", "for tickets", "in", "orders at most", "orders", "from", "until", "state", "what it does"); err != nil {
			return err
		}
		return pricing.EachCode(ctx, h.Organizers, m, s.Event.ID, name, func(c pricing.Code) error { return to.row(codeCells(s, c)...) })
	}
}

func codeCells(s *seats.Sale, c pricing.Code) []any {
	of, most, d := "each ticket", any(nil), pricing.Decimals(s.Event.Currency)
	if c.PerOrder {
		of = "the order"
	}
	if c.Most > 0 {
		most = c.Most
	}
	return []any{
		c.Code, c.Name, pricing.Percentage(c.Percent),
		amount{c.Amount, d},
		of, strings.Join(typeKeys(s, c.Types), " "), strings.Join(categoryKeys(s, c.Categories), " "),
		most, c.Used, momentCell(c.BeginsAt), momentCell(c.EndsAt), string(c.State), desk.CodeWords(context.Background(), s.Event, s.Prices, c),
	}
}

func momentCell(t *time.Time) any {
	if t == nil {
		return nil
	}
	return *t
}
