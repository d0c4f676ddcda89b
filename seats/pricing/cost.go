package pricing

import (
	"math/bits"
	"slices"

	"github.com/usherbox/usher/seats"
)

// Line is a ticket before it is priced: what its seat costs, and what decides on discounts and tax.
type Line struct {
	Type, Category int   // numbers of the event
	Price          int64 // minor units; without the tax that comes on top
}

// Terms are what an order is priced by.
type Terms struct {
	Fees    seats.Fees         `json:"fees"`
	Tax     seats.Tax          `json:"tax"`
	Offers  []seats.PriceOffer `json:"offers,omitempty"`
	Code    *Discount          `json:"-"`                 // of the code that the buyer entered; nil for none
	Reverse bool               `json:"reverse,omitempty"` // the buyer owes the tax: it is taken out of all prices
	Extras  []Extra            `json:"extras,omitempty"`  // that the buyer adds; not priced yet
	Set     *Set               `json:"set,omitempty"`     // prices in place of all of that but the tax; nil for most
}

// Priced is what a ticket costs, and what of it is what. All taxes are inside of Price and Fee.
type Priced struct {
	Price    int64 // after the discount
	Fee      int64
	Discount int64 // what the price and the fee would be more without it
	Tax      int64 // contained in Price
	FeeTax   int64 // contained in Fee
	Rate     int   // of Tax, in thousandths of a percent
	FeeRate  int   // of FeeTax
}

// Cost is the price and the fee.
func (p Priced) Cost() int64 { return p.Price + p.Fee }

// Cost is what an order costs. Its sums are those of its lines and extras.
type Cost struct {
	Lines    []Priced
	Extras   []Extra
	Fee      int64
	Discount int64
	Total    int64   // prices, fees and extras
	Applied  Applied // why there is a discount
}

// Applied names the one code or offer that an order is priced by. Its zero value is none.
type Applied struct {
	Code  bool
	Offer int    // its number, if it is no code
	Name  string // of the offer
}

// Total prices an order. The order of things: price, discount, fee, extras, tax. Of all offers and the code, the one applies that
// leaves the buyer the least to pay. A code that is no better than an offer is not used.
func Total(lines []Line, t Terms) Cost {
	if t.Set != nil {
		return t.setPrices(lines)
	}
	listed := t.price(lines, make([]int64, len(lines)))
	best, applied := listed, Applied{}
	for _, o := range t.Offers {
		if c := t.price(lines, offDiscounts(o, lines)); c.Total < best.Total {
			best, applied = c, Applied{Offer: o.Number, Name: o.Name}
		}
	}
	if t.Code != nil {
		if c := t.price(lines, t.Code.off(lines)); c.Total < best.Total {
			best, applied = c, Applied{Code: true}
		}
	}
	best.Applied = applied
	for i := range best.Lines {
		best.Lines[i].Discount = listed.Lines[i].Cost() - best.Lines[i].Cost()
	}
	best.Discount = listed.Total - best.Total
	best.Extras = t.priced()
	best.Total += SumOf(best.Extras)
	t.taxes(&best)
	if t.Reverse {
		best.withoutTax()
	}
	return best
}

// AllIn is what a ticket costs by itself, with its fee and all taxes: the price to show.
func AllIn(l Line, t Terms) Priced {
	t.Offers, t.Code, t.Extras = nil, nil, nil
	return Total([]Line{l}, t).Lines[0]
}

// Lowest is the lowest price in a phase that everyone may pay and that is not 0, all in; 0 if everything is free of charge.
func Lowest(e seats.Event, prices *seats.Prices, phase, categories int) (least int64) {
	for kind, t := range prices.Types {
		for category := range categories {
			amount, sold := prices.Price(phase, kind, category)
			if !sold || amount == 0 || t.Retired || t.SoldTo != seats.SoldToEveryone {
				continue
			}
			cost := AllIn(Line{Type: kind, Category: category, Price: amount}, TermsOf(&e)).Cost()
			if least == 0 || cost < least {
				least = cost
			}
		}
	}
	return least
}

// price is what lines cost after these discounts. What one line costs does not depend on the others.
func (t Terms) price(lines []Line, off []int64) (c Cost) {
	c.Lines = make([]Priced, len(lines))
	for i, l := range lines {
		price := l.Price - off[i]
		fee := int64(0)
		if price > 0 {
			fee = t.Fees.Ticket + percentOf(price, t.Fees.Percent)
		}
		if t.Fees.Absorbed {
			fee = min(fee, price)
			price -= fee
		}
		rate, feeRate := t.Tax.RateOf(l.Type), t.Tax.FeeRate
		if t.Tax.OnTop {
			price += taxOn(price, rate)
			fee += taxOn(fee, feeRate)
		}
		c.Lines[i] = Priced{Price: price, Fee: fee, Rate: rate, FeeRate: feeRate}
		c.Fee += fee
		c.Total += price + fee
	}
	return c
}

// taxes finds the tax that is contained in each line. By the total, the tax of a rate is rounded once for the order, and
// divided over the lines and extras in proportion to what they cost.
func (t Terms) taxes(c *Cost) {
	for _, rate := range ratesOf(c.Lines, c.Extras) {
		if !t.Tax.ByTotal {
			eachOf(c.Lines, c.Extras, rate, func(amount int64, tax *int64) { *tax = taxIn(amount, rate) })
			continue
		}
		var sum, before, given int64
		eachOf(c.Lines, c.Extras, rate, func(amount int64, _ *int64) { sum += amount })
		whole := taxIn(sum, rate)
		eachOf(c.Lines, c.Extras, rate, func(amount int64, tax *int64) {
			before += amount
			if sum > 0 {
				upTo := Part(whole, before, sum)
				*tax, given = upTo-given, upTo
			}
		})
	}
}

// eachOf visits the amounts that have a rate, and their taxes.
func eachOf(lines []Priced, extras []Extra, rate int, visit func(amount int64, tax *int64)) {
	for i := range lines {
		l := &lines[i]
		if l.Rate == rate {
			visit(l.Price, &l.Tax)
		}
		if l.FeeRate == rate {
			visit(l.Fee, &l.FeeTax)
		}
	}
	for i := range extras {
		if x := &extras[i]; x.Rate == rate {
			visit(x.Price, &x.Tax)
		}
	}
}

func ratesOf(lines []Priced, extras []Extra) []int {
	rates := make([]int, 0, 2*len(lines)+len(extras))
	for _, l := range lines {
		rates = append(rates, l.Rate, l.FeeRate)
	}
	for _, x := range extras {
		rates = append(rates, x.Rate)
	}
	slices.Sort(rates)
	return slices.Compact(rates)
}

// withoutTax takes the tax out of all prices.
func (c *Cost) withoutTax() {
	c.Fee, c.Total = 0, 0
	for i := range c.Lines {
		l := &c.Lines[i]
		l.Price, l.Fee = l.Price-l.Tax, l.Fee-l.FeeTax
		l.Tax, l.FeeTax, l.Rate, l.FeeRate = 0, 0, 0, 0
		c.Fee, c.Total = c.Fee+l.Fee, c.Total+l.Cost()
	}
	for i := range c.Extras {
		x := &c.Extras[i]
		x.Price, x.Tax, x.Rate = x.Price-x.Tax, 0, 0
		c.Total += x.Price
	}
}

// TaxSum is what an order contains at one rate.
type TaxSum struct {
	Rate  int   // thousandths of a percent
	Gross int64 // with the tax
	Tax   int64
}

// Net is the amount without the tax.
func (s TaxSum) Net() int64 { return s.Gross - s.Tax }

// Taxes sums lines and extras by rate, the highest first. Amounts at 0 percent are a sum as well.
func Taxes(lines []Priced, extras ...Extra) (sums []TaxSum) {
	for _, rate := range slices.Backward(ratesOf(lines, extras)) {
		s := TaxSum{Rate: rate}
		eachOf(lines, extras, rate, func(amount int64, tax *int64) { s.Gross += amount; s.Tax += *tax })
		if s.Gross != 0 {
			sums = append(sums, s)
		}
	}
	return sums
}

// WholePercent is 100 percent in hundredths of a percent, and wholeRate in thousandths.
const (
	WholePercent = 100_00
	wholeRate    = 100_000
)

// taxOn is the tax on top of an amount, half a minor unit up.
func taxOn(net int64, rate int) int64 { return rounded(net, int64(rate), wholeRate) }

// taxIn is the tax inside of an amount, half a minor unit up.
func taxIn(gross int64, rate int) int64 { return rounded(gross, int64(rate), int64(rate)+wholeRate) }

// percentOf is the percentage of an amount, half a minor unit up.
func percentOf(amount int64, percent int) int64 { return rounded(amount, int64(percent), WholePercent) }

// rounded is amount × some / of, half a unit up.
func rounded(amount, some, of int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(some))
	low, carry := bits.Add64(low, uint64(of)/2, 0)
	share, _ := bits.Div64(high+carry, low, uint64(of))
	return int64(share)
}

// Part is amount × some / of, rounded down; some is at most of, and none of them is negative.
func Part(amount, some, of int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(some))
	share, _ := bits.Div64(high, low, uint64(of))
	return int64(share)
}
