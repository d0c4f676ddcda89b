package pricing

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
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

	ChangedAt *time.Time `json:"-"` // when a team entered these; nil: they are shipped
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

const teamRatesSQL = `SELECT country, name, standard, reduced, by_line, changed_at FROM tax_rate WHERE team_id = $1`

// teamRates are the rates that a team works with: its own, and of other countries those that are shipped, by name.
func teamRates(ctx context.Context, db seats.DB, team int64) (t RateTable, err error) {
	t = Rates()
	t.Countries = slices.Clone(t.Countries)
	rows, err := db.Query(ctx, teamRatesSQL, team)
	if err != nil {
		return t, fmt.Errorf("pricing: read tax rates: %w", err)
	}
	own, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c CountryRate, err error) {
		return c, row.Scan(&c.Code, &c.Name, &c.Standard, &c.Reduced, &c.ByLine, &c.ChangedAt)
	})
	if err != nil {
		return t, fmt.Errorf("pricing: read tax rates: %w", err)
	}
	for _, c := range own {
		at := slices.IndexFunc(t.Countries, func(s CountryRate) bool { return s.Code == c.Code })
		if at < 0 {
			t.Countries = append(t.Countries, c)
		} else {
			t.Countries[at] = c
		}
	}
	slices.SortFunc(t.Countries, func(a, b CountryRate) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Code, b.Code)) })
	return t, nil
}

var countryForm = regexp.MustCompile(`^[A-Z]{2}$`)

const mostReduced = 6

// CheckRate returns what is wrong with the rates of a country, empty if nothing is.
func CheckRate(c CountryRate) text.Message {
	switch {
	case !countryForm.MatchString(c.Code):
		return text.Say("“%s” is not a country. Use two letters, such as AT.", c.Code)
	case c.Name == "" || !seats.OneLine(c.Name, mostName):
		return text.Say("The name of a country is one line of at most %d characters.", mostName)
	case len(c.Reduced) > mostReduced:
		return text.Say("%s has at most %d reduced rates.", c.Name, mostReduced)
	}
	for _, rate := range append([]int{c.Standard}, c.Reduced...) {
		if rate < 0 || rate >= wholeRate {
			return text.Say("%s: a tax rate is at least 0 and less than 100 percent, such as 8.875.", c.Name)
		}
	}
	return text.Message{}
}

// same reports whether two rates are equal. When they were entered does not count.
func (c CountryRate) same(other CountryRate) bool {
	return c.Code == other.Code && c.Name == other.Name && c.Standard == other.Standard && c.ByLine == other.ByLine && slices.Equal(c.Reduced, other.Reduced)
}

const setRateSQL = `
INSERT INTO tax_rate (team_id, country, name, standard, reduced, by_line) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (team_id, country) DO UPDATE
   SET name = excluded.name, standard = excluded.standard, reduced = excluded.reduced, by_line = excluded.by_line, changed_at = clock_timestamp()`

// setRate makes these the rates of a team in a country. They passed CheckRate.
func setRate(ctx context.Context, tx pgx.Tx, team int64, c CountryRate) error {
	if _, err := tx.Exec(ctx, setRateSQL, team, c.Code, c.Name, c.Standard, listed(c.Reduced), c.ByLine); err != nil {
		return fmt.Errorf("pricing: set a tax rate: %w", err)
	}
	return nil
}

const resetRateSQL = `DELETE FROM tax_rate WHERE team_id = $1 AND country = $2`

// resetRate makes the shipped rates, or none, those of a team in a country.
func resetRate(ctx context.Context, tx pgx.Tx, team int64, country string) error {
	if _, err := tx.Exec(ctx, resetRateSQL, team, country); err != nil {
		return fmt.Errorf("pricing: reset a tax rate: %w", err)
	}
	return nil
}
