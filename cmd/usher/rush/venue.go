package rush

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
)

// venue is an event as the box office describes it: what can be asked for, and what was free before the crowd came.
type venue struct {
	slug       string
	claims     string // the address of claims
	seats      []place
	labels     map[string]int32
	categories []string // keys, in the order of the counts of a map
	areas      []string // names
	strangers  int      // seats that were not free before the crowd came
}

// place is one seat: what it is called and where it counts.
type place struct {
	label    string
	row      int32 // neighbours have the same
	category int16 // position in venue.categories
	area     int16 // position in venue.areas, -1 for a seat in a row
	free     bool  // before the crowd came
}

// seatLine is a line of GET /events/{slug}/seats.
type seatLine struct {
	Seat, Section, Row, Category, State string
	Idx                                 int
}

// eventAnswer is what GET /events/{slug} says, as far as a crowd wants to know.
type eventAnswer struct {
	Seats, Free, Held, Sold int
	Areas                   []struct{ Name string }
	Categories              []struct{ Key string }
}

// look reads an event. The address must be without a slash at the end.
func look(ctx context.Context, l *line, slug string) (*venue, error) {
	e, err := readEvent(ctx, l, slug)
	if err != nil {
		return nil, err
	}
	h := &venue{slug: slug, claims: "/events/" + slug + "/claims", labels: map[string]int32{}}
	for _, c := range e.Categories {
		h.categories = append(h.categories, c.Key)
	}
	for _, a := range e.Areas {
		h.areas = append(h.areas, a.Name)
	}
	if err := get(ctx, l, "/events/"+slug+"/seats"); err != nil {
		return nil, err
	}
	return h, h.readSeats(bytes.Clone(l.body))
}

func readEvent(ctx context.Context, l *line, slug string) (e eventAnswer, err error) {
	if slug != url.PathEscape(slug) || slug == "" {
		return e, fmt.Errorf("rush: %q is not the word of an event in addresses", slug)
	}
	if err := get(ctx, l, "/events/"+slug); err != nil {
		return e, err
	}
	if err := json.Unmarshal(l.body, &e); err != nil {
		return e, fmt.Errorf("rush: read event %q: %w", slug, err)
	}
	return e, nil
}

// get asks for an address that must be there.
func get(ctx context.Context, l *line, path string) error {
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("rush: %s%s answered %d", l.url.Host, path, status)
	}
	return nil
}

func (h *venue) readSeats(text []byte) error {
	rows := map[string]int32{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var s seatLine
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fmt.Errorf("rush: read the seats of %q: %w", h.slug, err)
		}
		if s.Idx != len(h.seats) {
			return fmt.Errorf("rush: seat %q of %q has idx %d and stands in place %d", s.Seat, h.slug, s.Idx, len(h.seats))
		}
		name := s.Section + "/" + s.Row
		if _, known := rows[name]; !known {
			rows[name] = int32(len(rows))
		}
		p := place{label: s.Seat, row: rows[name], category: position(h.categories, s.Category), area: -1, free: s.State == "free" || s.State == "lapsed"}
		if s.Row == "" {
			p.area = position(h.areas, s.Section)
		}
		if !p.free {
			h.strangers++
		}
		h.labels[s.Seat] = int32(len(h.seats))
		h.seats = append(h.seats, p)
	}
	return lines.Err()
}

func position(names []string, name string) int16 {
	for i, n := range names {
		if n == name {
			return int16(i)
		}
	}
	return -1
}

// scope is where a claim leaves the choice to the box office: one category, or one area; the other is -1.
type scope struct{ category, area int16 }

func (s scope) has(p *place) bool {
	return (s.category < 0 || s.category == p.category) && (s.area < 0 || s.area == p.area)
}

// names is what a person calls these seats.
func (h *venue) names(seats []int32) string {
	var labels []string
	for _, idx := range seats {
		labels = append(labels, h.seats[idx].label)
	}
	return strings.Join(labels, ", ")
}

const (
	hallRow     = 50 // seats
	seatSpacing = 20
	rowSpacing  = 24
)

// Hall is a plan of n seats in rows, all alike; with area they are places without rows.
func Hall(n int, area bool) (*seats.Plan, error) {
	if n < 1 || n > seats.MaxSeats {
		return nil, fmt.Errorf("a hall has 1 to %d seats, not %d", seats.MaxSeats, n)
	}
	rows := (n + hallRow - 1) / hallRow
	width, height := float64((hallRow+1)*seatSpacing), float64((rows+1)*rowSpacing)
	section := seats.Section{Name: "Hall", Area: area, Count: n, Outline: []seats.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}}}
	p := &seats.Plan{
		Name: "Hall", Width: width, Height: height,
		Categories: []seats.Category{{Key: "A", Name: "All seats", Price: 1000}},
		Sections:   []seats.Section{section},
	}
	for i := range n {
		row, number := i/hallRow, i%hallRow
		seat := seats.Seat{ID: fmt.Sprint(i + 1), Number: fmt.Sprint(i + 1), X: float64((number + 1) * seatSpacing), Y: float64((row + 1) * rowSpacing)}
		if !area {
			seat.Row, seat.Number = fmt.Sprint(row+1), fmt.Sprint(number+1)
		}
		p.Seats = append(p.Seats, seat)
	}
	return p, nil
}

// view is the map as one person sees it, in the bytes it came in (docs/wire-format.md).
type view struct {
	n    int
	free []int // by category
	bits []byte
}

const (
	freeBits = 0
	heldBits = 1
)

var errShort = errors.New("rush: a map ends too early")

// readView reads a SNAP.
func readView(b []byte) (v view, err error) {
	kind, _, r := realtime.Open(b)
	if kind != realtime.TypeSnap {
		return v, fmt.Errorf("rush: a map of %d bytes does not begin as one", len(b))
	}
	r.Uvarint() // version
	v.n = int(r.Uvarint())
	for _, c := range r.Counts() {
		v.free = append(v.free, int(c.Free))
	}
	v.bits = r.Rest
	if r.Short || len(v.bits) != (v.n+3)/4 {
		return v, errShort
	}
	return v, nil
}

func (v view) state(idx int) byte { return v.bits[idx/4] >> (2 * (idx % 4)) & 3 }

func (v view) isFree(idx int) bool { return v.state(idx) == freeBits }

// first is the first free seat of the venue after skipping some, or the last there is; -1 if there is none.
func (v view) first(skip int) int32 {
	found := int32(-1)
	for i := range v.n {
		if v.isFree(i) {
			if found = int32(i); skip == 0 {
				break
			}
			skip--
		}
	}
	return found
}

// pick finds n free seats as a person pointing at the map does: side by side near where they look, else the next free
// ones from there. nil if there are fewer.
func (v view) pick(h *venue, n int, random *rand.Rand) []int32 {
	start := random.IntN(v.n)
	var run, any []int32
	for i := range v.n {
		idx := (start + i) % v.n
		if !v.isFree(idx) || h.seats[idx].area >= 0 {
			run = run[:0]
			continue
		}
		if len(any) < n {
			any = append(any, int32(idx))
		}
		if len(run) > 0 && (idx == 0 || h.seats[idx].row != h.seats[idx-1].row) {
			run = run[:0]
		}
		if run = append(run, int32(idx)); len(run) == n {
			return run
		}
		if i > nearby && len(any) == n {
			return any
		}
	}
	if len(any) < n {
		return nil
	}
	return any
}

// nearby is how many seats a person looks at for some side by side.
const nearby = 2000

// claimBody is the body of a claim.
type claimBody struct {
	Seats    []string `json:"seats,omitempty"`
	Area     string   `json:"area,omitempty"`
	Quantity int      `json:"quantity,omitempty"`
	Best     int      `json:"best,omitempty"`
	Category string   `json:"category,omitempty"`

	scope scope // of a claim that leaves the choice to the box office
	last  bool  // if this is refused, the person goes home
}

func (w *claimBody) json() []byte {
	body, _ := json.Marshal(w) // strings and numbers always marshal
	return body
}

// mostTries is how often a person asks again after losing seats to another one.
const mostTries = 1000

// size is how many seats the claim is for.
func (w *claimBody) size() int { return len(w.Seats) + w.Quantity + w.Best }

// blind is a claim without a look at the map: places in an area, or the best of a category.
func (h *venue) blind(party int, random *rand.Rand) claimBody {
	if len(h.areas) > 0 {
		a := random.IntN(len(h.areas))
		return claimBody{Area: h.areas[a], Quantity: party, scope: scope{-1, int16(a)}, last: true}
	}
	return h.best(random.IntN(len(h.categories)), party, true)
}

func (h *venue) best(category, n int, last bool) claimBody {
	return claimBody{Best: n, Category: h.categories[category], scope: scope{int16(category), -1}, last: last}
}

func (h *venue) these(seats []int32) claimBody {
	w := claimBody{scope: scope{-1, -1}}
	for _, idx := range seats {
		w.Seats = append(w.Seats, h.seats[idx].label)
	}
	return w
}

// first is a claim for the first free seat. A person who was too late before goes a little further: one of
// the first 2, 4, 8 and so on. Who sees none asks once more, to be told by the box office and not by a picture.
func (h *venue) first(v view, tries int, random *rand.Rand) claimBody {
	if idx := v.first(random.IntN(1 << min(tries, 6))); idx >= 0 {
		return h.these([]int32{idx})
	}
	return h.best(random.IntN(len(h.categories)), 1, true)
}

// pointOrBest is the claim of a party before a map: they point at seats or, on a phone, ask for the best of a
// category that has enough. Where there is too little for all, they take what there is.
func (h *venue) pointOrBest(v view, party, tries int, phone bool, random *rand.Rand) claimBody {
	if tries < 4 && !phone {
		if seats := v.pick(h, party, random); seats != nil {
			return h.these(seats)
		}
	}
	from, most := random.IntN(len(v.free)), -1
	for i := range v.free {
		k := (from + i) % len(v.free)
		if v.free[k] >= party {
			return h.best(k, party, false)
		}
		if most < 0 || v.free[k] > v.free[most] {
			most = k
		}
	}
	if v.free[most] == 0 {
		return h.best(from, 1, true)
	}
	return h.best(most, v.free[most], false)
}
