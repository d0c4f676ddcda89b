package orders

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// WithCard finds the gift card of a sale, and what it pays of each part: the first ones first. The card is the zero one if the sale has none.
//
// Errors: a *seats.Conflict that says why the card pays nothing; those of Quote; the database's.
func (o *Orders) WithCard(ctx context.Context, parts []OfficePart) ([]OfficePart, payments.GiftCard, error) {
	code := parts[0].Form.Card
	if code == "" {
		return parts, payments.GiftCard{}, nil
	}
	if slices.ContainsFunc(parts, func(p OfficePart) bool { return p.Sale.Event.TestOf != 0 }) {
		return nil, payments.GiftCard{}, &seats.Conflict{Code: payments.CodeCard, Message: text.Mark("A test sale takes no gift cards. Nothing was sold.")}
	}
	cards, is := o.Payments.Provider(payments.Credit).(payments.Cards)
	if !is {
		return nil, payments.GiftCard{}, &seats.Conflict{Code: payments.CodeCard, Message: text.Mark("There is no gift card with this code. Nothing was sold. Check the code.")}
	}
	card, err := cards.Card(ctx, code)
	if err != nil {
		return nil, card, err
	}
	if currency := parts[0].Sale.Event.Currency; card.Currency != currency {
		return nil, card, &seats.Conflict{Code: payments.CodeCard, Message: text.Mark("This gift card is in %s, and the tickets are sold in %s. Nothing was sold."), Args: []any{card.Currency, currency}}
	}
	parts = slices.Clone(parts)
	left := card.Balance
	for i := range parts {
		_, cost, err := parts[i].Form.Quote(parts[i].Sale)
		if err != nil {
			return nil, card, refusedPart(i, parts[i].Sale, err)
		}
		parts[i].Form.byCard = min(left, cost.Total)
		left -= parts[i].Form.byCard
	}
	return parts, card, nil
}

// paysAsShown refuses a sale of which the card pays something else than its page showed: the rest was taken by hand.
func paysAsShown(parts []OfficePart) error {
	shown, pays := parts[0].Form.CardPays, ByCard(parts)
	if parts[0].Form.Card == "" || shown != nil && *shown == pays {
		return nil
	}
	return &seats.Conflict{Code: payments.CodeCard, Message: text.Mark("This gift card pays %s now. Nothing was sold. Look at what is to pay, then sell again."), Args: []any{pricing.Sum{Minor: pays, Currency: parts[0].Sale.Event.Currency}}}
}

// TypedCard returns the form with the gift card that was typed as its code: a text of that form which is no discount code of any of the
// events of the sale.
//
// Errors: a *seats.Conflict if the form has a card already; the database's.
func (o *Orders) TypedCard(ctx context.Context, of []*seats.Sale, f OfficeForm) (OfficeForm, error) {
	cards, is := o.Payments.Provider(payments.Credit).(payments.Cards)
	if !is || !cards.IsCard(f.Code) {
		return f, nil
	}
	for _, s := range of {
		if s.Event.TestOf != 0 {
			return f, nil
		}
		found, err := pricing.FindCode(ctx, o.db, s.Event.ID, f.Code)
		if err != nil || found.State != pricing.CodeUnknown {
			return f, err
		}
	}
	if f.Card != "" {
		return f, &seats.Conflict{Code: payments.CodeCard, Message: text.Mark("One gift card pays a sale.")}
	}
	f.Card, f.Code = f.Code, ""
	return f, nil
}

// ByCard is what the gift card pays of a sale, once WithCard found it: minor units.
func ByCard(parts []OfficePart) (minor int64) {
	for _, p := range parts {
		minor += p.Form.byCard
	}
	return minor
}

// paysByCard is what the gift card pays of an order of this total.
func (f OfficeForm) paysByCard(total int64) int64 { return min(f.byCard, total) }

// togetherSale is a sale of several parts, or by a gift card.
type togetherSale struct {
	steps []seats.Step
	made  []placed
	parts []OfficePart
	card  payments.GiftCard
	paid  []int64 // by the card, of each part, as its order was written last
}

func newTogether(parts []OfficePart, forms []Form, kinds [][]int, card payments.GiftCard) (*togetherSale, error) {
	t := &togetherSale{parts: parts, card: card, paid: make([]int64, len(parts))}
	for i, part := range parts {
		p, d := part.Form.purchase(part.Sale, forms[i], kinds[i])
		write := d.Write
		d.Write = func(q *pgx.Batch, sold []seats.Line) {
			t.paid[i] = part.Form.paysByCard(part.Form.cost(part.Sale, sold).Total)
			write(q, sold)
		}
		step, err := part.Sale.Selling(d)
		if err != nil {
			return nil, refusedPart(i, part.Sale, err)
		}
		t.steps, t.made = append(t.steps, step), append(t.made, p)
	}
	return t, nil
}

func (t *togetherSale) codes() (codes []string) {
	for _, p := range t.made {
		codes = append(codes, p.code)
	}
	return codes
}

// spend queues the payment by the gift card, after the orders. It is one, with a share of each order that it pays of.
func (t *togetherSale) spend(q *pgx.Batch) {
	var p payments.Payment
	for i, part := range t.parts {
		if t.paid[i] == 0 {
			continue
		}
		made := t.made[i]
		if p.Amount == 0 {
			p.ID, p.EventID, p.Order, p.Code, p.Holder, p.Currency = seats.NewID(), part.Sale.Event.ID, made.id, made.code, made.holder, part.Sale.Event.Currency
			p.Details = payments.Details{Hold: made.form.Hold, Seats: made.form.Seats, Name: made.form.Name, Email: made.form.Email, Account: t.card.Account}
		}
		p.Amount += t.paid[i]
		p.Shares = append(p.Shares, payments.Share{EventID: part.Sale.Event.ID, Event: part.Sale.Event.Slug, Order: made.id, Code: made.code, Amount: t.paid[i], Form: []byte("{}")})
	}
	if p.Amount == 0 {
		return
	}
	if len(p.Shares) == 1 {
		p.Shares = nil
	}
	payments.QueueSpent(q, p)
	t.card.Spend(q, p.ID, p.Order, p.Amount)
}
