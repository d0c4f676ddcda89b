package paging

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
)

// Most is how many lines a page has at most.
const Most = 500

// Page is the part of a list that is asked for.
type Page struct {
	After Place // the zero Place is the beginning
	Limit int
}

// Place is a place in a list: behind the line with these values. A list uses those that it is sorted by.
type Place struct {
	At   time.Time `json:"at,omitzero"`
	ID   seats.ID  `json:"id,omitzero"`
	N    int64     `json:"n,omitempty"`
	Rank int64     `json:"rank,omitempty"`
	Text string    `json:"text,omitempty"`
}

// Time is At for a statement; nil for none.
func (p Place) Time() *time.Time {
	if p.At.IsZero() {
		return nil
	}
	return &p.At
}

// cursor is a place with the list that it is of.
type cursor struct {
	List string `json:"list"`
	Place
}

// Cursor writes a place of a list for programs; empty for none.
func (p *Place) Cursor(list string) string {
	if p == nil {
		return ""
	}
	text, err := json.Marshal(cursor{list, *p})
	if err != nil {
		panic("paging: a place has no text: " + err.Error()) // of values that all have one
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// Read returns the place that Cursor wrote. ok reports whether it is one of this list.
func Read(list, written string) (p Place, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(written)
	if err != nil {
		return p, false
	}
	var c cursor
	if err := json.Unmarshal(text, &c); err != nil || c.List != list {
		return p, false
	}
	if strings.ContainsRune(c.Text, 0) || c.At.Year() < 1 || c.At.Year() > 9999 { // PostgreSQL cannot store these
		return p, false
	}
	return c.Place, true
}

// ErrAhead says that a place is behind all changes that there are, as after an older state of the database was restored.
var ErrAhead = errors.New("there is no such change yet")

// Cut ends a list, which was read with one line more than the page has, with the page. next is the place of its last line, nil if the list
// ends there.
func Cut[T any](list []T, p Page, placeOf func(T) Place) (page []T, next *Place) {
	if len(list) <= p.Limit {
		return list, nil
	}
	last := placeOf(list[p.Limit-1])
	return list[:p.Limit], &last
}

// Follow ends a list of changes, of which the last one has the number last. Such a list has no end: next is where to go on, at once if there is
// more, or any time later.
//
// Errors: ErrAhead.
func Follow[T any](list []T, p Page, last int64, numberOf func(T) int64) (page []T, next Place, more bool, err error) {
	if p.After.N > last {
		return nil, next, false, ErrAhead
	}
	page, end := Cut(list, p, func(one T) Place { return Place{N: numberOf(one)} })
	if end == nil {
		return page, Place{N: last}, false, nil
	}
	return page, *end, true, nil
}
