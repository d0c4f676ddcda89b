package orders

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
)

// Form is what an attendee sends to place an order.
type Form struct {
	Network  string       `json:"network,omitempty"` // it comes from, for the limits; empty: it is not counted
	Unpaid   UnpaidLimits `json:"-"`                 // that it must keep
	Verified string       `json:"-"`                 // an address that the attendee confirmed; empty: none

	Hold   seats.ID `json:"hold"`  // as the page showed it
	Seats  []int    `json:"seats"` // as the page showed them, in the order of idx
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Born   string   `json:"born"`   // 2006-01-02; only if the event asks
	Method string   `json:"method"` // Free, Door, Card, …

	Answers map[string]string `json:"answers,omitempty"` // by number of the event's question, from 1

	Account string   `json:"account,omitempty"` // the address of the credit account that pays, confirmed by the attendee; only for Credit
	Mandate seats.ID `json:"mandate,omitzero"`  // what pays while the customer is away; only for a method that keeps cards
}

// Fields of a form that a Mistake is about.
const (
	FieldName   = "name"
	FieldEmail  = "email"
	FieldBorn   = "born"
	FieldMethod = "method"
)

// Mistake says what is wrong with one field.
type Mistake struct{ Field, Message string }

// Mistakes is a form that cannot be taken as it is. Nothing was sold; the hold is as it was.
type Mistakes []Mistake

func (m Mistakes) Error() string {
	words := make([]string, len(m))
	for i, one := range m {
		words[i] = one.Message
	}
	return strings.Join(words, " ")
}

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
	mostName  = 200 // characters
	mostEmail = 254 // bytes, RFC 5321
)

// tidy removes spaces around a text, and answers to what was not asked.
func (f Form) tidy(e seats.Event, total int64) Form {
	f.Name, f.Email, f.Born = strings.Join(strings.Fields(f.Name), " "), strings.TrimSpace(f.Email), strings.TrimSpace(f.Born)
	if !e.AsksBirth {
		f.Born = ""
	}
	f.Answers = tidyAnswers(f.Answers, e.Questions)
	if total == 0 {
		f.Method = payments.Free
	}
	if f.Method != payments.Credit {
		f.Account = ""
	}
	if f.Method != payments.Card {
		f.Mandate = seats.ID{}
	}
	return f
}

// check finds every mistake in a tidy form. today is the database's.
func (f Form) check(e seats.Event, methods []string, today time.Time) (born *time.Time, wrong error) {
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
	note(FieldMethod, wrongMethod(f.Method, methods))
	if f.Method == payments.Credit && f.Account == "" {
		note(FieldMethod, "Sign in with the address your credit is of, then pay with it.")
	}
	if len(m) > 0 {
		return nil, m
	}
	return born, nil
}

func wrongName(name string) string {
	switch {
	case !strings.ContainsFunc(name, visible):
		return "Say your name."
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "The name has characters that cannot be printed."
	case utf8.RuneCountInString(name) > mostName:
		return fmt.Sprintf("The name is longer than %d characters.", mostName)
	}
	return ""
}

// visible tells whether a character can be seen by itself: not a space, not one that only joins or turns others.
func visible(r rune) bool { return unicode.IsPrint(r) && r != ' ' || r == utf8.RuneError }

func wrongEmail(address string) string {
	if address == "" {
		return "Say your e-mail address: your tickets go there."
	}
	parsed, err := mail.ParseAddress(address)
	switch {
	case len(address) > mostEmail:
		return fmt.Sprintf("The e-mail address is longer than %d characters.", mostEmail)
	case err != nil || parsed.Address != address || !utf8.ValidString(address) || strings.ContainsFunc(address, unicode.IsControl):
		return "This is not an e-mail address such as ann@example.org."
	}
	return ""
}

func birth(text string, today time.Time) (day time.Time, message string) {
	if text == "" {
		return day, "Say your date of birth."
	}
	day, err := time.Parse(time.DateOnly, text)
	switch {
	case err != nil:
		return day, "This is not a date such as 1990-12-31."
	case day.After(today):
		return day, "This date of birth is yet to come."
	case day.Before(today.AddDate(-130, 0, 0)):
		return day, "This date of birth is more than 130 years ago."
	}
	return day, ""
}

func wrongMethod(method string, methods []string) string {
	switch {
	case slices.Contains(methods, method):
		return ""
	case len(methods) == 0:
		return "This event has to be paid ahead, and no way to do that is set up here yet."
	}
	return "Choose how to pay."
}

// hash names the content of a form: a repeat has the same.
func (f Form) hash() []byte {
	f.Network = ""
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
