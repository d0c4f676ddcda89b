package organizers

import (
	"context"
	"fmt"
)

const hasRoomSQL = `SELECT NOT EXISTS (SELECT FROM event WHERE room_id = $1 AND team_id <> $2)`

// HasRoom reports whether all events of a waiting room are the member's team's: one team does not close another's line.
func (d *Desk) HasRoom(ctx context.Context, m Member, room int64) (ours bool, err error) {
	if err := d.db.QueryRow(ctx, hasRoomSQL, room, m.Team).Scan(&ours); err != nil {
		return false, fmt.Errorf("organizers: find the team of room %d: %w", room, err)
	}
	return ours, nil
}
