package shop

import (
	"context"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// offersExtras reports whether buyers can add something that this house can take: a free order needs a way to pay for it.
func (p CheckoutPage) offersExtras() bool {
	return p.Payment == nil && p.CanPay && (len(p.Event.Rules.Extras.Donations) > 0 || pricing.Posts(p.Event))
}

// donates reports whether a donation of this amount is chosen.
func (p CheckoutPage) donates(amount int64) bool { return p.Form.Donation == amount }

// donationLabel asks for a donation, and says for what.
func (p CheckoutPage) donationLabel(ctx context.Context) string {
	if what := p.Event.Rules.Extras.DonationFor; what != "" {
		return text.T(ctx, "Add a donation: %s", what)
	}
	return text.T(ctx, "Add a donation")
}

// postLabel offers tickets by post.
func (p CheckoutPage) postLabel(ctx context.Context) string {
	return text.T(ctx, "Also send my tickets by post · %s", views.MoneyIn(ctx, pricing.PostageOf(p.Event), p.Event.Currency))
}

// address is where the tickets go by post, as it was typed.
func (p CheckoutPage) address() orders.Address {
	if p.Form.Post != nil {
		return *p.Form.Post
	}
	return orders.Address{Country: p.Event.Rules.Tax.Country}
}

func minor(amount int64) string { return strconv.FormatInt(amount, 10) }

// PostWords says where the tickets of an order go by post; empty if they do not, or were cancelled.
func PostWords(ctx context.Context, o orders.Order) string {
	if o.Post == nil || o.State == orders.Cancelled {
		return ""
	}
	to := strings.Join(AddressLines(ctx, *o.Post), ", ")
	if o.PostedAt != nil {
		return text.T(ctx, "Your tickets were posted to %s.", to)
	}
	return text.T(ctx, "Your tickets will also be posted to %s.", to)
}

// AddressLines are an address as an envelope has it, without the name.
func AddressLines(ctx context.Context, a orders.Address) []string {
	return []string{a.Street, strings.TrimSpace(a.Postcode + " " + a.City), views.CountryName(ctx, a.Country)}
}
