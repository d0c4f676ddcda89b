package events

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

const (
	mostGates    = 50
	mostGateName = 60 // characters
)

// ReadGate reads a gate as organizers write it: its name and, behind a colon, the sections that it is good for, as in
// "North: Stalls | Balcony". A name alone is good for all. *seats.ValidationError if it has no name.
func ReadGate(written string) (seats.Gate, error) {
	name, sections, _ := strings.Cut(written, ":")
	g := seats.Gate{Name: strings.TrimSpace(name)}
	for _, s := range strings.Split(sections, "|") {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(g.Sections, s) {
			g.Sections = append(g.Sections, s)
		}
	}
	if g.Name == "" || !seats.OneLine(g.Name, mostGateName) {
		return g, &seats.ValidationError{Message: text.Mark("“%s” does not begin with the name of a gate, of at most %d characters. Write “North: Stalls | Balcony”."), Args: []any{written, mostGateName}}
	}
	return g, nil
}

// GateText writes a gate as ReadGate reads it.
func GateText(g seats.Gate) string {
	if len(g.Sections) == 0 {
		return g.Name
	}
	return g.Name + ": " + strings.Join(g.Sections, " | ")
}

// ReadGates reads gates, one a line.
func ReadGates(written string) (list []seats.Gate, err error) {
	for line := range strings.Lines(written) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		g, err := ReadGate(line)
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// checkGates returns what is wrong with the names of gates, empty if nothing is.
func checkGates(list []seats.Gate) string {
	names := map[string]bool{}
	for _, g := range list {
		names[strings.ToLower(g.Name)] = true
		if g.Name == "" || utf8.RuneCountInString(g.Name) > mostGateName {
			return text.Mark("A gate has a name of at most 60 characters.")
		}
	}
	switch {
	case len(names) < len(list):
		return text.Mark("Two gates have the same name. Write all sections of a gate on one line.")
	case len(list) > mostGates:
		return text.Mark("An event has at most 50 gates.")
	}
	return ""
}

// CheckGates refuses gates for sections that a plan does not have: their tickets would be sent away at every gate but the others.
// *seats.ValidationError.
func CheckGates(list []seats.Gate, p *seats.Plan) error {
	if wrong := checkGates(list); wrong != "" {
		return &seats.ValidationError{Message: wrong}
	}
	for _, g := range list {
		for _, name := range g.Sections {
			if !slices.ContainsFunc(p.Sections, func(s seats.Section) bool { return s.Name == name }) {
				return &seats.ValidationError{Message: text.Mark("Gate %[1]s is for the section “%[2]s”, which this plan does not have. Its sections: %[3]s."), Args: []any{g.Name, name, sectionNames(p)}}
			}
		}
	}
	return nil
}

func sectionNames(p *seats.Plan) string {
	var names []string
	for _, s := range p.Sections[:min(len(p.Sections), 20)] {
		if s.Name != "" && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	if len(p.Sections) > 20 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
