package plan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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
	mostCells   = 4_000_000 // texts of a table: each costs 16 bytes beside its own
	mostInLine  = 4_000     // separators in a line of a file, also inside of texts
	mostOfLine  = 1 << 20   // bytes of a line
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
	for line := range bytes.Lines(data) {
		if len(line) > mostOfLine || bytes.Count(line, []byte{byte(in.Comma)}) > mostInLine {
			return nil, errTable
		}
	}
	head, err := in.Read()
	if err != nil {
		return nil, tableError(err)
	}
	if len(head) > mostColumns {
		return nil, errTable
	}
	r := &Records{Kind: KindCSV}
	in.ReuseRecord = true
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, tableError(err)
		}
		if len(r.Rows)+1 >= mostRecords || (len(r.Rows)+1)*len(head) > mostCells {
			return nil, errTable
		}
		r.Rows = append(r.Rows, slices.Clone(row[:min(len(row), len(head))]))
	}
	if len(r.Rows) == 0 || len(head) < 2 {
		return nil, &Error{Line: 1, Reason: "a table has a line with the names of its columns, two at least, and a line for each seat"}
	}
	for i, name := range head {
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

var errTable = &Error{Reason: fmt.Sprintf("a table has at most %d columns, %d lines and %d cells", mostColumns, mostRecords, mostCells)}

func tableError(err error) error {
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		return &Error{Line: syntax.Line, Reason: "this is no table: " + syntax.Err.Error()}
	}
	return &Error{Reason: err.Error()}
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
