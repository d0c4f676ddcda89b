package waitingroom

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const eraseEntrantSQL = `
UPDATE entrant SET person = sha256(uuid_send(gen_random_uuid()))
 WHERE person = $1 AND room_id IN (SELECT room_id FROM event WHERE id = ANY($2) AND room_id IS NOT NULL)`

// Erase replaces the hash of an address in the waiting rooms of some events by a random one. Its number stays.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) error {
	if _, err := tx.Exec(ctx, eraseEntrantSQL, personOf(email), events); err != nil {
		return fmt.Errorf("waitingroom: erase: %w", err)
	}
	return nil
}
