package pricing

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/paging"
)

// CodeGroup is codes that have one name and the same terms, such as those that were made together. A code without a name is
// a group by itself.
type CodeGroup struct {
	Code        // the first of them, for the terms
	Count int   // codes
	Uses  int   // confirmed orders that have one of them
	Saved int64 // what these orders would have cost more

	madeAt time.Time // the first of them
}

// An order uses the code that its discount is for, those that its seats were claimed with, and those with a limit that it counts for.
const codeUses = `
WITH o AS (
SELECT n.code, count(*) AS uses, sum(n.saved) AS saved
  FROM (SELECT code, id, max(saved) AS saved
          FROM (SELECT c.id AS code, o.id, o.discount AS saved
                  FROM orders o JOIN code c ON c.event_id = o.event_id AND c.code = o.discount_code
                 WHERE o.event_id = $1 AND o.state = 'confirmed' AND o.discount_code <> ''
                 UNION ALL
                SELECT s.code, o.id, 0 FROM seat_code s JOIN orders o ON o.id = s.holder WHERE s.event_id = $1 AND o.state = 'confirmed'
                 UNION ALL
                SELECT key, o.id, 0 FROM orders o, unnest(o.uses) AS key WHERE o.event_id = $1 AND o.state = 'confirmed' AND o.uses <> '{}') u
         GROUP BY code, id) n
 GROUP BY n.code
)`

const codeGroupsSQL = codeUses + `
SELECT min(c.code), c.name, c.percent, c.amount, c.per_order, c.types, c.categories, c.tickets, c.most, c.per_person, c.begins_at, c.ends_at, max(c.retired_at),
       c.unlocks_types, c.unlocks_blocks, c.presale, c.person_tickets, b.members, count(*)::integer, coalesce(sum(o.uses), 0)::integer, coalesce(sum(o.saved), 0)::bigint,
       CASE WHEN max(c.retired_at) IS NOT NULL OR c.ends_at <= clock_timestamp() THEN 'over' WHEN c.begins_at > clock_timestamp() THEN 'early'
            WHEN bool_and(a.used >= a.most) THEN 'used' ELSE 'good' END, min(c.created_at)
  FROM code c
  LEFT JOIN allowance a ON a.event_id = c.event_id AND a.key = c.id
  LEFT JOIN o ON o.code = c.id,
       LATERAL (SELECT ` + codeMembers + ` AS members) b
 WHERE c.event_id = $1
 GROUP BY CASE WHEN c.name = '' THEN c.code ELSE '' END, c.name, c.percent, c.amount, c.per_order, c.types, c.categories, c.tickets, c.most, c.per_person,
       c.begins_at, c.ends_at, c.unlocks_types, c.unlocks_blocks, c.presale, c.person_tickets, b.members, c.retired_at IS NULL
HAVING $2::timestamptz IS NULL OR min(c.created_at) < $2 OR min(c.created_at) = $2 AND min(c.code) > $3
 ORDER BY min(c.created_at) DESC, min(c.code) LIMIT $4`

// codeGroups lists the codes of an event with how often they were used, the newest first. next is where the list goes on, nil at its end. Codes
// that are added to a group leave it where it is.
func codeGroups(ctx context.Context, db seats.DB, event int64, p paging.Page) (list []CodeGroup, next *paging.Place, err error) {
	rows, err := db.Query(ctx, codeGroupsSQL, event, p.After.Time(), p.After.Text, p.Limit+1)
	if err == nil {
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (g CodeGroup, err error) {
			return g, row.Scan(&g.Code.Code, &g.Name, &g.Percent, &g.Amount, &g.PerOrder, &g.Types, &g.Categories, &g.Tickets, &g.Most, &g.PerPerson, &g.BeginsAt, &g.EndsAt, &g.RetiredAt,
				&g.UnlocksTypes, &g.UnlocksBlocks, &g.Presale, &g.PersonTickets, &g.Members, &g.Count, &g.Uses, &g.Saved, &g.State, &g.madeAt)
		})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("pricing: list groups of codes: %w", err)
	}
	list, next = paging.Cut(list, p, func(g CodeGroup) paging.Place { return paging.Place{At: g.madeAt, Text: g.Code.Code} })
	return list, next, nil
}

const codesSQL = codeUses + `
SELECT c.id, c.code, c.name, c.percent, c.amount, c.per_order, c.types, c.categories, c.tickets, c.most, c.per_person, c.begins_at, c.ends_at, c.retired_at,
       c.unlocks_types, c.unlocks_blocks, c.presale, c.person_tickets, ` + codeMembers + `, coalesce(o.uses, 0)::integer,
       CASE WHEN c.retired_at IS NOT NULL OR c.ends_at <= clock_timestamp() OR NOT ` + codeOfMember + ` THEN 'over' WHEN c.begins_at > clock_timestamp() THEN 'early'
            WHEN a.used >= a.most THEN 'used' ELSE 'good' END
  FROM code c
  LEFT JOIN allowance a ON a.event_id = c.event_id AND a.key = c.id
  LEFT JOIN o ON o.code = c.id
 WHERE c.event_id = $1 AND ($2 = '' OR c.name = $2) AND c.code > $3
 ORDER BY c.code LIMIT $4`

// Codes lists the codes of an event that have a name, or all if it is empty, by their spelling from the one after a code on.
// Used is how many confirmed orders have them.
func Codes(ctx context.Context, db seats.DB, event int64, name, after string, most int) (list []Code, err error) {
	rows, err := db.Query(ctx, codesSQL, event, name, after, most)
	if err == nil {
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Code, err error) { return c, c.scan(row) })
	}
	if err != nil {
		return nil, fmt.Errorf("pricing: list codes: %w", err)
	}
	return list, nil
}

// Codes are locked in one order, as by the claims that use them.
const retireGroupSQL = `
WITH ended AS (
SELECT c.id FROM code c, code l
 WHERE l.event_id = $1 AND l.code = $2 AND c.event_id = $1 AND c.retired_at IS NULL AND (c.id = l.id OR c.name <> '' AND
       (c.name, c.percent, c.amount, c.per_order, c.types, c.categories, c.tickets, c.most, c.per_person, c.begins_at, c.ends_at, c.unlocks_types, c.unlocks_blocks, c.presale, c.person_tickets, (SELECT kind_id FROM membership WHERE id = c.membership_id)) IS NOT DISTINCT FROM
       (l.name, l.percent, l.amount, l.per_order, l.types, l.categories, l.tickets, l.most, l.per_person, l.begins_at, l.ends_at, l.unlocks_types, l.unlocks_blocks, l.presale, l.person_tickets, (SELECT kind_id FROM membership WHERE id = l.membership_id)))
 ORDER BY c.id
   FOR NO KEY UPDATE OF c
)
UPDATE code c SET retired_at = clock_timestamp() FROM ended WHERE c.id = ended.id`

// retireGroup ends all codes of the group that has this one, as retireCodes does.
func retireGroup(ctx context.Context, tx pgx.Tx, event int64, code string) (int, error) {
	tag, err := tx.Exec(ctx, retireGroupSQL, event, code)
	if err != nil {
		return 0, fmt.Errorf("pricing: retire a group of codes: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// Title is what organizers know the group by.
func (g CodeGroup) Title() string {
	if g.Count > 1 {
		return g.Name
	}
	return g.Code.Code
}
