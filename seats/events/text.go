package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// ReadQuestion reads a question as organizers write it: a kind, with ! if it must be answered, and what is asked;
// for a choice, a colon and what there is to choose: "text! Company", "choice Menu: fish | vegetarian", "checkbox
// News by mail".
func ReadQuestion(written string) (seats.Question, error) {
	kind, label, _ := strings.Cut(strings.TrimSpace(written), " ")
	q := seats.Question{Label: strings.TrimSpace(label), Choices: []string{}}
	q.Kind, q.Required = strings.CutSuffix(kind, "!")
	if q.Kind == seats.AskChoice {
		label, choices, _ := strings.Cut(q.Label, ":")
		q.Label = strings.TrimSpace(label)
		for _, c := range strings.Split(choices, "|") {
			if c = strings.TrimSpace(c); c != "" {
				q.Choices = append(q.Choices, c)
			}
		}
	}
	switch {
	case q.Kind != seats.AskText && q.Kind != seats.AskChoice && q.Kind != seats.AskCheckbox:
		return q, &seats.ValidationError{Message: text.Mark("“%s” begins with none of text, choice and checkbox."), Args: []any{written}}
	case q.Label == "" || len([]rune(q.Label)) > mostLabel || strings.ContainsFunc(written, unicode.IsControl):
		return q, &seats.ValidationError{Message: text.Mark("“%s” asks nothing, or more than %d characters."), Args: []any{written, mostLabel}}
	case q.Kind == seats.AskChoice && len(q.Choices) < 2:
		return q, &seats.ValidationError{Message: text.Mark("“%s” leaves no choice: write “choice Menu: fish | vegetarian”."), Args: []any{written}}
	}
	return q, nil
}

// QuestionText writes a question as ReadQuestion reads it.
func QuestionText(q seats.Question) string {
	kind := q.Kind
	if q.Required {
		kind += "!"
	}
	written := kind + " " + q.Label
	if len(q.Choices) > 0 {
		written += ": " + strings.Join(q.Choices, " | ")
	}
	return written
}

const (
	mostQuestions = 20
	mostLabel     = 200 // characters
)

var spanUnits = []struct {
	name string
	is   time.Duration
}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}}

// ReadSpan reads a span of time: "7 days", "12 hours", "30 minutes", "0".
func ReadSpan(text string) (time.Duration, error) {
	number, unit, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	n, err := strconv.ParseUint(number, 10, 20)
	if err == nil && n == 0 {
		return 0, nil
	}
	for _, u := range spanUnits {
		if err == nil && strings.TrimSuffix(strings.TrimSpace(unit), "s") == u.name {
			return time.Duration(n) * u.is, nil
		}
	}
	return 0, fmt.Errorf("%q is not a time such as 7 days, 12 hours or 30 minutes", text)
}

// Span writes a span of time as ReadSpan reads it.
func Span(d time.Duration) string {
	for _, u := range spanUnits {
		if n := d / u.is; d%u.is == 0 && n > 0 {
			if n == 1 {
				return "1 " + u.name
			}
			return fmt.Sprintf("%d %ss", n, u.name)
		}
	}
	return "0"
}

const never = "never"

// ReadCancelUntil reads until when attendees may cancel: "7 days", "0" for the start, or "never".
func ReadCancelUntil(p *seats.Policy, text string) (err error) {
	if p.NoCancelling = strings.EqualFold(strings.TrimSpace(text), never); p.NoCancelling {
		p.CancelUntil = 0
		return nil
	}
	p.CancelUntil, err = ReadSpan(text)
	return err
}

// CancelUntilText writes what ReadCancelUntil reads.
func CancelUntilText(p seats.Policy) string {
	if p.NoCancelling {
		return never
	}
	return Span(p.CancelUntil)
}

// ReadExchangeUntil reads until when attendees may exchange tickets: "1 day", "0" for the start, or "never".
func ReadExchangeUntil(p *seats.Policy, text string) (err error) {
	if p.Exchanging = !strings.EqualFold(strings.TrimSpace(text), never); !p.Exchanging {
		p.ExchangeUntil = 0
		return nil
	}
	p.ExchangeUntil, err = ReadSpan(text)
	return err
}

// ExchangeUntilText writes what ReadExchangeUntil reads.
func ExchangeUntilText(p seats.Policy) string {
	if !p.Exchanging {
		return never
	}
	return Span(p.ExchangeUntil)
}

// ReadTransferUntil reads until when attendees may send tickets to another person: "1 day", "0" for the start, or "never".
func ReadTransferUntil(p *seats.Policy, text string) (err error) {
	if p.NoTransfers = strings.EqualFold(strings.TrimSpace(text), never); p.NoTransfers {
		p.TransferUntil = 0
		return nil
	}
	p.TransferUntil, err = ReadSpan(text)
	return err
}

// TransferUntilText writes what ReadTransferUntil reads.
func TransferUntilText(p seats.Policy) string {
	if p.NoTransfers {
		return never
	}
	return Span(p.TransferUntil)
}

// ReadResaleUntil reads until when buyers may offer tickets back: "1 day", "0" for the start, or "never".
func ReadResaleUntil(p *seats.Policy, text string) (err error) {
	if p.Resale = !strings.EqualFold(strings.TrimSpace(text), never); !p.Resale {
		p.ResaleUntil = 0
		return nil
	}
	p.ResaleUntil, err = ReadSpan(text)
	return err
}

// ResaleUntilText writes what ReadResaleUntil reads.
func ResaleUntilText(p seats.Policy) string {
	if !p.Resale {
		return never
	}
	return Span(p.ResaleUntil)
}

// ReadTypesUntil reads until when buyers may change ticket types: "1 day", "0" for the start, or "never".
func ReadTypesUntil(p *seats.Policy, text string) (err error) {
	if p.ChangingTypes = !strings.EqualFold(strings.TrimSpace(text), never); !p.ChangingTypes {
		p.TypesUntil = 0
		return nil
	}
	p.TypesUntil, err = ReadSpan(text)
	return err
}

// TypesUntilText writes what ReadTypesUntil reads.
func TypesUntilText(p seats.Policy) string {
	if !p.ChangingTypes {
		return never
	}
	return Span(p.TypesUntil)
}

// ReadConfirm reads what ConfirmText writes.
func ReadConfirm(p *seats.Policy, text string) error {
	switch c := seats.Confirm(strings.ToLower(strings.TrimSpace(text))); c {
	case "automatic":
		p.Confirm = seats.ConfirmByLimit
	case seats.ConfirmByLimit, seats.ConfirmAlways, seats.ConfirmNever:
		p.Confirm = c
	default:
		return fmt.Errorf("%q is not automatic, always or never", text)
	}
	return nil
}

// ConfirmText is automatic, always or never.
func ConfirmText(p seats.Policy) string {
	if p.Confirm == seats.ConfirmByLimit {
		return "automatic"
	}
	return string(p.Confirm)
}
