package views

import "github.com/a-h/templ"

// Blame says on a field what is wrong with it.
func Blame(name, wrong string) templ.Attributes {
	if wrong == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": name + "-wrong"}
}
