package seats

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

const editEventSQL = `
UPDATE event
   SET name = $2, venue = $3, starts_at = $4, time_zone = $5, hold_length = make_interval(secs => $6), seats_per_holder = $7, extensions = $8,
       strict = $9, no_lone_seats = $10, asks_birth = $11, pay_at_door = $12, invoices = $13, demo = $14,
       payment_length = make_interval(secs => $15), plan_id = coalesce($16, plan_id), currency = $17,
       fee_ticket = $18, fee_order = $19, fee_percent = $20, fee_kept = $21, language = $22
 WHERE id = $1`

// EditEvent gives an event what an organizer says of it now; its slug, its seats and its status stay. prices are
// those of the categories, in minor units; nil for the ones it has. What people agreed to when they took seats
// changes only until the sale begins: prices, fees, the currency, questions, and what becomes of seats whose time
// is up. Limits hold for claims from now on.
//
// Errors: ErrNoEvent; a *Refusal that says what cannot be changed any more, and then nothing was; *Nonsense; the
// database's.
func (o *Office) EditEvent(ctx context.Context, slug string, n NewEvent, prices []int64, also Also) (Event, error) {
	n = n.withDefaults()
	if n.StartsAt.IsZero() {
		return Event{}, &Nonsense{Message: "Say when the event is. Nothing was changed."}
	}
	if err := n.check(); err != nil {
		return Event{}, err
	}
	return o.change(ctx, slug, also, func(tx pgx.Tx, e Event) (bool, error) {
		p, err := LoadPlan(ctx, tx, e.ID)
		if err != nil {
			return false, err
		}
		if prices == nil {
			prices = pricesOf(p)
		}
		if len(prices) != len(p.Categories) || slices.Min(prices) < 0 {
			return false, &Nonsense{Message: fmt.Sprintf("This event has %d categories, each with a price that is not negative. Nothing was changed.", len(p.Categories))}
		}
		n.Policy = cmp.Or(n.Policy, &e.Policy)
		reprices := !slices.Equal(prices, pricesOf(p))
		if sameEvent(n, e.New()) && !reprices {
			return false, nil
		}
		if err := e.mayEdit(n, reprices); err != nil {
			return false, err
		}
		plan, err := reprice(ctx, tx, e, p, prices)
		if err != nil {
			return false, err
		}
		if _, err := tx.Exec(ctx, editEventSQL, e.ID, n.Name, n.Venue, n.StartsAt, n.TimeZone, n.HoldLength.Seconds(), n.SeatsPerHolder, n.Extensions,
			n.Strict, n.NoLoneSeats, n.AsksBirth, !n.PaidAhead, n.Invoices, n.Demo, n.PaymentLength.Seconds(), plan, n.Currency,
			n.Fees.Ticket, n.Fees.Order, n.Fees.Percent, n.Fees.Kept, n.Language); err != nil {
			return false, err
		}
		if err := n.Policy.save(ctx, tx, e.ID); err != nil {
			return false, err
		}
		if err := n.saveOnline(ctx, tx, e.ID); err != nil {
			return false, err
		}
		if slices.EqualFunc(n.Questions, e.Questions, Question.equal) {
			return true, nil
		}
		if _, err := tx.Exec(ctx, forgetQuestionsSQL, e.ID); err != nil {
			return false, err
		}
		return true, saveQuestions(ctx, tx, e.ID, n.Questions)
	})
}

const forgetQuestionsSQL = `DELETE FROM question WHERE event_id = $1`

func (q Question) equal(other Question) bool {
	return q.Kind == other.Kind && q.Label == other.Label && q.Required == other.Required && slices.Equal(q.Choices, other.Choices)
}

// New is what was said of the event, as one says it of a new one.
func (e Event) New() NewEvent {
	return NewEvent{
		Slug: e.Slug, Name: e.Name, Venue: e.Venue, StartsAt: e.StartsAt, TimeZone: e.TimeZone, Language: e.Language, Currency: e.Currency, HoldLength: e.HoldLength,
		SeatsPerHolder: e.SeatsPerHolder, Extensions: e.Extensions, Strict: e.Strict, NoLoneSeats: e.NoLoneSeats, AsksBirth: e.AsksBirth,
		Questions: e.Questions, Team: e.Team, PaidAhead: !e.PayAtDoor, Invoices: e.Invoices, Demo: e.Demo, PaymentLength: e.PaymentLength, Fees: e.Fees, Policy: &e.Policy,
		Online: e.Online, Confirmation: e.Confirmation,
	}
}

// sameEvent tells whether two say the same of an event whose address, team and status are what they are.
func sameEvent(n, other NewEvent) bool {
	questions := slices.EqualFunc(n.Questions, other.Questions, Question.equal)
	other.Slug, other.Team, other.Status, other.OpensAt, other.Questions = n.Slug, n.Team, n.Status, n.OpensAt, n.Questions
	if n.StartsAt.Equal(other.StartsAt) {
		other.StartsAt = n.StartsAt
	}
	return questions && reflect.DeepEqual(n, other)
}

const mostName = 200 // characters

// Language is what Usher's own words are in.
const Language = "en"

var tag = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`) // by its form (BCP 47)

// IsLanguage tells whether a text may be the tag of a language.
func IsLanguage(text string) bool { return tag.MatchString(text) }

// oneLine tells whether a text is one line of so many characters at most.
func oneLine(text string, most int) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) && utf8.RuneCountInString(text) <= most
}

// check refuses what makes no sense of any event.
func (e NewEvent) check() error {
	if _, err := time.LoadLocation(e.TimeZone); err != nil {
		return &Nonsense{Message: fmt.Sprintf("There is no time zone %q. Use a name such as Europe/Vienna.", e.TimeZone)}
	}
	var wrong string
	switch {
	case e.Name == "" || !oneLine(e.Name, mostName):
		wrong = fmt.Sprintf("The name of an event is one line of at most %d characters.", mostName)
	case !oneLine(e.Venue, mostName):
		wrong = fmt.Sprintf("The venue is one line of at most %d characters.", mostName)
	case !IsLanguage(e.Language):
		wrong = "A language is a tag such as en, de or pt-BR."
	case e.HoldLength < time.Second || e.HoldLength > 7*24*time.Hour:
		wrong = "Seats are held between a second and a week."
	case e.PaymentLength < time.Second || e.PaymentLength > 24*time.Hour:
		wrong = "A payment may take between a second and a day."
	case e.SeatsPerHolder < 1 || e.SeatsPerHolder > MaxSeats:
		wrong = "One person may have at least one seat."
	case e.Extensions < 0:
		wrong = "Extensions are not negative."
	case e.Status != Draft && e.Status != OnSale:
		wrong = "An event begins as a draft, or on sale."
	}
	if wrong == "" {
		wrong = e.Fees.check()
	}
	if wrong == "" && e.Policy != nil {
		wrong = e.Policy.check()
	}
	if wrong == "" {
		wrong = e.Online.check(e.Confirmation)
	}
	if wrong == "" {
		if err := CheckCurrency(e.Currency); err != nil {
			wrong = "The currency is three letters of ISO 4217, such as EUR."
		}
	}
	if wrong != "" {
		return &Nonsense{Message: wrong + " Nothing was changed."}
	}
	return nil
}

// mayEdit refuses what cannot be changed any more.
func (e Event) mayEdit(n NewEvent, reprices bool) error {
	if e.Status == Cancelled {
		return &Refusal{Code: CodeChanged, Message: "This event was cancelled, and stays as it was. Nothing was changed. Duplicate it to make another one."}
	}
	if e.Status == Draft || e.Status == Scheduled {
		return nil
	}
	var fixed []string
	for _, f := range []struct {
		what    string
		changes bool
	}{
		{"prices", reprices},
		{"fees", n.Fees != e.Fees},
		{"the cancellation policy", !n.Policy.sameCancelling(e.Policy)},
		{"the currency", n.Currency != e.Currency},
		{"the questions", !slices.EqualFunc(n.Questions, e.Questions, Question.equal) || n.AsksBirth != e.AsksBirth},
		{"what becomes of seats whose time is up", n.Strict != e.Strict},
	} {
		if f.changes {
			fixed = append(fixed, f.what)
		}
	}
	if len(fixed) == 0 {
		return nil
	}
	return &Refusal{Code: CodeChanged, Message: "The sale has begun, and people took seats on what they read: " + joined(fixed, " and ") + " cannot be changed any more. Nothing was changed."}
}

func pricesOf(p *Plan) []int64 {
	prices := make([]int64, len(p.Categories))
	for i := range p.Categories {
		prices[i] = p.Categories[i].Price
	}
	return prices
}

const setPricesSQL = `
UPDATE category c SET price = n.price FROM unnest($2::bigint[]) WITH ORDINALITY AS n(price, place) WHERE c.event_id = $1 AND c.number = n.place - 1`

// reprice writes other prices. The drawing that pages keep shows them, so it gets another name; nil if they are the
// same.
func reprice(ctx context.Context, tx pgx.Tx, e Event, p *Plan, prices []int64) (plan *int64, err error) {
	if slices.Equal(prices, pricesOf(p)) {
		return nil, nil //nolint:nilnil // nothing changes, and nothing failed
	}
	for i := range prices {
		p.Categories[i].Price = prices[i]
	}
	if _, err := tx.Exec(ctx, setPricesSQL, e.ID, prices); err != nil {
		return nil, err
	}
	id, err := savePlan(ctx, tx, p)
	return &id, err
}
