// Package plan reads, checks, writes and draws seating plans: Usher's own open format (docs/plan-format.md), plans of
// pretix and of seats.io, and the plans Usher ships.
package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/usherbox/usher/seats"
)

// MaxBytes is the size of the largest file Read takes: 64 MiB.
const MaxBytes = 64 << 20

// Words of Result.Format.
const (
	FormatOwn     = "usher-plan/1"
	FormatPretix  = "pretix"
	FormatSeatsio = "seats.io"
)

// Result is a plan that was read, and what there is to say about it.
type Result struct {
	Plan     *seats.Plan
	Format   string   // FormatOwn, FormatPretix or FormatSeatsio
	Repairs  []Repair // what in the file was wrong and is right in the plan
	Warnings []string // what of the file the plan does not have, a sentence each
}

// Repair is something the file had wrong and Read put right, so that every seat has its own id and its own label.
type Repair struct {
	Kind    string // "duplicate-id", "duplicate-label", "duplicate-section", "name" or "overlap"
	Where   string // the section it is about; empty if it is about the whole plan
	Count   int    // how many seats, rows or names it touched
	Message string // a sentence for the organizer
}

// String is the repair as a line of a report.
func (r Repair) String() string {
	if r.Where == "" {
		return r.Message
	}
	return r.Where + ": " + r.Message
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

// drafted decodes the file as the plan it tells, nothing repaired yet.
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
	return "", &Error{Line: 1, Reason: `this is JSON, but no plan Usher knows: its own has "format": "` + FormatOwn +
		`", a pretix plan has a list "zones", a seats.io chart has "subChart" or "subChartFloors"`}
}

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
	switch {
	case errors.As(err, &told):
		return told
	case errors.As(err, &at):
		return &Error{Line: locate(data, at.path...), Where: spell(at.path), Reason: at.reason}
	case errors.As(err, &syntax):
		return &Error{Line: lineAt(data, syntax.Offset), Reason: "this is not JSON: " + syntax.Error()}
	case errors.As(err, &kind):
		return &Error{Line: lineAt(data, kind.Offset), Where: kind.Field, Reason: mismatch(kind)}
	case errors.As(err, &bad):
		return &Error{Line: lineAt(data, int64(bytes.Index(data, bad.text))), Reason: bad.Error()}
	}
	return &Error{Reason: strings.TrimPrefix(err.Error(), "json: ")}
}
