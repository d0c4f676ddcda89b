package customers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/changes"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

// Customers are those of all teams, for one node.
type Customers struct {
	db   *pgxpool.Pool
	hash func(ctx context.Context) (of func(email string) []byte, err error)
}

// New returns the customers of a database. hash returns what makes the hash of an address, as table erasure has it.
func New(db *pgxpool.Pool, hash func(ctx context.Context) (of func(email string) []byte, err error)) *Customers {
	return &Customers{db, hash}
}

// Customer is one in a list: a person, with all addresses that the team merged.
type Customer struct {
	ID     seats.ID // of the first order; of an imported customer if there is none
	Name   string   // in the latest order
	Email  string   // in the latest order, in lower case
	Orders int
	Last   time.Time // when the latest order was placed; of a customer without orders: when it was imported

	latest seats.ID // the latest order, or the imported customer
}

// Rows is how many customers a page of a list usually has.
const Rows = 50

// An order o is of team $1, and there is no later one of its person, or of its address. Subqueries that stay subqueries: orders are walked by an index,
// and each is looked up by another one.
const (
	ofTeam = `(SELECT team_id FROM event WHERE id = o.event_id AND test_of IS NULL) = $1`

	ofAddress = `FROM orders n WHERE lower(n.email) = lower(o.email) AND n.email <> '' AND (SELECT team_id FROM event WHERE id = n.event_id AND test_of IS NULL) = $1`

	ofOne = `FROM orders n WHERE lower(n.email) = a.email AND n.email <> '' AND (SELECT team_id FROM event WHERE id = n.event_id AND test_of IS NULL) = $1`

	latest = `(SELECT n.id ` + ofAddress + ` ORDER BY n.created_at DESC, n.id DESC LIMIT 1)`

	// Until $5. Each address is one look into the index by email, and a person is looked up only for the latest order of an address that was merged.
	lastUntil = `AND n.created_at <= coalesce($5, 'infinity'::timestamptz) ORDER BY n.created_at DESC, n.id DESC LIMIT 1`

	latestOfPerson = `(SELECT l.id FROM unnest(customer_emails($1, lower(o.email))) a(email) CROSS JOIN LATERAL (SELECT n.id, n.created_at ` + ofOne + ` ` + lastUntil + `) l
                  ORDER BY l.created_at DESC, l.id DESC LIMIT 1)`

	isLatestUntil = `o.id = (SELECT n.id ` + ofAddress + ` ` + lastUntil + `)
            AND (NOT EXISTS (SELECT FROM customer_address a WHERE a.team_id = $1 AND a.email = lower(o.email)) OR o.id = ` + latestOfPerson + `)`

	// The customer of the addresses a.emails: from their orders, or as they were imported. There is no row for addresses without both.
	summary = `(SELECT * FROM (
      SELECT first_value(n.id) OVER w AS id, n.name, lower(n.email) AS email, count(*) OVER () AS orders, n.created_at AS last, n.id AS latest, first_value(n.created_at) OVER w AS first, 1 AS rank
        FROM orders n WHERE lower(n.email) = ANY(a.emails) AND n.email <> '' AND (SELECT team_id FROM event WHERE id = n.event_id AND test_of IS NULL) = $1 WINDOW w AS (ORDER BY n.created_at, n.id)
       UNION ALL
      SELECT c.id, c.name, c.email, 0, c.imported_at, c.id, c.imported_at, 0 FROM customer c WHERE c.team_id = $1 AND c.email = ANY(a.emails)) x
      ORDER BY rank DESC, last DESC, latest DESC LIMIT 1)`

	shown = `SELECT s.id, s.name, s.email, s.orders, s.last, s.latest`

	// The customer of the address of each row of o.
	found = `CROSS JOIN LATERAL (SELECT customer_emails($1, o.email) AS emails) a CROSS JOIN LATERAL ` + summary + ` s`
)

// A list that goes on is that of its first page: who orders meanwhile stays where they were. An imported customer is listed until the first order.
const latestSQL = `
SELECT s.id, s.name, s.email, s.orders, o.at, o.id
  FROM ((SELECT o.created_at AS at, o.id, lower(o.email) AS email FROM orders o
          WHERE o.email <> '' AND (o.created_at, o.id) < (coalesce($2, 'infinity'::timestamptz), $3) AND ` + ofTeam + ` AND ` + isLatestUntil + `
          ORDER BY o.created_at DESC, o.id DESC LIMIT $4)
         UNION ALL
        (SELECT o.imported_at, o.id, o.email FROM customer o
          WHERE o.team_id = $1 AND (o.imported_at, o.id) < (coalesce($2, 'infinity'::timestamptz), $3) AND ` + latestOfPerson + ` IS NULL
            AND o.id = (SELECT c.id FROM customer c WHERE c.team_id = $1 AND c.email = ANY(customer_emails($1, o.email)) ORDER BY c.imported_at DESC, c.id DESC LIMIT 1)
          ORDER BY o.imported_at DESC, o.id DESC LIMIT $4)) o
 ` + found + `
 ORDER BY o.at DESC, o.id DESC LIMIT $4`

// Bounds are compared byte by byte, as the indexes are sorted. The greatest character ends what begins with a prefix.
const byEmailSQL = shown + ` FROM (
    SELECT lower(o.email) AS email FROM orders o
     WHERE o.email <> '' AND lower(o.email) ~>=~ $2 AND lower(o.email) ~<~ ($2::text || chr(1114111)) AND ` + ofTeam + ` AND o.id = ` + latest + `
     ORDER BY lower(o.email) USING ~<~ LIMIT $3) o ` + found + `
 ORDER BY o.email USING ~<~`

const byNameSQL = shown + ` FROM (
    SELECT o.found_by, lower(o.email) AS email FROM orders o
     WHERE o.email <> '' AND o.found_by ~>=~ fold($2) AND o.found_by ~<~ (fold($2) || chr(1114111)) AND ` + ofTeam + ` AND o.id = ` + latest + `
     ORDER BY o.found_by USING ~<~ LIMIT $3) o ` + found + `
 ORDER BY o.found_by USING ~<~`

// By the last word of a name, which begins with the last word of what was typed. The name has all of what was typed.
const byLastNameSQL = shown + ` FROM (
    SELECT substring(o.found_by from '(\S+)\s*\n') AS last_name, lower(o.email) AS email FROM orders o
     WHERE o.email <> '' AND substring(o.found_by from '(\S+)\s*\n') ~>=~ fold($4) AND substring(o.found_by from '(\S+)\s*\n') ~<~ (fold($4) || chr(1114111)) AND strpos(o.found_by, fold($2)) > 0
       AND ` + ofTeam + ` AND o.id = ` + latest + `
     ORDER BY substring(o.found_by from '(\S+)\s*\n') USING ~<~ LIMIT $3) o ` + found + `
 ORDER BY o.last_name USING ~<~`

const (
	importedByEmailSQL = shown + ` FROM (
    SELECT email FROM customer WHERE team_id = $1 AND email ~>=~ $2 AND email ~<~ ($2::text || chr(1114111)) ORDER BY email USING ~<~ LIMIT $3) o ` + found + `
 ORDER BY o.email USING ~<~`

	importedByNameSQL = shown + ` FROM (
    SELECT found_by, email FROM customer WHERE team_id = $1 AND found_by ~>=~ fold($2) AND found_by ~<~ (fold($2) || chr(1114111)) ORDER BY found_by USING ~<~ LIMIT $3) o ` + found + `
 ORDER BY o.found_by USING ~<~`

	importedByLastNameSQL = shown + ` FROM (
    SELECT substring(found_by from '(\S+)\s*\n') AS last_name, email FROM customer
     WHERE team_id = $1 AND substring(found_by from '(\S+)\s*\n') ~>=~ fold($4) AND substring(found_by from '(\S+)\s*\n') ~<~ (fold($4) || chr(1114111)) AND strpos(found_by, fold($2)) > 0
     ORDER BY substring(found_by from '(\S+)\s*\n') USING ~<~ LIMIT $3) o ` + found + `
 ORDER BY o.last_name USING ~<~`
)

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

// The record of each id, if it is still one: that of a merged customer leads to the record of the other.
const changedSQL = shown + `
  FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, n)
  CROSS JOIN LATERAL (SELECT lower(email) AS email FROM orders WHERE id = w.id AND email <> '' UNION ALL SELECT email FROM customer WHERE id = w.id) o
  ` + found + `
 WHERE s.id = w.id
 ORDER BY w.n`

// Changed returns customers of a member's team that changed after a place: they ordered, an order got another name or email, a list has them, or
// addresses, a note or tags changed. Each comes once, as it is now, in the order of the last changes. A page may have fewer customers than its limit
// while there are more. The first place has a time. next is where to go on, at once if there are more, or any time later.
//
// Errors: paging.ErrAhead; the database's.
func (c *Customers) Changed(ctx context.Context, d *organizers.Desk, m organizers.Member, p paging.Page) (list []Customer, next paging.Place, more bool, err error) {
	var ids []string
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		var changed []changes.Changed
		changed, next, more, err = changes.Since(ctx, tx, m.Team, changes.Customers, p)
		for _, one := range changed {
			ids = append(ids, one.Subject)
		}
		return err
	})
	if err == nil && len(ids) > 0 {
		list, err = c.read(ctx, changedSQL, m.Team, ids)
	}
	if err != nil {
		return nil, next, false, fmt.Errorf("customers: list changed ones: %w", err)
	}
	return list, next, more, nil
}

// Find returns customers of a member's team with an email, or a name in the latest order, that begins with prefix, however it is written (ors finds
// Ørsted), or with a last name that does: most at most. more reports whether there are others. A person is found by each address that was merged, and
// by its name.
func (c *Customers) Find(ctx context.Context, m organizers.Member, prefix string, most int) (list []Customer, more bool, err error) {
	prefix = strings.TrimSpace(prefix)
	email, last := strings.ToLower(prefix), prefix[strings.LastIndexByte(prefix, ' ')+1:]
	for _, by := range []struct {
		sql  string
		args []any
	}{{byEmailSQL, []any{email, most + 1}}, {importedByEmailSQL, []any{email, most + 1}}, {byNameSQL, []any{prefix, most + 1}}, {importedByNameSQL, []any{prefix, most + 1}}, {byLastNameSQL, []any{prefix, most + 1, last}}, {importedByLastNameSQL, []any{prefix, most + 1, last}}} {
		some, err := c.read(ctx, by.sql, append([]any{m.Team}, by.args...)...)
		if err != nil {
			return nil, false, fmt.Errorf("customers: find: %w", err)
		}
		more = more || len(some) > most
		list = append(list, some...)
	}
	if list = once(list); len(list) > most {
		list, more = list[:most], true
	}
	return list, more, nil
}

// once leaves out those that stand in a list before.
func once(list []Customer) (each []Customer) {
	seen := map[seats.ID]bool{}
	for _, o := range list {
		if !seen[o.ID] {
			seen[o.ID], each = true, append(each, o)
		}
	}
	return each
}

func (c *Customers) read(ctx context.Context, sql string, args ...any) ([]Customer, error) {
	rows, _ := c.db.Query(ctx, sql, args...) // CollectRows returns its error
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o Customer, err error) {
		return o, row.Scan(&o.ID, &o.Name, &o.Email, &o.Orders, &o.Last, &o.latest)
	})
}

// ErrNone says that a team has no such customer.
var ErrNone = errors.New("there is no such customer")
