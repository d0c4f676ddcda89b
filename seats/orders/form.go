package orders

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Form is what an attendee sends to place an order.
type Form struct {
	Network  string        `json:"network,omitempty"`  // it comes from, for the limits; empty: it is not counted
	Language string        `json:"language,omitempty"` // that the buyer reads; empty: not known
	SoldBy   string        `json:"sold_by,omitempty"`  // name of the key of the program that sends it; empty: no program does
	Unpaid   UnpaidLimits  `json:"-"`                  // that it must keep
	Verified string        `json:"-"`                  // an address that the attendee confirmed; empty: none
	InForce  int           `json:"-"`                  // the version of the terms that the team shows; 0: it has none
	Found    *pricing.Code `json:"-"`                  // Code, as it was read a moment ago; nil: it was not
	Seller   Seller        `json:"-"`                  // the team, if it issues invoices

	Hold   seats.ID `json:"hold"`  // as the page showed it
	Seats  []int    `json:"seats"` // as the page showed them, in the order of idx
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Born   string   `json:"born"`   // 2006-01-02; only if the event asks
	Method string   `json:"method"` // Free, Door, Card, …

	Terms    int        `json:"terms,omitempty"`     // the version of the terms that the attendee accepted; 0: none
	AgreedAt *time.Time `json:"agreed_at,omitempty"` // when; nil: with this form

	Code string `json:"code,omitempty"` // of a discount, as it was typed; empty: none

	Discount *pricing.Discount `json:"discount,omitempty"` // of Code; nil: it takes nothing off. Set when the order is placed
	Uses     []seats.Use       `json:"uses,omitempty"`     // of Code, and of Codes
	Codes    []seats.ID        `json:"codes,omitempty"`    // with which the seats were claimed. Set when the order is placed

	Donation int64    `json:"donation,omitempty"` // minor units; 0: none
	Post     *Address `json:"post,omitempty"`     // where the tickets go by post; nil: they do not

	Billing *Billing `json:"billing,omitempty"` // the company that the invoice is for; nil: the invoice is for the person

	Answers map[string]string `json:"answers,omitempty"` // by number of the event's question, from 1
	Names   map[int]string    `json:"names,omitempty"`   // on the tickets, by seat

	Total *int64       `json:"total,omitempty"` // as the page showed it, minor units; nil: the page showed none
	Lines []seats.Line `json:"lines,omitempty"` // of the payment that began with this form

	Agreed *pricing.Terms `json:"agreed,omitempty"` // by which that payment is of its amount, whatever the event changes meanwhile; nil: those of the event

	Exchange *Exchanging `json:"exchange,omitempty"` // the tickets that these are exchanged for; nil: none

	Subscriber *Subscriber      `json:"subscriber,omitempty"` // the subscription that the order is part of; nil for most
	Shares     []payments.Share `json:"shares,omitempty"`     // of a payment that began with this form and is for several orders

	Till *payments.AtTill `json:"till,omitempty"` // where a card reader is paid at the box office; nil: it is no such sale

	held *seats.Hold // as it was read for Code; nil: it was not

	Account string   `json:"account,omitempty"` // the address of the credit account that pays, confirmed by the attendee; only for Credit
	Credit  int64    `json:"credit,omitempty"`  // minor units of the total that the account pays, and the method the rest; 0: none
	Mandate seats.ID `json:"mandate,omitzero"`  // what pays while the customer is away; only for a method that keeps cards
}

// FieldCode is the field of a discount code.
const FieldCode = "code"

// Fields of a form that a Mistake is about.
const (
	FieldName   = "name"
	FieldEmail  = "email"
	FieldBorn   = "born"
	FieldMethod = "method"
	FieldTerms  = "terms"
)

// Mistake says what is wrong with one field.
type Mistake struct{ Field, Message string }

// Mistakes is a form that cannot be taken as it is. Nothing was sold; the hold is as it was.
type Mistakes []Mistake

// In says them in the language of their reader.
func (m Mistakes) In(ctx context.Context) string {
	words := make([]string, len(m))
	for i, one := range m {
		words[i] = text.T(ctx, one.Message)
	}
	return strings.Join(words, " ")
}

func (m Mistakes) Error() string { return m.In(context.Background()) }

// About returns what is wrong with a field, or nothing.
func (m Mistakes) About(field string) string {
	for _, one := range m {
		if one.Field == field {
			return one.Message
		}
	}
	return ""
}

const (
	mostName = 200 // characters
)

// tidy removes spaces around a text, and answers to what was not asked.
func (f Form) tidy(e seats.Event, total int64) Form {
	f.Name, f.Email, f.Born = tidyName(f.Name), strings.TrimSpace(f.Email), strings.TrimSpace(f.Born)
	if !e.AsksBirth {
		f.Born = ""
	}
	f.Answers, f.Names = tidyAnswers(f.Answers, e.Questions), f.tidyNames(e.TicketNames)
	f.Post = f.Post.tidied()
	if total == 0 {
		f.Method = payments.Free
	}
	if f.InForce == 0 {
		f.Terms, f.AgreedAt = 0, nil
	}
	if f.Method == payments.Free || f.Method == payments.Credit {
		f.Credit = 0
	}
	if f.Method != payments.Credit && f.Credit == 0 {
		f.Account = ""
	}
	if f.Method != payments.Card {
		f.Mandate = seats.ID{}
	}
	return f
}

// check finds every mistake in a tidy form. today is the database's.
func (f Form) check(e seats.Event, total int64, methods []string, today time.Time) (born *time.Time, wrong error) {
	var m Mistakes
	note := func(field, message string) {
		if message != "" {
			m = append(m, Mistake{field, message})
		}
	}
	note(FieldName, wrongName(f.Name))
	note(FieldEmail, wrongEmail(f.Email))
	if e.AsksBirth {
		day, message := birth(f.Born, today)
		note(FieldBorn, message)
		born = &day
	}
	for i, q := range e.Questions {
		note(FieldAnswer(i+1), wrongAnswer(q, f.Answers[strconv.Itoa(i+1)]))
	}
	m = append(m, f.wrongNames(e.TicketNames)...)
	m = append(m, f.Billing.mistakes()...)
	m = append(m, f.wrongExtras(e)...)
	note(FieldTerms, wrongTerms(f.Terms, f.InForce))
	note(FieldMethod, wrongMethod(f.Method, methods))
	if f.Method == payments.Credit && f.Account == "" {
		note(FieldMethod, text.Mark("Sign in with the email address of your credit, then pay with it."))
	}
	switch {
	case f.Credit != 0 && payments.Later(f.Method):
		note(FieldMethod, text.Mark("Credit can’t be combined with bank transfer or with paying later. Pay the rest online, or don’t use your credit."))
	case f.Credit != 0 && f.Account == "":
		note(FieldMethod, text.Mark("Sign in with the email address of your credit, then pay a part with it."))
	case f.Credit < 0 || f.Credit > 0 && f.Credit >= total:
		note(FieldMethod, text.Mark("Credit pays a part of the order, or all of it. Choose again how to pay."))
	}
	if len(m) > 0 {
		return nil, m
	}
	return born, nil
}

func wrongName(name string) string {
	switch {
	case !strings.ContainsFunc(name, visible):
		return text.Mark("Enter your name.")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return text.Mark("The name has characters that cannot be printed.")
	case utf8.RuneCountInString(name) > mostName:
		return text.Mark("The name is longer than 200 characters.")
	}
	return ""
}

// visible reports whether a character can be seen by itself: not a space, not one that only joins or turns others.
func visible(r rune) bool { return unicode.IsPrint(r) && r != ' ' || r == utf8.RuneError }

func wrongEmail(address string) string {
	if address == "" {
		return text.Mark("Enter your email address. We’ll send your tickets there.")
	}
	switch {
	case len(address) > seats.MostEmail:
		return text.Mark("The email address is longer than 254 characters.")
	case !seats.IsEmail(address):
		return text.Mark("Enter an email address in the format name@example.com.")
	}
	return ""
}

func birth(typed string, today time.Time) (day time.Time, message string) {
	if typed == "" {
		return day, text.Mark("Enter your date of birth.")
	}
	day, err := time.Parse(time.DateOnly, typed)
	switch {
	case err != nil:
		return day, text.Mark("Enter a date such as 1990-12-31.")
	case day.After(today):
		return day, text.Mark("This date of birth is in the future.")
	case day.Before(today.AddDate(-130, 0, 0)):
		return day, text.Mark("This date of birth is more than 130 years ago.")
	}
	return day, ""
}

func wrongMethod(method string, methods []string) string {
	switch {
	case slices.Contains(methods, method):
		return ""
	case len(methods) == 0:
		return text.Mark("This event has to be paid in advance, and the organizer has not set up payments yet.")
	}
	return text.Mark("Choose how to pay.")
}

func wrongTerms(accepted, inForce int) string {
	switch {
	case accepted == inForce:
		return ""
	case accepted == 0:
		return text.Mark("Please accept the terms.")
	}
	return text.Mark("The terms have changed. Please read and accept the new version.")
}

// hash names the content of a form: a repeat has the same.
func (f Form) hash() []byte {
	f.SoldBy, f.Network, f.Language, f.Total, f.Lines, f.Agreed, f.Discount, f.Uses, f.Codes, f.Shares = "", "", "", nil, nil, nil, nil, nil, nil, nil
	if f.Exchange != nil { // what it costs is not what was asked for, nor is what the order says of the person
		if f.Exchange.changesTypes() {
			f.Seats = nil
		}
		f.Exchange, f.Method, f.Name, f.Answers, f.Names = &Exchanging{Code: f.Exchange.Code, Tickets: f.Exchange.Tickets, Types: f.Exchange.Types}, "", "", nil, nil
	}
	text, _ := json.Marshal(f) // texts and numbers always marshal
	sum := sha256.Sum256(text)
	return sum[:]
}

const todaySQL = `SELECT current_date`

// today is the database's day; only asked where a date of birth has to be before it.
func (o *Orders) today(ctx context.Context, e seats.Event) (day time.Time, err error) {
	if e.AsksBirth {
		err = o.db.QueryRow(ctx, todaySQL).Scan(&day)
	}
	return day, err
}

// Yes is the answer of a marked checkbox.
const Yes = "yes"

const mostAnswer = 1000 // characters

// FieldAnswer is the field of the answer to an event's question, counted from 1.
func FieldAnswer(number int) string { return "answer-" + strconv.Itoa(number) }

// tidyAnswers keeps what was asked, without spaces around it.
func tidyAnswers(answers map[string]string, asked []seats.Question) map[string]string {
	if len(asked) == 0 {
		return nil
	}
	kept := make(map[string]string, len(asked))
	for i := range asked {
		number := strconv.Itoa(i + 1)
		if text := strings.TrimSpace(answers[number]); text != "" {
			kept[number] = text
		}
	}
	return kept
}

// wrongAnswer says what is wrong with the answer to a question, or nothing.
func wrongAnswer(q seats.Question, given string) string {
	unprintable := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }
	switch {
	case given == "" && q.Required && q.Kind == seats.AskCheckbox:
		return text.Mark("Tick this box: it is required.")
	case given == "" && q.Required:
		return text.Mark("Answer this question.")
	case given == "":
		return ""
	case q.Kind == seats.AskCheckbox && given != Yes, q.Kind == seats.AskChoice && !slices.Contains(q.Choices, given):
		return text.Mark("Choose one of the answers.")
	case !utf8.ValidString(given) || strings.ContainsFunc(given, unprintable):
		return text.Mark("The answer has characters that cannot be printed.")
	case utf8.RuneCountInString(given) > mostAnswer:
		return text.Mark("The answer is longer than 1,000 characters.")
	}
	return ""
}

// Typed is a form from a checkout that made no order, and its answer. It is there to be
// shown again until their order is placed, for a day at most.
type Typed struct {
	Form     Form     `json:"form"`
	Mistakes Mistakes `json:"mistakes,omitempty"`
	Message  string   `json:"message,omitempty"` // why the form was refused
	Nearest  []int    `json:"nearest,omitempty"` // seats to take in place of those that were lost
}

// Told reports whether there was something to say.
func (t Typed) Told() bool { return t.Message != "" || len(t.Mistakes) > 0 }

const keepTypedSQL = `
INSERT INTO typed (event_id, holder, answer) VALUES ($1, $2, $3)
    ON CONFLICT (event_id, holder) DO UPDATE SET answer = excluded.answer, since = excluded.since`

// KeepTyped keeps what a holder sent last, and what they were told. Texts that no order would take are cut.
func (o *Orders) KeepTyped(ctx context.Context, event int64, holder seats.ID, t Typed) error {
	t.Form = t.Form.cut()
	if _, err := o.db.Exec(ctx, keepTypedSQL, event, holder, t); err != nil {
		return fmt.Errorf("orders: keep what was typed: %w", err)
	}
	return nil
}

const typedSQL = `SELECT answer FROM typed WHERE event_id = $1 AND holder = $2`

const holdOrderedSQL = `SELECT EXISTS (SELECT FROM orders WHERE hold_id = $1 AND holder = $2)`

// Typed returns the form that a holder sent last for an event. It returns the zero Typed if there is none, or if its hold was ordered, unless
// told is set and the form has something to say: a request for more time can store a form after the order was placed.
func (o *Orders) Typed(ctx context.Context, event int64, holder seats.ID, told bool) (t Typed, err error) {
	err = o.db.QueryRow(ctx, typedSQL, event, holder).Scan(&t)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, nil
	}
	ordered := false
	if err == nil && !(told && t.Told()) {
		err = o.db.QueryRow(ctx, holdOrderedSQL, t.Form.Hold, holder).Scan(&ordered)
	}
	if err != nil {
		return t, fmt.Errorf("orders: look for what was typed: %w", err)
	}
	if ordered {
		return Typed{}, nil
	}
	return t, nil
}

const purgeTypedSQL = `DELETE FROM typed WHERE since < clock_timestamp() - interval '1 day'`

// PurgeTyped deletes what was typed a day ago.
func (o *Orders) PurgeTyped(ctx context.Context) error {
	if _, err := o.db.Exec(ctx, purgeTypedSQL); err != nil {
		return fmt.Errorf("orders: delete what was typed: %w", err)
	}
	return nil
}

// cut shortens texts to one character more than the longest that would be right, so that they still are too long.
func (f Form) cut() Form {
	short := func(text string) string {
		if r := []rune(text); len(r) > mostAnswer {
			return string(r[:mostAnswer+1])
		}
		return text
	}
	f.Name, f.Email, f.Born, f.Method, f.Account = short(f.Name), short(f.Email), short(f.Born), short(f.Method), ""
	f.Code, f.Discount, f.Uses, f.Codes = short(f.Code), nil, nil, nil
	if f.Billing != nil {
		b := *f.Billing
		for _, t := range b.texts() {
			*t.text = short(*t.text)
		}
		f.Billing = &b
	}
	if f.Post != nil {
		a := *f.Post
		for _, t := range a.texts() {
			*t.text = short(*t.text)
		}
		f.Post = &a
	}
	answers := make(map[string]string, len(f.Answers))
	for number, text := range f.Answers {
		answers[number] = short(text)
	}
	f.Answers = answers
	names := make(map[int]string, len(f.Names))
	for idx, name := range f.Names {
		names[idx] = short(name)
	}
	f.Names = names
	return f
}
