package desk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/plan"
)

// sheet takes rows of a list and makes a file of them, row by row: however many there are, few are in memory.
type sheet interface {
	row(cells ...any) error // texts, whole numbers, amounts, times; nil is an empty cell
	end() error
}

// amount is money in a cell.
type amount struct {
	minor    int64
	decimals int
}

func (a amount) text() string {
	if a.decimals == 0 {
		return strconv.FormatInt(a.minor, 10)
	}
	return strconv.FormatFloat(a.number(), 'f', a.decimals, 64)
}

func (a amount) number() float64 {
	n := float64(a.minor)
	for range a.decimals {
		n /= 10
	}
	return n
}

// CSV writes comma-separated values (RFC 4180). Every text stands in quotes and is Harmless, also to a spreadsheet that takes
// another separator than the comma.
type CSV struct{ out *bufio.Writer }

// NewCSV returns a CSV that writes to w.
func NewCSV(w io.Writer) *CSV { return &CSV{bufio.NewWriter(w)} }

// Line writes a row of texts.
func (s *CSV) Line(texts ...string) error {
	cells := make([]any, len(texts))
	for i, text := range texts {
		cells[i] = text
	}
	return s.row(cells...)
}

// Flush writes what is left.
func (s *CSV) Flush() error { return s.out.Flush() }

func (s *CSV) row(cells ...any) error {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch v := cell.(type) {
		case nil:
		case amount:
			texts[i] = v.text()
		case time.Time:
			texts[i] = v.UTC().Format(time.RFC3339)
		case int:
			texts[i] = strconv.Itoa(v)
		case string:
			texts[i] = `"` + strings.ReplaceAll(plan.Harmless(v), `"`, `""`) + `"`
		default:
			return fmt.Errorf("a cell of a list is a %T", cell)
		}
	}
	_, err := s.out.WriteString(strings.Join(texts, ",") + "\n")
	return err
}

func (s *CSV) end() error { return s.Flush() }

// jsonSheet writes one JSON object with a list of objects, one for each row. Money is in minor units, as everywhere else in JSON.
type jsonSheet struct {
	w       *bufio.Writer
	name    string // of the list
	answers int    // of the last columns, which are answers to the event's questions
	head    []string
	rows    int
}

func newJSON(w io.Writer, name string, answers int) *jsonSheet {
	return &jsonSheet{w: bufio.NewWriter(w), name: name, answers: answers}
}

func (s *jsonSheet) row(cells ...any) error {
	if s.head == nil {
		for _, cell := range cells {
			s.head = append(s.head, fmt.Sprint(cell))
		}
		_, err := fmt.Fprintf(s.w, "{%q: [", s.name)
		return err
	}
	object, answers := map[string]any{}, map[string]string{}
	for i, cell := range cells {
		switch v := cell.(type) {
		case amount:
			cell = v.minor
		case time.Time:
			cell = v.UTC().Format(time.RFC3339)
		}
		if i < len(cells)-s.answers {
			object[strings.ReplaceAll(s.head[i], " ", "_")] = cell
		} else if text, said := cell.(string); said && text != "" {
			answers[s.head[i]] = text
		}
	}
	if s.answers > 0 {
		object["answers"] = answers
	}
	line, err := json.Marshal(object)
	if err != nil {
		return err
	}
	separator := ",\n"
	if s.rows++; s.rows == 1 {
		separator = "\n"
	}
	_, err = s.w.Write(append([]byte(separator), line...))
	return err
}

func (s *jsonSheet) end() error {
	_, err := s.w.WriteString("\n]}\n")
	return errors.Join(err, s.w.Flush())
}
