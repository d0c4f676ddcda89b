package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// MaxBytes is the size of the largest file Read takes: 64 MiB.
const MaxBytes = 64 << 20

// Words of Result.Format.
const (
	FormatOwn     = "usher-plan/1"
	FormatPretix  = "pretix"
	FormatSeatsio = "seats.io"
)

// Result is a plan that was read, with its repairs and warnings.
type Result struct {
	Plan     *seats.Plan
	Format   string         // FormatOwn, FormatPretix or FormatSeatsio
	Repairs  []Repair       // faults of the file that are mended in the plan
	Warnings []text.Message // parts of the file that the plan lacks, a sentence each
}

// Repair is something the file had wrong and Read put right, so that every seat has its own id and its own label.
type Repair struct {
	Kind    string       // "duplicate-id", "duplicate-label", "duplicate-section", "name", "overlap" or "sold-apart"
	Where   string       // the section it is about; empty if it is about the whole plan
	Count   int          // how many seats, rows or names it touched
	Message text.Message // a sentence for the organizer
}

// String is the repair as a line of a report.
func (r Repair) String() string { return r.In(context.Background()) }

// In is the repair in the language of its reader.
func (r Repair) In(ctx context.Context) string {
	if r.Where == "" {
		return r.Message.In(ctx)
	}
	return text.T(ctx, "%s: %s", r.Where, r.Message)
}

// Read reads a plan of any format it knows. It returns a whole plan that passes Check, or an error and no plan: an
// *Error, if it is known where in the file the trouble is.
func Read(r io.Reader) (*Result, error) {
	result, _, err := readDraft(r)
	return result, err
}

func readDraft(r io.Reader) (*Result, *draft, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("plan: read: %w", err)
	}
	data, err = examine(data)
	if err != nil {
		return nil, nil, err
	}
	format, err := detect(data)
	if err != nil {
		return nil, nil, err
	}
	d, err := drafted(data, format)
	if err != nil {
		return nil, nil, err
	}
	result, err := d.finish(format)
	if err != nil {
		return nil, nil, explain(data, err)
	}
	return result, d, nil
}

// finish repairs a draft and makes the plan of it.
func (d *draft) finish(format string) (*Result, error) {
	if err := d.repair(); err != nil {
		return nil, err
	}
	p := d.build()
	if err := Check(p); err != nil {
		return nil, fmt.Errorf("the plan breaks a rule: %w", err)
	}
	return &Result{Plan: p, Format: format, Repairs: d.repairs, Warnings: append(d.warnings, overlaps(p)...)}, nil
}

// drafted decodes the file; nothing is repaired yet.
func drafted(data []byte, format string) (*draft, error) {
	var d *draft
	var err error
	switch format {
	case FormatPretix:
		d, err = readPretix(data)
	case FormatSeatsio:
		d, err = readSeatsio(data)
	default:
		d, err = readOwn(data)
	}
	if err != nil {
		return nil, explain(data, err)
	}
	return d, nil
}

// probe holds the keys that tell the formats apart.
type probe struct {
	Format         *string         `json:"format"`
	Zones          json.RawMessage `json:"zones"`
	SubChart       json.RawMessage `json:"subChart"`
	SubChartFloors json.RawMessage `json:"subChartFloors"`
}

func detect(data []byte) (string, error) {
	var is probe
	if err := json.Unmarshal(data, &is); err != nil {
		return "", explain(data, err)
	}
	switch {
	case is.Format != nil && *is.Format == FormatOwn:
		return FormatOwn, nil
	case is.Format != nil && strings.HasPrefix(*is.Format, "usher-plan/"):
		return "", &Error{
			Line: locate(data, "format"), Where: "format",
			Reason: fmt.Sprintf("this version of Usher reads %q, the file is %q; a newer Usher may read it", FormatOwn, *is.Format),
		}
	case is.SubChart != nil, is.SubChartFloors != nil:
		return FormatSeatsio, nil
	case len(is.Zones) > 0 && is.Zones[0] == '[':
		return FormatPretix, nil
	}
	return "", &Error{Line: 1, Reason: unknownJSON}
}

const unknownJSON = `this is JSON, but no plan Usher knows: its own has "format": "` + FormatOwn +
	`", a pretix plan has a list "zones", a seats.io chart has "subChart" or "subChartFloors"`

// errAt is a problem at a path of the document, before its line is known.
type errAt struct {
	path   []any
	reason string
}

func (e *errAt) Error() string { return spell(e.path) + ": " + e.reason }

// explain gives an error the line it is on.
func explain(data []byte, err error) error {
	var at *errAt
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var bad *badValue
	var told *Error
	var several *errFaults
	switch {
	case errors.As(err, &several):
		return several.explained(data)
	case errors.As(err, &told):
		return told
	case errors.As(err, &at):
		return &Error{Line: locate(data, at.path...), Where: spell(at.path), Reason: at.reason}
	case errors.As(err, &syntax):
		return &Error{Line: lineAt(data, syntax.Offset), Reason: "this is not JSON from here on"}
	case errors.As(err, &kind):
		return &Error{Line: lineAt(data, kind.Offset), Where: kind.Field, Reason: mismatch(kind)}
	case errors.As(err, &bad):
		return &Error{Line: lineAt(data, int64(bytes.Index(data, bad.text))), Reason: bad.Error()}
	}
	return &Error{Reason: strings.TrimPrefix(err.Error(), "json: ")}
}

// mostParts is the most objects and lists, and the most elements of lists, a file may have. A plan of 100,000 seats in
// any of the formats has far fewer; a file with more is made to fill the memory.
const mostParts = 1_000_000

// mostDeep is how many objects and lists may stand in each other. Plans have about ten.
const mostDeep = 50

// examine refuses a file that is too large, is not text, or would cost far more memory than its size.
func examine(data []byte) ([]byte, error) {
	if len(data) > MaxBytes {
		return nil, &Error{Reason: fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 {
		return nil, &Error{Line: 1, Reason: "the file is empty"}
	}
	if trimmed[0] != '{' && trimmed[0] != '[' {
		return nil, &Error{Line: 1, Reason: "this is not JSON. Tables (CSV) and drawings (SVG) are imported on the page Plans"}
	}
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, &Error{Line: lineAt(data, int64(i)), Reason: "this is not UTF-8 text"}
		}
		i += size
	}
	return data, weigh(data)
}

// weigh counts the parts of a file outside of texts and how deep they stand, and refuses null as an element: five bytes in the file
// would be a whole empty seat in memory.
func weigh(data []byte) error {
	var open []byte // the brackets around this place
	parts, elements, before := 0, 0, byte(0)
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			i = textEnd(data, i)
		case '{', '[':
			open = append(open, c)
			parts++
			if len(open) > mostDeep {
				return &Error{Line: lineAt(data, int64(i)), Reason: fmt.Sprintf("more than %d objects and lists stand in each other: too many for a plan", mostDeep)}
			}
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case ',':
			if len(open) > 0 && open[len(open)-1] == '[' {
				elements++
			}
		case 'n':
			if before == '[' || before == ',' {
				return &Error{Line: lineAt(data, int64(i)), Reason: "null stands in a list, where an element is expected"}
			}
		}
		if max(parts, elements) > mostParts {
			return &Error{Line: lineAt(data, int64(i)), Reason: fmt.Sprintf("more than %d parts: too many for a plan", mostParts)}
		}
		if i < len(data) {
			before = data[i]
		}
	}
	return nil
}

// textEnd is the position of the quote that ends the text which begins at i.
func textEnd(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}

// Error is the reason why a file is refused, and its place in the file.
type Error struct {
	Line   int    // counted from 1; 0 if the trouble is not on one line
	Where  string // the way to the value, as in zones[1].rows[3].seats[0]; may be empty
	Reason string

	Others []*Error // what else is wrong with the file, in its order, as far as it is said
	More   int      // how much of that is not said
}

// Error is the line, the way and the reason, of all that is wrong.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("plan: read: " + e.place())
	for _, o := range e.Others {
		b.WriteString("; " + o.place())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "; and %d more", e.More)
	}
	return b.String()
}

func (e *Error) place() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	b.WriteString(e.Reason)
	return b.String()
}

// mostFaults is how many faults of a file are said. Each is looked for in the file again, so that of large files fewer are.
const mostFaults = 20

// faults are what is wrong with a file: reading goes on behind each of them.
type faults struct {
	said []error
	more int
}

func (f *faults) add(err error) {
	if len(f.said) < mostFaults {
		f.said = append(f.said, err)
		return
	}
	f.more++
}

// all is an error with all faults; nil if there are none.
func (f *faults) all() error {
	if len(f.said) == 0 {
		return nil
	}
	return &errFaults{f.said, f.more}
}

// errFaults is several faults before their lines are known.
type errFaults struct {
	said []error
	more int
}

func (e *errFaults) Error() string { return e.explained(nil).Error() }

// explained is one error about all faults.
func (e *errFaults) explained(data []byte) *Error {
	said := e.said
	if len(data) > 0 {
		said = said[:max(1, min(len(said), MaxBytes/len(data)))]
	}
	first := *Refused(explain(data, said[0]))
	first.More = e.more + len(e.said) - len(said)
	for _, err := range said[1:] {
		first.Others = append(first.Others, Refused(explain(data, err)))
	}
	return &first
}

// badValue is a value of an unexpected kind. Its place in the file is found by its text.
type badValue struct {
	text []byte
	want string
}

func (b *badValue) Error() string {
	return fmt.Sprintf("found %.40s where %s is expected", b.text, b.want)
}

// mismatch is the message for a value of the wrong kind.
func mismatch(e *json.UnmarshalTypeError) string {
	want := map[string]string{
		"string": "a text", "float64": "a number", "int": "a whole number", "int64": "a whole number",
		"bool": "true or false", "slice": "a list", "struct": "an object", "ptr": "an object", "map": "an object",
	}[e.Type.Kind().String()]
	if want == "" {
		want = "something else"
	}
	if strings.HasPrefix(e.Value, "number ") {
		return fmt.Sprintf("%s does not fit here; expected %s that is finite and not huge", e.Value, want)
	}
	return fmt.Sprintf("found %s where %s is expected", e.Value, want)
}

// spell writes a path as people do: zones[1].rows[3].
func spell(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// lineAt is the line, counted from 1, of a byte of the file.
func lineAt(data []byte, offset int64) int {
	offset = max(0, min(offset, int64(len(data))))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}

// locate finds the line on which the value at a path stands, or, if it is missing, that of the nearest thing around it.
// It reads the file again: errors are rare, and a plan that remembers its lines would be large.
func locate(data []byte, path ...any) int {
	dec := json.NewDecoder(bytes.NewReader(data))
	line := 1
	for _, step := range path {
		if !descend(dec, step) {
			break
		}
		line = lineAt(data, valueStart(data, dec.InputOffset()))
	}
	return line
}

// descend moves to the value of a key or to an element of a list; false if there is none.
func descend(dec *json.Decoder, step any) bool {
	open, err := dec.Token()
	if err != nil {
		return false
	}
	for n := 0; dec.More(); n++ {
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return false
			}
			if key == step {
				return true
			}
		} else if n == step {
			return true
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}

// valueStart skips the characters between a key and its value, or between two elements.
func valueStart(data []byte, offset int64) int64 {
	for offset < int64(len(data)) && bytes.IndexByte([]byte(" \t\r\n:,"), data[offset]) >= 0 {
		offset++
	}
	return offset
}
