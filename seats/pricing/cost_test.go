package pricing_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest/race"
)

// currencies have 0, 2, 3 and 4 decimals.
var currencies = []string{"EUR", "USD", "GBP", "CHF", "SEK", "PLN", "CZK", "HUF", "JPY", "KRW", "KWD", "CLF"}

var amounts = rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 100_000), rapid.Int64Range(0, 1<<40))

var percents = rapid.OneOf(rapid.IntRange(0, pricing.WholePercent), rapid.SampledFrom([]int{0, 5_00, 10_00, 50_00, pricing.WholePercent}))

var rates = rapid.OneOf(rapid.SampledFrom([]int{0, 2_100, 5_500, 7_000, 8_875, 9_500, 10_000, 19_000, 20_000, 25_500, 27_000}), rapid.IntRange(0, 99_999))

func numbers(t *rapid.T, label string) []int {
	return rapid.SliceOfNDistinct(rapid.IntRange(0, 3), 0, 2, rapid.ID[int]).Draw(t, label)
}

// drawn is an order of up to 20 tickets and the terms it is priced by.
func drawn(t *rapid.T) ([]pricing.Line, pricing.Terms) {
	terms := pricing.Terms{
		Fees:    seats.Fees{Ticket: amounts.Draw(t, "fee"), Percent: percents.Draw(t, "percent"), Absorbed: rapid.Bool().Draw(t, "absorbed")},
		Tax:     seats.Tax{Rate: rates.Draw(t, "rate"), FeeRate: rates.Draw(t, "fee rate"), OnTop: rapid.Bool().Draw(t, "on top"), ByTotal: rapid.Bool().Draw(t, "by total")},
		Reverse: rapid.IntRange(0, 9).Draw(t, "reverse") == 0,
	}
	if rapid.Bool().Draw(t, "another rate") {
		terms.Tax.Types = []seats.TypeRate{{Type: 1, Rate: rates.Draw(t, "rate of type")}}
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "offers") {
		o := seats.PriceOffer{
			Number: i + 1, Kind: rapid.SampledFrom([]string{seats.OfferMulti, seats.OfferGroup, seats.OfferFamily}).Draw(t, "kind"),
			Types: numbers(t, "types"), Categories: numbers(t, "categories"), Count: rapid.IntRange(2, 6).Draw(t, "count"),
			Children: rapid.IntRange(1, 3).Draw(t, "children"), Percent: percents.Draw(t, "off"),
		}
		o.Pay = rapid.IntRange(1, o.Count-1).Draw(t, "pay")
		if o.Kind == seats.OfferFamily {
			o.Types, o.ChildTypes = []int{0}, []int{1, 2}
		}
		terms.Offers = append(terms.Offers, o)
	}
	if rapid.Bool().Draw(t, "code") {
		terms.Code = &pricing.Discount{
			Percent: percents.Draw(t, "off"), Amount: amounts.Draw(t, "amount"), PerOrder: rapid.Bool().Draw(t, "per order"),
			Types: numbers(t, "types"), Categories: numbers(t, "categories"), Tickets: rapid.IntRange(0, 4).Draw(t, "tickets"),
		}
	}
	if rapid.Bool().Draw(t, "donation") {
		terms.Extras = append(terms.Extras, pricing.Extra{Kind: pricing.Donation, Price: amounts.Draw(t, "donation")})
	}
	if rapid.Bool().Draw(t, "postage") {
		terms.Extras = append(terms.Extras, pricing.Extra{Kind: pricing.Postage, Price: amounts.Draw(t, "postage"), Rate: rates.Draw(t, "rate of postage")})
	}
	lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pricing.Line {
		return pricing.Line{Type: rapid.IntRange(0, 3).Draw(t, "type"), Category: rapid.IntRange(0, 3).Draw(t, "category"), Price: amounts.Draw(t, "price")}
	}), 0, 20).Draw(t, "lines")
	return lines, terms
}

// cents reads an amount as a buyer does who adds up what is printed, in units of the fourth decimal.
func cents(t *rapid.T, minor int64, currency string) *big.Rat {
	sum, ok := new(big.Rat).SetString(pricing.Amount(minor, currency))
	if !ok {
		t.Fatalf("%d %s is printed %q", minor, currency, pricing.Amount(minor, currency))
	}
	return sum
}

// Each of 100 checks prices 100 orders (10 with the race detector), and prints each in 12 currencies.
func TestTotal_SumsToTheCentInEveryCurrency(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for range race.Rounds(100) {
			lines, terms := drawn(t)
			sums(t, lines, terms)
		}
	})
}

func sums(t *rapid.T, lines []pricing.Line, terms pricing.Terms) {
	c := pricing.Total(lines, terms)
	back := rapid.SliceOfN(rapid.Bool(), len(lines), len(lines)).Draw(t, "cancelled")
	var total, fee, discount, refund, left int64
	for i, l := range c.Lines {
		if l.Price < 0 || l.Fee < 0 || l.Discount < 0 || l.Tax < 0 || l.FeeTax < 0 || l.Tax > l.Price || l.FeeTax > l.Fee {
			t.Fatalf("line %d of %+v with %+v is %+v", i, lines, terms, l)
		}
		total, fee, discount = total+l.Cost(), fee+l.Fee, discount+l.Discount
		if back[i] {
			refund += l.Cost()
		} else {
			left += l.Cost()
		}
		shown := pricing.AllIn(lines[i], terms)
		if !terms.Reverse && l.Cost()+l.Discount != shown.Cost() {
			t.Fatalf("line %d costs %d, less %d; shown was %d", i, l.Cost(), l.Discount, shown.Cost())
		}
	}
	for i, x := range c.Extras {
		if chosen := terms.Extras[i]; x.Price < 0 || x.Tax < 0 || x.Tax > x.Price || x.Kind == pricing.Donation && (x.Price != chosen.Price || x.Tax != 0) {
			t.Fatalf("%+v is priced %+v", chosen, x)
		}
		total, left = total+x.Price, left+x.Price
	}
	if total != c.Total || fee != c.Fee || discount != c.Discount || refund+left != c.Total {
		t.Fatalf("the lines sum to %d, fees %d, discounts %d, refund %d and rest %d: %+v", total, fee, discount, refund, left, c)
	}
	taxes(t, c, terms)
	for _, currency := range currencies {
		printed := new(big.Rat)
		for _, l := range c.Lines {
			printed.Add(printed, cents(t, l.Price, currency)).Add(printed, cents(t, l.Fee, currency))
		}
		for _, x := range c.Extras {
			printed.Add(printed, cents(t, x.Price, currency))
		}
		perRate := new(big.Rat)
		for _, s := range pricing.Taxes(c.Lines, c.Extras...) {
			perRate.Add(perRate, cents(t, s.Net(), currency)).Add(perRate, cents(t, s.Tax, currency))
		}
		if want := cents(t, c.Total, currency); printed.Cmp(want) != 0 || perRate.Cmp(want) != 0 {
			t.Fatalf("the printed lines come to %s, the rates to %s, the total is %s %s", printed, perRate, want, currency)
		}
	}
}

// taxes compares the taxes with the rule in exact numbers.
func taxes(t *rapid.T, c pricing.Cost, terms pricing.Terms) {
	exact := func(gross int64, rate int) *big.Int {
		n := new(big.Int).Mul(big.NewInt(gross), big.NewInt(int64(rate)))
		d := big.NewInt(int64(rate) + 100_000)
		return n.Add(n, new(big.Int).Div(d, big.NewInt(2))).Div(n, d)
	}
	for _, s := range pricing.Taxes(c.Lines, c.Extras...) {
		want := new(big.Int)
		if terms.Tax.ByTotal {
			want = exact(s.Gross, s.Rate)
		} else {
			for _, l := range c.Lines {
				if l.Rate == s.Rate {
					want.Add(want, exact(l.Price, l.Rate))
				}
				if l.FeeRate == s.Rate {
					want.Add(want, exact(l.Fee, l.FeeRate))
				}
			}
			for _, x := range c.Extras {
				if x.Rate == s.Rate {
					want.Add(want, exact(x.Price, x.Rate))
				}
			}
		}
		if want.Cmp(big.NewInt(s.Tax)) != 0 {
			t.Fatalf("of %d at a rate of %d, tax is %d, want %s: %+v", s.Gross, s.Rate, s.Tax, want, c)
		}
	}
}

func TestTotal_IsTheLeastOfAllOffersAndTheCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines, terms := drawn(t)
		c := pricing.Total(lines, terms)
		for _, o := range terms.Offers {
			alone := terms
			alone.Offers, alone.Code = []seats.PriceOffer{o}, nil
			if !terms.Reverse && pricing.Total(lines, alone).Total < c.Total {
				t.Fatalf("%+v alone is better than %+v", o, c)
			}
		}
		alone := terms
		alone.Offers = nil
		if !terms.Reverse && pricing.Total(lines, alone).Total < c.Total {
			t.Fatalf("the code alone is better than %+v", c)
		}
		if (c.Applied == pricing.Applied{}) != (c.Discount == 0) {
			t.Fatalf("a discount of %d is by %+v", c.Discount, c.Applied)
		}
	})
}

func priced(prices ...int64) (lines []pricing.Line) {
	for _, p := range prices {
		lines = append(lines, pricing.Line{Price: p})
	}
	return lines
}

func TestOffer_ThreeForTwoGivesTheCheapestOfEachThree(t *testing.T) {
	t.Parallel()
	terms := pricing.Terms{Offers: []seats.PriceOffer{{Number: 7, Name: "3 for 2", Kind: seats.OfferMulti, Count: 3, Pay: 2}}}
	for _, c := range []struct {
		prices   []int64
		discount int64
	}{
		{[]int64{3000, 3000}, 0},
		{[]int64{3000, 2000, 3000}, 2000},
		{[]int64{1000, 3000, 2000, 3000, 3000}, 3000},
		{[]int64{1000, 3000, 2000, 3000, 3000, 500}, 3500},
	} {
		got := pricing.Total(priced(c.prices...), terms)
		if got.Discount != c.discount || (got.Applied.Offer == 7) != (c.discount > 0) {
			t.Errorf("%v: a discount of %d by %+v, want %d", c.prices, got.Discount, got.Applied, c.discount)
		}
	}
}

func TestOffer_FamilyIsForAdultsWithChildren(t *testing.T) {
	t.Parallel()
	const adult, child = 0, 1
	terms := pricing.Terms{Offers: []seats.PriceOffer{{Number: 1, Name: "Family", Kind: seats.OfferFamily, Types: []int{adult}, Count: 2, ChildTypes: []int{child}, Children: 1, Percent: 20_00}}}
	lines := []pricing.Line{{Type: adult, Price: 3000}, {Type: adult, Price: 2000}, {Type: child, Price: 900}, {Type: child, Price: 900}, {Type: adult, Price: 1000}}
	if c := pricing.Total(lines, terms); c.Discount != 600+400+180+180 {
		t.Errorf("a family gets %d off: %+v", c.Discount, c)
	}
	if c := pricing.Total(lines[:2], terms); c.Discount != 0 {
		t.Errorf("two adults get %d off", c.Discount)
	}
	if c := pricing.Total(lines[1:4], terms); c.Discount != 0 {
		t.Errorf("one adult with children gets %d off", c.Discount)
	}
}

func TestOffer_ABetterOfferLeavesTheCodeUnused(t *testing.T) {
	t.Parallel()
	terms := pricing.Terms{
		Offers: []seats.PriceOffer{{Number: 1, Name: "Group", Kind: seats.OfferGroup, Count: 3, Percent: 10_00}},
		Code:   &pricing.Discount{Amount: 500, PerOrder: true},
	}
	if c := pricing.Total(priced(1000, 1000, 1000), terms); !c.Applied.Code || c.Discount != 500 {
		t.Errorf("the better code: %+v", c)
	}
	if c := pricing.Total(priced(2000, 2000, 2000), terms); c.Applied.Code || c.Discount != 600 {
		t.Errorf("the better offer: %+v", c)
	}
	if c := pricing.Total(priced(100, 100), terms); c.Total != 0 || c.Discount != 200 {
		t.Errorf("more off than it costs: %+v", c)
	}
}

func TestTax_OnTopIsInTheShownPrice(t *testing.T) {
	t.Parallel()
	terms := pricing.Terms{Fees: seats.Fees{Ticket: 200}, Tax: seats.Tax{Rate: 8_875, FeeRate: 8_875, OnTop: true, ByTotal: true}}
	shown := pricing.AllIn(pricing.Line{Price: 999}, terms)
	if shown.Price != 1088 || shown.Fee != 218 {
		t.Errorf("9.99 and a fee of 2 with 8.875 percent are %+v", shown)
	}
	if c := pricing.Total(priced(999, 999, 999), terms); c.Total != 3*shown.Cost() {
		t.Errorf("three cost %d, shown was %d each", c.Total, shown.Cost())
	}
	terms.Tax.OnTop = false
	if c := pricing.Total(priced(999, 999, 999), terms); c.Total != 3*1199 || len(pricing.Taxes(c.Lines)) != 1 || pricing.Taxes(c.Lines)[0].Tax != 293 {
		t.Errorf("with the tax inside: %+v", c)
	}
}

func TestFees_AbsorbedAreInsideOfThePrice(t *testing.T) {
	t.Parallel()
	terms := pricing.Terms{Fees: seats.Fees{Ticket: 150, Percent: 2_50, Absorbed: true}}
	c := pricing.Total(priced(2000, 0, 100), terms)
	if c.Total != 2100 || c.Lines[0].Fee != 200 || c.Lines[0].Price != 1800 || c.Lines[1].Fee != 0 || c.Lines[2].Fee != 100 {
		t.Errorf("absorbed fees: %+v", c)
	}
}

func TestReverseCharge_TakesTheTaxOut(t *testing.T) {
	t.Parallel()
	terms := pricing.Terms{Fees: seats.Fees{Ticket: 119}, Tax: seats.Tax{Rate: 19_000, FeeRate: 19_000}, Reverse: true}
	if c := pricing.Total(priced(11900, 1190), terms); c.Total != 10000+1000+200 || c.Fee != 200 || slices.ContainsFunc(pricing.Taxes(c.Lines), func(s pricing.TaxSum) bool { return s.Tax != 0 }) {
		t.Errorf("without the tax: %+v", c)
	}
	for pair, want := range map[[2]string]bool{{"DE", "FR"}: true, {"DE", "DE"}: false, {"DE", "CH"}: false, {"GB", "DE"}: false} {
		if got := pricing.ReverseCharge(pair[0], pair[1]); got != want {
			t.Errorf("from %s to %s: %t", pair[0], pair[1], got)
		}
	}
}

func TestPercentagesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 100_00).Draw(t, "hundredths")
		if got, err := pricing.ReadPercent(pricing.Percentage(n)); err != nil || got != n {
			t.Fatalf("%d is %s, read as %d, %v", n, pricing.Percentage(n), got, err)
		}
		n = rapid.IntRange(0, 100_000).Draw(t, "thousandths")
		if got, err := pricing.ReadRate(pricing.Rate(n)); err != nil || got != n {
			t.Fatalf("%d is %s, read as %d, %v", n, pricing.Rate(n), got, err)
		}
	})
	for _, text := range []string{"", ".5", "2.555", "100.01", "-1", "1e2", "half", "2,5", "+3"} {
		if n, err := pricing.ReadPercent(text); err == nil {
			t.Errorf("%q is read as %d", text, n)
		}
	}
}

func TestTotal_ExtrasAreNoPartOfTicketsAndGetNoDiscount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines, terms := drawn(t)
		with := pricing.Total(lines, terms)
		without := terms
		without.Extras = nil
		alone := pricing.Total(lines, without)
		if with.Total-pricing.SumOf(with.Extras) != alone.Total && !terms.Reverse || with.Discount != alone.Discount || with.Applied != alone.Applied {
			t.Fatalf("%+v with extras, %+v without", with, alone)
		}
		for i, l := range with.Lines {
			if l.Cost() != alone.Lines[i].Cost() && !terms.Reverse {
				t.Fatalf("ticket %d costs %d with extras, %d without", i, l.Cost(), alone.Lines[i].Cost())
			}
		}
	})
}
