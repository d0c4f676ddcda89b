package seats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// MaxSeats is the most seats a plan, and so an event, may have.
const MaxSeats = 100_000

// Plan is a seating plan: what is drawn, where each seat is and what it is called. It knows nothing of who has a seat.
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
	Focus      *Point // where people look; nil if the plan does not say
}

// Category is what a seat costs.
type Category struct {
	Key   string // short and stable, as in a claim for the best two of "A"
	Name  string // as people read it
	Color string // "#rrggbb" of the plan, or empty; the map may choose its own
	Price int64  // minor units of the event's currency
}

// Section is a part of the house: rows of seats, or an area of places without labels (general admission).
type Section struct {
	Name    string // unique in the plan
	Area    bool
	First   int     // idx of its first seat
	Count   int     // how many seats it has
	Outline []Point // closed polygon around it
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
}

// Label is what people call the seat: "Stalls/C/12", or "Floor/17" in an area. It names one seat of the plan.
func (p *Plan) Label(idx int) string {
	s := &p.Seats[idx]
	if s.Row == "" {
		return p.Sections[s.Section].Name + "/" + s.Number
	}
	return strings.Join([]string{p.Sections[s.Section].Name, s.Row, s.Number}, "/")
}

// Words is the seat as one says it: "Stalls, row C, seat 12", "Hall, Table 4, seat 2", or "Floor, place 17" in an area.
func (p *Plan) Words(idx int) string {
	s := &p.Seats[idx]
	if s.Row == "" {
		return p.Sections[s.Section].Name + ", place " + s.Number
	}
	return p.rowWords(idx) + ", seat " + s.Number
}

// rowWords is a seat's section and row: "Stalls, row C". Long names, such as "Table 4", say themselves what they are.
func (p *Plan) rowWords(idx int) string {
	s := &p.Seats[idx]
	if OwnName(s.Row) {
		return p.Sections[s.Section].Name + ", " + s.Row
	}
	return p.Sections[s.Section].Name + ", row " + s.Row
}

// OwnName tells whether a row's label is a name of its own, to which "row" would be one word too many.
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
	var d drawing
	if err := db.QueryRow(ctx, loadDrawingSQL, event).Scan(&p.Name, &d); err != nil {
		return nil, err
	}
	p.Width, p.Height, p.Shapes, p.Focus = d.Width, d.Height, d.Shapes, d.Focus

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

// Pick reads seats as organizers write them, one after the other on lines or after commas: a seat ("Stalls/C/12"),
// some of a row ("Stalls/C/12-18"), a row ("Stalls/C"), a section or an area ("Stalls"). In the order of idx, each
// once. *Nonsense says what is not there.
func (s *Sale) Pick(text string) ([]int, error) {
	var all []int
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '\r' }) {
		if part = strings.TrimFunc(part, unicode.IsSpace); part == "" {
			continue
		}
		found := s.pickOne(part)
		if found == nil {
			return nil, &Nonsense{Unknown: true, Message: fmt.Sprintf("This event has no seat, row or section %q. Nothing was changed.", part)}
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (s *Sale) pickOne(part string) (found []int) {
	if idx, ok := s.Seat(part); ok {
		return []int{idx}
	}
	if i := s.Plan.SectionNamed(part); i >= 0 {
		at := s.Plan.Sections[i]
		for idx := at.First; idx < at.First+at.Count; idx++ {
			found = append(found, idx)
		}
		return found
	}
	if found = s.pickRow(part); found != nil {
		return found
	}
	slash := strings.LastIndexByte(part, '/')
	if slash < 0 {
		return nil
	}
	from, to, isRange := strings.Cut(part[slash+1:], "-")
	if !isRange {
		return nil
	}
	first, ok := s.Seat(part[:slash+1] + strings.TrimSpace(from))
	last, ok2 := s.Seat(part[:slash+1] + strings.TrimSpace(to))
	if !ok || !ok2 {
		return nil
	}
	for idx := min(first, last); idx <= max(first, last); idx++ {
		found = append(found, idx)
	}
	return found
}

// pickRow is the seats of a row, by section and row: "Stalls/C".
func (s *Sale) pickRow(part string) (found []int) {
	slash := strings.LastIndexByte(part, '/')
	if slash < 0 {
		return nil
	}
	i := s.Plan.SectionNamed(part[:slash])
	if i < 0 {
		return nil
	}
	at := s.Plan.Sections[i]
	for idx := at.First; idx < at.First+at.Count; idx++ {
		if s.Plan.Seats[idx].Row == part[slash+1:] && part[slash+1:] != "" {
			found = append(found, idx)
		}
	}
	return found
}

// drawing is the part of a plan that is only looked at; the rest of it stands in rows.
type drawing struct {
	Width, Height float64
	Colors        []string  // by category
	Outlines      [][]Point // by section
	Shapes        []Shape
	Focus         *Point
}

// The update changes nothing; it makes a plan that another one saved in the same moment visible to us.
const savePlanSQL = `
INSERT INTO plan (name, hash, drawing) VALUES ($1, $2, $3)
    ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash
RETURNING id`

func savePlan(ctx context.Context, tx pgx.Tx, p *Plan) (id int64, err error) {
	whole, err := json.Marshal(p)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(whole)
	d := drawing{Width: p.Width, Height: p.Height, Shapes: p.Shapes, Focus: p.Focus}
	for _, c := range p.Categories {
		d.Colors = append(d.Colors, c.Color)
	}
	for _, s := range p.Sections {
		d.Outlines = append(d.Outlines, s.Outline)
	}
	err = tx.QueryRow(ctx, savePlanSQL, p.Name, hex.EncodeToString(sum[:8]), d).Scan(&id)
	return id, err
}

const saveStatesSQL = `INSERT INTO seat_state (event_id, idx) SELECT $1, generate_series(0, $2::integer - 1)`

const saveCounterSQL = `
INSERT INTO counter (event_id, free, held, sold, blocked, claims_from, sells)
SELECT $1::bigint, $2::integer[], $3::integer[], $3, $3, ` + claimsFrom + `, ` + sells + ` FROM event e WHERE e.id = $1`

// saveSeats copies the plan's rows for one event; every seat starts free.
func saveSeats(ctx context.Context, tx pgx.Tx, event int64, p *Plan) error {
	if err := p.saveRows(ctx, tx, event, 0, 0, 0); err != nil {
		return err
	}
	free, none := make([]int32, len(p.Categories)), make([]int32, len(p.Categories))
	for i := range p.Seats {
		free[p.Seats[i].Category]++
	}
	if _, err := tx.Exec(ctx, saveStatesSQL, event, len(p.Seats)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, saveCounterSQL, event, free, none)
	return err
}

// COPY is no way to write these: PostgreSQL refuses it to a role that sees rows by policies (migrations/grant.go).
const (
	saveCategoriesSQL = `
INSERT INTO category (event_id, number, key, name, price)
SELECT $1, * FROM unnest($2::smallint[], $3::text[], $4::text[], $5::bigint[])`
	saveSectionsSQL = `
INSERT INTO section (event_id, number, name, area, first, count)
SELECT $1, * FROM unnest($2::smallint[], $3::text[], $4::boolean[], $5::integer[], $6::integer[])`
	saveSeatRowsSQL = `
INSERT INTO seat (event_id, idx, section, category, flags, x, y, row, number, external_id)
SELECT $1, * FROM unnest($2::integer[], $3::smallint[], $4::smallint[], $5::smallint[], $6::real[], $7::real[], $8::text[], $9::text[], $10::text[])`
)

// each is what of says of every row.
func each[T, V any](rows []T, of func(*T) V) []V {
	list := make([]V, len(rows))
	for i := range rows {
		list[i] = of(&rows[i])
	}
	return list
}

// following is n numbers from first on.
func following[N int16 | int32](first, n int) []N {
	list := make([]N, n)
	for i := range list {
		list[i] = N(first + i)
	}
	return list
}

// saveRows writes the categories, sections and seats of a plan behind the first few, which are there already.
func (p *Plan) saveRows(ctx context.Context, tx pgx.Tx, event int64, categories, sections, seats int) error {
	c, s, rows := p.Categories[categories:], p.Sections[sections:], p.Seats[seats:]
	_, err := tx.Exec(ctx, saveCategoriesSQL, event, following[int16](categories, len(c)),
		each(c, func(c *Category) string { return c.Key }), each(c, func(c *Category) string { return c.Name }), each(c, func(c *Category) int64 { return c.Price }))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, saveSectionsSQL, event, following[int16](sections, len(s)),
		each(s, func(s *Section) string { return s.Name }), each(s, func(s *Section) bool { return s.Area }),
		each(s, func(s *Section) int32 { return int32(s.First) }), each(s, func(s *Section) int32 { return int32(s.Count) }))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, saveSeatRowsSQL, event, following[int32](seats, len(rows)),
		each(rows, func(s *Seat) int16 { return int16(s.Section) }), each(rows, func(s *Seat) int16 { return int16(s.Category) }), each(rows, func(s *Seat) int16 { return int16(s.Flags) }),
		each(rows, func(s *Seat) float32 { return float32(s.X) }), each(rows, func(s *Seat) float32 { return float32(s.Y) }),
		each(rows, func(s *Seat) string { return s.Row }), each(rows, func(s *Seat) string { return s.Number }), each(rows, func(s *Seat) string { return s.ID }))
	return err
}

// ReplacePlan gives an event a newer version of its plan, on all nodes, while it is sold. What may change is what
// nobody took a seat on: the drawing, where seats stand, their flags but for aisles, the names and colours of
// categories. New seats come in new sections, at prices the event has. Every seat keeps its place in the order, its
// id, its label and its price, whoever has it or nobody; the prices are the event's own. Seats are found by their
// ids.
//
// Errors: ErrNoEvent; a *Refusal that names the seats that would be lost or become others, and what they are, and then
// nothing was changed; the database's. The plan must have passed plan.Check.
func (o *Office) ReplacePlan(ctx context.Context, slug string, next *Plan, also Also) (Event, error) {
	return o.change(ctx, slug, also, func(tx pgx.Tx, e Event) (bool, error) {
		if e.Status == Cancelled {
			return false, &Refusal{Code: CodeChanged, Message: "This event was cancelled, and stays as it was. Nothing was changed. Duplicate it to make another one."}
		}
		p, err := LoadPlan(ctx, tx, e.ID)
		if err != nil {
			return false, err
		}
		q, conflicts := p.extended(next)
		if len(conflicts) > 0 {
			states, err := statesOf(ctx, tx, e.ID)
			if err != nil {
				return false, err
			}
			return false, p.sayConflicts(conflicts, states)
		}
		if len(q.Seats) > MaxSeats {
			return false, &Nonsense{Message: fmt.Sprintf("An event has at most %d seats. Nothing was changed.", MaxSeats)}
		}
		id, err := savePlan(ctx, tx, q)
		if err != nil {
			return false, err
		}
		var before int64
		if err := tx.QueryRow(ctx, planOfEventSQL, e.ID).Scan(&before); err != nil || before == id {
			return false, err
		}
		return true, redraw(ctx, tx, e.ID, id, p, q)
	})
}

const planOfEventSQL = `SELECT plan_id FROM event WHERE id = $1`

const statesSQL = `SELECT state FROM seat_state WHERE event_id = $1 ORDER BY idx`

func statesOf(ctx context.Context, db DB, event int64) ([]State, error) {
	return collect(ctx, db, statesSQL, event, func(row pgx.CollectableRow) (s State, err error) { return s, row.Scan(&s) })
}

// Seats are not locked for it: what is written here is of nobody's claim.
const redrawSeatsSQL = `
UPDATE seat s SET x = n.x, y = n.y, flags = n.flags
  FROM unnest($2::integer[], $3::real[], $4::real[], $5::smallint[]) AS n(idx, x, y, flags)
 WHERE s.event_id = $1 AND s.idx = n.idx`

const renameCategoriesSQL = `
UPDATE category c SET name = n.name FROM unnest($2::text[]) WITH ORDINALITY AS n(name, place)
 WHERE c.event_id = $1 AND c.number = n.place - 1 AND c.name <> n.name`

const drawnFromSQL = `UPDATE event SET plan_id = $2, seats = $3 WHERE id = $1`

// redraw writes what a newer plan says of an event's seats, and the new ones.
func redraw(ctx context.Context, tx pgx.Tx, event, plan int64, p, q *Plan) error {
	var idxs []int32
	var xs, ys []float32
	var flags []int16
	for idx := range p.Seats {
		if was, is := &p.Seats[idx], &q.Seats[idx]; float32(was.X) != float32(is.X) || float32(was.Y) != float32(is.Y) || was.Flags != is.Flags {
			idxs, xs, ys, flags = append(idxs, int32(idx)), append(xs, float32(is.X)), append(ys, float32(is.Y)), append(flags, int16(is.Flags))
		}
	}
	if _, err := tx.Exec(ctx, redrawSeatsSQL, event, idxs, xs, ys, flags); err != nil {
		return err
	}
	names := make([]string, len(q.Categories))
	for i, c := range q.Categories {
		names[i] = c.Name
	}
	if _, err := tx.Exec(ctx, renameCategoriesSQL, event, names); err != nil {
		return err
	}
	if err := addSeats(ctx, tx, event, p, q); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, drawnFromSQL, event, plan, len(q.Seats))
	return err
}

const addStatesSQL = `INSERT INTO seat_state (event_id, idx) SELECT $1, generate_series($2::integer, $3::integer - 1)`

// The counter row comes last, as in any batch; the version that follows in the same transaction bumps it.
const addFreeSQL = `
UPDATE counter SET free = ARRAY(SELECT a + d FROM unnest(free, $2::integer[]) u(a, d)) WHERE event_id = $1`

const noteSeatsSQL = `
INSERT INTO added (event_id, version, seats) SELECT event_id, version + 1, $2 FROM counter WHERE event_id = $1`

// addSeats writes the sections and seats that only q has, all free.
func addSeats(ctx context.Context, tx pgx.Tx, event int64, p, q *Plan) error {
	if len(q.Seats) == len(p.Seats) {
		return nil
	}
	if err := q.saveRows(ctx, tx, event, len(p.Categories), len(p.Sections), len(p.Seats)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, addStatesSQL, event, len(p.Seats), len(q.Seats)); err != nil {
		return err
	}
	free := make([]int32, len(q.Categories))
	for i := range q.Seats[len(p.Seats):] {
		free[q.Seats[len(p.Seats)+i].Category]++
	}
	if _, err := tx.Exec(ctx, addFreeSQL, event, free); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, noteSeatsSQL, event, len(q.Seats)-len(p.Seats))
	return err
}

// extended is the plan of an event as a newer one draws it: every seat stays where it is in the order, with its id,
// its label and its price; places, outlines, shapes, names of categories and what is special about a seat are those
// of next; and the sections that only next has come behind the others. What cannot be so is listed.
func (p *Plan) extended(next *Plan) (*Plan, []conflict) {
	at := next.found(p)
	list := p.conflicts(next, at)
	q := &Plan{Name: next.Name, Width: next.Width, Height: next.Height, Shapes: next.Shapes, Focus: next.Focus}
	for _, c := range p.Categories {
		if i := next.CategoryKeyed(c.Key); i >= 0 {
			c.Name, c.Color = next.Categories[i].Name, next.Categories[i].Color
		}
		q.Categories = append(q.Categories, c)
	}
	for _, s := range p.Sections {
		if i := next.SectionNamed(s.Name); i >= 0 {
			s.Outline = next.Sections[i].Outline
		}
		q.Sections = append(q.Sections, s)
	}
	for idx := range p.Seats {
		s := p.Seats[idx]
		if at[idx] >= 0 {
			n := &next.Seats[at[idx]]
			s.X, s.Y, s.Flags = n.X, n.Y, n.Flags
		}
		q.Seats = append(q.Seats, s)
	}
	return q, append(list, q.add(next, at)...)
}

// conflict is something of a newer plan that an event cannot have any more.
type conflict struct {
	idx  int    // the seat it is about; -1 if that is a new one
	what string // "would be lost"
}

// found is where each seat of another plan is in this one, by its id; -1 where it is not.
func (p *Plan) found(other *Plan) []int {
	byID := make(map[string]int, len(p.Seats))
	for i := range p.Seats {
		byID[p.Seats[i].ID] = i
	}
	at := make([]int, len(other.Seats))
	for i := range at {
		at[i] = -1
		if n, ok := byID[other.Seats[i].ID]; ok {
			at[i] = n
		}
	}
	return at
}

// conflicts lists what would become of seats that must not.
func (p *Plan) conflicts(next *Plan, at []int) (list []conflict) {
	for idx, n := range at {
		switch {
		case n < 0:
			list = append(list, conflict{idx, "would be lost"})
		case p.Label(idx) != next.Label(n):
			list = append(list, conflict{idx, "would be called " + next.Words(n)})
		case p.Categories[p.Seats[idx].Category].Key != next.Categories[next.Seats[n].Category].Key:
			list = append(list, conflict{idx, "would cost what “" + next.Categories[next.Seats[n].Category].Name + "” costs"})
		case (p.Seats[idx].Flags^next.Seats[n].Flags)&AisleAfter != 0:
			list = append(list, conflict{idx, "would have an aisle where it has none, or none where it has one"})
		}
	}
	return list
}

// add puts the sections behind the others that only next has.
func (p *Plan) add(next *Plan, at []int) (list []conflict) {
	known := make(map[int]bool, len(at))
	for _, n := range at {
		known[n] = true
	}
	for i, s := range next.Sections {
		fresh := p.SectionNamed(s.Name) < 0
		if fresh {
			p.Sections = append(p.Sections, Section{Name: s.Name, Area: s.Area, First: len(p.Seats), Count: s.Count, Outline: s.Outline})
		}
		for n := s.First; n < s.First+s.Count; n++ {
			seat := next.Seats[n]
			if known[n] {
				continue // the same one, or called otherwise, which is said already
			}
			if !fresh {
				list = append(list, conflict{-1, next.Words(n) + " would be new among seats that are on sale; put it into a new section"})
				continue
			}
			key := next.Categories[next.Seats[n].Category].Key
			if seat.Category = p.CategoryKeyed(key); seat.Category < 0 {
				list = append(list, conflict{-1, fmt.Sprintf("%s would cost what “%s” costs, a price this event does not have", next.Words(n), next.Categories[next.Seats[n].Category].Name)})
				continue
			}
			seat.Section = len(p.Sections) - 1
			p.Seats = append(p.Seats, seat)
		}
		if fresh && len(p.Seats) != p.Sections[len(p.Sections)-1].First+s.Count && len(list) == 0 {
			list = append(list, conflict{-1, "section " + next.Sections[i].Name + " would have seats of another one"})
		}
	}
	return list
}

var conflictWords = map[State]string{Free: "free", Held: "held", Lapsed: "held", Paying: "being paid", Sold: "sold", Blocked: "blocked"}

// sayConflicts is the refusal of a plan: the seats that are somebody's first, each with what it is and what would
// become of it.
func (p *Plan) sayConflicts(list []conflict, states []State) *Refusal {
	const most = 8
	var first, rest []string
	r := &Refusal{Code: CodeChanged}
	for _, c := range list {
		if c.idx < 0 {
			rest = append(rest, c.what)
			continue
		}
		r.Seats = append(r.Seats, c.idx)
		if state := states[c.idx]; state != Free {
			first = append(first, fmt.Sprintf("%s is %s, and %s", p.Words(c.idx), conflictWords[state], c.what))
		} else {
			rest = append(rest, fmt.Sprintf("%s is free, and %s", p.Words(c.idx), c.what))
		}
	}
	said := append(first, rest...)
	more := ""
	if n := len(said) - most; n > 0 {
		said, more = said[:most], fmt.Sprintf("; and so for %d more", n)
	}
	r.Message = "The plan was not replaced, and nothing was changed. " + strings.Join(said, "; ") + more + "."
	return r
}
