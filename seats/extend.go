package seats

import (
	"fmt"
	"strings"
)

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
