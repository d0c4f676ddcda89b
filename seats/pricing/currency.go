package pricing

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	iso "golang.org/x/text/currency"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// The currencies with a minor unit that is not a hundredth (ISO 4217, List One, SIX Financial Information, 2024).
const (
	noDecimals    = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
	threeDecimals = "BHD IQD JOD KWD LYD OMR TND"
	fourDecimals  = "CLF UYW"
)

// Decimals is how many decimals a currency has. Every amount in the program counts minor units.
func Decimals(currency string) int {
	switch {
	case len(currency) != 3 || strings.Contains(currency, " "):
		return 2
	case strings.Contains(noDecimals, currency):
		return 0
	case strings.Contains(threeDecimals, currency):
		return 3
	case strings.Contains(fourDecimals, currency):
		return 4
	}
	return 2
}

// CheckCurrency returns an error unless the text is a currency of ISO 4217, in upper case.
func CheckCurrency(currency string) error {
	if unit, err := iso.ParseISO(currency); err != nil || unit.String() != currency {
		return fmt.Errorf("%q is no currency of ISO 4217, such as EUR", currency)
	}
	return nil
}

// ReadAmount reads an amount such as 25.50 in minor units. It has a point, no more decimals than the currency, and is not
// negative.
func ReadAmount(typed, currency string) (minor int64, err error) {
	digits := Decimals(currency)
	whole, rest, _ := strings.Cut(typed, ".")
	if whole == "" {
		return 0, unreadable(text.Mark("“%s” is not an amount such as %s."), typed, Amount(2550, currency))
	}
	if len(rest) > digits {
		return 0, unreadable(text.Mark("“%s” is not an amount in %s, which has %d decimals."), typed, currency, digits)
	}
	found, err := strconv.ParseUint(whole+rest+strings.Repeat("0", digits-len(rest)), 10, 40)
	if err != nil {
		return 0, unreadable(text.Mark("“%s” is not an amount such as %s."), typed, Amount(2550, currency))
	}
	return int64(found), nil
}

// unreadable is a *seats.ValidationError about what an organizer typed.
func unreadable(message string, values ...any) error {
	return &seats.ValidationError{Message: message, Args: values}
}

// Amount writes minor units as ReadAmount reads them: 25.50, or 3000 in a currency without decimals.
func Amount(minor int64, currency string) string {
	digits, sign := Decimals(currency), ""
	if minor < 0 {
		minor, sign = -minor, "-"
	}
	text := fmt.Sprintf("%0*d", digits+1, minor)
	if digits == 0 {
		return sign + text
	}
	return sign + text[:len(text)-digits] + "." + text[len(text)-digits:]
}

// Sum is an amount that is said later, in the language of its reader.
type Sum struct {
	Minor    int64
	Currency string
}

// In says it.
func (s Sum) In(ctx context.Context) string {
	return text.Money(ctx, s.Minor, Decimals(s.Currency), s.Currency)
}
