package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Owned is an order as the person who placed it finds it again.
type Owned struct {
	ID        seats.ID
	Code      string // of their link to it
	Event     string // slug
	Name      string // of the event
	StartsAt  time.Time
	TimeZone  string
	Venue     string
	Online    bool
	Called    bool // the event was cancelled
	Cancelled bool
	Tickets   int // that are valid
	Due       int64
	Currency  string
	Received  bool // one ticket of it was sent to the person
	Over      bool // the event began more than twelve hours ago, by the database's clock
}

// ownedRows is how many orders an account lists.
const ownedRows = 200

const ownedSQL = `
SELECT o.id, o.code, e.slug, e.name, e.starts_at, e.time_zone, e.venue, e.online, e.status = 'cancelled', o.state = 'cancelled', t.valid,
       CASE WHEN 'cancelled' IN (o.state, e.status) THEN 0 ELSE greatest(0, t.cost + o.kept - o.paid - o.waived) END, o.currency, false, e.starts_at < clock_timestamp() - interval '12 hours'
  FROM orders o JOIN event e ON e.id = o.event_id,
       LATERAL (SELECT count(*) FILTER (WHERE NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = ticket.id AND f.accepted_at IS NOT NULL)) AS valid,
                       coalesce(sum(price + fee), 0)::bigint AS cost FROM ticket WHERE order_id = o.id AND revoked_at IS NULL) t
 WHERE lower(o.email) = $1 AND o.email <> '' AND ($2 = 0 OR e.team_id = $2)
 UNION ALL
SELECT o.id, f.ticket_code, e.slug, e.name, e.starts_at, e.time_zone, e.venue, e.online, e.status = 'cancelled', t.revoked_at IS NOT NULL, CASE WHEN t.revoked_at IS NULL THEN 1 ELSE 0 END,
       0, o.currency, true, e.starts_at < clock_timestamp() - interval '12 hours'
  FROM ticket_transfer f JOIN ticket t ON t.id = f.ticket_id AND t.moved_to IS NULL JOIN orders o ON o.id = f.order_id JOIN event e ON e.id = f.event_id
 WHERE lower(f.email) = $1 AND f.email <> '' AND ($2 = 0 OR e.team_id = $2)
 ORDER BY 5 DESC, 1
 LIMIT $3`

// OfEmail lists the orders of an address in its one spelling (lower case): of events to come, the next one first, and of
// those that are over, the latest first. team is whose events it is about; 0: all.
func (o *Orders) OfEmail(ctx context.Context, email string, team int64) (coming, past []Owned, err error) {
	rows, err := o.db.Query(ctx, ownedSQL, email, team, ownedRows)
	if err != nil {
		return nil, nil, fmt.Errorf("orders: of an address: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Owned])
	if err != nil {
		return nil, nil, fmt.Errorf("orders: of an address: %w", err)
	}
	over := slices.IndexFunc(list, func(o Owned) bool { return o.Over })
	if over < 0 {
		over = len(list)
	}
	slices.Reverse(list[:over])
	return list[:over], list[over:], nil
}

const latestNameSQL = `
SELECT o.name FROM orders o JOIN event e ON e.id = o.event_id
 WHERE lower(o.email) = $1 AND o.email <> '' AND o.name <> '' AND ($2 = 0 OR e.team_id = $2)
 ORDER BY o.created_at DESC, o.id
 LIMIT 1`

// NameOf returns the name of the latest order of an address in its one spelling (lower case); empty if it has none. Only
// orders of a team count, unless team is 0.
func (o *Orders) NameOf(ctx context.Context, email string, team int64) (name string, err error) {
	err = o.db.QueryRow(ctx, latestNameSQL, email, team).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("orders: name of an address: %w", err)
	}
	return name, nil
}
