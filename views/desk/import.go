package desk

import (
	"context"

	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/text"
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

func (p ImportPage) questions(ctx context.Context) []mapped {
	m := p.Mapping
	return []mapped{
		{"section", text.T(ctx, "Section"), text.T(ctx, "all are of one section"), m.Section},
		{"row", text.T(ctx, "Row"), text.T(ctx, "find rows by where seats are"), m.Row},
		{"number", text.T(ctx, "Seat number"), text.T(ctx, "number from the left"), m.Number},
		{"category", text.T(ctx, "Price category"), text.T(ctx, "one price for all"), m.Category},
		{"x", text.T(ctx, "Place across"), text.T(ctx, "lay rows out"), m.X},
		{"y", text.T(ctx, "Place down"), text.T(ctx, "lay rows out"), m.Y},
		{"id", text.T(ctx, "Id"), text.T(ctx, "known by its place"), m.ID},
		{"flags", text.T(ctx, "What is special"), text.T(ctx, "nothing"), m.Flags},
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
