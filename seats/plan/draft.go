package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// draft is a plan as the file has it: names may be dirty, ids and labels may stand twice, the drawing may have any scale.
type draft struct {
	name          string
	width, height float64 // 0: as large as what is drawn
	focus         *seats.Point
	categories    []seats.Category
	sections      []draftSection
	shapes        []seats.Shape
	underlays     []documentUnderlay
	floors        []seats.Floor
	apart         []seats.Point // by floor: how far it was moved, so that no two cover each other

	idNames  [2]string   // what the file calls the ids of its seats, best first
	doc      *document   // the file, if it is one of the open format
	moved    seats.Point // how far the drawing was moved to begin at the margin
	costs    bool        // the file says what seats cost
	imported bool        // drawn in another program: to be scaled, and rid of what no seat uses
	seats    int         // so far, to stop at the limit
	wrong    faults      // of the file: what has one is left out, and reading goes on
	repairs  []Repair
	warnings []text.Message
}

type draftSection struct {
	name    string
	area    bool
	floor   int
	outline []seats.Point
	drawn   bool       // the outline was drawn around the seats, for want of one
	rows    []draftRow // an area has one, without label
}

type draftRow struct {
	label  string
	table  bool          // seats stand around it, so that the first and the last are neighbours
	whole  bool          // it is sold whole
	shared *seats.Shared // how many seats each party has there; nil if it is not shared
	top    int           // the shape of the table, counted from 1; 0 if it has none
	seats  []draftSeat
	path   []any // of the list of seats
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

// errNoSeats refuses a file of another program in which no seat was found. A document of our own may have none yet.
var errNoSeats = errors.New("the file has no seats")

func (d *draft) warn(what text.Message) {
	d.warnings = append(d.warnings, what)
}

func (d *draft) repaired(kind, where string, count int, what text.Message) {
	d.repairs = append(d.repairs, Repair{kind, where, count, what})
}

// room counts n more seats, and refuses them if they do not fit into a plan.
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
	return "", fail(path, "found %.40s where %s is expected", raw, "a text or a number")
}

// near reports whether all numbers fit into a drawing.
func near(numbers ...float64) bool {
	for _, n := range numbers {
		if math.IsNaN(n) || math.Abs(n) > farthest {
			return false
		}
	}
	return true
}

const tooFar = "a coordinate or size is so large that it is no place in a drawing"

// build makes the plan of a repaired draft.
func (d *draft) build() *seats.Plan {
	if d.imported {
		d.scale()
		d.aisles()
	}
	if d.imported && !d.costs {
		d.warn(text.Say("The file does not say what seats cost. An event of this plan is free of charge until its prices are set."))
	}
	for i := range d.sections {
		if s := &d.sections[i]; len(s.outline) == 0 {
			s.outline, s.drawn = around(s), true
		}
	}
	d.part()
	if d.width == 0 && d.height == 0 {
		d.place()
	}
	for i := range d.floors {
		f := &d.floors[i]
		if f.Low, f.High = d.bounds(i); f.Low.X > f.High.X { // nothing is on it yet
			f.Low, f.High = seats.Point{}, seats.Point{X: d.width, Y: d.height}
		}
	}
	p := &seats.Plan{Floors: d.floors, Name: d.name, Width: d.width, Height: d.height, Categories: d.categories, Shapes: d.shapes, Focus: d.focus}
	p.Seats = make([]seats.Seat, 0, d.seats)
	for i := range d.sections {
		s := &d.sections[i]
		first := len(p.Seats)
		for j := range s.rows {
			if s.rows[j].whole && len(s.rows[j].seats) > 1 {
				p.Whole = append(p.Whole, seats.WholeRow{Section: i, Row: s.rows[j].label})
			}
			if r := s.rows[j].shared; r != nil && len(s.rows[j].seats) > 1 {
				p.Shared = append(p.Shared, seats.SharedRow{Section: i, Row: s.rows[j].label, Shared: *r})
			}
			for k := range s.rows[j].seats {
				p.Seats = append(p.Seats, s.rows[j].seats[k].seat(i, s.rows[j].label))
			}
		}
		p.Sections = append(p.Sections, seats.Section{Name: s.name, Area: s.area, First: first, Count: len(p.Seats) - first, Outline: s.outline, Floor: s.floor})
	}
	return p
}

// oneCategory reports whether all seats of a row cost the same.
func (r *draftRow) oneCategory() bool {
	return !slices.ContainsFunc(r.seats, func(s draftSeat) bool { return s.category != r.seats[0].category })
}

func (s *draftSeat) seat(section int, row string) seats.Seat {
	return seats.Seat{ID: s.ids[0], Section: section, Category: s.category, Row: row, Number: s.number, X: s.x, Y: s.y, Flags: s.flags}
}

// around is the outline of a section that came without one.
func around(s *draftSection) []seats.Point {
	var all []seats.Point
	for _, r := range s.rows {
		for _, seat := range r.seats {
			all = append(all, seats.Point{X: seat.x, Y: seat.y})
		}
	}
	return padded(all, spacing)
}

// overlaps warns of seats that lie on each other: on the map only one of them can be reached by a finger.
func overlaps(p *seats.Plan) []text.Message {
	type cell struct{ x, y int }
	const touching = 4 // units; a seat is drawn about 16 wide
	var warnings []text.Message
	for _, s := range p.Sections {
		if s.Area {
			continue
		}
		cells, on, example := map[cell]int{}, 0, ""
		for i := s.First; i < s.First+s.Count; i++ {
			at := cell{int(math.Round(p.Seats[i].X / touching)), int(math.Round(p.Seats[i].Y / touching))}
			if other, ok := cells[at]; ok {
				if on++; on == 1 {
					example = fmt.Sprintf("%s on %s", p.Label(i), p.Label(other))
				}
				continue
			}
			cells[at] = i
		}
		if on > 0 {
			warnings = append(warnings, text.Say("Seats of section “%s” drawn on top of others: %d (%s). They are easier to find in the list than on the map.", s.Name, on, example))
		}
	}
	return warnings
}
