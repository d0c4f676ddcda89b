package organizers

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
)

// Action is a form of a member that changes seats or orders. Its audit entry and its key commit with the change.
type Action struct {
	Key     string // of the form
	Form    []any  // all that the form says
	What    string // a verb in the past, such as "blocked seats"
	Subject string // the address below /desk of what it is done to
	Detail  any    // anything more that JSON can say, or nil
}

// key returns the idempotency key of a member's form.
func (m Member) key(name string, form ...any) (idempotency.Key, error) {
	return idempotency.New(fmt.Sprintf("desk/%d/%d", m.Team, m.Organizer), name, form...)
}

// WithAudit does what a form asks for, once. do has to hand also to the change, so that they commit together. A repeat waits
// for the first request. A form that failed may be sent again.
//
// Errors: those of idempotency.Requests.Once.
func (d *Desk) WithAudit(ctx context.Context, m Member, a Action, do func(also seats.TxHook) error) error {
	_, err := d.WithAnswer(ctx, m, a, func(also func(answer string) seats.TxHook) (string, error) { return "", do(also("")) })
	return err
}

// WithAnswer is WithAudit for a form that answers a repeat as the first time: also keeps the answer with the change. The answer is
// the end of the subject.
func (d *Desk) WithAnswer(ctx context.Context, m Member, a Action, do func(also func(answer string) seats.TxHook) (string, error)) (answer string, err error) {
	if _, err := noting(m, a.What, a.Subject, a.Detail); err != nil {
		return "", err
	}
	return d.once(ctx, m, a.Key, a.Form, func(keep func(answer string) seats.TxHook) (string, error) {
		return do(func(answer string) seats.TxHook {
			entry, _ := noting(m, a.What, a.Subject+answer, a.Detail) // JSON can say its details, as was seen above
			return seats.Both(keep(answer), entry)
		})
	})
}

// once runs do unless the form was done before. What keep returns writes the form's key and answer with the change.
func (d *Desk) once(ctx context.Context, m Member, name string, form []any, do func(keep func(answer string) seats.TxHook) (string, error)) (string, error) {
	key, err := m.key(name, form...)
	if err != nil {
		return "", err
	}
	answer, _, err := d.Requests.Once(ctx, key, func(context.Context) ([]byte, error) {
		answer, err := do(func(answer string) seats.TxHook {
			return func(q *pgx.Batch) { key.Insert(q, []byte(answer)) }
		})
		return []byte(answer), err
	})
	return string(answer), err
}

// mostAddresses is how many events of one name there may be.
const mostAddresses = 100

// Create makes an event under the first address that is not taken: base, base-2, base-3 … do makes it there, and returns
// seats.ErrSlugTaken if the address is taken. It returns the address. Errors are those of WithAudit.
func (d *Desk) Create(ctx context.Context, m Member, key, what string, asked any, base string, do func(slug string, also seats.TxHook) error) (slug string, err error) {
	return d.once(ctx, m, key, []any{what, asked}, func(keep func(answer string) seats.TxHook) (slug string, err error) {
		for n := 1; n <= mostAddresses; n++ {
			if slug = base; n > 1 {
				slug = fmt.Sprintf("%s-%d", base, n)
			}
			entry, err := noting(m, what, "events/"+slug, nil)
			if err != nil {
				return "", err
			}
			if err = do(slug, seats.Both(keep(slug), entry)); !errors.Is(err, seats.ErrSlugTaken) {
				return slug, err
			}
		}
		return "", seats.ErrSlugTaken
	})
}

// Record notes an act of a member that changed nothing, such as downloading a list.
func (d *Desk) Record(ctx context.Context, m Member, what, subject string, detail any) error {
	return note(ctx, d.db, m, what, subject, detail)
}
