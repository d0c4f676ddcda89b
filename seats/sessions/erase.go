package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const sessionsOfSQL = `SELECT token FROM session WHERE position(convert_to('"' || $1 || '"', 'UTF8') IN data) > 0`

// Erase ends the sessions that know an address, as that of a signed-in account.
func (s *Sessions) Erase(ctx context.Context, email string) error {
	rows, err := s.db.Query(ctx, sessionsOfSQL, email)
	if err != nil {
		return fmt.Errorf("sessions: erase: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, key := range keys {
		err = errors.Join(err, s.end(ctx, key))
	}
	if err != nil {
		return fmt.Errorf("sessions: erase: %w", err)
	}
	return nil
}
