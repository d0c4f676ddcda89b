package seats

import "slices"

// Gate is an entrance of an event that is good for tickets of some sections.
type Gate struct {
	Name     string   `json:"name"`
	Sections []string `json:"sections,omitempty"` // by name; none: all of the event
}

// GatesOf lists the names of the gates that a ticket of a section may use. It is empty if that may use any: the event has one gate at
// most, all of them are good for the section, or none is.
func (e Event) GatesOf(section string) (names []string) {
	for _, g := range e.Gates {
		if len(g.Sections) == 0 || slices.Contains(g.Sections, section) {
			names = append(names, g.Name)
		}
	}
	if len(names) == len(e.Gates) {
		return nil
	}
	return names
}

// HasGate reports whether the event has a gate with this name.
func (e Event) HasGate(name string) bool {
	return slices.ContainsFunc(e.Gates, func(g Gate) bool { return g.Name == name })
}
