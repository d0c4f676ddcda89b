package waitlist

import (
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
)

// NewEntry is the form of a visitor who joins.
type NewEntry struct {
	Email string
	seats.Wanted
	Until   *time.Time // nil: as long as the sale is open
	Consent Consent
	Wrong   Mistakes // of fields that could not be read
}

// Fields of a form that a Mistake is about.
const (
	FieldEmail    = "email"
	FieldQuantity = "quantity"
	FieldWhere    = "where"
	FieldUntil    = "until"
	FieldMethod   = "method"
	FieldName     = "name"
	FieldMost     = "most"
)

// Mistakes says what is wrong with each field. Nothing was changed.
type Mistakes map[string]string

func (m Mistakes) Error() string {
	var words []string
	for _, field := range []string{FieldEmail, FieldQuantity, FieldWhere, FieldUntil, FieldMethod, FieldName, FieldMost} {
		if m[field] != "" {
			words = append(words, m[field])
		}
	}
	return strings.Join(words, " ")
}

// mostSeats is the most one entry waits for; the schema says so too.
const mostSeats = 100

func tidyEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// tidy removes what means nothing: a section twice, and together of one.
func (w NewEntry) tidy() NewEntry {
	w.Email = tidyEmail(w.Email)
	if w.Consent.Name = strings.Join(strings.Fields(w.Consent.Name), " "); !w.Consent.Given() {
		w.Consent = Consent{}
	}
	for _, list := range []*[]int{&w.Sections, &w.Categories} {
		*list = slices.Compact(slices.Sorted(slices.Values(*list)))
	}
	if w.Quantity == 1 {
		w.Together, w.Fewer = false, false
	}
	return w
}

// check finds every mistake in a tidy entry. now is the database's.
func (w NewEntry) check(s *seats.Sale, now time.Time) error {
	m := Mistakes{}
	maps.Copy(m, w.Wrong)
	if wrongEmail(w.Email) {
		m[FieldEmail] = "This is not an e-mail address such as ann@example.org."
	}
	if most := min(s.Event.SeatsPerHolder, mostSeats); w.Quantity < 1 || w.Quantity > most {
		m[FieldQuantity] = fmt.Sprintf("Ask for 1 to %d seats.", most)
	}
	outside := func(n int) func(int) bool { return func(i int) bool { return i < 0 || i >= n } }
	if slices.ContainsFunc(w.Sections, outside(len(s.Plan.Sections))) || slices.ContainsFunc(w.Categories, outside(len(s.Plan.Categories))) {
		m[FieldWhere] = "This event has no such place."
	}
	if w.Until != nil && !w.Until.After(now) {
		m[FieldUntil] = "This time is over already."
	}
	w.Consent.check(m)
	if len(m) > 0 {
		return m
	}
	return nil
}

func wrongEmail(address string) bool {
	parsed, err := mail.ParseAddress(address)
	return err != nil || len(address) > 254 || parsed.Address != address || !utf8.ValidString(address) || strings.ContainsFunc(address, unicode.IsControl)
}
