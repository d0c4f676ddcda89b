package text

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// most is up to which number a form of a plural is looked for. Forms of larger numbers only are those of millions.
const most = 200

// Script is those of these messages that are in the catalogue of a language, as a script that runs before the one that uses them
// (static/js/text.js). It is empty if there are none, or if they are in the language of the source.
func (l *Language) Script(used iter.Seq[string]) []byte {
	words, c := map[string]any{}, l.catalogue()
	for id := range used {
		if many := c.plurals[id]; many != "" {
			words[id] = l.forms(id, many)
		} else if said := c.messages[id]; said != "" {
			words[id] = said
		}
	}
	if len(words) == 0 {
		return nil
	}
	if thousand := []rune(Number(context.WithValue(context.Background(), key{}, l), 10_000)); len(thousand) > 5 {
		words[","] = string(thousand[2 : len(thousand)-3])
	}
	said, _ := json.Marshal(words) // strings always marshal
	return fmt.Appendf(nil, "{const p=new Intl.PluralRules(%q);globalThis.said={plural:n=>p.select(n),words:%s}}", l.Tag, said)
}

// categories are the names that CLDR has for the forms of a plural, as scripts know them.
var categories = map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other"}

// forms are the forms of a plural by their categories.
func (l *Language) forms(one, many string) map[string]string {
	forms, tag := map[string]string{}, language.Make(l.Tag)
	for n := range most {
		name := categories[plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0)]
		if _, known := forms[name]; !known {
			forms[name] = l.plural(one, many, n)
		}
	}
	return forms
}
