package stripe

import (
	"math"

	"github.com/usherbox/usher/seats/pricing"
)

// Stripe counts in the minor unit of ISO 4217, with exceptions (docs.stripe.com/currencies, "Minor units in API amounts",
// "Special cases"): these have other decimals there than in ISO 4217.
var decimals = map[string]int{"ISK": 2, "UGX": 2, "MGA": 0}

// Three decimals have to end in 0 there.
const tens = 3

// toStripe is an amount as Stripe counts; false if it cannot be said there.
func toStripe(amount int64, currency string) (int64, bool) {
	ours := pricing.Decimals(currency)
	theirs, other := decimals[currency]
	if !other {
		return amount, ours != tens || amount%10 == 0
	}
	factor := int64(math.Pow10(max(ours, theirs) - min(ours, theirs)))
	if theirs > ours {
		return amount * factor, true
	}
	return amount / factor, amount%factor == 0
}

// fromStripe is an amount as we count.
func fromStripe(amount int64, currency string) int64 {
	theirs, other := decimals[currency]
	if !other {
		return amount
	}
	if ours := pricing.Decimals(currency); ours > theirs {
		return amount * int64(math.Pow10(ours-theirs))
	} else {
		return amount / int64(math.Pow10(theirs-ours))
	}
}
