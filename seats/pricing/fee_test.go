package pricing_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

// fees draws terms and the prices of an order, small ones and the largest there are.
func fees(t *rapid.T) (seats.Fees, []int64) {
	amount := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 100_000), rapid.Int64Range(0, 1<<40))
	f := seats.Fees{Ticket: amount.Draw(t, "ticket"), Order: amount.Draw(t, "order"), Percent: rapid.IntRange(0, 100_00).Draw(t, "percent")}
	return f, rapid.SliceOfN(amount, 0, 40).Draw(t, "prices")
}

// fee is the rule in exact numbers: so much for each ticket with a price, so much once, and the percentage half a
// unit up.
func fee(f seats.Fees, prices []int64) *big.Int {
	sum, paid := new(big.Int), int64(0)
	for _, p := range prices {
		sum.Add(sum, big.NewInt(p))
		if p > 0 {
			paid++
		}
	}
	if paid == 0 {
		return new(big.Int)
	}
	share := new(big.Int).Mul(sum, big.NewInt(int64(f.Percent)))
	share.Add(share, big.NewInt(50_00)).Div(share, big.NewInt(100_00))
	share.Add(share, new(big.Int).Mul(big.NewInt(paid), big.NewInt(f.Ticket)))
	return share.Add(share, big.NewInt(f.Order))
}

func TestTheSharesOfFeesComeToTheFeesForAnyMixture(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, prices := fees(t)
		shares := pricing.Shares(f, prices)
		sum := new(big.Int)
		for i, share := range shares {
			if share < 0 || prices[i] == 0 && share != 0 || prices[i] > 0 && share < f.Ticket {
				t.Fatalf("a ticket of %d has %d of the fees %+v", prices[i], share, f)
			}
			sum.Add(sum, big.NewInt(share))
		}
		if want := fee(f, prices); sum.Cmp(want) != 0 {
			t.Fatalf("%+v on %v: the shares come to %s, want %s", f, prices, sum, want)
		}
	})
}

func TestAnOrderCostsItsPricesAndItsFees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, prices := fees(t)
		p, all := &seats.Plan{}, []int{}
		for i, price := range prices {
			p.Categories = append(p.Categories, seats.Category{Price: price})
			p.Seats, all = append(p.Seats, seats.Seat{Category: i}), append(all, i)
		}
		c, lines := pricing.CostOf(seats.Event{Fees: f}, p, all), int64(0)
		for i := range all {
			lines += c.Prices[i] + c.Shares[i]
		}
		if lines != c.Total || c.Fee < 0 || c.Total < c.Fee {
			t.Fatalf("the lines come to %d, the cost is %+v", lines, c)
		}
	})
}

func TestPercentagesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 100_00).Draw(t, "hundredths")
		if got, err := pricing.ReadPercent(pricing.Percentage(n)); err != nil || got != n {
			t.Fatalf("%d is %s, read as %d, %v", n, pricing.Percentage(n), got, err)
		}
	})
	for _, text := range []string{"", ".5", "2.555", "100.01", "-1", "1e2", "half", "2,5", "+3"} {
		if n, err := pricing.ReadPercent(text); err == nil {
			t.Errorf("%q is read as %d", text, n)
		}
	}
}
