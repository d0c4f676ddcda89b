package seats

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Fees are what an order costs besides the prices of its seats. Seats without a price have none, and so has an order
// without any that has one.
type Fees struct {
	Ticket  int64 // for each ticket with a price, minor units
	Order   int64 // once for each order, minor units
	Percent int   // of the prices, in hundredths of a percent; rounded once for each order, half a minor unit up
	Kept    bool  // they do not go back with a cancelled ticket
}

const (
	wholePercent = 100_00  // hundredths of a percent
	mostFee      = 1 << 40 // minor units, as for a price
)

// None tells that there are no fees.
func (f Fees) None() bool { return f.Ticket == 0 && f.Order == 0 && f.Percent == 0 }

// Shares divides the fees of an order over its tickets, whose prices these are, so that they come to the whole: what is
// for the order as one is divided as the prices are. A cancelled ticket takes its share with it.
func (f Fees) Shares(prices []int64) []int64 {
	shares := make([]int64, len(prices))
	var sum int64
	for _, p := range prices {
		sum += p
	}
	if sum == 0 || f.None() {
		return shares
	}
	shared := f.Order + f.percentOf(sum)
	var before, given int64
	for i, p := range prices {
		if p == 0 {
			continue
		}
		before += p
		upTo := part(shared, before, sum)
		shares[i], given = f.Ticket+upTo-given, upTo
	}
	return shares
}

// percentOf is the percentage of an amount, half a minor unit up.
func (f Fees) percentOf(amount int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(f.Percent))
	low, carry := bits.Add64(low, wholePercent/2, 0)
	share, _ := bits.Div64(high+carry, low, wholePercent)
	return int64(share)
}

// part is amount × some / of, rounded down; some is at most of.
func part(amount, some, of int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(some))
	share, _ := bits.Div64(high, low, uint64(of))
	return int64(share)
}

// check refuses fees that nobody means.
func (f Fees) check() string {
	switch {
	case f.Ticket < 0 || f.Order < 0 || f.Ticket > mostFee || f.Order > mostFee:
		return "A fee is an amount that is not negative."
	case f.Percent < 0 || f.Percent > wholePercent:
		return "A fee is between 0 and 100 percent."
	}
	return ""
}

// ReadPercent reads a percentage as people write it, such as 2.5, in hundredths of a percent.
func ReadPercent(text string) (int, error) {
	whole, rest, _ := strings.Cut(strings.TrimSpace(text), ".")
	if whole == "" || len(rest) > 2 {
		return 0, fmt.Errorf("%q is not a percentage such as 2.5", text)
	}
	found, err := strconv.ParseUint(whole+rest+strings.Repeat("0", 2-len(rest)), 10, 31)
	if err != nil || found > wholePercent {
		return 0, fmt.Errorf("%q is not a percentage between 0 and 100, such as 2.5", text)
	}
	return int(found), nil
}

// Percentage writes hundredths of a percent as ReadPercent reads them: 2.5.
func Percentage(hundredths int) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)
}

// Cost is what seats cost together.
type Cost struct {
	Prices []int64 // by seat, minor units
	Shares []int64 // of the fees, by seat
	Fee    int64   // all shares together
	Total  int64   // the prices and the fee
}

// CostOf is what seats of a plan cost by the terms of an event.
func CostOf(e Event, p *Plan, seats []int) Cost {
	c := Cost{Prices: make([]int64, len(seats))}
	for i, idx := range seats {
		c.Prices[i] = p.Categories[p.Seats[idx].Category].Price
		c.Total += c.Prices[i]
	}
	c.Shares = e.Fees.Shares(c.Prices)
	for _, share := range c.Shares {
		c.Fee += share
	}
	c.Total += c.Fee
	return c
}

// Cost is what these seats cost together.
func (s *Sale) Cost(seats []int) Cost { return CostOf(s.Event, s.Plan, seats) }

// Total is what these seats cost together with their fees, in minor units.
func (s *Sale) Total(seats []int) (total int64) { return s.Cost(seats).Total }
