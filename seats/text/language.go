package text

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/leonelquinteros/gotext"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/usherbox/usher/seats/text/po"
)

// Source is the language of the messages in the source.
const Source = "en"

// Language is a language with its catalogue.
type Language struct {
	Tag       string // BCP 47
	Name      string // in the language itself
	leftwards bool   // written from right to left
	isDraft   bool   // still being translated: its readers have the source meanwhile
	printer   *message.Printer
	catalogue func() *catalogue // is read when the language is first used: a command that says three words need not read all
}

// catalogue is what a language says for the messages of the source.
type catalogue struct {
	messages map[string]string
	plurals  map[string]string // the message for many by the one for one
	po       *gotext.Po        // nil: the messages are those of the source
}

// english is the source; shipped has it and every language with a catalogue that is no draft, by tag.
var (
	english = newLanguage(Source, nil)
	shipped = load()
)

func load() map[string]*Language {
	all := map[string]*Language{Source: english}
	list, err := po.Files.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("text: the catalogues are embedded: %v", err))
	}
	for _, f := range list {
		content, err := po.Files.ReadFile(f.Name())
		if err != nil {
			panic(fmt.Sprintf("text: the catalogues are embedded: %v", err))
		}
		tag := strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
		if l := newLanguage(tag, content); !l.isDraft {
			all[tag] = l
		}
	}
	return all
}

// newLanguage is a language with its catalogue; nil: none.
func newLanguage(tag string, content []byte) *Language {
	script, _ := language.Make(tag).Script()
	l := &Language{Tag: tag, Name: "English", leftwards: slices.Contains(leftward, script.String())}
	l.printer = message.NewPrinter(language.Make(tag + "-u-nu-latn")) // times and the numbers of seats have these digits, too
	l.catalogue = sync.OnceValue(func() *catalogue { return read(content) })
	header, _, _ := bytes.Cut(content, []byte("\n\n"))
	l.isDraft = bytes.Contains(header, []byte("\n\"X-Draft: "))
	if _, after, found := bytes.Cut(content, []byte("\nmsgid \""+Mark("English")+"\"\nmsgstr \"")); found {
		name, _, _ := bytes.Cut(after, []byte("\""))
		l.Name = string(name)
	}
	return l
}

// read reads a catalogue; nil: of the source.
func read(content []byte) *catalogue {
	if content == nil {
		return &catalogue{}
	}
	c := &catalogue{map[string]string{}, map[string]string{}, gotext.NewPo()}
	c.po.Parse(content)
	for id, m := range c.po.GetDomain().GetTranslations() {
		said := m.Get()
		switch {
		case m.PluralID != "":
			c.plurals[id] = m.PluralID
		case id != "" && said != id:
			c.messages[id] = said
		}
	}
	return c
}

// plural is the form of a message for n things.
func (l *Language) plural(one, many string, n int) string {
	switch c := l.catalogue(); {
	case c.po != nil:
		return c.po.GetN(one, many, n)
	case n == 1:
		return one
	}
	return many
}

// find returns a language by its tag, without a catalogue if none is shipped.
func find(tag string) *Language {
	if l := shipped[tag]; l != nil {
		return l
	}
	return newLanguage(tag, nil)
}

// Languages lists what the program is translated to, English first.
func Languages() []*Language {
	list := slices.SortedFunc(maps.Values(shipped), func(a, b *Language) int { return strings.Compare(a.Tag, b.Tag) })
	return slices.SortedStableFunc(slices.Values(list), func(a, b *Language) int {
		switch Source {
		case a.Tag:
			return -1
		case b.Tag:
			return 1
		}
		return 0
	})
}

// Shipped reports whether the program is translated to a language. It finds "de" for "de-AT".
func Shipped(tag string) (found string, is bool) {
	switch {
	case tag == "":
		return "", false
	case shipped[tag] != nil:
		return tag, true
	}
	base, sure := language.Make(tag).Base()
	if sure != language.Exact || shipped[base.String()] == nil {
		return "", false
	}
	return base.String(), true
}

// Accepted is the shipped language that an Accept-Language header prefers, or false if it names none.
func Accepted(header string) (tag string, found bool) {
	if first, _, _ := strings.Cut(header, ","); strings.HasPrefix(first, Source+"-") || first == Source {
		return Source, true // of most programs and many readers
	}
	best := float32(0)
	if header == "" {
		return "", false
	}
	for part := range strings.SplitSeq(header, ",") {
		tags, weights, err := language.ParseAcceptLanguage(part)
		if err != nil || len(tags) == 0 || weights[0] <= best {
			continue // a language that the library does not know ends no others
		}
		if of, is := Shipped(tags[0].String()); is {
			tag, best = of, weights[0]
		}
	}
	return tag, best > 0
}

// Direction is how the language of a context is written: "ltr", or "rtl" from right to left.
func Direction(ctx context.Context) string {
	if of(ctx).leftwards {
		return "rtl"
	}
	return "ltr"
}

// leftward are the scripts that are written from right to left, by ISO 15924.
var leftward = []string{"Arab", "Hebr", "Nkoo", "Syrc", "Thaa"}
