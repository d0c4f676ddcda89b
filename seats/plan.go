package seats

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// MaxSeats is the most seats a plan, and so an event, may have.
const MaxSeats = 100_000

// Plan is a seating plan: what is drawn, where each seat is and what it is called. It knows no holders.
//
// Seats stand in the order of their idx; the seats of a section follow each other without gap, and within it those of
// a row. Package seats/plan reads and checks plans; a Plan made elsewhere must pass plan.Check before it is used.
type Plan struct {
	Name       string
	Width      float64 // the drawing spans 0…Width, 0…Height
	Height     float64
	Categories []Category
	Sections   []Section
	Seats      []Seat
	Shapes     []Shape
	Focus      *Point      // where people look; nil if the plan does not say
	Floors     []Floor     `json:",omitempty"` // shown one at a time, the first one first; none: everything is on one
	Whole      []WholeRow  `json:",omitempty"` // rows and tables that are sold whole
	Shared     []SharedRow `json:",omitempty"` // rows and tables where each party has a least and a most number of seats
}

// Floor is a storey of the venue. The drawing has the floors beside each other.
type Floor struct {
	Name      string // unique in the plan
	At        Point  // where its own origin lies in the drawing
	Low, High Point  // corners of the rectangle around what is on it
}

// Category is what a seat costs.
type Category struct {
	Key   string // short and stable, as in a claim for the best two of "A"
	Name  string // as people read it
	Color string // "#rrggbb" of the plan, or empty; the map may choose its own
	Price int64  // minor units of the event's currency
}

// Section is a part of the venue: rows of seats, or an area of places without labels (general admission).
type Section struct {
	Name    string // unique in the plan
	Area    bool
	First   int     // idx of its first seat
	Count   int     // how many seats it has
	Outline []Point // closed polygon around it
	Floor   int     `json:",omitempty"` // position in Plan.Floors
}

// Seat is one place to sit or stand.
type Seat struct {
	ID       string // the plan's own stable id for it
	Section  int    // position in Plan.Sections
	Category int    // position in Plan.Categories
	Row      string // empty in an area; the table's label at a table
	Number   string
	X, Y     float64
	Flags    Flags
}

// Flags say what is special about a seat. The numbers are those of column seat.flags.
type Flags uint8

// What may be special about a seat.
const (
	Accessible     Flags = 1 << iota // a wheelchair place
	Companion                        // beside a wheelchair place, for the person who comes along
	RestrictedView                   // something is in the way
	AisleAfter                       // the next seat of the row is across an aisle
)

var flagNames = [...]string{"accessible", "companion", "restricted-view", "aisle-after"}

// Names lists the words of the flags that are set.
func (f Flags) Names() []string {
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Point is a place in the drawing, y downwards.
type Point struct{ X, Y float64 }

// Shape is something drawn that is not a seat: a stage, a wall, a table, a word.
type Shape struct {
	Kind     string // "polygon", "line", "ellipse" or "text"
	Role     string // "stage", "table", "wall", "label", "other": how to paint it
	Points   []Point
	Center   Point
	RX, RY   float64 // radii of an ellipse
	Rotation float64 // degrees, clockwise
	Text     string
	Size     float64 // height of the text
	Floor    int     `json:",omitempty"` // position in Plan.Floors
}

// Label is what people call the seat: "Stalls/C/12", or "Floor/17" in an area. It names one seat of the plan.
func (p *Plan) Label(idx int) string {
	s := &p.Seats[idx]
	if s.Row == "" {
		return p.Sections[s.Section].Name + "/" + s.Number
	}
	return strings.Join([]string{p.Sections[s.Section].Name, s.Row, s.Number}, "/")
}

// FloorOf is the name of the floor that a section is on; empty if the plan has no floors.
func (p *Plan) FloorOf(section int) string {
	if len(p.Floors) == 0 {
		return ""
	}
	return p.Floors[p.Sections[section].Floor].Name
}

// SectionIn is a section by its name, after the floor it is on: "Balcony, Left". A section with the same name as its floor is named once.
func (p *Plan) SectionIn(ctx context.Context, section int) string {
	name := p.Sections[section].Name
	if floor := p.FloorOf(section); floor != "" && floor != name {
		return text.T(ctx, "%s, %s", floor, name)
	}
	return name
}

// Words is the seat as one says it: "Stalls, row C, seat 12", "Hall, Table 4, seat 2", or "Floor, place 17" in an area. Where the
// plan has floors, it begins with the floor.
func (p *Plan) Words(idx int) string {
	return p.WordsIn(context.Background(), idx)
}

// WordsIn is the same in the language of a reader. Long names of rows, such as "Table 4", say themselves what they are.
func (p *Plan) WordsIn(ctx context.Context, idx int) string {
	seat := &p.Seats[idx]
	section := p.SectionIn(ctx, seat.Section)
	switch {
	case seat.Row == "":
		return text.T(ctx, "%s, place %s", section, seat.Number)
	case OwnName(seat.Row):
		return text.T(ctx, "%s, %s, seat %s", section, seat.Row, seat.Number)
	}
	return text.T(ctx, "%s, row %s, seat %s", section, seat.Row, seat.Number)
}

// SeatName is one or more seats, in order, in a message.
func (p *Plan) SeatName(seats ...int) text.Local { return seatNames{p, seats} }

// OwnName reports whether a row's label is a name of its own, to which "row" would be one word too many.
func OwnName(row string) bool { return len(row) > 4 || strings.Contains(row, " ") }

// SectionNamed returns the position of the section with this name, or -1.
func (p *Plan) SectionNamed(name string) int {
	for i := range p.Sections {
		if p.Sections[i].Name == name {
			return i
		}
	}
	return -1
}

// CategoryKeyed returns the position of the category with this key, or -1.
func (p *Plan) CategoryKeyed(key string) int {
	for i := range p.Categories {
		if p.Categories[i].Key == key {
			return i
		}
	}
	return -1
}

const loadDrawingSQL = `SELECT p.name, p.drawing FROM plan p JOIN event e ON e.plan_id = p.id WHERE e.id = $1`

const loadCategoriesSQL = `SELECT key, name, price FROM category WHERE event_id = $1 ORDER BY number`

const loadSectionsSQL = `SELECT name, area, first, count FROM section WHERE event_id = $1 ORDER BY number`

const loadSeatsSQL = `
SELECT external_id, section, category, row, number, x, y, flags FROM seat WHERE event_id = $1 ORDER BY idx`

// LoadPlan reads the plan of an event, as CreateEvent was given it.
func LoadPlan(ctx context.Context, db DB, event int64) (*Plan, error) {
	p, err := loadPlan(ctx, db, event)
	if err != nil {
		return nil, fmt.Errorf("seats: load plan of event %d: %w", event, err)
	}
	return p, nil
}

func loadPlan(ctx context.Context, db DB, event int64) (*Plan, error) {
	var p Plan
	var d Drawing
	if err := db.QueryRow(ctx, loadDrawingSQL, event).Scan(&p.Name, &d); err != nil {
		return nil, err
	}
	p.Width, p.Height, p.Shapes, p.Focus, p.Floors, p.Whole, p.Shared = d.Width, d.Height, d.Shapes, d.Focus, d.Floors, d.Whole, d.Shared

	var err error
	if p.Categories, err = collect(ctx, db, loadCategoriesSQL, event, func(row pgx.CollectableRow) (c Category, err error) {
		return c, row.Scan(&c.Key, &c.Name, &c.Price)
	}); err != nil {
		return nil, err
	}
	if p.Sections, err = collect(ctx, db, loadSectionsSQL, event, func(row pgx.CollectableRow) (s Section, err error) {
		return s, row.Scan(&s.Name, &s.Area, &s.First, &s.Count)
	}); err != nil {
		return nil, err
	}
	if p.Seats, err = collect(ctx, db, loadSeatsSQL, event, func(row pgx.CollectableRow) (s Seat, err error) {
		return s, row.Scan(&s.ID, &s.Section, &s.Category, &s.Row, &s.Number, &s.X, &s.Y, &s.Flags)
	}); err != nil {
		return nil, err
	}
	for i := range p.Categories {
		p.Categories[i].Color = d.Colors[i]
	}
	for i := range p.Sections {
		p.Sections[i].Outline = d.Outlines[i]
		if len(p.Floors) > 0 {
			p.Sections[i].Floor = d.On[i]
		}
	}
	return &p, nil
}

func collect[T any](ctx context.Context, db DB, sql string, event int64, scan pgx.RowToFunc[T]) ([]T, error) {
	rows, err := db.Query(ctx, sql, event)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// Drawing is the part of a plan that is stored as one document. Its categories, sections and seats are rows.
type Drawing struct {
	Width, Height float64
	Colors        []string  // by category
	Outlines      [][]Point // by section
	Shapes        []Shape
	Focus         *Point
	Floors        []Floor     `json:",omitempty"`
	On            []int       `json:",omitempty"` // floor by section; none without floors
	Whole         []WholeRow  `json:",omitempty"` // rows that are sold whole
	Shared        []SharedRow `json:",omitempty"` // rows that are shared
}

// Drawing returns the part of the plan that is stored as one document.
func (p *Plan) Drawing() Drawing {
	d := Drawing{Width: p.Width, Height: p.Height, Shapes: p.Shapes, Focus: p.Focus, Floors: p.Floors, Whole: p.Whole, Shared: p.Shared}
	for _, c := range p.Categories {
		d.Colors = append(d.Colors, c.Color)
	}
	for _, s := range p.Sections {
		d.Outlines = append(d.Outlines, s.Outline)
		if len(p.Floors) > 0 {
			d.On = append(d.On, s.Floor)
		}
	}
	return d
}
