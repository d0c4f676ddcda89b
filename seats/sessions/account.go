package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The index session_account lists the sessions that know an account. Their data is JSON.
const accountSessionsSQL = `
SELECT token, data FROM session
 WHERE position('"account"'::bytea IN data) > 0 AND position($1::bytea IN data) > 0 AND expires_at > clock_timestamp()`

// quoted is an address as the data of a session has it.
func quoted(email string) []byte {
	text, _ := json.Marshal(email) // a string always can be
	return text
}

// OfAccount returns the values of the sessions that are signed in as an address, by key.
func (s *Sessions) OfAccount(ctx context.Context, email string) (map[string]map[string]any, error) {
	all := map[string]map[string]any{}
	var key string
	var data []byte
	rows, err := s.db.Query(ctx, accountSessionsSQL, quoted(email))
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&key, &data}, func() error {
			var said struct{ Values map[string]any }
			if err := json.Unmarshal(data, &said); err != nil {
				return err
			}
			if said.Values["account"] == email {
				all[key] = said.Values
			}
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("sessions: of an account: %w", err)
	}
	return all, nil
}

// IsOf reports whether a token is that of the session with a key.
func (s *Sessions) IsOf(token, key string) bool { return keyOf(token) == key }

// SignOut ends those sessions that are signed in as an address for which ends holds, nil for all, and returns how many there were. One that got
// another token meanwhile is found by the next look.
func (s *Sessions) SignOut(ctx context.Context, email string, ends func(key string, values map[string]any) bool) (n int, err error) {
	for before := -1; n > before; {
		before = n
		all, err := s.OfAccount(ctx, email)
		if err != nil {
			return n, err
		}
		for key, values := range all {
			if ends != nil && !ends(key, values) {
				continue
			}
			if err := s.shut(ctx, key); err != nil {
				return n, fmt.Errorf("sessions: sign out: %w", err)
			}
			n++
		}
	}
	return n, nil
}

const sessionsOfSQL = `SELECT token FROM session WHERE position($1::bytea IN data) > 0`

// Erase ends the sessions that know an address, as that of a signed-in account.
func (s *Sessions) Erase(ctx context.Context, email string) error {
	rows, err := s.db.Query(ctx, sessionsOfSQL, quoted(email))
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
