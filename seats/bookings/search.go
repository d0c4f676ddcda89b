package bookings

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

// Hit is a booking that a search of all events of a team found.
type Hit struct {
	ID           seats.ID
	Name         string
	Email        string
	Organisation string
	Places       int
	Event        string // slug
	Title        string // of the event
	Starts       string // local day of the event
}

// An index finds those with the words. Bookings of events to come are the first ones, the next event first.
const searchSQL = `
SELECT b.id, b.name, b.email, b.organisation, b.places, e.slug, e.name, e.starts_local::date::text
  FROM booking b JOIN event e ON e.id = b.event_id AND e.team_id = $1 AND e.test_of IS NULL
 WHERE word_vector(b.name || ' ' || b.organisation || ' ' || b.email) @@ word_query($2)
 ORDER BY e.starts_at < clock_timestamp() - interval '1 day', abs(extract(epoch FROM e.starts_at - clock_timestamp())), b.n DESC LIMIT $3`

// Search returns at most so many bookings of a member's team. Words of their contact, organisation or email begin with those that were typed.
func (b *Bookings) Search(ctx context.Context, m organizers.Member, typed string, most int) ([]Hit, error) {
	rows, _ := b.db.Query(ctx, searchSQL, m.Team, typed, most) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Hit])
	if err != nil {
		return nil, fmt.Errorf("bookings: search: %w", err)
	}
	return list, nil
}
