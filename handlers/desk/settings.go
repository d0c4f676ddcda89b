package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// Settings answers GET /desk/events/{slug}/settings
func (h *Handlers) Settings(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, settingsAnswer(s))
	}
	return h.showSettings(w, r, m, s, http.StatusOK, desk.SettingsPage{Form: formOf(s)})
}

func (h *Handlers) showSettings(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.SettingsPage) error {
	p.Frame, p.Plan, p.Key = h.eventFrame(w, r, m, s, text.T(r.Context(), "Settings")), s.Plan, seats.NewID().String()
	p.Opens = s.Event.Local(s.Event.OpensAt).Format(desk.MomentForm)
	if s.Event.OpensAt.IsZero() {
		p.Opens = ""
	}
	list, err := h.Orders.BulkJobs(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	guard := h.Limits.Of(s)
	p.Guard, p.Usual = guard.State(time.Time{}).Settings, guard.Figures()
	p.BulkJobs, p.NoWay = list, h.unpayable(s)
	if p.Begun, err = events.Begun(r.Context(), h.Inventory, s.Event); err != nil {
		return err
	}
	if p.Drafts, err = events.MayDraft(r.Context(), h.Inventory, s.Event); err != nil {
		return err
	}
	return web.WritePage(w, r, status, desk.Settings(p))
}

// unpayable reports whether the event has prices and no way to pay them but credit, which few people have.
func (h *Handlers) unpayable(s *seats.Sale) bool {
	most := int64(0)
	for _, c := range s.Plan.Categories {
		most = max(most, c.Price)
	}
	return most > 0 && !slices.ContainsFunc(h.Orders.Methods(s.Event, most), func(method string) bool { return method != payments.Credit })
}

// formOf is an event as its form says it.
func formOf(s *seats.Sale) desk.SettingsForm {
	e := s.Event
	f := desk.SettingsForm{
		Name: e.Name, Venue: e.Venue, Promoter: e.Promoter, Starts: e.Local(e.StartsAt).Format(desk.MomentForm), Zone: e.TimeZone, Language: e.Language, Currency: e.Currency,
		Hold: minutesOf(e.HoldLength), PayWithin: minutesOf(e.PaymentLength), Limit: strconv.Itoa(e.SeatsPerHolder), Extensions: strconv.Itoa(e.Extensions),
		Strict: e.Strict, NoOrphans: e.NoOrphanSeats, Birth: e.AsksBirth, Door: e.PayAtDoor, Invoices: e.Invoices, Demo: e.Demo,
		FeeTicket: pricing.Amount(e.Fees.Ticket, e.Currency), FeePercent: pricing.Percentage(e.Fees.Percent), FeeKept: e.Fees.Kept, FeeAbsorbed: e.Fees.Absorbed,
		CancelUntil: events.CancelUntilText(e.Policy), CancelFee: pricing.Amount(e.Policy.CancelFee, e.Currency), CancelPercent: pricing.Percentage(e.Policy.CancelPercent),
		ExchangeUntil: events.ExchangeUntilText(e.Policy), ExchangeFee: pricing.Amount(e.Policy.ExchangeFee, e.Currency), TransferUntil: events.TransferUntilText(e.Policy),
		ResaleUntil: events.ResaleUntilText(e.Policy), ResaleFee: pricing.Amount(e.Policy.ResaleFee, e.Currency), TypesUntil: events.TypesUntilText(e.Policy),
		PayLater: events.Span(e.Policy.PayLater), PayBefore: events.Span(e.Policy.PayBefore), Confirm: events.ConfirmText(e.Policy),
		Online: e.Online.On, JoinLink: e.Online.Link, Confirmation: e.Confirmation, TicketNames: string(e.TicketNames), Gates: gatesText(e.Gates), Reentry: e.Reentry, RotatingCodes: e.RotatingCodes,
	}
	if e.Online.Early > 0 {
		f.JoinEarly = minutesOf(e.Online.Early)
	}
	for _, c := range s.Plan.Categories {
		f.Prices = append(f.Prices, pricing.Amount(c.Price, e.Currency))
	}
	lines := make([]string, len(e.Questions))
	for i, q := range e.Questions {
		lines[i] = events.QuestionText(q)
	}
	f.Questions = strings.Join(lines, "\n")
	return f
}

// gatesText is what events.ReadGates reads.
func gatesText(list []seats.Gate) string {
	lines := make([]string, len(list))
	for i, g := range list {
		lines[i] = events.GateText(g)
	}
	return strings.Join(lines, "\n")
}

// gatesIn reads gates; those of a plan, if there is one, are for its sections.
func gatesIn(ctx context.Context, typed string, p *seats.Plan, wrong desk.Wrong) []seats.Gate {
	list, err := events.ReadGates(typed)
	if err == nil && p != nil {
		err = events.CheckGates(list, p)
	}
	var invalid *seats.ValidationError
	if errors.As(err, &invalid) {
		wrong["gates"] = invalid.In(ctx)
	}
	return list
}

func minutesOf(d time.Duration) string {
	return strconv.FormatFloat(d.Minutes(), 'f', -1, 64)
}

// typed is a form of settings as it came.
func typed(form url.Values) desk.SettingsForm {
	is := func(name string) bool { return form.Get(name) != "" }
	return desk.SettingsForm{
		Name: form.Get("name"), Venue: form.Get("venue"), Promoter: form.Get("promoter"), Starts: form.Get("starts"), Zone: form.Get("zone"), Language: form.Get("language"), Currency: form.Get("currency"),
		Hold: form.Get("hold"), PayWithin: form.Get("pay_within"), Limit: form.Get("limit"), Extensions: form.Get("extensions"),
		Strict: is("strict"), NoOrphans: is("no_lone"), Birth: is("birth"), Door: is("door"), Invoices: is("invoices"), Demo: is("demo"),
		FeeTicket: form.Get("fee_ticket"), FeePercent: form.Get("fee_percent"), FeeKept: is("fee_kept"), FeeAbsorbed: is("fee_absorbed"),
		CancelUntil: form.Get("cancel_until"), CancelFee: form.Get("cancel_fee"), CancelPercent: form.Get("cancel_percent"),
		ExchangeUntil: form.Get("exchange_until"), ExchangeFee: form.Get("exchange_fee"), TransferUntil: form.Get("transfer_until"),
		ResaleUntil: form.Get("resale_until"), ResaleFee: form.Get("resale_fee"), TypesUntil: form.Get("types_until"), PayLater: form.Get("pay_later"), PayBefore: form.Get("pay_before"), Confirm: form.Get("confirm_email"),
		Online: is("online"), JoinLink: form.Get("join_link"), JoinEarly: form.Get("join_early"), Confirmation: strings.ReplaceAll(form.Get("confirmation"), "\r\n", "\n"),
		Prices: form["price"], TicketNames: form.Get("ticket_names"), Gates: strings.ReplaceAll(form.Get("gates"), "\r\n", "\n"), Reentry: is("reentry"), RotatingCodes: is("rotating_codes"), Questions: strings.ReplaceAll(form.Get("questions"), "\r\n", "\n"),
	}
}

// understood is what a form says of an event; wrong is what is wrong with it, by field.
func understood(ctx context.Context, f desk.SettingsForm, plan *seats.Plan) (n events.Settings, prices []int64, wrong desk.Wrong) {
	wrong = desk.Wrong{}
	n = events.Settings{
		Name: strings.Join(strings.Fields(f.Name), " "), Venue: strings.Join(strings.Fields(f.Venue), " "), Promoter: strings.Join(strings.Fields(f.Promoter), " "), TimeZone: strings.TrimSpace(f.Zone),
		Language: strings.TrimSpace(f.Language), Currency: strings.ToUpper(strings.TrimSpace(f.Currency)), Strict: f.Strict, NoOrphanSeats: f.NoOrphans, AsksBirth: f.Birth, PaidAhead: !f.Door, Invoices: f.Invoices, Demo: f.Demo,
		TicketNames: cmp.Or(seats.TicketNames(f.TicketNames), seats.NamesNone),
	}
	n.Gates, n.Reentry, n.RotatingCodes = gatesIn(ctx, f.Gates, plan, wrong), f.Reentry, f.RotatingCodes
	if n.TicketNames != seats.NamesNone && !n.TicketNames.Asked() {
		wrong["ticket_names"] = text.T(ctx, "Choose none, optional or required.")
	}
	if n.Name == "" {
		wrong["name"] = text.T(ctx, "Enter the name of the event.")
	}
	zone, err := time.LoadLocation(n.TimeZone)
	if err != nil || n.TimeZone == "" {
		wrong["zone"], zone = text.T(ctx, "There is no such time zone. Use a name such as Europe/Vienna."), time.UTC
	}
	if n.StartsAt, err = momentOf(f.Starts, zone); err != nil {
		wrong["starts"] = text.T(ctx, "Enter when it begins, such as 2030-03-01 20:00.")
	}
	if !events.IsLanguage(cmp.Or(n.Language, seats.Language)) {
		wrong["language"] = text.T(ctx, "A language is a tag such as en, de or pt-BR.")
	}
	if err := pricing.CheckCurrency(n.Currency); err != nil {
		wrong["currency"] = text.T(ctx, "The currency is three letters, such as EUR.")
	}
	n.HoldLength = minutesIn(ctx, f.Hold, "hold", time.Second, 7*24*time.Hour, wrong)
	n.PaymentLength = minutesIn(ctx, f.PayWithin, "pay_within", time.Second, 24*time.Hour, wrong)
	n.SeatsPerHolder = numberIn(ctx, f.Limit, "limit", 1, seats.MaxSeats, wrong)
	n.Extensions = numberIn(ctx, f.Extensions, "extensions", 1, 1000, wrong)
	n.Questions = questionsIn(ctx, f.Questions, wrong)
	n.Fees = seats.Fees{Ticket: feeIn(ctx, f.FeeTicket, "fee_ticket", n.Currency, wrong), Kept: f.FeeKept, Absorbed: f.FeeAbsorbed}
	if n.Fees.Percent, err = pricing.ReadPercent(cmp.Or(strings.TrimSpace(f.FeePercent), "0")); err != nil {
		wrong["fee_percent"] = text.T(ctx, "A percentage is between 0 and 100, such as 2.5.")
	}
	n.Policy = policyIn(ctx, f, n.Currency, wrong)
	n.Online, n.Confirmation = onlineIn(ctx, f, wrong), strings.TrimSpace(f.Confirmation)
	var categories []seats.Category
	if plan != nil {
		categories = plan.Categories
	}
	return n, pricesIn(ctx, f.Prices, n.Currency, categories, wrong), wrong
}

func momentOf(typed string, zone *time.Location) (t time.Time, err error) {
	for _, layout := range []string{desk.MomentForm, "2006-01-02 15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if t, err = time.ParseInLocation(layout, strings.TrimSpace(typed), zone); err == nil && t.Year() > 1900 && t.Year() < 3000 {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", typed)
}

func minutesIn(ctx context.Context, typed, field string, least, most time.Duration, wrong desk.Wrong) time.Duration {
	m, err := strconv.ParseFloat(strings.TrimSpace(typed), 64)
	d := time.Duration(m * float64(time.Minute)).Round(time.Second)
	if err != nil || m > most.Minutes() || d < least {
		wrong[field] = text.T(ctx, "Enter a number of minutes, up to %d.", int(most.Minutes()))
	}
	return d
}

func numberIn(ctx context.Context, typed, field string, least, most int, wrong desk.Wrong) int {
	n, err := strconv.Atoi(strings.TrimSpace(typed))
	if err != nil || n < least || n > most {
		wrong[field] = text.T(ctx, "Enter a whole number, %d or more.", least)
	}
	return n
}

func questionsIn(ctx context.Context, typed string, wrong desk.Wrong) (list []seats.Question) {
	for line := range strings.Lines(typed) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		q, err := events.ReadQuestion(strings.TrimSpace(line))
		var nonsense *seats.ValidationError
		if errors.As(err, &nonsense) {
			wrong["questions"] = nonsense.In(ctx)
			return nil
		}
		list = append(list, q)
	}
	return list
}

// policyIn reads what the organizer decides about cancelling and paying later; an empty field is the default.
func policyIn(ctx context.Context, f desk.SettingsForm, currency string, wrong desk.Wrong) *seats.Policy {
	p, def := seats.Policy{}, seats.DefaultPolicy
	if err := events.ReadCancelUntil(&p, cmp.Or(strings.TrimSpace(f.CancelUntil), events.CancelUntilText(def))); err != nil {
		wrong["cancel_until"] = text.T(ctx, "Enter a time such as 7 days or 12 hours, 0 for the start, or never.")
	}
	p.CancelFee = feeIn(ctx, f.CancelFee, "cancel_fee", currency, wrong)
	var err error
	if p.CancelPercent, err = pricing.ReadPercent(cmp.Or(strings.TrimSpace(f.CancelPercent), "0")); err != nil {
		wrong["cancel_percent"] = text.T(ctx, "A percentage is between 0 and 100, such as 2.5.")
	}
	if err := events.ReadExchangeUntil(&p, cmp.Or(strings.TrimSpace(f.ExchangeUntil), events.ExchangeUntilText(def))); err != nil {
		wrong["exchange_until"] = text.T(ctx, "Enter a time such as 7 days or 12 hours, 0 for the start, or never.")
	}
	if err := events.ReadTransferUntil(&p, cmp.Or(strings.TrimSpace(f.TransferUntil), events.TransferUntilText(def))); err != nil {
		wrong["transfer_until"] = text.T(ctx, "Enter a time such as 7 days or 12 hours, 0 for the start, or never.")
	}
	if err := events.ReadResaleUntil(&p, cmp.Or(strings.TrimSpace(f.ResaleUntil), events.ResaleUntilText(def))); err != nil {
		wrong["resale_until"] = text.T(ctx, "Enter a time such as 7 days or 12 hours, 0 for the start, or never.")
	}
	p.ExchangeFee = feeIn(ctx, f.ExchangeFee, "exchange_fee", currency, wrong)
	if err := events.ReadTypesUntil(&p, cmp.Or(strings.TrimSpace(f.TypesUntil), events.TypesUntilText(def))); err != nil {
		wrong["types_until"] = text.T(ctx, "Enter a time such as 7 days or 12 hours, 0 for the start, or never.")
	}
	p.ResaleFee = feeIn(ctx, f.ResaleFee, "resale_fee", currency, wrong)
	if p.PayLater, err = events.ReadSpan(cmp.Or(strings.TrimSpace(f.PayLater), events.Span(def.PayLater))); err != nil || p.PayLater == 0 {
		wrong["pay_later"] = text.T(ctx, "Enter a time such as 3 days or 12 hours.")
	}
	if p.PayBefore, err = events.ReadSpan(cmp.Or(strings.TrimSpace(f.PayBefore), events.Span(def.PayBefore))); err != nil {
		wrong["pay_before"] = text.T(ctx, "Enter a time such as 1 hour or 2 days.")
	}
	if err := events.ReadConfirm(&p, f.Confirm); err != nil {
		wrong["confirm_email"] = text.T(ctx, "Choose automatic, always or never.")
	}
	return &p
}

// onlineIn reads how people join; an empty number of minutes is as soon as they have tickets.
func onlineIn(ctx context.Context, f desk.SettingsForm, wrong desk.Wrong) seats.Online {
	o := seats.Online{On: f.Online, Link: strings.TrimSpace(f.JoinLink)}
	if problem := events.CheckJoinLink(o.Link); problem != "" {
		wrong["join_link"] = text.T(ctx, problem)
	}
	if strings.TrimSpace(f.JoinEarly) != "" {
		o.Early = minutesIn(ctx, f.JoinEarly, "join_early", time.Minute, 30*24*time.Hour, wrong)
	}
	return o
}

// feeIn reads a fee; an empty field is none.
func feeIn(ctx context.Context, typed, field, currency string, wrong desk.Wrong) int64 {
	amount, err := pricing.ReadAmount(cmp.Or(strings.TrimSpace(typed), "0"), currency)
	if err != nil {
		wrong[field] = text.T(ctx, "A fee is an amount such as 1.50, with the decimals of the currency.")
	}
	return amount
}

func pricesIn(ctx context.Context, texts []string, currency string, categories []seats.Category, wrong desk.Wrong) []int64 {
	prices := make([]int64, len(categories))
	for i := range categories {
		if i >= len(texts) {
			prices[i] = categories[i].Price
			continue
		}
		amount, err := pricing.ReadAmount(strings.TrimSpace(texts[i]), currency)
		if prices[i] = amount; err != nil || amount < 0 {
			wrong["price"] = text.T(ctx, "The price of %s is not an amount such as 25.00.", categories[i].Name)
		}
	}
	return prices
}

// SaveSettings answers POST /desk/events/{slug}/settings
func (h *Handlers) SaveSettings(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	page := desk.SettingsPage{Form: typed(form)}
	if web.WantsJSON(r) {
		page.Form = typedOver(formOf(s), form)
	}
	n, prices, wrong := understood(r.Context(), page.Form, s.Plan)
	if len(wrong) > 0 {
		if page.Wrong = wrong; web.WantsJSON(r) {
			return wrongFields(wrong)
		}
		return h.showSettings(w, r, m, s, http.StatusUnprocessableEntity, page)
	}
	act := organizers.Action{Key: deskKeyOf(r, form), Form: []any{"settings", s.Event.Slug, page.Form}, What: text.Mark("changed the settings"), Subject: "events/" + s.Event.Slug, Detail: page.Form}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		_, err := events.Edit(r.Context(), h.Inventory, s.Event.Slug, n, prices, also)
		return err
	})
	if words, refused := deskRefused(r, err); refused {
		page.Message = words
		return h.showSettings(w, r, m, s, deskStatus(err), page)
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	before := s.Event
	if s, err = h.Inventory.Sale(r.Context(), s.Event.Slug); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, settingsAnswer(s))
	}
	about, err := h.Pages.Event(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	doors := int(about.Facts.Doors / time.Minute)
	tell, err := h.changedPath(r, before, s.Event, doors, doors)
	if err != nil {
		return err
	}
	if tell != "" {
		http.Redirect(w, r, tell, http.StatusSeeOther)
		return nil
	}
	return deskDone(w, r, desk.SettingsPath(s.Event.Slug), "set")
}

// typedOver lets a program change what it names and keeps the rest.
func typedOver(f desk.SettingsForm, form url.Values) desk.SettingsForm {
	all := url.Values{
		"name": {f.Name}, "venue": {f.Venue}, "promoter": {f.Promoter}, "starts": {f.Starts}, "zone": {f.Zone}, "language": {f.Language}, "currency": {f.Currency}, "hold": {f.Hold}, "pay_within": {f.PayWithin},
		"limit": {f.Limit}, "extensions": {f.Extensions}, "price": f.Prices, "fee_ticket": {f.FeeTicket}, "fee_percent": {f.FeePercent}, "questions": {f.Questions},
		"cancel_until": {f.CancelUntil}, "cancel_fee": {f.CancelFee}, "cancel_percent": {f.CancelPercent}, "exchange_until": {f.ExchangeUntil}, "exchange_fee": {f.ExchangeFee}, "transfer_until": {f.TransferUntil}, "resale_until": {f.ResaleUntil}, "resale_fee": {f.ResaleFee}, "types_until": {f.TypesUntil}, "pay_later": {f.PayLater}, "pay_before": {f.PayBefore}, "confirm_email": {f.Confirm},
		"join_link": {f.JoinLink}, "join_early": {f.JoinEarly}, "confirmation": {f.Confirmation}, "ticket_names": {f.TicketNames}, "gates": {f.Gates},
	}
	for name, is := range map[string]bool{"strict": f.Strict, "no_lone": f.NoOrphans, "birth": f.Birth, "door": f.Door, "invoices": f.Invoices, "demo": f.Demo, "fee_kept": f.FeeKept, "fee_absorbed": f.FeeAbsorbed, "online": f.Online, "reentry": f.Reentry, "rotating_codes": f.RotatingCodes} {
		if is {
			all.Set(name, "on")
		}
	}
	for name, values := range form {
		if all[name] = values; len(values) == 1 && values[0] == "off" {
			delete(all, name)
		}
	}
	return typed(all)
}

// wrongFields is what is wrong with a form, for a program.
func wrongFields(wrong desk.Wrong) error {
	var all organizers.Mistakes
	for _, field := range wrong.Fields() {
		all = append(all, organizers.Mistake{Field: field, Message: wrong[field]})
	}
	return all
}

type settingsBody struct {
	web.Listed
	Venue         string   `json:"venue"`
	Promoter      string   `json:"promoter"`
	TimeZone      string   `json:"time_zone"`
	Language      string   `json:"language"`
	Currency      string   `json:"currency"`
	Hold          float64  `json:"hold_minutes"`
	PayWithin     float64  `json:"pay_within_minutes"`
	Limit         int      `json:"limit"`
	Extensions    int      `json:"extensions"`
	Strict        bool     `json:"strict"`
	NoOrphans     bool     `json:"no_lone"`
	Birth         bool     `json:"birth"`
	Door          bool     `json:"door"`
	Invoices      bool     `json:"invoices"`
	Demo          bool     `json:"demo"`
	FeeTicket     int64    `json:"fee_ticket"`  // minor units
	FeePercent    string   `json:"fee_percent"` // of the price
	FeeAbsorbed   bool     `json:"fee_absorbed"`
	FeeKept       bool     `json:"fee_kept"`
	CancelUntil   string   `json:"cancel_until"`   // "7 days", "0" for the start, "never"
	CancelFee     int64    `json:"cancel_fee"`     // minor units
	CancelPercent string   `json:"cancel_percent"` // of the price
	ExchangeUntil string   `json:"exchange_until"` // as cancel_until
	ExchangeFee   int64    `json:"exchange_fee"`   // minor units
	TransferUntil string   `json:"transfer_until"` // as cancel_until
	ResaleUntil   string   `json:"resale_until"`   // as cancel_until
	ResaleFee     int64    `json:"resale_fee"`     // minor units
	TypesUntil    string   `json:"types_until"`    // as cancel_until
	PayLater      string   `json:"pay_later"`      // "3 days"
	PayBefore     string   `json:"pay_before"`     // "1 hour"
	ConfirmEmail  string   `json:"confirm_email"`  // automatic, always, never
	Online        bool     `json:"online"`
	JoinLink      string   `json:"join_link"`
	JoinEarly     float64  `json:"join_early_minutes"` // 0: as soon as a ticket is confirmed
	Words         string   `json:"confirmation"`
	TicketNames   string   `json:"ticket_names"` // none, optional, required
	Gates         []string `json:"gates"`        // "North: Stalls | Balcony"
	Reentry       bool     `json:"reentry"`
	RotatingCodes bool     `json:"rotating_codes"`
	Questions     []string `json:"questions"`
	Prices        []priced `json:"prices"`
}

type priced struct {
	Category string `json:"category"`
	Price    int64  `json:"price"`
}

// settingsAnswer is an event with all that may be said of it.
func settingsAnswer(s *seats.Sale) any {
	e := s.Event
	b := settingsBody{
		Listed: web.Describe(s, s.Snapshot(), time.Time{}).Listed, Venue: e.Venue, Promoter: e.Promoter, TimeZone: e.TimeZone, Language: e.Language, Currency: e.Currency, Hold: e.HoldLength.Minutes(), PayWithin: e.PaymentLength.Minutes(),
		Limit: e.SeatsPerHolder, Extensions: e.Extensions, Strict: e.Strict, NoOrphans: e.NoOrphanSeats, Birth: e.AsksBirth, Door: e.PayAtDoor, Invoices: e.Invoices, Demo: e.Demo,
		FeeTicket: e.Fees.Ticket, FeePercent: pricing.Percentage(e.Fees.Percent), FeeAbsorbed: e.Fees.Absorbed, FeeKept: e.Fees.Kept,
		CancelUntil: events.CancelUntilText(e.Policy), CancelFee: e.Policy.CancelFee, CancelPercent: pricing.Percentage(e.Policy.CancelPercent),
		ExchangeUntil: events.ExchangeUntilText(e.Policy), ExchangeFee: e.Policy.ExchangeFee, TransferUntil: events.TransferUntilText(e.Policy), ResaleUntil: events.ResaleUntilText(e.Policy), ResaleFee: e.Policy.ResaleFee, TypesUntil: events.TypesUntilText(e.Policy), PayLater: events.Span(e.Policy.PayLater), PayBefore: events.Span(e.Policy.PayBefore), ConfirmEmail: events.ConfirmText(e.Policy),
		Online: e.Online.On, JoinLink: e.Online.Link, JoinEarly: e.Online.Early.Minutes(), Words: e.Confirmation,
		TicketNames: string(e.TicketNames), Gates: []string{}, Reentry: e.Reentry, RotatingCodes: e.RotatingCodes, Questions: []string{}, Prices: []priced{},
	}
	for _, g := range e.Gates {
		b.Gates = append(b.Gates, events.GateText(g))
	}
	for _, q := range e.Questions {
		b.Questions = append(b.Questions, events.QuestionText(q))
	}
	for _, c := range s.Plan.Categories {
		b.Prices = append(b.Prices, priced{c.Key, c.Price})
	}
	return struct {
		Event settingsBody `json:"event"`
	}{b}
}
