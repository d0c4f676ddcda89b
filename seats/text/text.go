// Package text says everything that people read in the language of its reader.
//
// The source of a message is English, and is its key:
//
//	text.T(ctx, "Checkout")
//	text.T(ctx, "You save %s.", text.Money(ctx, 250, "EUR"))
//	text.N(ctx, "%d ticket", "%d tickets", n)
//
// The language is in the context: of the request's reader, or of the buyer whom a mail or paper is for. Each language is one
// catalogue of gettext, po/<tag>.po, which is embedded. `make words` finds the messages in the source, and merges them into
// the catalogues. A message without a translation is English, and a test fails. Layouts of dates and amounts are messages, too,
// so that a language is its catalogue and nothing else. See docs/languages.md.
package text

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/text/message"
)

// Local is a part of a message that is written in the language of its reader, such as an amount of money.
type Local interface {
	In(ctx context.Context) string
}

type key struct{}

// With returns a context in which messages are in a language. Without a catalogue they are English.
func With(ctx context.Context, tag string) context.Context {
	return context.WithValue(ctx, key{}, find(tag))
}

// For is With for a language that was stored: one that is not shipped changes nothing.
func For(ctx context.Context, tag string) context.Context {
	if known, is := Shipped(tag); is {
		return With(ctx, known)
	}
	return ctx
}

// of returns the language of a context: English, if it has none.
func of(ctx context.Context) *Language {
	if l, known := ctx.Value(key{}).(*Language); known {
		return l
	}
	return english
}

// Known reports whether a context has a language.
func Known(ctx context.Context) bool {
	_, known := ctx.Value(key{}).(*Language)
	return known
}

// Tag is the language of a context, as BCP 47 writes it.
func Tag(ctx context.Context) string { return of(ctx).Tag }

// T is a message in the language of a context. Arguments fill its verbs as fmt does, with numbers as the language writes
// them. Without arguments it is a lookup, and verbs stay as they are.
func T(ctx context.Context, id string, args ...any) string {
	l := of(ctx)
	if translated, found := l.catalogue().messages[id]; found {
		id = translated
	}
	if len(args) == 0 {
		return id
	}
	return l.format(ctx, id, args)
}

// N is a message about n things in the language of a context. The number is its first argument.
func N(ctx context.Context, one, many string, n int, args ...any) string {
	l := of(ctx)
	return l.format(ctx, l.plural(one, many, n), append([]any{n}, args...))
}

// format fills the verbs of a message. Only numbers need the rules of the language.
func (l *Language) format(ctx context.Context, form string, args []any) string {
	filled, words := args, true
	for i, a := range args {
		if local, is := a.(Local); is {
			if &filled[0] == &args[0] {
				filled = append([]any(nil), args...)
			}
			filled[i] = local.In(ctx)
		} else if _, is := a.(string); !is {
			words = false
		}
	}
	if words {
		if said, plain := fill(form, filled); plain {
			return said
		}
		return fmt.Sprintf(form, filled...)
	}
	return l.printer.Sprintf(message.Key("", form), filled...)
}

// fill is fmt.Sprintf for words and a form with no other verb than %s, only quicker: each visitor of a crowd is refused by one. It reports
// whether the form is such a one.
func fill(form string, words []any) (said string, plain bool) {
	var b strings.Builder
	b.Grow(len(form) + 16*len(words))
	for _, w := range words {
		before, after, found := strings.Cut(form, "%s")
		if !found || strings.IndexByte(before, '%') >= 0 {
			return "", false
		}
		word, _ := w.(string)
		b.WriteString(before)
		b.WriteString(word)
		form = after
	}
	if strings.IndexByte(form, '%') >= 0 {
		return "", false
	}
	b.WriteString(form)
	return b.String(), true
}

// Mark returns a message as it is, for `make words` to find. Its translation is asked for later: T(ctx, marked).
func Mark(id string) string { return id }

// Message is a sentence that is said later, in the language of its reader.
type Message struct {
	ID   string
	Args []any
}

// Say makes a sentence that is said later.
func Say(id string, args ...any) Message { return Message{id, args} }

// In says it.
func (m Message) In(ctx context.Context) string { return T(ctx, m.ID, m.Args...) }

// String says it in English, for programs and logs.
func (m Message) String() string { return m.In(context.Background()) }

// Count is a number of things that is said later: Some(n, "%d ticket", "%d tickets").
type Count struct {
	N         int
	One, Many string
}

// Some makes a number of things that is said later.
func Some(n int, one, many string) Count { return Count{n, one, many} }

// In says it.
func (c Count) In(ctx context.Context) string { return N(ctx, c.One, c.Many, c.N) }

// String says it in English.
func (c Count) String() string { return c.In(context.Background()) }
