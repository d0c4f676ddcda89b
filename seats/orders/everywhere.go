package orders

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// candidates is how many orders each way to find one looks at. Of a name that more people have, these are the first ones by
// the alphabet, of which the latest are shown: who means another one types more of it.
const candidates = 300

// highest is behind all texts that begin with what is before it.
const highest = "\U0010FFFF"

// Each part uses an index of its own (migration 0052) and reads a bounded number of rows. The parts for names with several
// words find the last word, and look for all of them.
const foldSQL = `SELECT fold($1), fold($2), lower($1)`

const peopleSQL = `
SELECT id FROM (
(SELECT o.id, o.created_at FROM orders o JOIN event e ON e.id = o.event_id AND e.team_id = $1 AND e.test_of IS NULL
  WHERE o.found_by ~>=~ $2 AND o.found_by ~<~ ($2 || $5) ORDER BY o.found_by USING ~<~ LIMIT $6)
UNION ALL
(SELECT o.id, o.created_at FROM orders o JOIN event e ON e.id = o.event_id AND e.team_id = $1 AND e.test_of IS NULL
  WHERE substring(o.found_by from '(\S+)\s*\n') ~>=~ $3 AND substring(o.found_by from '(\S+)\s*\n') ~<~ ($3 || $5) AND strpos(o.found_by, $2) > 0
  ORDER BY substring(o.found_by from '(\S+)\s*\n') USING ~<~ LIMIT $6)
UNION ALL
(SELECT o.id, o.created_at FROM orders o JOIN event e ON e.id = o.event_id AND e.team_id = $1 AND e.test_of IS NULL
  WHERE o.email <> '' AND lower(o.email) ~>=~ $4 AND lower(o.email) ~<~ ($4 || $5) ORDER BY lower(o.email) USING ~<~ LIMIT $6)
UNION ALL
(SELECT o.id, o.created_at FROM ticket t JOIN event e ON e.id = t.event_id AND e.team_id = $1 AND e.test_of IS NULL JOIN orders o ON o.id = t.order_id
  WHERE t.name <> '' AND fold(t.name) ~>=~ $2 AND fold(t.name) ~<~ ($2 || $5) LIMIT $6)
UNION ALL
(SELECT o.id, o.created_at FROM ticket t JOIN event e ON e.id = t.event_id AND e.team_id = $1 AND e.test_of IS NULL JOIN orders o ON o.id = t.order_id
  WHERE t.name <> '' AND substring(fold(t.name) from '(\S+)\s*$') ~>=~ $3 AND substring(fold(t.name) from '(\S+)\s*$') ~<~ ($3 || $5)
    AND strpos(fold(t.name), $2) > 0 LIMIT $6)
UNION ALL
(SELECT o.id, o.created_at FROM ticket_transfer f JOIN event e ON e.id = f.event_id AND e.team_id = $1 AND e.test_of IS NULL JOIN orders o ON o.id = f.order_id
  WHERE f.email <> '' AND lower(f.email) ~>=~ $4 AND lower(f.email) ~<~ ($4 || $5) LIMIT $6)
UNION ALL
(SELECT o.id, o.created_at FROM ticket_transfer f JOIN event e ON e.id = f.event_id AND e.team_id = $1 AND e.test_of IS NULL JOIN orders o ON o.id = f.order_id
  WHERE f.name <> '' AND fold(f.name) ~>=~ $2 AND fold(f.name) ~<~ ($2 || $5) LIMIT $6)
UNION ALL
(SELECT o.id, o.created_at FROM ticket_transfer f JOIN event e ON e.id = f.event_id AND e.team_id = $1 AND e.test_of IS NULL JOIN orders o ON o.id = f.order_id
  WHERE f.name <> '' AND substring(fold(f.name) from '(\S+)\s*$') ~>=~ $3 AND substring(fold(f.name) from '(\S+)\s*$') ~<~ ($3 || $5)
    AND strpos(fold(f.name), $2) > 0 LIMIT $6)
) found GROUP BY id ORDER BY max(created_at) DESC, id LIMIT $7`

// What has one name only: an order by its number or its code, and a ticket by its code.
const exactSQL = `
(SELECT id FROM orders WHERE code = $1) UNION
(SELECT id FROM orders WHERE id BETWEEN $2 AND $3 LIMIT 20) UNION
(SELECT order_id FROM ticket WHERE id = $4)`

// Seats of the eight events of the team that are the next to begin: labels are the same at each performance.
const labelSQL = `
SELECT t.order_id
  FROM (SELECT id, starts_at FROM event WHERE team_id = $1 AND test_of IS NULL AND starts_at > clock_timestamp() - interval '12 hours' AND status NOT IN ('draft', 'cancelled') ORDER BY starts_at, id LIMIT 8) e
  JOIN section c ON c.event_id = e.id AND ($2 = '' OR starts_with(fold(c.name), fold($2)))
  JOIN seat s ON s.event_id = e.id AND s.section = c.number AND s.row = ANY ($3) AND s.number = $4
  JOIN ticket t ON t.event_id = e.id AND t.idx = s.idx AND t.revoked_at IS NULL
 ORDER BY e.starts_at, e.id, c.number LIMIT $5`

// orderPage is the address of an order's page, as people paste it.
var orderPage = regexp.MustCompile(`/orders/([0-9A-Za-z]+)`)

// Everywhere returns the ids of at most so many orders of a team that are meant by what was typed: the number or the code of an
// order, or the address of its page; the code of a ticket; the beginning of a name, of its last word or of an email, of the
// buyer, of an attendee or of a friend who has a ticket; a seat, such as Stalls/C/12, C 12 or C12, of the next events. The
// ones that are meant exactly come first, then the latest ones. The caller reads the orders behind the wall of the team:
// exact ones are those of any team.
func (o *Orders) Everywhere(ctx context.Context, team int64, typed string, most int) (found []seats.ID, err error) {
	typed = strings.Join(strings.Fields(typed), " ")
	if typed == "" {
		return nil, nil
	}
	code := typed
	if page := orderPage.FindStringSubmatch(typed); page != nil {
		code = page[1]
	}
	least, greatest, _ := numbered(typed) // if it is no number: of no order
	var ticket seats.ID
	if c, ok := read(strings.ToUpper(code)); ok {
		ticket = c.ticket
	}
	var q pgx.Batch
	add := func(rows pgx.Rows) error {
		ids, err := pgx.CollectRows(rows, pgx.RowTo[seats.ID])
		for _, id := range ids {
			if !slices.Contains(found, id) && len(found) < most {
				found = append(found, id)
			}
		}
		return err
	}
	q.Queue(exactSQL, strings.ToUpper(code), least, greatest, ticket).Query(add)
	if section, rows, number, ok := labelled(typed); ok {
		q.Queue(labelSQL, team, section, rows, number, most).Query(add)
	}
	if utf8.RuneCountInString(typed) >= 2 {
		var words, last, email string
		if err := o.db.QueryRow(ctx, foldSQL, typed, typed[strings.LastIndexByte(typed, ' ')+1:]).Scan(&words, &last, &email); err != nil {
			return nil, fmt.Errorf("orders: fold what was typed: %w", err)
		}
		q.Queue(peopleSQL, team, words, last, email, highest, candidates, most).Query(add)
	}
	if err := o.db.SendBatch(ctx, &q).Close(); err != nil {
		return nil, fmt.Errorf("orders: search everywhere: %w", err)
	}
	return found, nil
}

// A seat as people type it: section, row and number, with the row right before the number or away from it.
var (
	seatSlashed = regexp.MustCompile(`^(?:([^/]+)/)?([^/]*)/([^/ ]+)$`)
	seatSpoken  = regexp.MustCompile(`^(?:(.+?),? )?([\pL]{1,3}) ?([0-9]{1,5})$`)
)

// labelled takes a typed seat apart. rows are the names that its row may have; section is empty if any is meant.
func labelled(typed string) (section string, rows []string, number string, ok bool) {
	parts := seatSlashed.FindStringSubmatch(typed)
	if parts == nil {
		parts = seatSpoken.FindStringSubmatch(typed)
	}
	if parts == nil {
		return "", nil, "", false
	}
	section, number = parts[1], parts[3]
	rows = []string{parts[2], strings.ToUpper(parts[2])}
	if section == "" && strings.Contains(typed, "/") { // Floor/17: an area has no rows
		return parts[2], []string{""}, number, true
	}
	return section, rows, number, true
}

// SeatHit is a seat that a search of all events found.
type SeatHit struct {
	Event   string // slug
	Title   string // of the event
	Starts  string // local day of the event
	Label   string
	Section int
	State   seats.State
}

// Of the same events as labelSQL. A sold seat leads to its order.
const openSeatsSQL = `
SELECT e.slug, e.name, e.starts_local::date::text, c.name || '/' || CASE WHEN s.row = '' THEN '' ELSE s.row || '/' END || s.number, c.number, t.state
  FROM (SELECT id, slug, name, starts_at, starts_local FROM event WHERE team_id = $1 AND test_of IS NULL AND starts_at > clock_timestamp() - interval '12 hours' AND status NOT IN ('draft', 'cancelled') ORDER BY starts_at, id LIMIT 8) e
  JOIN section c ON c.event_id = e.id AND ($2 = '' OR starts_with(fold(c.name), fold($2)))
  JOIN seat s ON s.event_id = e.id AND s.section = c.number AND s.row = ANY ($3) AND s.number = $4
  JOIN seat_state t ON t.event_id = e.id AND t.idx = s.idx AND t.state <> 4 /* sold */
 ORDER BY e.starts_at, e.id, c.number LIMIT $5`

// OpenSeats returns at most so many seats of a team that are not sold and are meant by what was typed, such as Stalls/C/12, C 12 or C12, of the
// eight events that are the next to begin.
func (o *Orders) OpenSeats(ctx context.Context, team int64, typed string, most int) ([]SeatHit, error) {
	section, rowNames, number, ok := labelled(strings.Join(strings.Fields(typed), " "))
	if !ok {
		return nil, nil
	}
	rows, _ := o.db.Query(ctx, openSeatsSQL, team, section, rowNames, number, most) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[SeatHit])
	if err != nil {
		return nil, fmt.Errorf("orders: search seats: %w", err)
	}
	return list, nil
}

// Hit is an order that a search of all events found.
type Hit struct {
	ID       seats.ID
	Code     string
	Name     string
	Email    string
	State    string
	Currency string
	Cost     int64 // minor units, of the tickets that hold and what was kept
	Tickets  int   // that hold
	Event    string
	Title    string // of the event
	Starts   string // local day of the event
}

const hitsSQL = `
SELECT o.id, o.code, o.name, o.email, o.state, o.currency, coalesce(t.cost, 0) + o.kept, t.n, e.slug, e.name, e.starts_local::date::text
  FROM unnest($1::uuid[]) WITH ORDINALITY w (id, rank) JOIN orders o ON o.id = w.id JOIN event e ON e.id = o.event_id,
       LATERAL (SELECT sum(price + fee)::bigint AS cost, count(*) AS n FROM ticket WHERE order_id = o.id AND revoked_at IS NULL) t
 ORDER BY w.rank`

// Hits reads orders by their ids, those that the transaction may see.
func Hits(ctx context.Context, tx pgx.Tx, ids []seats.ID) (list []Hit, err error) {
	rows, err := tx.Query(ctx, hitsSQL, ids)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Hit])
	}
	if err != nil {
		return nil, fmt.Errorf("orders: read what was found: %w", err)
	}
	return list, nil
}

// Number is what people call it by.
func (h Hit) Number() string { return Number(h.ID) }
