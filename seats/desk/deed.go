package desk

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const noteSQL = `
INSERT INTO deed (team_id, organizer_id, who, email, what, subject, detail) VALUES ($1, nullif($2, 0), $3, $4, $5, $6, coalesce($7::jsonb, '{}'))`

// Note writes down what a member did, in the transaction that does it. what is a verb in the past, such as "invited";
// subject is the address below /desk of what it was done to, such as "events/seagull" or "events/seagull/orders/CODE";
// detail is anything more that JSON can say, or nil.
func Note(ctx context.Context, tx pgx.Tx, m Member, what, subject string, detail any) error {
	return note(ctx, tx, m, what, subject, detail)
}

func note(ctx context.Context, db seats.DB, m Member, what, subject string, detail any) error {
	if _, err := db.Exec(ctx, noteSQL, m.Team, m.Organizer, m.Name, m.Email, what, subject, detail); err != nil {
		return fmt.Errorf("desk: note that %s %q: %w", what, subject, err)
	}
	return nil
}
