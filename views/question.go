package views

import (
	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
)

// asked is a question as the form asks it.
func asked(q seats.Question) string {
	if q.Required {
		return q.Label
	}
	return q.Label + " (optional)"
}

// blame says on a field what is wrong with it.
func blame(name, wrong string) templ.Attributes {
	if wrong == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": name + "-wrong"}
}
