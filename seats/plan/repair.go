package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// repair makes a draft obey the rules of Check as far as names, ids and labels go, and notes what it did. In a draft
// that obeys them already it changes nothing.
func (d *draft) repair() error {
	d.dropEmpty()
	if d.seats = d.count(); d.seats == 0 && d.doc == nil {
		return errNoSeats
	}
	d.cleanNames()
	if d.imported {
		d.unstack()
	}
	d.splitSections()
	d.nameSections()
	d.identify()
	if d.imported {
		d.dropCategories()
	}
	return nil
}

func (d *draft) count() int {
	n := 0
	for _, s := range d.sections {
		for _, r := range s.rows {
			n += len(r.seats)
		}
	}
	return n
}

// dropEmpty takes out rows and sections without seats; the outline of such a section stays in the drawing.
func (d *draft) dropEmpty() {
	sections, empty := d.sections[:0], 0
	for _, s := range d.sections {
		rows := s.rows[:0]
		for _, r := range s.rows {
			if len(r.seats) > 0 {
				rows = append(rows, r)
			} else {
				empty++
			}
		}
		s.rows = rows
		if len(rows) > 0 {
			sections = append(sections, s)
			continue
		}
		d.warn(text.Say("Section “%s” has no seats; it is drawn, and nothing in it is for sale.", s.name))
		if len(s.outline) > 2 {
			d.shapes = append(d.shapes, seats.Shape{Kind: "polygon", Role: "other", Points: s.outline, Floor: s.floor})
			d.caption(&s)
		}
	}
	d.sections = sections
	if empty > 0 {
		d.warn(text.Say("Rows without seats were left out: %d.", empty))
	}
}

// caption writes the name of a section without seats of another program onto its ground, as large as fits.
func (d *draft) caption(s *draftSection) {
	name := cleanName(s.name, maxName)
	if !d.imported || name == "" {
		return
	}
	low, high := extent([]seats.Shape{{Kind: "polygon", Points: s.outline}})
	size := min((high.Y-low.Y)/3, 1.5*(high.X-low.X)/float64(utf8.RuneCountInString(name)))
	if size > 0 {
		d.shapes = append(d.shapes, seats.Shape{Kind: "text", Role: "label", Text: name, Size: size, Center: middle(s.outline), Floor: s.floor})
	}
}

// cleanNames gives everything a name that can stand in a label.
func (d *draft) cleanNames() {
	var cleaned []string
	name := func(old, spare string, most int) string {
		now := cleanName(old, most)
		if now == "" {
			now = spare
		}
		if now != old {
			cleaned = append(cleaned, fmt.Sprintf("%q is now %q", old, now))
		}
		return now
	}
	d.name = name(d.name, "Seating plan", maxName)
	for i := range d.categories {
		c := &d.categories[i]
		c.Name = name(c.Name, "Category "+strconv.Itoa(i+1), maxName)
		c.Key = name(c.Key, strconv.Itoa(i+1), maxName)
	}
	for i := range d.sections {
		s := &d.sections[i]
		s.name = name(s.name, "Section "+strconv.Itoa(i+1), maxName)
		for j := range s.rows {
			r := &s.rows[j]
			if !s.area {
				r.label = name(r.label, strconv.Itoa(j+1), maxLabel)
			}
			for k := range r.seats {
				r.seats[k].number = name(r.seats[k].number, strconv.Itoa(k+1), maxLabel)
			}
		}
	}
	if n := len(cleaned); n > 0 {
		d.repaired("name", "", n, text.Say("names that were empty, too long or not fit for a label were changed: %s.", some(cleaned)))
	}
}

// cleanName is a name without the slashes, control characters and outer space that would break a label or a page.
func cleanName(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '-'
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if runes := []rune(s); len(runes) > most {
		s = strings.TrimSpace(string(runes[:most]))
	}
	return s
}

// some lists a few of many things.
func some(list []string) text.Message {
	const few = 3
	if len(list) <= few {
		return text.Message{ID: strings.Join(list, ", ")}
	}
	return text.Say("%s and %d more", strings.Join(list[:few], ", "), len(list)-few)
}

// nameSections gives sections of the same name different ones.
func (d *draft) nameSections() {
	taken := map[string]bool{}
	for _, s := range d.sections {
		taken[s.name] = true
	}
	times := map[string]int{}
	for i := range d.sections {
		s := &d.sections[i]
		old := s.name
		if times[old]++; times[old] == 1 {
			continue
		}
		s.name = fresh(old, taken, times)
		d.repaired("duplicate-section", old, 1, text.Say("another section has this name too; the later one is “%s”.", s.name))
	}
}

// dropCategories removes the categories that no seat has.
func (d *draft) dropCategories() {
	used := make([]bool, len(d.categories))
	d.each(func(_ *draftSection, _ *draftRow, s *draftSeat) { used[s.category] = true })
	place := make([]int, len(d.categories))
	kept := make([]seats.Category, 0, len(d.categories))
	for i, c := range d.categories {
		place[i] = len(kept)
		if used[i] {
			kept = append(kept, c)
			continue
		}
		d.warn(text.Say("Category “%s” has no seats and was left out.", c.Name))
	}
	d.categories = kept
	d.each(func(_ *draftSection, _ *draftRow, s *draftSeat) { s.category = place[s.category] })
}

// each visits the seats in the order of their idx.
func (d *draft) each(visit func(*draftSection, *draftRow, *draftSeat)) {
	for i := range d.sections {
		for j := range d.sections[i].rows {
			row := &d.sections[i].rows[j]
			for k := range row.seats {
				visit(&d.sections[i], row, &row.seats[k])
			}
		}
	}
}

// splitSections makes every label of a section unique. Where the same row label is drawn in several corners of a
// venue, each corner becomes a section of its own; where one row has a number twice, the later seat gets another.
func (d *draft) splitSections() {
	var all []draftSection
	for i := range d.sections {
		s := &d.sections[i]
		d.renumber(s)
		if repeated := repeats(s.rows); repeated > 0 {
			parts := split(s)
			d.repaired("duplicate-label", s.name, repeated,
				text.Say("%d seats had a label that another seat has; its %d rows are now the sections “%s” to “%s”, a block of rows each.", repeated, len(s.rows), parts[0].name, parts[len(parts)-1].name))
			all = append(all, parts...)
			continue
		}
		all = append(all, *s)
	}
	for i := range all {
		s := &all[i]
		var apart []string
		s.rows, apart = merge(s.rows)
		if n := len(apart); n > 0 {
			d.repaired("sold-apart", s.name, n, text.Say("rows in pieces that are sold in different ways are now sold by the seat: %s.", some(apart)))
		}
	}
	d.sections = all
}

// renumber gives seats of one row the same number no longer.
func (d *draft) renumber(s *draftSection) {
	var changed []string
	for i := range s.rows {
		row := &s.rows[i]
		taken := make(map[string]bool, len(row.seats))
		for _, seat := range row.seats {
			taken[seat.number] = true
		}
		times := make(map[string]int, len(row.seats))
		for j := range row.seats {
			seat := &row.seats[j]
			old := seat.number
			if times[old]++; times[old] == 1 {
				continue
			}
			seat.number = fresh(old, taken, times)
			changed = append(changed, fmt.Sprintf("row %s: %q is now %q", row.label, old, seat.number))
		}
	}
	if n := len(changed); n > 0 {
		d.repaired("duplicate-label", s.name, n, text.Say("numbers that stood twice in a row were changed: %s.", some(changed)))
	}
}

// fresh is a name like one that is taken, with a number behind it. times remembers how far the numbers went.
func fresh(name string, taken map[string]bool, times map[string]int) string {
	times[name] = max(times[name], 2)
	for {
		spare := fmt.Sprintf("%s (%d)", name, times[name])
		if !taken[spare] {
			taken[spare] = true
			return spare
		}
		times[name]++
	}
}

type place struct{ row, number string }

// repeats counts the seats that have the label of an earlier seat.
func repeats(rows []draftRow) int {
	seen := map[place]bool{}
	n := 0
	for _, r := range rows {
		for _, s := range r.seats {
			at := place{r.label, s.number}
			if seen[at] {
				n++
			}
			seen[at] = true
		}
	}
	return n
}

// split makes sections of the blocks of rows: a block ends where the next row stands far from the last one, or
// would bring a label the block has already.
func split(s *draftSection) []draftSection {
	far := 1.6 * max(typical([]draftSection{*s}), pitch(s.rows))
	var parts []draftSection
	seen := map[place]bool{}
	for i, r := range s.rows {
		if i == 0 || apart(s.rows[i-1], r) > far || collides(seen, r) {
			seen = map[place]bool{}
			parts = append(parts, draftSection{name: fmt.Sprintf("%s %d", s.name, len(parts)+1), area: s.area})
		}
		for _, seat := range r.seats {
			seen[place{r.label, seat.number}] = true
		}
		part := &parts[len(parts)-1]
		part.rows = append(part.rows, r)
	}
	return parts
}

// pitch is how far rows that follow each other usually are apart, the median.
func pitch(rows []draftRow) float64 {
	var steps []float64
	for i := 1; i < len(rows); i++ {
		steps = append(steps, apart(rows[i-1], rows[i]))
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

func collides(seen map[place]bool, r draftRow) bool {
	for _, s := range r.seats {
		if seen[place{r.label, s.number}] {
			return true
		}
	}
	return false
}

// apart is about how far two rows are from each other: the shortest way between their ends and middles.
func apart(a, b draftRow) float64 {
	least := math.Inf(1)
	for _, p := range [...]int{0, len(a.seats) / 2, len(a.seats) - 1} {
		for _, q := range [...]int{0, len(b.seats) / 2, len(b.seats) - 1} {
			least = min(least, math.Hypot(a.seats[p].x-b.seats[q].x, a.seats[p].y-b.seats[q].y))
		}
	}
	return least
}

// merge puts the pieces of a row that is drawn in several together, with an aisle between them. It names the rows that are sold by
// the seat because their pieces were to be sold in different ways.
func merge(rows []draftRow) (merged []draftRow, apart []string) {
	at := make(map[string]int, len(rows))
	merged = make([]draftRow, 0, len(rows))
	differ := map[int]bool{}
	for _, r := range rows {
		i, ok := at[r.label]
		if !ok {
			at[r.label] = len(merged)
			merged = append(merged, r)
			continue
		}
		all := &merged[i]
		differ[i] = differ[i] || !all.soldAs(&r)
		all.seats = append(all.seats[:len(all.seats):len(all.seats)], r.seats...)
		all.seats[len(all.seats)-len(r.seats)-1].flags |= seats.AisleAfter
	}
	for i := range merged {
		r := &merged[i]
		switch {
		case differ[i]:
			r.whole, r.shared = false, nil
			apart = append(apart, r.label)
		case r.shared != nil:
			shared := filled(*r.shared, len(r.seats))
			r.shared = &shared
		}
	}
	return merged, apart
}

// soldAs reports whether two pieces of a row are whole or shared alike.
func (r *draftRow) soldAs(other *draftRow) bool {
	if r.shared == nil || other.shared == nil {
		return r.whole == other.whole && r.shared == other.shared
	}
	return r.whole == other.whole && *r.shared == *other.shared
}

// unstack moves sections and tables that lie on others: a balcony over the stalls, two tables in one place. On a map
// only the upper one could be reached. A section goes below the drawing, a table to the right of it.
func (d *draft) unstack() {
	step := typical(d.sections)
	if step == 0 {
		return
	}
	ground := floor{cell: step / 2, taken: map[[2]float64]bool{}}
	_, edge := d.bounds(all)
	for i := range d.sections {
		s := &d.sections[i]
		if s.area {
			continue
		}
		if i > 0 && ground.covers(s.rows) {
			low, high := box(s.rows)
			down := edge.Y + 4*step - low.Y
			d.moveSection(s, down)
			edge.Y = high.Y + down
			d.repaired("overlap", s.name, s.count(), text.Say("it is drawn on top of other sections, so it was moved below them."))
		}
		moved := 0
		for j := range s.rows {
			if r := &s.rows[j]; r.table && ground.covers(s.rows[j:j+1]) {
				low, high := box(s.rows[j : j+1])
				right := edge.X + 2*step - low.X
				d.moveTable(r, right)
				edge.X = high.X + right
				moved++
			}
			ground.take(s.rows[j])
		}
		if moved > 0 {
			d.repaired("overlap", s.name, moved, text.Say("tables drawn on top of others were moved to the right: %d.", moved))
		}
	}
}

func (s *draftSection) count() int {
	n := 0
	for _, r := range s.rows {
		n += len(r.seats)
	}
	return n
}

func (d *draft) moveSection(s *draftSection, down float64) {
	for i := range s.outline {
		s.outline[i].Y += down
	}
	for _, r := range s.rows {
		for i := range r.seats {
			r.seats[i].y += down
		}
		if r.top > 0 {
			shift(&d.shapes[r.top-1], 0, down)
		}
	}
}

func (d *draft) moveTable(r *draftRow, right float64) {
	for i := range r.seats {
		r.seats[i].x += right
	}
	if r.top > 0 {
		shift(&d.shapes[r.top-1], right, 0)
	}
}

func shift(s *seats.Shape, x, y float64) {
	s.Center.X, s.Center.Y = s.Center.X+x, s.Center.Y+y
	for i := range s.Points {
		s.Points[i].X, s.Points[i].Y = s.Points[i].X+x, s.Points[i].Y+y
	}
}

// floor remembers where seats stand, in cells half a seat wide.
type floor struct {
	cell  float64
	taken map[[2]float64]bool
}

func (f *floor) at(s draftSeat) [2]float64 {
	return [2]float64{math.Round(s.x / f.cell), math.Round(s.y / f.cell)}
}

func (f *floor) take(r draftRow) {
	for _, s := range r.seats {
		f.taken[f.at(s)] = true
	}
}

// covers reports whether more than half of the seats would stand on others.
func (f *floor) covers(rows []draftRow) bool {
	on, all := 0, 0
	for _, r := range rows {
		for _, s := range r.seats {
			all++
			at := f.at(s)
		around:
			for x := -1.0; x <= 1; x++ {
				for y := -1.0; y <= 1; y++ {
					if f.taken[[2]float64{at[0] + x, at[1] + y}] {
						on++
						break around
					}
				}
			}
		}
	}
	return 2*on > all
}

// box is the smallest rectangle around the seats of rows.
func box(rows []draftRow) (low, high seats.Point) {
	low, high = seats.Point{X: math.Inf(1), Y: math.Inf(1)}, seats.Point{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, r := range rows {
		for _, s := range r.seats {
			low = seats.Point{X: min(low.X, s.x), Y: min(low.Y, s.y)}
			high = seats.Point{X: max(high.X, s.x), Y: max(high.Y, s.y)}
		}
	}
	return low, high
}

// identify gives each seat one id: the best of its own that no other seat has, else its place in the venue.
// A uuid that stands twice identifies no seat, so neither seat keeps it.
func (d *draft) identify() {
	counts := [2]map[string]int{{}, {}}
	d.each(func(_ *draftSection, _ *draftRow, s *draftSeat) {
		for n, id := range s.ids {
			counts[n][id]++
		}
	})
	taken := map[string]bool{}
	fell := 0
	d.each(func(_ *draftSection, _ *draftRow, s *draftSeat) {
		had := false
		for n, id := range s.ids {
			had = had || id != ""
			if goodID(id) && counts[n][id] == 1 && !taken[id] {
				s.ids = []string{id}
				taken[id] = true
				return
			}
		}
		if had {
			fell++
		}
		s.ids = nil
	})
	d.reportIDs(counts, fell)
	times := map[string]int{}
	d.each(func(sec *draftSection, row *draftRow, s *draftSeat) {
		if s.ids == nil {
			s.ids = []string{placeID(sec, row, s, taken, times)}
		}
	})
}

// placeID is the id of a seat without one: where it is.
func placeID(sec *draftSection, row *draftRow, s *draftSeat, taken map[string]bool, times map[string]int) string {
	id := sec.name + "/" + row.label + "/" + s.number
	if sec.area {
		id = sec.name + "/" + s.number
	}
	if taken[id] {
		return fresh(id, taken, times)
	}
	taken[id] = true
	return id
}

func (d *draft) reportIDs(counts [2]map[string]int, fell int) {
	for n, ids := range counts {
		repeated, seats := 0, 0
		for id, times := range ids {
			if id != "" && times > 1 {
				repeated++
				seats += times
			}
		}
		if repeated == 0 {
			continue
		}
		what := text.Say("%d values of %s stand at more than one seat, %d seats in all; those seats are known by where they are instead.", repeated, d.idNames[n], seats)
		if n > 0 && fell == 0 {
			what = text.Say("%d values of %s stand at more than one seat, %d seats in all; the seats are known by their %s instead.", repeated, d.idNames[n], seats, d.idNames[0])
		}
		d.repaired("duplicate-id", "", seats, what)
	}
}

// goodID reports whether an id can be kept: not empty, not long, printable.
func goodID(id string) bool {
	if id == "" || utf8.RuneCountInString(id) > maxID {
		return false
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return false
		}
	}
	return utf8.ValidString(id)
}
