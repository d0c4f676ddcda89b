package customers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/organizers"
)

// Duplicates are customers that may be one person.
type Duplicates struct {
	Why  Why
	List []Customer // those with the latest order first
}

// Why says what customers have in common.
type Why string

// What customers may have in common.
const (
	SameName Why = "name"
	SameKey  Why = "key" // orders from one mailbox, account or card
)

// Limits of a search for duplicates.
const (
	SearchedOrders = 10_000 // the latest orders, and as many imported customers
	MostDuplicates = 50     // groups that are listed
	mostAlike      = 10     // a name or card of more customers says nothing
)

const duplicatesSQL = `
WITH recent AS (
    (SELECT lower(o.email) AS email, split_part(o.found_by, E'\n', 1) AS name, o.keys FROM orders o WHERE o.email <> '' AND ` + ofTeam + ` ORDER BY o.created_at DESC, o.id DESC LIMIT $2)
     UNION ALL
    (SELECT email, split_part(found_by, E'\n', 1), '{}' FROM customer WHERE team_id = $1 ORDER BY imported_at DESC, id DESC LIMIT $2)
), common AS (
    SELECT w.why, w.what, array_agg(DISTINCT r.email) AS emails
      FROM recent r CROSS JOIN LATERAL (SELECT 'name' AS why, btrim(r.name) AS what WHERE btrim(r.name) <> '' UNION ALL SELECT 'key', k::text FROM unnest(r.keys) k) w
      LEFT JOIN customer_address p ON p.team_id = $1 AND p.email = r.email
     GROUP BY w.why, w.what HAVING count(DISTINCT coalesce(p.person::text, r.email)) BETWEEN 2 AND $3
     ORDER BY w.why, w.what LIMIT 4 * $4::integer
)
SELECT c.why, c.what, s.id, s.name, s.email, s.orders, s.last, s.latest
  FROM common c CROSS JOIN LATERAL unnest(c.emails) o(email) ` + found + `
 ORDER BY c.why, c.what, s.last DESC, s.id`

// Duplicates lists customers of a member's team that may be one person: among the latest orders and imports, those with one name, and those with orders
// from one mailbox, account or card. more reports whether there are others.
func (c *Customers) Duplicates(ctx context.Context, m organizers.Member) (list []Duplicates, more bool, err error) {
	rows, err := c.db.Query(ctx, duplicatesSQL, m.Team, SearchedOrders, mostAlike, MostDuplicates+1)
	if err != nil {
		return nil, false, fmt.Errorf("customers: find duplicates: %w", err)
	}
	var one Customer
	var why, what, last string
	_, err = pgx.ForEachRow(rows, []any{&why, &what, &one.ID, &one.Name, &one.Email, &one.Orders, &one.Last, &one.latest}, func() error {
		if at := why + " " + what; at != last {
			last, list = at, append(list, Duplicates{Why: Why(why)})
		}
		to := &list[len(list)-1].List
		*to = append(*to, one)
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("customers: find duplicates: %w", err)
	}
	list = distinct(list)
	if len(list) > MostDuplicates {
		list, more = list[:MostDuplicates], true
	}
	return list, more, nil
}

// distinct leaves out those that are one customer, and those that a group before has.
func distinct(list []Duplicates) (groups []Duplicates) {
	seen := map[string]bool{}
	for _, g := range list {
		if g.List = once(g.List); len(g.List) < 2 {
			continue
		}
		var ids []string
		for _, o := range g.List {
			ids = append(ids, o.ID.String())
		}
		slices.Sort(ids)
		if all := strings.Join(ids, " "); !seen[all] {
			seen[all], groups = true, append(groups, g)
		}
	}
	return groups
}
