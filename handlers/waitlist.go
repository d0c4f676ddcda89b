package handlers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	mails "github.com/usherbox/usher/views/mail"
	"github.com/usherbox/usher/views/shop"
)

// waiting makes the mail about a place in a wait list, as the place is now: an ended offer is not sent.
func (l Letters) waiting(ctx context.Context, m mail.Mail, kind string) (mail.Letter, error) {
	n, err := l.Waits.Find(ctx, m.Entry)
	if errors.Is(err, waitlist.ErrNoEntry) {
		return mail.Letter{}, &mail.Refused{Reason: "there is no such place in a wait list"}
	}
	if err != nil {
		return mail.Letter{}, err
	}
	if kind == "offer" && n.Offer == nil || kind == "missed" && n.State != waitlist.Waiting {
		return mail.Letter{}, &mail.Refused{Reason: "it is not so any more"}
	}
	s, err := l.Inventory.Sale(ctx, n.Event)
	if err != nil {
		return mail.Letter{}, err
	}
	sale := shop.Sale{Event: s.Event, Plan: s.Plan}
	home, err := l.home(ctx, s.Event.Team)
	if err != nil {
		return mail.Letter{}, err
	}
	page := mails.WaitLetter{Sale: sale, Entry: n, Kind: kind, Again: n.Misses%2 == 1, Address: home + shop.WaitPath(n.Code), EventAt: home + sale.Path()}
	if page.Letterhead, err = l.head(ctx, s.Event.Team); err != nil {
		return mail.Letter{}, err
	}
	if kind == "offer" {
		if err := l.own(ctx, &page.Letterhead, letters.TextOffer, sale, orders.Order{}); err != nil {
			return mail.Letter{}, err
		}
	}
	var html strings.Builder
	if err := mails.WaitMail(page).Render(ctx, &html); err != nil {
		return mail.Letter{}, err
	}
	return branded(mail.Letter{
		ID: fmt.Sprintf("%d.wait", m.ID), Email: n.Email, Subject: strings.Join(strings.Fields(page.Subject(ctx)), " "), Text: page.Text(ctx), HTML: html.String(),
	}, page.Letterhead), nil
}

// errNewTerms makes an agreed order an ordinary offer: its person did not accept the terms that are in force now.
var errNewTerms = &seats.Conflict{Code: orders.CodeDeclined, Message: text.Mark("The organizer has new terms since then, which you accept at the checkout. Nothing was charged.")}

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
