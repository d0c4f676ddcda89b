package giftcards

import "slices"

// Law is how long the law of a country keeps gift cards valid.
type Law struct {
	Country string // ISO 3166-1 alpha-2
	Name    string // of the country
	Months  int
	Source  string
}

// LawsOf is the year of laws. They were entered from memory: compare them with their sources before you rely on them.
const LawsOf = 2025

// laws are the countries in which one time holds for gift cards. Others have none, or several.
var laws = []Law{
	{"AT", "Austria", 30 * 12, "Civil Code (ABGB) § 1478; courts accept a shorter time only with good reason"},
	{"CH", "Switzerland", 10 * 12, "Code of Obligations, article 127"},
	{"DE", "Germany", 3 * 12, "Civil Code (BGB) §§ 195 and 199"},
	{"IE", "Ireland", 5 * 12, "Consumer Protection (Gift Vouchers) Act 2019"},
	{"US", "the United States", 5 * 12, "Credit CARD Act of 2009, 15 U.S.C. § 1693l-1; some states allow no expiry"},
}

// LawOf returns the law of a country; nil if none is known here.
func LawOf(country string) *Law {
	at := slices.IndexFunc(laws, func(l Law) bool { return l.Country == country })
	if at < 0 {
		return nil
	}
	return &laws[at]
}
