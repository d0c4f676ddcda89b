package organizers

import (
	"context"
	"errors"
	"fmt"

	"github.com/usherbox/usher/seats"
)

// mostAddresses is how many events of one name there may be.
const mostAddresses = 100

const answerSQL = `SELECT answer FROM desk_key WHERE organizer_id = $1 AND key = $2`

// Create makes something under the first unused address: base, base-2, base-3 … do makes it there, and returns
// seats.ErrSlugTaken if the address is taken. It returns the address; a repeat of the form gets the same one. Errors are those of Carry.
func (d *Desk) Create(ctx context.Context, m Member, key, what string, wish any, base string, do func(slug string, also seats.Also) error) (slug string, err error) {
	for n := 1; n <= mostAddresses; n++ {
		if slug = base; n > 1 {
			slug = fmt.Sprintf("%s-%d", base, n)
		}
		a := Wish{Key: key, Form: []any{what, wish}, What: what, Subject: "events/" + slug, Answer: slug}
		err = d.Carry(ctx, m, a, func(also seats.Also) error { return do(slug, also) })
		if !errors.Is(err, seats.ErrSlugTaken) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	if err := d.db.QueryRow(ctx, answerSQL, m.Organizer, key).Scan(&slug); err != nil {
		return "", fmt.Errorf("organizers: what did a form make: %w", err)
	}
	return slug, nil
}
