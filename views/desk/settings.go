package desk

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// MomentForm is how a field of a form says a moment (HTML, datetime-local).
const MomentForm = "2006-01-02T15:04"

// SettingsPath is the address of an event's settings at the desk.
func SettingsPath(slug string) string { return EventPath(slug) + "/settings" }

// Wrong is what is wrong with a form, by field.
type Wrong map[string]string

// Fields lists the fields in order.
func (w Wrong) Fields() (fields []string) {
	for f := range w {
		fields = append(fields, f)
	}
	slices.Sort(fields)
	return fields
}

// wrongsOf is what is wrong with a form that was not saved.
func wrongsOf(ctx context.Context, mistakes organizers.Mistakes) Wrong {
	w := Wrong{}
	for _, m := range mistakes {
		w[m.Field] = strings.TrimSpace(w[m.Field] + " " + m.In(ctx))
	}
	return w
}

// PlanChoice is a plan that an event may be made of.
type PlanChoice struct {
	Name  string // as the form sends it
	Title string
	Seats int
}

// NewEventForm is the first step of a new event, as it was typed.
type NewEventForm struct{ Name, Venue, Starts, Zone, Plan string }

// NewEventPage asks what an event is, where and when, and for its plan.
type NewEventPage struct {
	Frame
	Form  NewEventForm
	Key   string
	Plans []PlanChoice // that come with usher
	Own   []PlanChoice // of the team
	Wrong Wrong
}

// SettingsForm is what may be said of an event, as it was typed.
type SettingsForm struct {
	Name, Venue, Starts, Zone, Currency string
	Promoter                            string // empty: the team itself
	Language                            string
	Hold, PayWithin                     string // minutes
	Limit, Extensions                   string
	Strict, NoOrphans, Birth            bool
	Door, Invoices, Demo                bool
	Prices                              []string // by category
	FeeTicket, FeePercent               string
	FeeKept, FeeAbsorbed                bool
	CancelUntil                         string // as seats.Policy reads it
	CancelFee, CancelPercent            string
	ExchangeUntil, ExchangeFee          string // as seats.Policy reads it; an amount
	TransferUntil                       string // as seats.Policy reads it
	ResaleUntil, ResaleFee              string // as seats.Policy reads it; an amount
	TypesUntil                          string // as seats.Policy reads it
	Confirm                             string // automatic, always or never
	PayLater, PayBefore                 string // as events.ReadSpan reads it
	Questions                           string // one on a line
	Online                              bool
	JoinLink, JoinEarly                 string // the address; minutes before the start, empty for at once
	Confirmation                        string // the organizer's text in it
	TicketNames                         string // none, optional or required
	Gates                               string // one a line, as events.ReadGates reads it
	Reentry, RotatingCodes              bool
}

// SettingsPage is where an event is put on sale and changed.
type SettingsPage struct {
	Frame
	Plan     *seats.Plan
	Form     SettingsForm
	Key      string
	Wrong    Wrong
	Message  string // why what was asked was not done
	Opens    string // from when on it is on sale, as a field says it
	Reason   string // as it was typed
	BulkJobs []orders.BulkJobStatus
	Guard    limit.Settings // against those who claim and order by program
	Usual    limit.Settings // with the usual figures in place of 0
	NoWay    bool           // it has prices, and there is no way to pay them
	Begun    bool           // prices and the like cannot be changed any more
	Drafts   bool           // it can become a draft again
	Copy     CopyForm
}

// CopyForm is what the form that copies an event has typed in; its zero value is the form as it begins.
type CopyForm struct {
	Name, Starts string
	Wrong        Wrong
}

// copyForm begins with the name of the event, and with the same time a week later.
func (p SettingsPage) copyForm() CopyForm {
	f := p.Copy
	f.Name = cmp.Or(f.Name, p.Event.Name)
	f.Starts = cmp.Or(f.Starts, p.Event.Local(p.Event.StartsAt).AddDate(0, 0, 7).Format(MomentForm))
	return f
}

// price is what the form says of a category.
func (p SettingsPage) price(i int) string {
	if i < len(p.Form.Prices) {
		return p.Form.Prices[i]
	}
	return pricing.Amount(p.Plan.Categories[i].Price, p.Event.Currency)
}

// statusWord is the status of an event in a word or two.
func statusWord(ctx context.Context, e seats.Event) string {
	switch e.Status {
	case seats.Scheduled:
		return text.T(ctx, "On sale from %s", text.Time(ctx, e.Local(e.OpensAt), "Mon 2 Jan 2006, 15:04"))
	case seats.Draft:
		return text.T(ctx, "Draft")
	case seats.OnSale:
		return text.T(ctx, "On sale")
	case seats.Paused:
		return text.T(ctx, "Paused")
	case seats.Closed:
		return text.T(ctx, "Closed")
	}
	return text.T(ctx, "Cancelled")
}

// statusClass gives a status its colour.
func statusClass(e seats.Event) string {
	return map[seats.Status]string{seats.OnSale: "good", seats.Scheduled: "soon", seats.Paused: "warn", seats.Cancelled: "bad"}[e.Status]
}

// statusMeaning says what the status means for everyone.
func (p SettingsPage) statusMeaning(ctx context.Context) string {
	switch p.Event.Status {
	case seats.Draft:
		return text.T(ctx, "Only your team sees this event. Change what you like, look at the preview, then put it on sale.")
	case seats.Scheduled:
		return text.T(ctx, "Everyone sees this event and when its sale begins. You can still change prices.")
	case seats.OnSale:
		return text.T(ctx, "Attendees can buy tickets.")
	case seats.Paused:
		return text.T(ctx, "No tickets are sold. Everyone reads this reason: %s", p.Event.Reason)
	case seats.Closed:
		return text.T(ctx, "Seats can no longer be chosen. Visitors with held seats can still order, and the box office still sells.")
	}
	return strings.TrimSpace(text.T(ctx, "Nothing is sold, and orders are refunded.") + " " + p.Event.Reason)
}

// previewWords are the messages above a preview.
var previewWords = map[seats.Status]string{
	seats.Draft:     text.Mark("Preview of a draft: only members of your team see this, and its buttons do nothing."),
	seats.Scheduled: text.Mark("Preview of a scheduled event: only members of your team see this, and its buttons do nothing."),
	seats.OnSale:    text.Mark("Preview of an event on sale: only members of your team see this, and its buttons do nothing."),
	seats.Paused:    text.Mark("Preview of a paused event: only members of your team see this, and its buttons do nothing."),
	seats.Closed:    text.Mark("Preview of a closed event: only members of your team see this, and its buttons do nothing."),
	seats.Cancelled: text.Mark("Preview of a cancelled event: only members of your team see this, and its buttons do nothing."),
}

func (p SettingsPage) may(to seats.Status) bool {
	return slices.Contains(events.Next(*p.Event), to)
}

// bulkJobWords says how far something is that is done to all orders.
func bulkJobWords(ctx context.Context, e orders.BulkJobStatus) string {
	what := text.N(ctx, "%d order cancelled", "%d orders cancelled", e.Done)
	if e.Kind == orders.BulkMessage {
		what = text.N(ctx, "%d email written", "%d emails written", e.Done)
	}
	if e.Refused > 0 {
		what = what + text.T(ctx, ", ") + text.N(ctx, "%d left for you because a ticket was already used", "%d left for you because a ticket was already used", e.Refused)
	}
	if e.EndedAt == nil {
		return text.T(ctx, "%s so far", what)
	}
	return what
}

// about ties a field to what is wrong with it.
func (w Wrong) about(field string) templ.Attributes {
	if w[field] == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": field + "-wrong", "autofocus": true}
}

// zones are the names of time zones that a field suggests; any other one may be typed.
var zones = []string{
	"UTC", "Europe/Amsterdam", "Europe/Athens", "Europe/Berlin", "Europe/Brussels", "Europe/Copenhagen", "Europe/Dublin", "Europe/Helsinki", "Europe/Lisbon", "Europe/London",
	"Europe/Madrid", "Europe/Oslo", "Europe/Paris", "Europe/Prague", "Europe/Rome", "Europe/Stockholm", "Europe/Vienna", "Europe/Warsaw", "Europe/Zurich",
	"America/Chicago", "America/Denver", "America/Los_Angeles", "America/New_York", "America/Sao_Paulo", "America/Toronto", "Asia/Kolkata", "Asia/Singapore", "Asia/Tokyo",
	"Australia/Sydney", "Pacific/Auckland",
}

// namesOptions say whether buyers name the attendee of each ticket.
var namesOptions = [][2]string{{"none", text.Mark("Only the name of the buyer")}, {"optional", text.Mark("A name for each ticket, optional")}, {"required", text.Mark("A name for each ticket, required")}}

// confirmOptions say when free orders confirm the email first.
var confirmOptions = [][2]string{{"automatic", text.Mark("If one person gets two tickets at most")}, {"always", text.Mark("Always")}, {"never", text.Mark("Never")}}
