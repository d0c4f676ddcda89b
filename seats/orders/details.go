package orders

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Details are what a buyer may change of an order until its event begins.
type Details struct {
	Name    string
	Answers map[string]string // by number of the event's question, from 1; nil: as they are
	Names   map[string]string // on tickets, by their ids; others are as they are
}

// Changeable reports whether the buyer may change the details of the order.
func (o Order) Changeable() bool { return o.State == Confirmed && !o.Started && o.Received == nil }

func (d Details) tidy(e seats.Event) Details {
	if d.Name = tidyName(d.Name); d.Answers != nil {
		d.Answers = tidyAnswers(d.Answers, e.Questions)
	}
	names := make(map[string]string, len(d.Names))
	for ticket, name := range d.Names {
		names[ticket] = tidyName(name)
	}
	d.Names = names
	return d
}

// check returns the tickets that get another name, or Mistakes if details cannot be saved.
func (d Details) check(e seats.Event, order Order) (renamed map[seats.ID]string, err error) {
	renamed, m, err := order.renamed(e, d.Names)
	if err != nil {
		return nil, err
	}
	wrong := wrongName(d.Name)
	if e.Policy.NoTransfers && d.Name != order.Name && wrong == "" {
		wrong = personalName
	}
	if wrong != "" {
		m = append(m, Mistake{FieldName, wrong})
	}
	for i, q := range e.Questions {
		if d.Answers == nil {
			break
		}
		if wrong := wrongAnswer(q, d.Answers[strconv.Itoa(i+1)]); wrong != "" {
			m = append(m, Mistake{FieldAnswer(i + 1), wrong})
		}
	}
	if len(m) > 0 {
		return nil, m
	}
	return renamed, nil
}

const detailsSQL = `
UPDATE orders o SET name = $2, answers = coalesce($3::jsonb, o.answers)
  FROM event e WHERE e.id = o.event_id AND o.id = $1 AND o.state = 'confirmed' AND o.erased_at IS NULL AND e.starts_at > clock_timestamp()`

// ChangeDetails changes the name and the answers of an order, and the names on its tickets. Tickets keep their codes. A repeat with its key changes nothing more.
//
// Errors: ErrNoTicket; Mistakes; idempotency.ErrNoKey; a *seats.Conflict if it is too late; the database's.
func (o *Orders) ChangeDetails(ctx context.Context, e seats.Event, order Order, key string, d Details) error {
	d = d.tidy(e)
	k, err := keyOf(order.ID, key, "details", d)
	if err != nil {
		return err
	}
	if done, err := o.wasDone(ctx, k); err != nil || done {
		return err
	}
	renamed, err := d.check(e, order)
	if err != nil {
		return err
	}
	first, err := o.once(ctx, k, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, detailsSQL, order.ID, d.Name, d.Answers)
		if err == nil && tag.RowsAffected() == 0 {
			err = &seats.Conflict{Code: CodeStarted, Message: text.Mark("The event has begun or the order was cancelled, so its details can no longer be changed. Nothing was changed.")}
		}
		if err != nil {
			return err
		}
		return order.rename(ctx, tx, renamed)
	})
	if err != nil {
		return fmt.Errorf("orders: change details: %w", err)
	}
	if first {
		o.happened()
	}
	return nil
}
