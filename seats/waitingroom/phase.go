package waitingroom

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// step does what is due in a room by the database's clock. Every node tries; the row decides which one does it.
func (r *Room) step(ctx context.Context) error {
	var err error
	switch s := r.state.Load(); {
	case s.Phase == PhaseLobby && !s.OpensAt.After(s.Now):
		err = r.closeLobby(ctx)
	case s.Phase == PhaseOpen:
		err = r.tick(ctx)
	}
	if err != nil {
		return err
	}
	if s := r.state.Load(); s.Phase == PhaseDrawing {
		if err := r.open(ctx, s); err != nil {
			return err
		}
	}
	return r.show(ctx)
}

const closeLobbySQL = `
UPDATE room
   SET version = version + 1, phase = 'drawing', closed_at = clock_timestamp()
 WHERE id = $1 AND phase = 'lobby' AND opens_at <= clock_timestamp()
RETURNING version`

// closeLobby ends the lobby when its time has come. From this commit on, the number of people in the draw is final.
func (r *Room) closeLobby(ctx context.Context) error { return r.move(ctx, closeLobbySQL, r.ID) }

// move runs a guarded change of the room; if it changed something everybody is told.
func (r *Room) move(ctx context.Context, sql string, args ...any) error {
	var version int64
	err := r.gate.db.QueryRow(ctx, sql, args...).Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // somebody else did, or it is not due
	case err != nil:
		return fmt.Errorf("waitingroom: room %d: move on: %w", r.ID, err)
	default:
		r.gate.ring(ctx, r.ID, version)
	}
	return r.read(ctx)
}
