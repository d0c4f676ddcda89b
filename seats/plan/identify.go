package plan

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// identify gives each seat one id: the best of its own that no other seat has, else its place in the house.
// A uuid that stands twice names nobody, so neither seat keeps it.
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
		rest := "those seats are known by where they are instead."
		if n > 0 && fell == 0 {
			rest = fmt.Sprintf("the seats are known by their %s instead.", d.idNames[0])
		}
		d.repaired("duplicate-id", "", seats, "%d values of %s stand at more than one seat, %d seats in all; %s", repeated, d.idNames[n], seats, rest)
	}
}

// goodID asks whether an id can be kept: not empty, not long, nothing unprintable.
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
