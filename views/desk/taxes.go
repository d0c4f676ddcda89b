package desk

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// TaxesPath is the address of the tax rates of the team.
const TaxesPath = Path + "/taxes"

// TaxesPage is the tax rates that a team works with.
type TaxesPage struct {
	Frame
	Rates  pricing.RateTable
	Sender invoices.Sender // of the team's invoices; its zero value if there is none
	Form   url.Values      // as it was sent, if it was refused
	Wrong  string
}

// RateField names a field of the rates of a country.
func RateField(country, what string) string { return "rate." + country + "." + what }

func (p TaxesPage) value(name, stored string) string {
	if p.Form != nil {
		return p.Form.Get(name)
	}
	return stored
}

// asOf is the day of the rates that are shipped.
func (p TaxesPage) asOf(ctx context.Context) string { return ratesDay(ctx, p.Rates) }

func ratesDay(ctx context.Context, t pricing.RateTable) string {
	day, err := time.Parse(time.DateOnly, t.Date)
	if err != nil {
		return t.Date
	}
	return text.Time(ctx, day, "2 January 2006")
}

func reducedText(c pricing.CountryRate) string {
	texts := make([]string, len(c.Reduced))
	for i, rate := range c.Reduced {
		texts[i] = pricing.Rate(rate)
	}
	return strings.Join(texts, ", ")
}

// countryName is a country in the language of a page: as the team named it, if no standard has its code.
func countryName(ctx context.Context, c pricing.CountryRate) string {
	if name := views.CountryName(ctx, c.Code); name != "" && name != c.Code && !strings.HasPrefix(name, "Unknown") {
		return name
	}
	return c.Name
}
