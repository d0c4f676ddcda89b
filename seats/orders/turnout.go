package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Turnout is who came to an event so far, and the links by which tickets are looked at.
type Turnout struct {
	Tickets, Came int // valid ones, and those that were checked in
	Links         []DoorLink
}

// Open is how many links let people in.
func (t Turnout) Open() (n int) {
	for _, l := range t.Links {
		if l.ClosedAt == nil {
			n++
		}
	}
	return n
}

// DoorLink is a link for those who let people in; its secret is not known any more.
type DoorLink struct {
	OpenedAt time.Time
	ClosedAt *time.Time // nil: it opens the door
	Admitted int        // people let in by it
	LastAt   *time.Time // when it was used last; nil: never
	Place    string     // the entrance it was used at last
}

const turnoutSQL = `
SELECT count(*), count(s.id) FROM ticket t LEFT JOIN scan s ON s.ticket_id = t.id AND s.admitted
 WHERE t.event_id = $1 AND t.revoked_at IS NULL`

const doorLinksSQL = `
SELECT d.created_at, d.revoked_at, (SELECT count(*) FROM scan s WHERE s.door_id = d.id AND s.admitted), last.received_at, coalesce(last.place, '')
  FROM (SELECT * FROM door WHERE event_id = $1 ORDER BY id DESC LIMIT 50) d
  LEFT JOIN LATERAL (SELECT received_at, place FROM scan s WHERE s.door_id = d.id ORDER BY received_at DESC LIMIT 1) last ON true
 ORDER BY d.id DESC`

// Turnout tells who came to an event so far, and by which links, the newest of them first, 50 at most.
func (o *Orders) Turnout(ctx context.Context, event int64) (t Turnout, err error) {
	if err := o.db.QueryRow(ctx, turnoutSQL, event).Scan(&t.Tickets, &t.Came); err != nil {
		return t, fmt.Errorf("orders: count who came: %w", err)
	}
	rows, _ := o.db.Query(ctx, doorLinksSQL, event) // CollectRows has its error
	t.Links, err = pgx.CollectRows(rows, pgx.RowToStructByPos[DoorLink])
	if err != nil {
		return t, fmt.Errorf("orders: list doors: %w", err)
	}
	return t, nil
}
