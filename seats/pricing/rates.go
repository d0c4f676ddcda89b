package pricing

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// RateTable is the tax rates of countries, as of a date.
type RateTable struct {
	Source    string        `json:"source"`
	Date      string        `json:"date"`
	Note      string        `json:"note"`
	Countries []CountryRate `json:"countries"`
}

// CountryRate is the tax rates of a country, in thousandths of a percent.
type CountryRate struct {
	Code     string `json:"code"` // ISO 3166-1
	Name     string `json:"name"`
	Standard int    `json:"standard"`
	Reduced  []int  `json:"reduced"`
	ByLine   bool   `json:"by_line"` // tax is rounded for each line; else for the total of a rate, as EN 16931 has it
}

//go:embed rates.json
var ratesFile []byte

// Rates is the table that is shipped. Teams keep rates of their own.
var Rates = sync.OnceValue(func() (t RateTable) {
	if err := json.Unmarshal(ratesFile, &t); err != nil {
		panic(fmt.Sprintf("pricing: rates.json: %v", err))
	}
	return t
})

// Country returns the rates of a country.
func (t RateTable) Country(code string) (CountryRate, bool) {
	for _, c := range t.Countries {
		if c.Code == code {
			return c, true
		}
	}
	return CountryRate{}, false
}
