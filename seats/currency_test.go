package seats_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
)

func TestAmountsCountTheMinorUnitOfTheirCurrency(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]int{"EUR": 2, "CHF": 2, "JPY": 0, "KWD": 3, "CLF": 4, "ISK": 0, "RSD": 2, "IQD": 3, "": 2, "F C": 2} {
		if got := seats.Decimals(currency); got != want {
			t.Errorf("%q has %d decimals, want %d", currency, got, want)
		}
	}
}
