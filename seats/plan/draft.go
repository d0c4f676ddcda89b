package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/usherbox/usher/seats"
)

// draft is a plan as a file tells it: names may be dirty, ids and labels may stand twice, the drawing may have any scale.
type draft struct {
	name          string
	width, height float64 // 0: as large as what is drawn
	focus         *seats.Point
	categories    []seats.Category
	sections      []draftSection
	shapes        []seats.Shape

	idNames  [2]string   // what the file calls the ids of its seats, best first
	doc      *document   // the file, if it is one of the open format
	moved    seats.Point // how far the drawing was moved to begin at the margin
	imported bool        // drawn in another program: to be scaled, and rid of what no seat uses
	seats    int         // so far, to stop at the limit
	repairs  []Repair
	warnings []string
}

type draftSection struct {
	name    string
	area    bool
	outline []seats.Point
	drawn   bool       // the outline was drawn around the seats, for want of one
	rows    []draftRow // an area has one, without label
}

type draftRow struct {
	label string
	table bool // seats stand around it, so that the first and the last are neighbours
	top   int  // the shape of the table, counted from 1; 0 if it has none
	seats []draftSeat
	path  []any // of the list of seats
}

type draftSeat struct {
	ids      []string // best first
	number   string
	category int
	x, y     float64
	flags    seats.Flags
}

// farthest is the largest coordinate taken from a file, in its own units. Sums of a few of these stay exact enough.
const farthest = 1e9

// errNoSeats is what a file with a drawing and nothing to sell gets.
var errNoSeats = errors.New("the file has no seats")

func (d *draft) warn(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}

func (d *draft) repaired(kind, where string, count int, format string, args ...any) {
	d.repairs = append(d.repairs, Repair{kind, where, count, fmt.Sprintf(format, args...)})
}

// room asks whether n more seats fit into a plan.
func (d *draft) room(n int, path ...any) error {
	if n < 0 || n > seats.MaxSeats-d.seats {
		return fail(path, "more than %d seats: too many for one plan", seats.MaxSeats)
	}
	d.seats += n
	return nil
}

func fail(path []any, format string, args ...any) error {
	return &errAt{path, fmt.Sprintf(format, args...)}
}

// under is path with more steps, in memory of its own.
func under(path []any, steps ...any) []any {
	return append(append(make([]any, 0, len(path)+len(steps)), path...), steps...)
}

// label is a text that some programs write as a number.
func label(raw json.RawMessage, path ...any) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == 'n' {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String(), nil
	}
	return "", fail(path, "found %.40s where a text or a number is expected", raw)
}

// near asks whether all numbers are such that a drawing can have them.
func near(numbers ...float64) bool {
	for _, n := range numbers {
		if math.IsNaN(n) || math.Abs(n) > farthest {
			return false
		}
	}
	return true
}

const tooFar = "a coordinate or size is so large that it is no place in a drawing"
