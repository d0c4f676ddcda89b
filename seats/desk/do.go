package desk

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Doing is what a member does, as the log will tell it, and the key of the form that asks for it.
type Doing struct {
	Key     string
	What    string // a verb in the past and what it is about, such as "paused the waiting room"
	Subject string // the address below /desk
	Detail  any    // what JSON can say; may be nil
}

// Do does what another part of the box office can do, once for each key, and notes it. If it fails nothing is noted, and
// the form may be sent again.
func (d *Desk) Do(ctx context.Context, m Member, deed Doing, do func(context.Context) error) error {
	return d.As(ctx, m, func(tx pgx.Tx) error {
		first, err := Once(ctx, tx, m, deed.Key, deed.What, deed.Subject, deed.Detail)
		if err != nil || !first {
			return err
		}
		if err := Note(ctx, tx, m, deed.What, deed.Subject, deed.Detail); err != nil {
			return err
		}
		return do(ctx)
	})
}

const hasRoomSQL = `SELECT NOT EXISTS (SELECT FROM event WHERE room_id = $1 AND team_id <> $2)`

// HasRoom tells whether all events of a waiting room are the member's team's: one team does not close another's line.
func (d *Desk) HasRoom(ctx context.Context, m Member, room int64) (ours bool, err error) {
	if err := d.db.QueryRow(ctx, hasRoomSQL, room, m.Team).Scan(&ours); err != nil {
		return false, fmt.Errorf("desk: whose is room %d: %w", room, err)
	}
	return ours, nil
}
