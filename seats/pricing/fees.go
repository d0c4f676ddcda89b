package pricing

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// Cost is what seats cost together.
type Cost struct {
	Prices []int64 // by seat, minor units
	Shares []int64 // of the fees, by seat
	Fee    int64   // all shares together
	Total  int64   // the prices and the fee
}

// CostOf is what seats of a plan cost by the terms of an event.
func CostOf(e seats.Event, p *seats.Plan, idxs []int) Cost {
	c := Cost{Prices: make([]int64, len(idxs))}
	for i, idx := range idxs {
		c.Prices[i] = p.Categories[p.Seats[idx].Category].Price
		c.Total += c.Prices[i]
	}
	c.Shares = Shares(e.Fees, c.Prices)
	for _, share := range c.Shares {
		c.Fee += share
	}
	c.Total += c.Fee
	return c
}

// Of is what seats of a sale cost together.
func Of(s *seats.Sale, idxs []int) Cost { return CostOf(s.Event, s.Plan, idxs) }

// Shares divides the fees of an order over its tickets, which have these prices. The shares add up to the whole: fees of
// the order are divided in proportion to the prices. A cancelled ticket takes its share with it.
func Shares(f seats.Fees, prices []int64) []int64 {
	shares := make([]int64, len(prices))
	var sum int64
	for _, p := range prices {
		sum += p
	}
	if sum == 0 {
		return shares
	}
	shared := f.Order + percentOf(sum, f.Percent)
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

// WholePercent is 100 percent in hundredths of a percent.
const WholePercent = 100_00

// percentOf is the percentage of an amount, half a minor unit up.
func percentOf(amount int64, percent int) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(percent))
	low, carry := bits.Add64(low, WholePercent/2, 0)
	share, _ := bits.Div64(high+carry, low, WholePercent)
	return int64(share)
}

// part is amount × some / of, rounded down; some is at most of.
func part(amount, some, of int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(some))
	share, _ := bits.Div64(high, low, uint64(of))
	return int64(share)
}

// Kept is what the organizer keeps of a ticket of this price that an attendee cancels, at most all of it.
func Kept(p seats.Policy, price int64) int64 {
	return min(price, p.CancelFee+percentOf(price, p.CancelPercent))
}

// ReadPercent reads a percentage such as 2.5 in hundredths of a percent.
func ReadPercent(text string) (int, error) {
	whole, rest, _ := strings.Cut(strings.TrimSpace(text), ".")
	if whole == "" || len(rest) > 2 {
		return 0, fmt.Errorf("%q is not a percentage such as 2.5", text)
	}
	found, err := strconv.ParseUint(whole+rest+strings.Repeat("0", 2-len(rest)), 10, 31)
	if err != nil || found > WholePercent {
		return 0, fmt.Errorf("%q is not a percentage between 0 and 100, such as 2.5", text)
	}
	return int(found), nil
}

// Percentage writes hundredths of a percent as ReadPercent reads them: 2.5.
func Percentage(hundredths int) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)
}
