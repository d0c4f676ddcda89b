// Package lists is what the lists have in common that organizers import: how spreadsheets write them, and a refusal that names each
// wrong line, so that all of them are corrected at once.
package lists

import (
	"context"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// MostLines is how many lines a list has at most.
const MostLines = 5000

const mostWrong = 100 // lines of which a refusal says what is wrong

// Wrong is a refusal that names each wrong line.
type Wrong []wrongLine

type wrongLine struct {
	line int
	Why  text.Message
}

// Add notes what is wrong with a line, counted from 1.
func (w *Wrong) Add(line int, why text.Message) { *w = append(*w, wrongLine{line, why}) }

// In says it in the language of its reader.
func (w Wrong) In(ctx context.Context) string {
	var words []string
	for i, one := range w {
		if i == mostWrong {
			words = append(words, text.N(ctx, "%d more line is wrong.", "%d more lines are wrong.", len(w)-i))
			break
		}
		words = append(words, text.T(ctx, "Line %d: %s", one.line, one.Why))
	}
	return strings.Join(append(words, text.T(ctx, "Nothing was imported.")), "\n")
}

// Err returns a *seats.ValidationError, or nil if no line is wrong.
func (w Wrong) Err() error {
	if len(w) == 0 {
		return nil
	}
	return &seats.ValidationError{Message: "%s", Args: []any{w}}
}

// Separator is what stands between the fields of a line: a tab, a semicolon or else a comma.
func Separator(line string) rune {
	for _, sign := range "\t;" {
		if strings.ContainsRune(line, sign) {
			return sign
		}
	}
	return ','
}

// Day reads a day; the zero one for nothing.
func Day(typed string) (day time.Time, ok bool) {
	if typed == "" {
		return day, true
	}
	for _, as := range []string{time.DateOnly, "2.1.2006"} {
		if day, err := time.Parse(as, typed); err == nil && day.Year() >= 1900 && day.Year() < 2200 {
			return day, true
		}
	}
	return day, false
}
