package shop

import (
	"context"
	"strings"
)

// manySections is how many are listed in tiers.
const manySections = 30

// tier is sections that are listed together.
type tier struct {
	title    string
	sections []int
}

// tiers groups the sections with rows: by floors, where the plan has them. Else few are one tier; many are grouped by their names, where these are numbers such as 101,
// and else by their categories.
func (s Sale) tiers() (list []tier) {
	var seated []int
	for i, section := range s.Plan.Sections {
		if !section.Area {
			seated = append(seated, i)
		}
	}
	if len(s.Plan.Floors) > 0 {
		return s.byFloor(seated)
	}
	if len(seated) <= manySections {
		return []tier{{sections: seated}}
	}
	at := map[string]int{}
	for _, i := range seated {
		name := s.Plan.Sections[i].Name
		title := s.Plan.Categories[s.categoryOf(i)].Name
		storey := storeyOf(name)
		if storey != "" {
			title = storey
		}
		if _, known := at[title]; !known {
			at[title] = len(list)
			list = append(list, tier{title: title})
		}
		own := &list[at[title]]
		own.sections = append(own.sections, i)
	}
	for i := range list {
		if first := s.Plan.Sections[list[i].sections[0]].Name; storeyOf(first) != "" {
			list[i].title = first + "–" + s.Plan.Sections[list[i].sections[len(list[i].sections)-1]].Name
		}
	}
	return list
}

// storeyOf is what stands before the last two digits of a name such as 101 or B204; empty if it has none.
func storeyOf(name string) string {
	if len(name) < 3 || strings.Trim(name[len(name)-3:], "0123456789") != "" {
		return ""
	}
	return name[:len(name)-2]
}

// tierPrices is what the seats of a tier cost: one price, or from and to.
func (s Sale) tierPrices(ctx context.Context, t tier) string {
	low, high := int64(-1), int64(0)
	seen := map[int]bool{}
	for _, i := range t.sections {
		for _, c := range s.categoriesIn(i) {
			if seen[c] {
				continue
			}
			seen[c] = true
			if l, sold := s.lineIn(c); sold {
				p := AllIn(s.Event, l)
				if low < 0 {
					low = p
				}
				low, high = min(low, p), max(high, p)
			}
		}
	}
	if low < 0 {
		return s.notSold(ctx)
	}
	return s.span(ctx, low, high)
}

// byFloor groups sections by the floors they are on.
func (s Sale) byFloor(sections []int) (list []tier) {
	for floor, f := range s.Plan.Floors {
		t := tier{title: f.Name}
		for _, i := range sections {
			if s.Plan.Sections[i].Floor == floor {
				t.sections = append(t.sections, i)
			}
		}
		if len(t.sections) > 0 {
			list = append(list, t)
		}
	}
	return list
}
