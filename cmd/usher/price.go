package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// addPrice reads "A=25.00", in the currency's larger unit with up to two decimals.
func addPrice(prices map[string]int64, text string) error {
	key, amount, found := strings.Cut(text, "=")
	if !found || key == "" {
		return fmt.Errorf("%q is not a price such as A=25.00", text)
	}
	whole, cents, _ := strings.Cut(amount, ".")
	if whole == "" {
		return fmt.Errorf("%q is not an amount such as 25.00", amount)
	}
	if len(cents) > 2 {
		return fmt.Errorf("%q has more than two decimals", amount)
	}
	minor, err := strconv.ParseUint(whole+(cents + "00")[:2], 10, 40)
	if err != nil {
		return fmt.Errorf("%q is not an amount such as 25.00", amount)
	}
	prices[key] = int64(minor)
	return nil
}

// setPrices puts prices on the categories of a plan; those that are not named keep what the plan says.
func setPrices(p *seats.Plan, prices map[string]int64) error {
	for key, price := range prices {
		i := p.CategoryKeyed(key)
		if i < 0 {
			keys := make([]string, len(p.Categories))
			for i, c := range p.Categories {
				keys[i] = c.Key
			}
			return fmt.Errorf("--price %s: the plan has no such category; it has %s", key, strings.Join(keys, ", "))
		}
		p.Categories[i].Price = price
	}
	return nil
}
