package seats

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

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
