package views

import (
	"context"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// LanguageParameter of an address chooses the language of its page.
const LanguageParameter = "lang"

type queryKey struct{}

// WithLanguages returns the context of a page that its reader can have in each language. The query is that of its address.
func WithLanguages(ctx context.Context, query string) context.Context {
	return context.WithValue(ctx, queryKey{}, query)
}

// hasLanguages reports whether a page links to itself in other languages.
func hasLanguages(ctx context.Context) bool {
	_, has := ctx.Value(queryKey{}).(string)
	return has && len(text.Languages()) > 1
}

// inLanguage is the address of a page in a language.
func inLanguage(ctx context.Context, tag string) templ.SafeURL {
	query, _ := ctx.Value(queryKey{}).(string)
	values, _ := url.ParseQuery(query) // what is no query is left out
	values.Set(LanguageParameter, tag)
	return templ.SafeURL("?" + values.Encode())
}

// in is the address of a page in a language, for search engines.
func (s *Share) in(tag string) string {
	sign := "?"
	if strings.Contains(s.URL, sign) {
		sign = "&"
	}
	return s.URL + sign + LanguageParameter + "=" + tag
}

// TongueIn marks what an organizer wrote for attendees of an event, where that is another language than the page's (WCAG
// 3.1.2): also names of the event, its place and its sections where they stand by themselves. Inside a sentence of ours,
// "Parkett, row 3, seat 19", a name is a name.
func TongueIn(ctx context.Context, e seats.Event) templ.Attributes {
	if e.Language == "" || e.Language == text.Tag(ctx) {
		return nil
	}
	return templ.Attributes{"lang": e.Language}
}
