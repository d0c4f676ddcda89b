package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats"
)

// addPrice reads "A=25.00". What that is in minor units shows once the currency is known, which may be said after it.
func addPrice(prices map[string]string, text string) error {
	key, amount, found := strings.Cut(text, "=")
	if !found || key == "" || amount == "" {
		return fmt.Errorf("%q is not a price such as A=25.00", text)
	}
	prices[key] = amount
	return nil
}

// setPrices puts prices on the categories of a plan; those that are not named keep what the plan says, which is in minor
// units of whatever currency the event has.
func setPrices(p *seats.Plan, prices map[string]string, currency string) error {
	for key, amount := range prices {
		i := p.CategoryKeyed(key)
		if i < 0 {
			keys := make([]string, len(p.Categories))
			for i, c := range p.Categories {
				keys[i] = c.Key
			}
			return fmt.Errorf("--price %s: the plan has no such category; it has %s", key, strings.Join(keys, ", "))
		}
		price, err := seats.ReadAmount(amount, currency)
		if err != nil {
			return fmt.Errorf("--price %s: %w", key, err)
		}
		p.Categories[i].Price = price
	}
	return nil
}

// setFees reads the fees that were said, in the currency of the event.
func setFees(f *seats.Fees, said map[string]string, currency string) (err error) {
	for kind, text := range said {
		switch kind {
		case "ticket":
			f.Ticket, err = seats.ReadAmount(text, currency)
		case "order":
			f.Order, err = seats.ReadAmount(text, currency)
		case "percent":
			f.Percent, err = seats.ReadPercent(text)
		default:
			err = errors.New("it is for each ticket, for each order, or percent")
		}
		if err != nil {
			return fmt.Errorf("--fee %s: %w", kind, err)
		}
	}
	return nil
}
