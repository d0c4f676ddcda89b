package text

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Stored is what is kept as an English sentence, in a row or in an error, and what its readers read in their own language.
type Stored struct{ forms, parts func() []form }

// form is a message with verbs, and how its sentences look. at is the number of the verb that each group fills.
type form struct {
	id      string
	pattern *regexp.Regexp
	at      []int
}

var stringVerb = regexp.MustCompile(`%(?:\[(\d+)\])?s`)

// NewStored returns sentences of messages that have verbs, all of them %s. Messages without verbs need no mention.
func NewStored(ids ...string) *Stored {
	return &Stored{forms: formsOf(ids), parts: formsOf(nil)}
}

// Naming adds what is translated where it fills a verb, such as the words of roles.
func (s *Stored) Naming(ids ...string) *Stored {
	s.parts = formsOf(ids)
	return s
}

// formsOf are the forms of messages. They are made when a sentence is first read in another language.
func formsOf(ids []string) func() []form {
	return sync.OnceValue(func() []form { return compile(ids) })
}

func compile(ids []string) (list []form) {
	for _, id := range ids {
		f, pattern, end := form{id: id}, `(?s)^`, 0
		for _, verb := range stringVerb.FindAllStringSubmatchIndex(id, -1) {
			pattern += regexp.QuoteMeta(id[end:verb[0]]) + `(.*)`
			n := len(f.at) + 1
			if verb[2] >= 0 {
				n, _ = strconv.Atoi(id[verb[2]:verb[3]]) // digits, as the pattern has it
			}
			f.at, end = append(f.at, n), verb[1]
		}
		f.pattern = regexp.MustCompile(pattern + regexp.QuoteMeta(id[end:]) + `$`)
		list = append(list, f)
	}
	return list
}

// In says a stored sentence in the language of its reader. One that is none of the messages stays as it is. What ends a
// message behind a colon may be a message itself.
func (s *Stored) In(ctx context.Context, sentence string) string {
	if Tag(ctx) == Source {
		return sentence
	}
	if said := T(ctx, sentence); said != sentence {
		return said
	}
	said, _ := say(ctx, s.forms(), sentence, func(f form, verb int, word string) string {
		if strings.HasSuffix(f.id, ": %s") && verb == len(f.at) {
			return s.In(ctx, word)
		}
		part, _ := say(ctx, s.parts(), word, func(_ form, _ int, same string) string { return same })
		return part
	})
	return said
}

// say finds the form of a sentence, and says it with what fill makes of the words in its verbs. It reports whether there is one.
func say(ctx context.Context, forms []form, sentence string, fill func(f form, verb int, word string) string) (said string, found bool) {
	for _, f := range forms {
		words := f.pattern.FindStringSubmatch(sentence)
		if words == nil {
			continue
		}
		args := make([]any, len(f.at))
		for i, n := range f.at {
			args[n-1] = fill(f, n, words[i+1])
		}
		return T(ctx, f.id, args...), true
	}
	return sentence, false
}
