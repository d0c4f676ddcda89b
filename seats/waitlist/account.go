package waitlist

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Owned is an entry as the person who made it finds it again.
type Owned struct {
	Code     string // secret: see Entry
	Event    string // slug
	Name     string // of the event
	StartsAt time.Time
	TimeZone string
	Venue    string
	Online   bool
	Quantity int
	State    string // Unverified, Waiting or Offered
}

// ownedRows is how many entries an account lists.
const ownedRows = 200

const ownedSQL = `
SELECT n.code, e.slug, e.name, e.starts_at, e.time_zone, e.venue, e.online, n.quantity, n.state
  FROM entry n JOIN event e ON e.id = n.event_id
 WHERE n.email = $1 AND n.state IN ('new', 'waiting', 'offered') AND e.starts_at > clock_timestamp() AND ($2 = 0 OR e.team_id = $2)
 ORDER BY e.starts_at, n.id
 LIMIT $3`

// OfEmail lists the entries of an address in its one spelling (lower case) that may still get seats, the next event first.
// Only those for events of a team are listed, unless team is 0.
func (l *List) OfEmail(ctx context.Context, email string, team int64) ([]Owned, error) {
	rows, err := l.db.Query(ctx, ownedSQL, email, team, ownedRows)
	if err != nil {
		return nil, fmt.Errorf("waitlist: of an address: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Owned])
	if err != nil {
		return nil, fmt.Errorf("waitlist: of an address: %w", err)
	}
	return list, nil
}
