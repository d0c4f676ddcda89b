package pricing

import (
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Kinds of extras.
const (
	Donation = "donation" // to the organizer, without tax
	Postage  = "postage"  // of the tickets of an order
)

// Extra is what a buyer adds to an order. It is no part of a ticket: it has no fee, no discount counts for it, and it does not go
// back with a ticket.
type Extra struct {
	Kind  string `json:"kind"`
	Price int64  `json:"price"` // minor units; once it is priced, with the tax
	Tax   int64  `json:"tax"`   // contained in Price, once it is priced
	Rate  int    `json:"rate"`  // of Tax, in thousandths of a percent
}

// ExtrasOf are those that a buyer chose, as the event offers them. A donation that is not offered, and postage of an event that
// posts no tickets, is left out.
func ExtrasOf(e seats.Event, donation int64, post bool) (list []Extra) {
	if slices.Contains(e.Rules.Extras.Donations, donation) {
		list = append(list, Extra{Kind: Donation, Price: donation})
	}
	if post && Posts(e) {
		list = append(list, Extra{Kind: Postage, Price: e.Rules.Extras.Postage, Rate: e.Rules.Extras.PostageRate})
	}
	return list
}

// Posts reports whether tickets of an event are sent by post.
func Posts(e seats.Event) bool { return e.Rules.Extras.Postage > 0 && !e.Online.On }

// PostageOf is what the postage of an order costs, with the tax.
func PostageOf(e seats.Event) int64 {
	t := TermsOf(&e)
	t.Extras = ExtrasOf(e, 0, true)
	return Total(nil, t).Total
}

// SumOf is what extras cost.
func SumOf(extras []Extra) (sum int64) {
	for _, x := range extras {
		sum += x.Price
	}
	return sum
}

// priced are the extras with the tax that comes on top.
func (t Terms) priced() []Extra {
	extras := slices.Clone(t.Extras)
	for i := range extras {
		if x := &extras[i]; t.Tax.OnTop {
			x.Price += taxOn(x.Price, x.Rate)
		}
	}
	return extras
}

// Limits of what organizers offer.
const (
	mostDonations = 6
	mostExtra     = 1_000_000 // minor units
)

// checkExtras returns what is wrong with the extras of an event, empty if nothing is.
func checkExtras(x seats.Extras) text.Message {
	low := func(amount int64) bool { return amount <= 0 }
	switch {
	case len(x.Donations) > mostDonations || slices.ContainsFunc(x.Donations, low) || len(x.Donations) > 0 && slices.Max(x.Donations) > mostExtra:
		return text.Say("Enter up to %d amounts of a donation, such as 2, 5, 10.", mostDonations)
	case !seats.OneLine(x.DonationFor, mostName):
		return text.Say("What donations are for is one line of at most %d characters.", mostName)
	case x.Postage < 0 || x.Postage > mostExtra:
		return text.Say("Postage is an amount such as 3.50, or nothing.")
	case x.PostageRate < 0 || x.PostageRate >= wholeRate:
		return text.Say("A tax rate is at least 0 and less than 100 percent, such as 8.875.")
	}
	return text.Message{}
}
