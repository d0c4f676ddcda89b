package pricing

import (
	"cmp"
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Discount is what a code takes off the prices.
type Discount struct {
	Percent    int   // of each ticket's price, in hundredths of a percent
	Amount     int64 // off each ticket, or off the order; minor units
	PerOrder   bool  // Amount is off the order
	Types      []int // it is for these types; none: for all
	Categories []int // it is for these categories; none: for all
	Tickets    int   // for so many tickets of an order at most, the dearest; 0: for all

	Each map[int]int64 // what a ticket of a type costs at most, by its number; other types cost what they do
}

// off is what comes off each line.
func (d Discount) off(lines []Line) []int64 {
	off := make([]int64, len(lines))
	chosen := chosenOf(lines, d.Types, d.Categories)
	if d.Tickets > 0 && len(chosen) > d.Tickets {
		chosen = chosen[:d.Tickets]
	}
	var sum int64
	for _, i := range chosen {
		price := lines[i].Price
		off[i] = percentOf(price, d.Percent)
		if each, agreed := d.Each[lines[i].Type]; agreed {
			off[i] = max(0, price-each)
		}
		if !d.PerOrder {
			off[i] = min(price, off[i]+d.Amount)
		}
		sum += price - off[i]
	}
	if !d.PerOrder || sum == 0 {
		return off
	}
	whole, before, given := min(d.Amount, sum), int64(0), int64(0)
	for _, i := range chosen {
		before += lines[i].Price - off[i]
		upTo := Part(whole, before, sum)
		off[i], given = off[i]+upTo-given, upTo
	}
	return off
}

// chosenOf lists the lines of these types and categories, the dearest first.
func chosenOf(lines []Line, types, categories []int) (chosen []int) {
	for i, l := range lines {
		if (len(types) == 0 || slices.Contains(types, l.Type)) && (len(categories) == 0 || slices.Contains(categories, l.Category)) {
			chosen = append(chosen, i)
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int { return cmp.Compare(lines[b].Price, lines[a].Price) })
	return chosen
}

// offDiscounts is what an offer takes off each line.
func offDiscounts(o seats.PriceOffer, lines []Line) []int64 {
	off := make([]int64, len(lines))
	chosen := chosenOf(lines, o.Types, o.Categories)
	switch o.Kind {
	case seats.OfferMulti: // of each Count tickets, the cheapest cost nothing
		for at := o.Count; at <= len(chosen) && o.Count > 0; at += o.Count {
			for _, i := range chosen[at-(o.Count-o.Pay) : at] {
				off[i] = lines[i].Price
			}
		}
	case seats.OfferGroup:
		if len(chosen) >= o.Count {
			percentOff(lines, chosen, o.Percent, off)
		}
	case seats.OfferFamily:
		children := chosenOf(lines, o.ChildTypes, o.Categories)
		families := min(len(chosen)/max(1, o.Count), len(children)/max(1, o.Children))
		if families > 0 {
			percentOff(lines, chosen[:families*o.Count], o.Percent, off)
			percentOff(lines, children, o.Percent, off)
		}
	}
	return off
}

func percentOff(lines []Line, chosen []int, percent int, off []int64) {
	for _, i := range chosen {
		off[i] = percentOf(lines[i].Price, percent)
	}
}

// checkOffer returns what is wrong with an offer, empty if nothing is.
func checkOffer(o seats.PriceOffer) text.Message {
	switch {
	case o.Name == "" || !seats.OneLine(o.Name, mostName):
		return text.Say("An offer has a name of one line and at most %d characters.", mostName)
	case o.Count < 1 || o.Count > 100:
		return text.Say("An offer begins at between 1 and 100 tickets.")
	case o.Kind == seats.OfferMulti && (o.Pay < 1 || o.Pay >= o.Count):
		return text.Say("Of so many tickets, the buyer pays for fewer, and for at least one.")
	case o.Kind == seats.OfferMulti:
		return text.Message{}
	case o.Percent < 1 || o.Percent > WholePercent:
		return text.Say("An offer takes more than 0 and at most 100 percent off.")
	case o.Kind == seats.OfferGroup:
		return text.Message{}
	case o.Kind != seats.OfferFamily:
		return text.Say("An offer is one of: pay for fewer, group, family.")
	case len(o.Types) == 0 || len(o.ChildTypes) == 0 || o.Children < 1 || o.Children > 100:
		return text.Say("A family is a number of adults and of children, each of the types that you choose.")
	case slices.ContainsFunc(o.Types, func(t int) bool { return slices.Contains(o.ChildTypes, t) }):
		return text.Say("A ticket type is for adults or for children of a family, not for both.")
	}
	return text.Message{}
}
