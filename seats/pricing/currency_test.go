package pricing_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/pricing"
)

func TestAmountsCountTheMinorUnitOfTheirCurrency(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]int{"EUR": 2, "CHF": 2, "JPY": 0, "KWD": 3, "CLF": 4, "ISK": 0, "RSD": 2, "IQD": 3, "": 2, "F C": 2} {
		if got := pricing.Decimals(currency); got != want {
			t.Errorf("%q has %d decimals, want %d", currency, got, want)
		}
	}
}

func TestAnAmountIsReadAndWrittenWithTheDecimalsOfItsCurrency(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"25 EUR": 2500, "25.5 EUR": 2550, "0.05 EUR": 5, "0 EUR": 0, "1000000.00 USD": 100000000, "3000 JPY": 3000, "1.250 KWD": 1250, "0.0005 CLF": 5, "12 IQD": 12000,
	} {
		amount, currency, _ := strings.Cut(text, " ")
		got, err := pricing.ReadAmount(amount, currency)
		if err != nil || got != want {
			t.Errorf("%s became %d, %v; want %d", text, got, err, want)
		}
		if again, err := pricing.ReadAmount(pricing.Amount(want, currency), currency); err != nil || again != want {
			t.Errorf("%d %s is written %q and read %d, %v", want, currency, pricing.Amount(want, currency), again, err)
		}
	}
	for _, text := range []string{" EUR", "-5 EUR", "1.234 EUR", "1,50 EUR", "1e3 EUR", "+1 EUR", "0x1 EUR", "99999999999999999999 EUR", "1.5 JPY", "1.2345 KWD", "½ EUR", "٣ EUR"} {
		amount, currency, _ := strings.Cut(text, " ")
		if got, err := pricing.ReadAmount(amount, currency); err == nil {
			t.Errorf("%q was taken for %d", text, got)
		}
	}
	for currency, there := range map[string]bool{"EUR": true, "JPY": true, "eur": false, "XXY": false, "": false, "EURO": false} {
		if err := pricing.CheckCurrency(currency); (err == nil) != there {
			t.Errorf("%q: %v", currency, err)
		}
	}
	if got := pricing.Amount(-1205, "EUR"); got != "-12.05" {
		t.Errorf("less than nothing is written %q", got)
	}
}
