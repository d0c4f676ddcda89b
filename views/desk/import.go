package desk

import (
	"context"
	"strings"

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
		{"price", text.T(ctx, "Price"), text.T(ctx, "the file says none"), m.Price},
		{"x", text.T(ctx, "Place across"), text.T(ctx, "lay rows out"), m.X},
		{"y", text.T(ctx, "Place down"), text.T(ctx, "lay rows out"), m.Y},
		{"id", text.T(ctx, "Id"), text.T(ctx, "known by its place"), m.ID},
		{"flags", text.T(ctx, "What is special"), text.T(ctx, "nothing"), m.Flags},
		{"capacity", text.T(ctx, "Places of an area"), text.T(ctx, "no areas"), m.Capacity},
	}
}

// SeatsMay are what the seats of a file may be told by: elements, classes, fills, layers, data, lists.
func (p ImportPage) SeatsMay() []string {
	list := []string{}
	add := func(column string, values []plan.Value) {
		for _, v := range values {
			if v.Text != "" {
				list = append(list, column+"="+v.Text)
			}
		}
	}
	const most = 12
	switch p.Records.Kind {
	case plan.KindSVG:
		add("class", p.Records.Classes(most))
		for _, column := range p.Records.Columns {
			if strings.HasPrefix(column, "data-") {
				list = append(list, column+"=*")
			}
		}
		for _, column := range []string{"element", "fill", "layer", "href"} {
			add(column, p.Records.Values(column, most))
		}
	case plan.KindJSON:
		add("list", p.Records.Values("list", most))
	}
	return list
}

// Only is what the seats are told by, as it stands in the form; empty if everything is a seat.
func (p ImportPage) Only() string {
	if p.Mapping.Only == "" {
		return ""
	}
	return p.Mapping.Only + "=" + p.Mapping.Value
}
