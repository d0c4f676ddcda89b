package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// A Step changes an event within the transaction of seats.Inventory.ChangeEvents, which locked it. It reports whether it changed
// anything.
type Step func(ctx context.Context, tx pgx.Tx, e seats.Event) (bool, error)

// Edit gives an event other settings; its slug, its seats and its status stay. prices are those of the categories, in
// minor units; nil keeps them. Once the sale has begun (Begun), what attendees agreed to cannot change: prices, fees, the
// currency, questions, and what happens to seats of an expired hold. Limits apply to claims from now on.
//
// Errors: seats.ErrNoEvent; a *Conflict that names what cannot change any more; *ValidationError; the database's.
func Edit(ctx context.Context, office *seats.Inventory, slug string, n Settings, prices []int64, also seats.TxHook) (seats.Event, error) {
	edit, err := EditStep(n, prices)
	if err != nil {
		return seats.Event{}, err
	}
	return office.ChangeEvent(ctx, slug, also, func(tx pgx.Tx, e seats.Event) (bool, error) { return edit(ctx, tx, e) })
}

// EditStep is Edit as a step.
func EditStep(n Settings, prices []int64) (Step, error) {
	n = n.withDefaults()
	if n.StartsAt.IsZero() {
		return nil, &seats.ValidationError{Message: text.Mark("Enter when the event begins. Nothing was changed.")}
	}
	if err := n.check(); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pgx.Tx, e seats.Event) (bool, error) { return n.edit(ctx, tx, e, prices) }, nil
}

func (e Settings) edit(ctx context.Context, tx pgx.Tx, was seats.Event, prices []int64) (bool, error) {
	p, err := seats.LoadPlan(ctx, tx, was.ID)
	if err != nil {
		return false, err
	}
	if prices == nil {
		prices = pricesOf(p)
	}
	if len(prices) != len(p.Categories) || slices.Min(prices) < 0 {
		return false, &seats.ValidationError{Message: text.Mark("This event has %d categories, each with a price that is not negative. Nothing was changed."), Args: []any{len(p.Categories)}}
	}
	e.Policy = cmp.Or(e.Policy, &was.Policy)
	reprices := !slices.Equal(prices, pricesOf(p))
	if e.equal(Of(was)) && !reprices {
		return false, nil
	}
	if err := mayEdit(ctx, tx, was, e, reprices); err != nil {
		return false, err
	}
	plan, err := reprice(ctx, tx, was.ID, p, prices)
	if err == nil && reprices {
		err = relist(ctx, tx, was.ID, p, prices)
	}
	if err != nil {
		return false, err
	}
	if err := e.save(ctx, tx, was.ID, plan); err != nil {
		return false, err
	}
	if err := list(ctx, tx, was.Slug, p); err != nil {
		return false, err
	}
	if sameQuestions(e.Questions, was.Questions) {
		return true, nil
	}
	if _, err := tx.Exec(ctx, forgetQuestionsSQL, was.ID); err != nil {
		return false, err
	}
	return true, saveQuestions(ctx, tx, was.ID, e.Questions)
}

const lockCounterSQL = `SELECT FROM counter WHERE event_id = $1 FOR NO KEY UPDATE`

// Begun reports whether attendees took seats on the terms of an event, or may: it is or was on sale, or it is scheduled
// and has orders, payments or holds, of a presale or of a sale before.
func Begun(ctx context.Context, office *seats.Inventory, e seats.Event) (begun bool, err error) {
	err = pgx.BeginFunc(ctx, office, func(tx pgx.Tx) error {
		begun, err = hasBegun(ctx, tx, e)
		return err
	})
	return begun, err
}

func hasBegun(ctx context.Context, tx pgx.Tx, e seats.Event) (begun bool, err error) {
	if e.Status != seats.Draft && e.Status != seats.Scheduled {
		return true, nil
	}
	u, err := usedBy(ctx, tx, e.ID)
	return u != used{}, err
}

// begunSince is Begun within a change of the event: no batch commits seats after the answer and before the change.
func begunSince(ctx context.Context, tx pgx.Tx, e seats.Event) (bool, error) {
	if _, err := tx.Exec(ctx, lockCounterSQL, e.ID); err != nil {
		return false, err
	}
	return hasBegun(ctx, tx, e)
}

// mayEdit refuses changes that come too late.
func mayEdit(ctx context.Context, tx pgx.Tx, e seats.Event, n Settings, reprices bool) error {
	if e.Status == seats.Cancelled {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This event was cancelled, and stays as it was. Nothing was changed. Duplicate it to make another one.")}
	}
	if e.TestOf != 0 && (!n.Demo || !n.PaidAhead || n.Invoices || !strings.HasPrefix(n.Name, seats.TestMark)) {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("A test sale takes only the demo card, and its name begins with “%s”. Nothing was changed."), Args: []any{seats.TestMark}}
	}
	var fixed []string
	for _, f := range []struct {
		what    string
		changes bool
	}{
		{text.Mark("prices"), reprices},
		{text.Mark("fees"), n.Fees != e.Fees},
		{text.Mark("the cancellation policy"), !sameCancelling(*n.Policy, e.Policy)},
		{text.Mark("the currency"), n.Currency != e.Currency},
		{text.Mark("the questions"), !sameQuestions(n.Questions, e.Questions) || n.AsksBirth != e.AsksBirth},
		{text.Mark("what happens to seats after their hold expires"), n.Strict != e.Strict},
	} {
		if f.changes {
			fixed = append(fixed, f.what)
		}
	}
	if len(fixed) == 0 {
		return nil
	}
	if begun, err := begunSince(ctx, tx, e); err != nil || !begun {
		return err
	}
	return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The sale has begun, and people hold seats on these terms. This can’t be changed any more: %s. Nothing was changed."), Args: []any{text.Both(fixed)}}
}

func pricesOf(p *seats.Plan) []int64 {
	prices := make([]int64, len(p.Categories))
	for i := range p.Categories {
		prices[i] = p.Categories[i].Price
	}
	return prices
}

const setPricesSQL = `
UPDATE category c SET price = n.price FROM unnest($2::bigint[]) WITH ORDINALITY AS n(price, place) WHERE c.event_id = $1 AND c.number = n.place - 1`

// reprice writes other prices. Pages cache the drawing, which shows prices: it becomes another plan. Returns nil if the
// prices are the same.
func reprice(ctx context.Context, tx pgx.Tx, event int64, p *seats.Plan, prices []int64) (plan *int64, err error) {
	if slices.Equal(prices, pricesOf(p)) {
		return nil, nil
	}
	for i := range prices {
		p.Categories[i].Price = prices[i]
	}
	if _, err := tx.Exec(ctx, setPricesSQL, event, prices); err != nil {
		return nil, err
	}
	id, err := savePlan(ctx, tx, p)
	return &id, err
}

const setRoomSQL = `UPDATE event SET room_id = $1 WHERE slug = ANY($2) AND room_id IS NULL AND test_of IS NULL`

// SetRoom gives a waiting room to those of the events that have none, and returns how many these were.
func SetRoom(ctx context.Context, tx pgx.Tx, room int64, slugs []string) (int, error) {
	tag, err := tx.Exec(ctx, setRoomSQL, room, slugs)
	if err != nil {
		return 0, fmt.Errorf("events: set waiting room: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

const setWaitlistSQL = `UPDATE event SET wait_list = $2 WHERE id = $1 AND wait_list <> $2`

// SetWaitlist decides whether batches reserve the seats of an event that come back for its waiting list.
func SetWaitlist(ctx context.Context, db seats.DB, event int64, reserve bool) error {
	if _, err := db.Exec(ctx, setWaitlistSQL, event, reserve); err != nil {
		return fmt.Errorf("events: set waiting list: %w", err)
	}
	return nil
}

const joinSQL = `UPDATE event SET series_id = $2 WHERE id = $1`

// Join makes an event a performance of a series, in the transaction that writes the series.
func Join(ctx context.Context, tx pgx.Tx, event, series int64) error {
	if _, err := tx.Exec(ctx, joinSQL, event, series); err != nil {
		return fmt.Errorf("events: join a series: %w", err)
	}
	return nil
}
