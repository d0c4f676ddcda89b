package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Typed is a form from a checkout that made no order, and its answer. It is there to be
// shown again until their order is placed, for a day at most.
type Typed struct {
	Form     Form     `json:"form"`
	Mistakes Mistakes `json:"mistakes,omitempty"`
	Message  string   `json:"message,omitempty"` // why the form was refused
	Nearest  []int    `json:"nearest,omitempty"` // seats to take in place of those that were lost
}

// Told tells whether there was something to say.
func (t Typed) Told() bool { return t.Message != "" || len(t.Mistakes) > 0 }

const keepTypedSQL = `
INSERT INTO typed (event_id, holder, answer) VALUES ($1, $2, $3)
    ON CONFLICT (event_id, holder) DO UPDATE SET answer = excluded.answer, since = excluded.since`

// KeepTyped keeps what a holder sent last, and what they were told. Texts that no order would take are cut.
func (o *Orders) KeepTyped(ctx context.Context, event int64, holder seats.ID, t Typed) error {
	t.Form = t.Form.cut()
	if _, err := o.db.Exec(ctx, keepTypedSQL, event, holder, t); err != nil {
		return fmt.Errorf("orders: keep what was typed: %w", err)
	}
	return nil
}

const typedSQL = `SELECT answer FROM typed WHERE event_id = $1 AND holder = $2`

// Typed is what a holder sent last for an event; the zero Typed if nothing, or if an order came of it.
func (o *Orders) Typed(ctx context.Context, event int64, holder seats.ID) (t Typed, err error) {
	err = o.db.QueryRow(ctx, typedSQL, event, holder).Scan(&t)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return t, fmt.Errorf("orders: look for what was typed: %w", err)
	}
	return t, nil
}

// cut shortens texts to one character more than the longest that would be right, so that they still are too long.
func (f Form) cut() Form {
	short := func(text string) string {
		if r := []rune(text); len(r) > mostAnswer {
			return string(r[:mostAnswer+1])
		}
		return text
	}
	f.Name, f.Email, f.Born, f.Method, f.Account = short(f.Name), short(f.Email), short(f.Born), short(f.Method), ""
	answers := make(map[string]string, len(f.Answers))
	for number, text := range f.Answers {
		answers[number] = short(text)
	}
	f.Answers = answers
	return f
}
