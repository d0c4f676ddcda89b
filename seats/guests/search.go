package guests

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

// Hit is a guest that a search of all events of a team found.
type Hit struct {
	ID     seats.ID
	Name   string
	Email  string
	Places int
	Event  string // slug
	Title  string // of the event
	Starts string // local day of the event
}

// An index finds those with the words. Guests of events to come are the first ones, the next event first.
const searchSQL = `
SELECT g.id, g.name, g.email, g.places, e.slug, e.name, e.starts_local::date::text
  FROM guest g JOIN event e ON e.id = g.event_id AND e.team_id = $1 AND e.test_of IS NULL
 WHERE word_vector(g.name || ' ' || g.email) @@ word_query($2) AND g.struck_at IS NULL
 ORDER BY e.starts_at < clock_timestamp() - interval '1 day', abs(extract(epoch FROM e.starts_at - clock_timestamp())), g.n LIMIT $3`

// Search returns at most so many guests of a member's team whose name or email has words that begin with those that were typed.
func (g *Guests) Search(ctx context.Context, m organizers.Member, typed string, most int) ([]Hit, error) {
	rows, _ := g.db.Query(ctx, searchSQL, m.Team, typed, most) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Hit])
	if err != nil {
		return nil, fmt.Errorf("guests: search: %w", err)
	}
	return list, nil
}
