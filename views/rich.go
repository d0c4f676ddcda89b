package views

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/text"
)

// Marks are the attributes of the elements in a message, by name. A message has one element of each name.
type Marks map[string]templ.Attributes

// To are the attributes of a link.
func To(path string) templ.Attributes { return templ.Attributes{"href": path} }

// Rich is a message with elements in it, such as "I accept the <a>terms</a>.", so that a translation can move them. What
// arguments contain is text.
func Rich(id string, marks Marks, args ...any) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		filled := make([]any, len(args))
		for i, a := range args {
			switch a := a.(type) {
			case text.Local:
				filled[i] = templ.EscapeString(a.In(ctx))
			case string:
				filled[i] = templ.EscapeString(a)
			default:
				filled[i] = a // a number
			}
		}
		said := text.T(ctx, id, filled...)
		for name, attributes := range marks {
			before, after, found := strings.Cut(said, "<"+name+">")
			if !found {
				continue
			}
			var marked strings.Builder
			if err := templ.RenderAttributes(ctx, &marked, attributes); err != nil {
				return err
			}
			said = before + "<" + name + marked.String() + ">" + after
		}
		_, err := io.WriteString(w, said)
		return err
	})
}
