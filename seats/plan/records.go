package plan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats"
)

// Words of Records.Kind.
const (
	KindCSV = "CSV"
	KindSVG = "SVG"
)

// Records are what a table or a drawing says of things that may be seats: a row of texts for each, under columns. Which
// column means what is for a person to say.
type Records struct {
	Kind    string
	Columns []string
	Rows    [][]string

	shapes []seats.Shape // texts of a drawing
}

const (
	mostRecords = 200_000
	mostColumns = 60
)

// Survey reads a table or a drawing. The error is an *Error, if it is known what is wrong.
func Survey(data []byte) (*Records, error) {
	if len(data) > MaxBytes {
		return nil, &Error{Reason: fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch trimmed := bytes.TrimSpace(data); {
	case len(trimmed) == 0:
		return nil, &Error{Line: 1, Reason: "the file is empty"}
	case trimmed[0] == '<':
		return surveySVG(data)
	default:
		return surveyCSV(data)
	}
}

// IsRecords tells whether a file is a table or a drawing, of which somebody has to say what is what.
func IsRecords(data []byte) bool {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	return len(trimmed) > 0 && trimmed[0] != '{' && trimmed[0] != '['
}

// surveyCSV reads a table whose first line names its columns, parted by commas, semicolons or tabs.
func surveyCSV(data []byte) (*Records, error) {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	in := csv.NewReader(bytes.NewReader(data))
	in.FieldsPerRecord, in.LazyQuotes, in.TrimLeadingSpace = -1, true, true
	for _, comma := range ",;\t" {
		if strings.Count(string(first), string(comma)) > strings.Count(string(first), string(in.Comma)) {
			in.Comma = comma
		}
	}
	all, err := in.ReadAll()
	var syntax *csv.ParseError
	switch {
	case errors.As(err, &syntax):
		return nil, &Error{Line: syntax.Line, Reason: "this is no table: " + syntax.Err.Error()}
	case err != nil:
		return nil, &Error{Reason: err.Error()}
	case len(all) < 2 || len(all[0]) < 2:
		return nil, &Error{Line: 1, Reason: "a table has a line with the names of its columns, two at least, and a line for each seat"}
	case len(all[0]) > mostColumns || len(all) > mostRecords:
		return nil, &Error{Reason: fmt.Sprintf("a table has at most %d columns and %d lines", mostColumns, mostRecords)}
	}
	r := &Records{Kind: KindCSV, Rows: all[1:]}
	for i, name := range all[0] {
		name = strings.ToValidUTF8(strings.TrimSpace(name), "")
		if name == "" || slices.Contains(r.Columns, name) {
			name = fmt.Sprintf("column %d", i+1)
		}
		r.Columns = append(r.Columns, name)
	}
	for i, row := range r.Rows {
		for len(row) < len(r.Columns) {
			row = append(row, "")
		}
		for j := range row {
			row[j] = strings.ToValidUTF8(strings.TrimSpace(row[j]), "")
		}
		r.Rows[i] = row[:len(r.Columns)]
	}
	return r, nil
}

// Values are the different texts of a column and how often each stands, at most so many of them, the most frequent first.
func (r *Records) Values(column string, most int) []Value {
	at := slices.Index(r.Columns, column)
	if at < 0 {
		return nil
	}
	counts := map[string]int{}
	for _, row := range r.Rows {
		counts[row[at]]++
	}
	list := make([]Value, 0, len(counts))
	for text, n := range counts {
		list = append(list, Value{text, n})
	}
	slices.SortFunc(list, func(a, b Value) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Text, b.Text)
	})
	return list[:min(len(list), most)]
}

// Value is a text and how often it stands.
type Value struct {
	Text  string
	Count int
}
