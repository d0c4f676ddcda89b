package desk

import (
	"github.com/usherbox/usher/seats/plan"
)

// ImportPage is a file that becomes a plan.
type ImportPage struct {
	Frame
	File, Action string
	Key          string
	Opened       *plan.Opened  // nil if it does not become a plan this way
	Records      *plan.Records // of a table or drawing; nil of a plan
	Mapping      plan.Mapping
	Wrong        string // why it does not
}

// mapped is one question of the mapping.
type mapped struct{ name, label, none, value string }

func (p ImportPage) questions() []mapped {
	m := p.Mapping
	return []mapped{
		{"section", "Section", "all are of one section", m.Section},
		{"row", "Row", "find rows by where seats are", m.Row},
		{"number", "Seat number", "number from the left", m.Number},
		{"category", "Price category", "one price for all", m.Category},
		{"x", "Place across", "lay rows out", m.X},
		{"y", "Place down", "lay rows out", m.Y},
		{"id", "Id", "known by its place", m.ID},
		{"flags", "What is special", "nothing", m.Flags},
	}
}

// seatsMay are what the seats of a drawing may be told by: elements, classes, fills.
func (p ImportPage) seatsMay() (list []string) {
	for _, column := range []string{"element", "class", "fill", "layer"} {
		for _, v := range p.Records.Values(column, 12) {
			if v.Text != "" {
				list = append(list, column+"="+v.Text)
			}
		}
	}
	return list
}

func (p ImportPage) only() string { return p.Mapping.Only + "=" + p.Mapping.Value }
