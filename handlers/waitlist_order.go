package handlers

import (
	"context"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/waitlist"
)

// errNewTerms makes an agreed order an ordinary offer: its person did not accept the terms that are in force now.
var errNewTerms = &seats.Conflict{Code: orders.CodeDeclined, Message: "The organizer has new terms since then, which you accept at the checkout. Nothing was charged."}

// OrderOffered returns what places orders for offers with a consent (waitlist.List.Order).
func OrderOffered(sold *orders.Orders, texts *pages.Pages) func(context.Context, *seats.Sale, waitlist.Purchase) error {
	return func(ctx context.Context, s *seats.Sale, p waitlist.Purchase) error {
		terms, err := texts.TermsOf(ctx, s.Event.Team)
		if err != nil {
			return err
		}
		if terms != p.Terms && terms > 0 {
			return errNewTerms
		}
		return sold.PlaceAlone(ctx, s, p.Holder, orders.Form{
			Hold: p.Hold, Seats: p.Seats, Name: p.Name, Email: p.Email, Method: p.Method, Account: p.Email, Mandate: p.Mandate,
			Terms: p.Terms, InForce: p.Terms, AgreedAt: &p.AgreedAt,
		})
	}
}
