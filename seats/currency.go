package seats

import "strings"

// The currencies whose minor unit is not a hundredth (ISO 4217, List One, SIX Financial Information, 2024).
const (
	noDecimals    = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
	threeDecimals = "BHD IQD JOD KWD LYD OMR TND"
	fourDecimals  = "CLF UYW"
)

// Decimals is how many digits of an amount in a currency stand behind the point: every amount here counts minor units.
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
