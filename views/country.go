package views

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/usherbox/usher/seats/text"
)

// Country is a country by its code of ISO 3166-1.
type Country struct{ Code, Name string }

// Countries lists all countries by their name in the language of a page.
func Countries(ctx context.Context) []Country {
	tag := text.Tag(ctx)
	if known, is := countries.Load(tag); is {
		return known.([]Country)
	}
	list := countriesIn(language.Make(tag))
	countries.Store(tag, list)
	return list
}

var countries sync.Map // []Country by language

func countriesIn(tag language.Tag) (list []Country) {
	names := display.Regions(tag)
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string(a) + string(b)
			if r, err := language.ParseRegion(code); err == nil && r.IsCountry() && r.Canonicalize().String() == code {
				list = append(list, Country{code, names.Name(r)})
			}
		}
	}
	order := collate.New(tag)
	slices.SortFunc(list, func(a, b Country) int { return order.CompareString(a.Name, b.Name) })
	return list
}

// CountryName is a country in words, in the language of a page; empty for no code.
func CountryName(ctx context.Context, code string) string {
	for _, c := range Countries(ctx) {
		if c.Code == code {
			return c.Name
		}
	}
	return code
}
