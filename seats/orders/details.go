package orders

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Details are what a buyer may change of an order until its event begins.
type Details struct {
	Name    string
	Answers map[string]string // by number of the event's question, from 1; nil: as they are
}

// Changeable reports whether the buyer may change the details of the order.
func (o Order) Changeable() bool { return o.State == Confirmed && !o.Started && o.Received == nil }

func (d Details) tidy(e seats.Event) Details {
	if d.Name = strings.Join(strings.Fields(d.Name), " "); d.Answers != nil {
		d.Answers = tidyAnswers(d.Answers, e.Questions)
	}
	return d
}

// check returns Mistakes if details cannot be saved.
func (d Details) check(e seats.Event, order Order) error {
	var m Mistakes
	wrong := wrongName(d.Name)
	if e.Policy.NoTransfers && d.Name != order.Name && wrong == "" {
		wrong = text.Mark("Tickets for this event are personal, so the name cannot be changed.")
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
		return m
	}
	return nil
}

const detailsSQL = `
UPDATE orders o SET name = $2, answers = coalesce($3::jsonb, o.answers)
  FROM event e WHERE e.id = o.event_id AND o.id = $1 AND o.state = 'confirmed' AND o.erased_at IS NULL AND e.starts_at > clock_timestamp()`

// ChangeDetails changes the name and the answers of an order. Tickets keep their codes. A repeat with its key changes nothing more.
//
// Errors: Mistakes; idempotency.ErrNoKey; a *seats.Conflict if it is too late; the database's.
func (o *Orders) ChangeDetails(ctx context.Context, e seats.Event, order Order, key string, d Details) error {
	d = d.tidy(e)
	k, err := keyOf(order.ID, key, "details", d)
	if err != nil {
		return err
	}
	if err := d.check(e, order); err != nil {
		return err
	}
	first, err := o.once(ctx, k, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, detailsSQL, order.ID, d.Name, d.Answers)
		if err == nil && tag.RowsAffected() == 0 {
			err = &seats.Conflict{Code: CodeStarted, Message: text.Mark("The event has begun or the order was cancelled, so its details can no longer be changed. Nothing was changed.")}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("orders: change details: %w", err)
	}
	if first {
		o.happened()
	}
	return nil
}
