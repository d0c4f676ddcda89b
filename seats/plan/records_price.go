package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// What a price looks like without its currency. A number such as 1.234 is none: it may be a thousand or one.
var (
	plainPrice   = regexp.MustCompile(`^(\d{1,10})(?:[.,](\d{1,2}))?$`)
	groupedPrice = regexp.MustCompile(`^\d{1,3}(?:(?:,\d{3})+\.|(?:\.\d{3})+,)\d{1,2}$`)
)

// price reads a price of a file, such as 25, 25.00, 25,50 or € 1,234.50, in hundredths.
func price(said string) (hundredths int64, known bool) {
	said = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\'' || r == '’' {
			return -1
		}
		return r
	}, said)
	said = strings.TrimFunc(said, func(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) })
	if groupedPrice.MatchString(said) {
		at := strings.LastIndexAny(said, ".,")
		said = strings.NewReplacer(".", "", ",", "").Replace(said[:at]) + "." + said[at+1:]
	}
	parts := plainPrice.FindStringSubmatch(said)
	if parts == nil {
		return 0, false
	}
	hundredths, err := strconv.ParseInt(parts[1]+(parts[2] + "00")[:2], 10, 64)
	return hundredths, err == nil && hundredths <= maxPrice
}

// guessPrice is the first column that is called like prices and has nothing else. Small whole numbers are those of categories.
func (r *Records) guessPrice() string {
	for i, column := range r.Columns {
		called := slices.ContainsFunc(guesses["price"], func(name string) bool {
			return strings.EqualFold(column, name) || r.Kind == KindJSON && same(column, name, "price")
		})
		large, other := false, false
		for _, row := range r.Rows {
			cost, known := price(row[i])
			large = large || cost >= 10_00 || cost%100 != 0
			other = other || !known && row[i] != ""
		}
		if called && large && !other {
			return column
		}
	}
	return ""
}

// paid is what seats have in common that are of one category.
type paid struct {
	category string
	priced   bool
	price    int64
}

// priced makes a category of each text and price, in the order they come, and returns that of each record. Of one text with several
// prices, each category has its price in the name.
func (d *draft) priced(list []record, prices bool) []int {
	places, known, costs, without := make([]int, len(list)), map[paid]int{}, map[string]int{}, 0
	for i, c := range list {
		of := paid{category: c.category, priced: c.price != nil}
		if of.priced {
			of.price = *c.price
		} else {
			without += max(1, c.capacity)
		}
		if _, is := known[of]; !is {
			known[of] = len(d.categories)
			costs[of.category]++
			d.categories = append(d.categories, seats.Category{Key: letters(len(d.categories)), Price: of.price})
		}
		places[i] = known[of]
	}
	for of, i := range known {
		c := &d.categories[i]
		if c.Color = strings.ToLower(hexColor(of.category)); c.Color == "" {
			c.Name = of.category
		}
		if of.priced && costs[of.category] > 1 {
			c.Name = strings.TrimSpace(fmt.Sprintf("%s %d.%02d", c.Name, of.price/100, of.price%100))
		}
		c.Name = cmp.Or(c.Name, c.Key) // a letter is a name in every language
	}
	d.costs = prices && without < len(list)
	if d.costs && without > 0 {
		d.warn(text.Say("Seats without a price in the file: %d. They are free of charge until their prices are set.", without))
	}
	return places
}
