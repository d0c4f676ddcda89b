package views

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Country is a country by its code of ISO 3166-1.
type Country struct{ Code, Name string }

// Countries lists all countries by name.
var Countries = sync.OnceValue(func() (list []Country) {
	names := display.English.Regions()
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string(a) + string(b)
			if r, err := language.ParseRegion(code); err == nil && r.IsCountry() && r.Canonicalize().String() == code {
				list = append(list, Country{code, names.Name(r)})
			}
		}
	}
	slices.SortFunc(list, func(a, b Country) int { return strings.Compare(a.Name, b.Name) })
	return list
})
