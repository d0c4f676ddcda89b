package letters

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

// ErrNoLink says that a link to unsubscribe is of no order, or of one that was erased.
var ErrNoLink = errors.New("this link unsubscribes no address")

// Subscription is whether an address gets emails of a team that are not about an order.
type Subscription struct {
	Team         int64
	TeamName     string
	Email        string
	Unsubscribed bool
}

// hashOf is the hash of the address of order o.
const hashOf = `sha256(convert_to(lower(o.email), 'UTF8'))`

// hasUnsubscribed holds for orders o of a team with an address that unsubscribed from it.
const hasUnsubscribed = `EXISTS (SELECT FROM unsubscribed u JOIN event e ON e.team_id = u.team_id WHERE e.id = o.event_id AND u.email = ` + hashOf + `)`

const subscriptionSQL = `
SELECT t.id, t.name, o.email, ` + hasUnsubscribed + `
  FROM orders o JOIN event e ON e.id = o.event_id JOIN team t ON t.id = e.team_id
 WHERE o.id = $1 AND o.email <> ''`

// Subscription returns the subscription of the buyer of an order. The id of the order is in the link, and opens nothing else.
// ErrNoLink if there is no such order.
func (l *Letters) Subscription(ctx context.Context, order seats.ID) (s Subscription, err error) {
	err = l.db.QueryRow(ctx, subscriptionSQL, order).Scan(&s.Team, &s.TeamName, &s.Email, &s.Unsubscribed)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, ErrNoLink
	}
	if err != nil {
		return s, fmt.Errorf("letters: read a subscription: %w", err)
	}
	return s, nil
}

const (
	unsubscribeSQL = `
INSERT INTO unsubscribed (team_id, email)
SELECT e.team_id, ` + hashOf + ` FROM orders o JOIN event e ON e.id = o.event_id WHERE o.id = $1 AND o.email <> ''
    ON CONFLICT DO NOTHING`

	subscribeSQL = `
DELETE FROM unsubscribed u USING orders o, event e WHERE o.id = $1 AND o.email <> '' AND e.id = o.event_id AND u.team_id = e.team_id AND u.email = ` + hashOf
)

// Unsubscribe ends emails to the buyer of an order that are not about an order, of its team; again is the way back. Done twice,
// it changes nothing. ErrNoLink if there is no such order.
func (l *Letters) Unsubscribe(ctx context.Context, order seats.ID, again bool) (s Subscription, err error) {
	sql := unsubscribeSQL
	if again {
		sql = subscribeSQL
	}
	if _, err := l.db.Exec(ctx, sql, order); err != nil {
		return s, fmt.Errorf("letters: unsubscribe: %w", err)
	}
	return l.Subscription(ctx, order)
}

const countUnsubscribedSQL = `SELECT count(team_id) FROM unsubscribed WHERE team_id = $1`

// Unsubscribed counts the addresses that unsubscribed from the member's team.
func (l *Letters) Unsubscribed(ctx context.Context, m organizers.Member) (n int, err error) {
	err = l.desk.As(ctx, m, func(tx pgx.Tx) error { return tx.QueryRow(ctx, countUnsubscribedSQL, m.Team).Scan(&n) })
	if err != nil {
		return 0, fmt.Errorf("letters: count who unsubscribed: %w", err)
	}
	return n, nil
}

const exportSQL = `SELECT EXISTS (SELECT FROM unsubscribed WHERE team_id = $1 AND email = sha256(convert_to($2::text, 'UTF8')))`

// Export reports whether an address, in lower case, unsubscribed from a team.
func Export(ctx context.Context, tx pgx.Tx, team int64, email string) (is bool, err error) {
	if err := tx.QueryRow(ctx, exportSQL, team, email).Scan(&is); err != nil {
		return false, fmt.Errorf("letters: export: %w", err)
	}
	return is, nil
}

const forgetSQL = `DELETE FROM unsubscribed WHERE team_id = $1 AND email = sha256(convert_to($2::text, 'UTF8'))`

// Erase forgets that an address, in lower case, unsubscribed from a team.
func Erase(ctx context.Context, tx pgx.Tx, team int64, email string) error {
	if _, err := tx.Exec(ctx, forgetSQL, team, email); err != nil {
		return fmt.Errorf("letters: erase: %w", err)
	}
	return nil
}
