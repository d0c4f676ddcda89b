package events

import (
	"cmp"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Settings are what an organizer decides about an event; zero values stand for the defaults named here.
type Settings struct {
	Slug           string // made from Name
	Name           string
	Venue          string
	Promoter       string // the team itself
	StartsAt       time.Time
	TimeZone       string        // UTC
	Language       string        // en
	Currency       string        // EUR
	HoldLength     time.Duration // 8 minutes
	SeatsPerHolder int           // 6
	Extensions     int           // 10
	Strict         bool
	NoOrphanSeats  bool
	AsksBirth      bool
	Questions      []seats.Question
	TicketNames    seats.TicketNames // seats.NamesNone
	Gates          []seats.Gate      // nil: one, for all
	Reentry        bool
	RotatingCodes  bool
	PaidAhead      bool          // payment at the door is off
	Invoices       bool          // payment by invoice is on
	Demo           bool          // paid with the demo card
	PaymentLength  time.Duration // 15 minutes
	Team           int64         // the first team
	Status         seats.Status  // OnSale; a new event may also be a Draft
	OpensAt        time.Time     // on sale from then on; at once
	TestOf         int64         // the event that a new test sale tries; 0: it is no test
	Fees           seats.Fees    // none
	Policy         *seats.Policy // seats.DefaultPolicy; of an existing event: the one it has
	Online         seats.Online  // the event has a venue
	Confirmation   string        // none

	Prices *seats.Prices     // of a new event: its price list; nil: the prices of its plan
	Rules  *seats.PriceRules // of a new event; nil: none
}

func (e Settings) withDefaults() Settings {
	e.Slug = cmp.Or(e.Slug, Slug(e.Name, "event"))
	e.TimeZone = cmp.Or(e.TimeZone, "UTC")
	e.Language = cmp.Or(e.Language, seats.Language)
	e.Currency = cmp.Or(e.Currency, "EUR")
	e.HoldLength = cmp.Or(e.HoldLength, 8*time.Minute)
	e.SeatsPerHolder = cmp.Or(e.SeatsPerHolder, 6)
	e.Extensions = cmp.Or(e.Extensions, 10)
	e.PaymentLength = cmp.Or(e.PaymentLength, 15*time.Minute)
	e.Status = cmp.Or(e.Status, seats.OnSale)
	e.TicketNames = cmp.Or(e.TicketNames, seats.NamesNone)
	return e
}

// Of returns the settings of an event.
func Of(e seats.Event) Settings {
	return Settings{
		Slug: e.Slug, Name: e.Name, Venue: e.Venue, Promoter: e.Promoter, StartsAt: e.StartsAt, TimeZone: e.TimeZone, Language: e.Language, Currency: e.Currency, HoldLength: e.HoldLength,
		SeatsPerHolder: e.SeatsPerHolder, Extensions: e.Extensions, Strict: e.Strict, NoOrphanSeats: e.NoOrphanSeats, AsksBirth: e.AsksBirth,
		Questions: e.Questions, TicketNames: e.TicketNames, Gates: e.Gates, Reentry: e.Reentry, RotatingCodes: e.RotatingCodes, Team: e.Team, PaidAhead: !e.PayAtDoor, Invoices: e.Invoices, Demo: e.Demo, PaymentLength: e.PaymentLength, Fees: e.Fees, Policy: &e.Policy,
		Online: e.Online, Confirmation: e.Confirmation,
	}
}

// equal compares all but the slug, the team and the status, which an edit does not change.
func (e Settings) equal(other Settings) bool {
	n, questions := e, sameQuestions(e.Questions, other.Questions)
	other.Slug, other.Team, other.Status, other.OpensAt, other.Questions = n.Slug, n.Team, n.Status, n.OpensAt, n.Questions
	if n.StartsAt.Equal(other.StartsAt) {
		other.StartsAt = n.StartsAt
	}
	return questions && reflect.DeepEqual(n, other)
}

func sameQuestions(list, other []seats.Question) bool {
	return slices.EqualFunc(list, other, func(a, b seats.Question) bool {
		return a.Kind == b.Kind && a.Label == b.Label && a.Required == b.Required && slices.Equal(a.Choices, b.Choices)
	})
}

const mostName = 200 // characters

var tag = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`) // by its form (BCP 47)

// IsLanguage reports whether a text has the form of a language tag.
func IsLanguage(text string) bool { return tag.MatchString(text) }

// check refuses settings that no event may have.
func (e Settings) check() error {
	if _, err := time.LoadLocation(e.TimeZone); err != nil {
		return &seats.ValidationError{Message: text.Mark("There is no time zone “%s”. Use a name such as Europe/Vienna."), Args: []any{e.TimeZone}}
	}
	var wrong string
	switch {
	case e.Name == "" || !seats.OneLine(e.Name, mostName):
		wrong = text.Mark("The name of an event is one line of at most 200 characters.")
	case !seats.OneLine(e.Venue, mostName):
		wrong = text.Mark("The venue is one line of at most 200 characters.")
	case !seats.OneLine(e.Promoter, mostName):
		wrong = text.Mark("The promoter is one line of at most 200 characters.")
	case e.TicketNames != seats.NamesNone && !e.TicketNames.Asked():
		wrong = text.Mark("Names of tickets are none, optional or required.")
	case !IsLanguage(e.Language):
		wrong = text.Mark("A language is a tag such as en, de or pt-BR.")
	case e.HoldLength < time.Second || e.HoldLength > 7*24*time.Hour:
		wrong = text.Mark("Seats are held between a second and a week.")
	case e.PaymentLength < time.Second || e.PaymentLength > 24*time.Hour:
		wrong = text.Mark("A payment may take between a second and a day.")
	case e.SeatsPerHolder < 1 || e.SeatsPerHolder > seats.MaxSeats:
		wrong = text.Mark("Enter a number of tickets per person, 1 or more.")
	case e.Extensions < 0:
		wrong = text.Mark("Enter a number of time extensions, 0 or more.")
	case e.Status != seats.Draft && e.Status != seats.OnSale:
		wrong = text.Mark("An event begins as a draft, or on sale.")
	}
	wrong = cmp.Or(wrong, checkFees(e.Fees), checkOnline(e.Online, e.Confirmation), checkGates(e.Gates))
	if wrong == "" && e.Policy != nil {
		wrong = checkPolicy(*e.Policy)
	}
	if wrong == "" && pricing.CheckCurrency(e.Currency) != nil {
		wrong = text.Mark("The currency is three letters of ISO 4217, such as EUR.")
	}
	if wrong != "" {
		return seats.Unchanged(text.Say(wrong))
	}
	return nil
}

const mostFee = 1 << 40 // minor units, as for a price

// checkFees returns what is wrong with fees, empty if nothing is.
func checkFees(f seats.Fees) string {
	switch {
	case f.Ticket < 0 || f.Ticket > mostFee:
		return text.Mark("A fee is an amount that is not negative.")
	case f.Percent < 0 || f.Percent > pricing.WholePercent:
		return text.Mark("A fee is between 0 and 100 percent.")
	}
	return ""
}

const mostSpan = 366 * 24 * time.Hour

// checkPolicy returns what is wrong with a policy, empty if nothing is.
func checkPolicy(p seats.Policy) string {
	switch {
	case p.CancelUntil < 0 || p.CancelUntil > mostSpan:
		return text.Mark("Cancelling ends between the start and a year before it.")
	case p.CancelFee < 0 || p.CancelFee > mostFee || p.CancelPercent < 0 || p.CancelPercent > pricing.WholePercent:
		return text.Mark("What is kept of a cancelled ticket is not negative, and not more than its price.")
	case p.ExchangeUntil < 0 || p.ExchangeUntil > mostSpan:
		return text.Mark("Exchanging ends between the start and a year before it.")
	case p.ExchangeFee < 0 || p.ExchangeFee > mostFee:
		return text.Mark("A fee is an amount that is not negative.")
	case p.TransferUntil < 0 || p.TransferUntil > mostSpan:
		return text.Mark("Sending tickets ends between the start and a year before it.")
	case p.ResaleUntil < 0 || p.ResaleUntil > mostSpan:
		return text.Mark("Offering tickets back ends between the start and a year before it.")
	case p.TypesUntil < 0 || p.TypesUntil > mostSpan:
		return text.Mark("Changing ticket types ends between the start and a year before it.")
	case p.ResaleFee < 0 || p.ResaleFee > mostFee:
		return text.Mark("A fee is an amount that is not negative.")
	case p.PayLater < time.Minute || p.PayLater > mostSpan || p.PayBefore < 0 || p.PayBefore > mostSpan:
		return text.Mark("An order may stay unpaid between a minute and a year.")
	}
	return ""
}

// sameCancelling compares what two policies say about cancelling. A policy that begins to let attendees exchange takes nothing from
// them.
func sameCancelling(p, before seats.Policy) bool {
	before.PayLater, before.PayBefore, before.Confirm = p.PayLater, p.PayBefore, p.Confirm
	before.NoTransfers, before.TransferUntil = p.NoTransfers, p.TransferUntil
	before.Resale, before.ResaleUntil, before.ResaleFee = p.Resale, p.ResaleUntil, p.ResaleFee // a ticket is offered back at the fee of that moment
	before.ChangingTypes, before.TypesUntil = p.ChangingTypes, p.TypesUntil
	if !before.Exchanging {
		before.Exchanging, before.ExchangeUntil, before.ExchangeFee = p.Exchanging, p.ExchangeUntil, p.ExchangeFee
	}
	return p == before
}

const (
	mostJoinLink     = 2000 // bytes
	mostConfirmation = 5000 // characters
	mostEarly        = 30 * 24 * time.Hour
)

// CheckJoinLink returns what is wrong with a link to join, empty if nothing is.
func CheckJoinLink(link string) string {
	u, err := url.Parse(link)
	switch {
	case link == "":
		return ""
	case len(link) > mostJoinLink || strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r > '~' }):
		return text.Mark("The link to join has at most 2,000 characters, and no spaces.")
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		return text.Mark("The link to join begins with https://, such as https://meet.example.org/small-web.")
	}
	return ""
}

// checkOnline returns what is wrong with an online event or its confirmation, empty if nothing is.
func checkOnline(o seats.Online, confirmation string) string {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' }
	switch {
	case o.Early < 0 || o.Early > mostEarly || o.Early > 0 && o.Early < time.Minute:
		return text.Mark("The link to join opens between a minute and 30 days before the start.")
	case !utf8.ValidString(confirmation) || utf8.RuneCountInString(confirmation) > mostConfirmation || strings.ContainsFunc(confirmation, control):
		return text.Mark("The text in the confirmation has at most 5,000 characters.")
	}
	return CheckJoinLink(o.Link)
}

// ConfirmsFree reports whether free orders of the event confirm the email first.
func ConfirmsFree(e seats.Event) bool {
	return e.Policy.Confirm == seats.ConfirmAlways || e.Policy.Confirm == seats.ConfirmByLimit && e.SeatsPerHolder <= confirmLimit
}

// confirmLimit is the largest limit per person at which free orders confirm the email by default.
const confirmLimit = 2

// CancelEnds returns until when attendees may cancel, and false if they never may.
func CancelEnds(e seats.Event) (time.Time, bool) {
	return e.StartsAt.Add(-e.Policy.CancelUntil), !e.Policy.NoCancelling
}

// ExchangeEnds returns until when attendees may exchange tickets for those of another performance, and false if they never may.
func ExchangeEnds(e seats.Event) (time.Time, bool) {
	return e.StartsAt.Add(-e.Policy.ExchangeUntil), e.Series != 0 && e.Policy.Exchanging
}

// CanPayLater reports whether an order that is placed now may be paid later.
func CanPayLater(e seats.Event, now time.Time) bool {
	return now.Before(e.StartsAt.Add(-e.Policy.PayBefore))
}

// JoinsAt returns when tickets open the link to join, and false if they do so from the first moment on.
func JoinsAt(e seats.Event) (time.Time, bool) {
	return e.StartsAt.Add(-e.Online.Early), e.Online.Early > 0
}

// ResaleEnds returns until when buyers may offer tickets back, and false if they never may.
func ResaleEnds(e seats.Event) (time.Time, bool) {
	return e.StartsAt.Add(-e.Policy.ResaleUntil), e.Policy.Resale
}

// TypesEnd returns until when buyers may change the ticket types of their tickets, and false if they never may.
func TypesEnd(e seats.Event) (time.Time, bool) {
	return e.StartsAt.Add(-e.Policy.TypesUntil), e.Policy.ChangingTypes
}

// TransferEnds returns until when attendees may send tickets to another person, and false if they never may.
func TransferEnds(e seats.Event) (time.Time, bool) {
	return e.StartsAt.Add(-e.Policy.TransferUntil), !e.Policy.NoTransfers
}
