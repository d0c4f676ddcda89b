package organizers

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Wish is something a member does with seats or orders: what changes them commits the deed with it.
type Wish struct {
	Key     string // of the form
	Form    []any  // all that the form says
	What    string // a verb in the past, such as "blocked seats"
	Subject string // the address below /desk of what it is done to
	Detail  any    // anything more that JSON can say, or nil
	Answer  string // what a repeat of the form has to know; may be empty
}

// Carry does what a form wishes, once: do has to hand also to what changes something, so that they commit together. A form that came before
// and was done does nothing more; one that came before and was not is tried again.
//
// Errors: ErrNoKey; ErrOtherKey; those of do, unless it was refused because the same form had done it in the meantime; the
// database's.
func (d *Desk) Carry(ctx context.Context, m Member, a Wish, do func(also seats.Also) error) error {
	detail, err := json.Marshal(a.Detail)
	if err != nil {
		return fmt.Errorf("organizers: %s: %w", a.What, err)
	}
	if a.Detail == nil {
		detail = []byte("{}")
	}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		_, err := Once(ctx, tx, m, a.Key, a.Form...)
		return err
	})
	if err != nil {
		return err
	}
	if done, err := d.done(ctx, m, a.Key); err != nil || done {
		return err
	}
	err = do(func(q *pgx.Batch) {
		q.Queue(doneSQL, m.Organizer, a.Key, a.Answer)
		q.Queue(noteSQL, m.Team, m.Organizer, m.Name, m.Email, a.What, a.Subject, string(detail))
	})
	if err == nil {
		return nil
	}
	if done, lookErr := d.done(ctx, m, a.Key); lookErr == nil && done {
		return nil // another one like it was first
	}
	return err
}

const doneSQL = `UPDATE desk_key SET done_at = clock_timestamp(), answer = $3 WHERE organizer_id = $1 AND key = $2`

const wasDoneSQL = `SELECT EXISTS (SELECT FROM desk_key WHERE organizer_id = $1 AND key = $2 AND done_at IS NOT NULL)`

func (d *Desk) done(ctx context.Context, m Member, key string) (done bool, err error) {
	if err := d.db.QueryRow(ctx, wasDoneSQL, m.Organizer, key).Scan(&done); err != nil {
		return false, fmt.Errorf("organizers: look for a key: %w", err)
	}
	return done, nil
}

// Record notes something a member did that changed nothing, such as taking a list away.
func (d *Desk) Record(ctx context.Context, m Member, what, subject string, detail any) error {
	return note(ctx, d.db, m, what, subject, detail)
}
