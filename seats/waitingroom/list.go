package waitingroom

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Listing is a room as an organizer looks at it.
type Listing struct {
	State
	Inside   int // people in slots
	Admitted int // numbers that let somebody in
	Bought   int // those of them who bought
}

// Act is something that was done to a room.
type Act struct {
	At                time.Time
	Who, What, Detail string
}

const listRoomsSQL = `
SELECT ` + stateColumns + `,
       (SELECT count(*) FROM slot s WHERE s.room_id = r.id AND s.expires_at > clock_timestamp()), a.admitted, a.bought
  FROM room r,
       LATERAL (SELECT count(*) FILTER (WHERE entered > 0) AS admitted, count(*) FILTER (WHERE outcome = 'bought') AS bought
                  FROM admission WHERE room_id = r.id AND epoch = r.epoch) a
 ORDER BY r.id`

// List lists every room, the oldest first.
func (c Control) List(ctx context.Context) ([]Listing, error) {
	rows, err := c.DB.Query(ctx, listRoomsSQL)
	if err != nil {
		return nil, fmt.Errorf("waitingroom: list rooms: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Listing, err error) {
		return l, l.State.scan(row, &l.Inside, &l.Admitted, &l.Bought)
	})
	if err != nil {
		return nil, fmt.Errorf("waitingroom: list rooms: %w", err)
	}
	return list, nil
}

const actsSQL = `SELECT at, who, what, detail FROM control WHERE room_id = $1 ORDER BY id`

// Show returns one room and everything that was done to it, the oldest first. ErrNoRoom if there is none.
func (c Control) Show(ctx context.Context, slug string) (Listing, []Act, error) {
	list, err := c.List(ctx)
	if err != nil {
		return Listing{}, nil, err
	}
	for _, l := range list {
		if l.Slug != slug {
			continue
		}
		rows, err := c.DB.Query(ctx, actsSQL, l.ID)
		if err != nil {
			return l, nil, fmt.Errorf("waitingroom: what was done to room %q: %w", slug, err)
		}
		acts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Act])
		if err != nil {
			return l, nil, fmt.Errorf("waitingroom: what was done to room %q: %w", slug, err)
		}
		return l, acts, nil
	}
	return Listing{}, nil, ErrNoRoom
}
