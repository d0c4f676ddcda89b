package events

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// PriceEdit is what changes about the prices of an event. What is nil stays as it is.
type PriceEdit struct {
	List  *seats.Prices
	Rules *seats.PriceRules
	Code  *pricing.Code // a new discount code
}

// EditPrices gives an event other prices, on all nodes at once, while it is on sale. What is held or sold keeps its price.
// Once the sale has begun, a tax that comes on top of prices cannot change: what is held would cost something else.
//
// Errors: seats.ErrNoEvent; *seats.ValidationError; a *seats.Conflict if the event was cancelled, a phase has sold more seats
// than its new limit, or the code is taken; the database's.
func EditPrices(ctx context.Context, inventory *seats.Inventory, slug string, edit PriceEdit, also seats.TxHook) (seats.Event, error) {
	return inventory.ChangeEvent(ctx, slug, also, func(tx pgx.Tx, e seats.Event) (bool, error) { return PriceStep(edit)(ctx, tx, e) })
}

// PriceStep is EditPrices as a step.
func PriceStep(edit PriceEdit) Step {
	return func(ctx context.Context, tx pgx.Tx, e seats.Event) (bool, error) {
		err := edit.save(ctx, tx, e)
		switch {
		case seats.IsConstraint(err, "a phase sells no more than its limit"):
			return false, &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("A phase has sold more seats than this limit. Nothing was changed. Choose a higher number, or end the phase.")}
		case errors.Is(err, pricing.ErrCodeTaken):
			return false, pricing.CodeTaken(e, edit.Code.Code)
		}
		return err == nil, err
	}
}

func (edit PriceEdit) save(ctx context.Context, tx pgx.Tx, e seats.Event) error {
	if e.Status == seats.Cancelled {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This event was cancelled, and stays as it was. Nothing was changed.")}
	}
	p, err := seats.LoadPlan(ctx, tx, e.ID)
	if err != nil {
		return err
	}
	before, err := seats.LoadPrices(ctx, tx, e.ID, p)
	if err != nil {
		return err
	}
	types := len(before.Types)
	if edit.List != nil {
		types = len(edit.List.Types)
		if err := editList(ctx, tx, e.ID, p, before, edit.List); err != nil {
			return err
		}
	}
	if edit.Rules != nil {
		if err := editRules(ctx, tx, e, *edit.Rules, types, len(p.Categories)); err != nil {
			return err
		}
	}
	if edit.Code != nil {
		if err := pricing.CreateCodes(ctx, tx, e.ID, *edit.Code, []string{edit.Code.Code}); err != nil {
			return err
		}
	}
	return list(ctx, tx, e.Slug, p)
}

// editList writes another price list. Its plan shows the prices of the first type.
func editList(ctx context.Context, tx pgx.Tx, event int64, p *seats.Plan, before, list *seats.Prices) error {
	next := pricing.Complete(list, p.Categories)
	if err := pricing.Check(before, next, len(p.Categories)); err != nil {
		return err
	}
	prices := pricesOf(p)
	for category := range prices {
		if price, sold := next.Price(0, 0, category); sold {
			prices[category] = price
		}
	}
	if !slices.Equal(prices, pricesOf(p)) {
		plan, err := reprice(ctx, tx, event, p, prices)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, drawnFromSQL, event, *plan, len(p.Seats)); err != nil {
			return err
		}
	}
	return pricing.Save(ctx, tx, event, next)
}

const setRulesSQL = `UPDATE event SET price_rules = $2 WHERE id = $1`

// editRules writes other rules for tax and offers.
func editRules(ctx context.Context, tx pgx.Tx, e seats.Event, next seats.PriceRules, types, categories int) error {
	if err := pricing.CheckRules(next, types, categories); err != nil {
		return err
	}
	if (e.Rules.Tax.OnTop || next.Tax.OnTop) && !reflect.DeepEqual(e.Rules.Tax, next.Tax) {
		begun, err := begunSince(ctx, tx, e)
		if err != nil {
			return err
		}
		if begun {
			return refuseTax()
		}
	}
	if _, err := tx.Exec(ctx, setRulesSQL, e.ID, next); err != nil {
		return fmt.Errorf("events: set price rules: %w", err)
	}
	return nil
}

func refuseTax() error {
	return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The sale has begun, and a tax on top of prices would change what held seats cost. Nothing was changed. A tax that is inside of the prices can change at any time.")}
}

// relist writes the price list that follows from other prices of the categories.
func relist(ctx context.Context, tx pgx.Tx, event int64, p *seats.Plan, prices []int64) error {
	before, err := seats.LoadPrices(ctx, tx, event, p)
	if err != nil {
		return err
	}
	return pricing.Save(ctx, tx, event, pricing.Reprice(before, p.Categories, prices))
}

// CodesIn are the terms that codes have in an event.
type CodesIn struct {
	Slug  string
	Terms pricing.Code
}

// AddCodes makes the same codes in each of the events, all or none. Those of the first event are mailed, if to says to whom; with
// members, each is for the person of the membership at its place. note is called for each of the other events, in the transaction; it may be nil. All
// nodes know at once that the events have codes.
//
// Errors: seats.ErrNoEvent; *seats.ValidationError; a *seats.Conflict if an event has one of the codes; the database's.
func AddCodes(ctx context.Context, inventory *seats.Inventory, in []CodesIn, codes []string, to pricing.Mailing, note func(pgx.Tx, seats.Event) error, also seats.TxHook) error {
	terms, slugs := map[string]pricing.Code{}, []string{}
	for _, one := range in {
		terms[one.Slug], slugs = one.Terms, append(slugs, one.Slug)
	}
	_, err := inventory.ChangeEvents(ctx, slugs, also, func(tx pgx.Tx, e seats.Event) (bool, error) {
		err := pricing.CreateCodes(ctx, tx, e.ID, terms[e.Slug], codes, to.Members...)
		switch {
		case errors.Is(err, pricing.ErrCodeTaken):
			return false, pricing.CodeTaken(e, terms[e.Slug].Code)
		case err != nil:
			return false, err
		case e.Slug == in[0].Slug:
			return true, pricing.MailCodes(ctx, tx, e.ID, codes, to)
		case note != nil:
			return true, note(tx, e)
		}
		return true, nil
	})
	return err
}
