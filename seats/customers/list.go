package customers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

// Customers are those of all teams, for one node.
type Customers struct{ db *pgxpool.Pool }

// New returns the customers of a database.
func New(db *pgxpool.Pool) *Customers { return &Customers{db} }

// Customer is one in a list.
type Customer struct {
	ID     seats.ID // of the first order
	Name   string   // in the latest order
	Email  string   // in lower case
	Orders int
	Last   time.Time // when the latest order was placed

	latest seats.ID // the latest order
}

// Rows is how many customers a page of a list usually has.
const Rows = 50

// An order o is of team $1, and there is no later one of its address. Subqueries that stay subqueries: orders are walked by an index, and each is looked
// up by another one.
const (
	ofTeam = `(SELECT team_id FROM event WHERE id = o.event_id AND test_of IS NULL) = $1`

	ofAddress = `FROM orders n WHERE lower(n.email) = lower(o.email) AND n.email <> '' AND (SELECT team_id FROM event WHERE id = n.event_id AND test_of IS NULL) = $1`

	latest = `(SELECT n.id ` + ofAddress + ` ORDER BY n.created_at DESC, n.id DESC LIMIT 1)`

	latestUntil = `(SELECT n.id ` + ofAddress + ` AND n.created_at <= coalesce($5, 'infinity'::timestamptz) ORDER BY n.created_at DESC, n.id DESC LIMIT 1)`

	shown = `(SELECT n.id ` + ofAddress + ` ORDER BY n.created_at, n.id LIMIT 1), o.name, lower(o.email), (SELECT count(*) ` + ofAddress + `), o.created_at, o.id`
)

// A list that goes on is that of its first page: who orders meanwhile stays where they were.
const latestSQL = `
SELECT ` + shown + ` FROM (
    SELECT * FROM orders o
     WHERE o.email <> '' AND (o.created_at, o.id) < (coalesce($2, 'infinity'::timestamptz), $3) AND ` + ofTeam + ` AND o.id = ` + latestUntil + `
     ORDER BY o.created_at DESC, o.id DESC LIMIT $4) o
 ORDER BY o.created_at DESC, o.id DESC`

// Bounds are compared byte by byte, as the indexes are sorted. The greatest character ends what begins with a prefix.
const byEmailSQL = `
SELECT ` + shown + ` FROM (
    SELECT * FROM orders o
     WHERE o.email <> '' AND lower(o.email) ~>=~ $2 AND lower(o.email) ~<~ ($2::text || chr(1114111)) AND ` + ofTeam + ` AND o.id = ` + latest + `
     ORDER BY lower(o.email) USING ~<~ LIMIT $3) o
 ORDER BY lower(o.email) USING ~<~`

const byNameSQL = `
SELECT ` + shown + ` FROM (
    SELECT * FROM orders o
     WHERE o.email <> '' AND o.found_by ~>=~ fold($2) AND o.found_by ~<~ (fold($2) || chr(1114111)) AND ` + ofTeam + ` AND o.id = ` + latest + `
     ORDER BY o.found_by USING ~<~ LIMIT $3) o
 ORDER BY o.found_by USING ~<~`

// Latest returns the customers of a member's team who ordered last, and where the list goes on; nil if there are no more.
func (c *Customers) Latest(ctx context.Context, m organizers.Member, p paging.Page) (list []Customer, next *paging.Place, err error) {
	var until *time.Time // the latest order of the first page
	if p.After.N != 0 {
		at := time.UnixMicro(p.After.N)
		until = &at
	}
	if list, err = c.read(ctx, latestSQL, m.Team, p.After.Time(), p.After.ID, p.Limit+1, until); err != nil {
		return nil, nil, fmt.Errorf("customers: list: %w", err)
	}
	if until == nil && len(list) > 0 {
		until = &list[0].Last
	}
	list, next = paging.Cut(list, p, func(o Customer) paging.Place { return paging.Place{At: o.Last, ID: o.latest, N: until.UnixMicro()} })
	return list, next, nil
}

// Find returns customers of a member's team with an email, or a name in the latest order, that begins with prefix, however it is written (ors finds
// Ørsted): Rows at most. more reports whether there are others.
func (c *Customers) Find(ctx context.Context, m organizers.Member, prefix string) (list []Customer, more bool, err error) {
	prefix = strings.TrimSpace(prefix)
	if list, err = c.read(ctx, byEmailSQL, m.Team, strings.ToLower(prefix), Rows+1); err != nil {
		return nil, false, fmt.Errorf("customers: find by email: %w", err)
	}
	named, err := c.read(ctx, byNameSQL, m.Team, prefix, Rows+1)
	if err != nil {
		return nil, false, fmt.Errorf("customers: find by name: %w", err)
	}
	more = len(list) > Rows || len(named) > Rows
	for _, n := range named {
		if !slices.ContainsFunc(list, func(o Customer) bool { return o.Email == n.Email }) {
			list = append(list, n)
		}
	}
	if len(list) > Rows {
		list, more = list[:Rows], true
	}
	return list, more, nil
}

func (c *Customers) read(ctx context.Context, sql string, args ...any) ([]Customer, error) {
	rows, _ := c.db.Query(ctx, sql, args...) // CollectRows returns its error
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o Customer, err error) {
		return o, row.Scan(&o.ID, &o.Name, &o.Email, &o.Orders, &o.Last, &o.latest)
	})
}

// ErrNone says that a team has no such customer.
var ErrNone = errors.New("there is no such customer")
