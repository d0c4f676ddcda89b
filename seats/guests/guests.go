package guests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
)

// Guests are those of all events, for one node.
type Guests struct {
	db     seats.DB
	desk   *organizers.Desk
	orders *orders.Orders
	blocks *blocks.Blocks
}

// New returns the guests of a desk.
func New(db seats.DB, desk *organizers.Desk, sold *orders.Orders, kept *blocks.Blocks) *Guests {
	return &Guests{db, desk, sold, kept}
}

// Guest is a line of the list.
type Guest struct {
	ID        seats.ID
	Name      string
	Email     string // empty: no mail goes out
	Places    int
	Note      string
	InvitedBy string
	At        time.Time
	Struck    bool
	Block     seats.ID // that the seats came from; zero: they were on sale
	Order     string   // its code; empty: there are no tickets yet
	Seats     []int    // of the tickets that are valid
	In        int      // tickets that were checked in
	N         int64    // where the guest stands on the list; grows
}

// Waits reports whether the guest has no tickets yet.
func (g Guest) Waits() bool { return g.Order == "" && !g.Struck }

// Comes reports whether the guest has valid tickets.
func (g Guest) Comes() bool { return len(g.Seats) > 0 }

// ErrNone says that an event has no such guest.
var ErrNone = errors.New("the event has no such guest")

// mostGuests is how many guests an event has at most.
const mostGuests = 2000

const listSQL = `
SELECT g.id, g.name, g.email, g.places, g.note, g.invited_by, g.at, g.struck_at IS NOT NULL, coalesce(g.block_id, '00000000-0000-0000-0000-000000000000'), coalesce(o.code, ''), t.idxs, t.came, g.n
  FROM guest g LEFT JOIN orders o ON o.id = g.order_id,
       LATERAL (SELECT coalesce(array_agg(idx ORDER BY idx) FILTER (WHERE revoked_at IS NULL), '{}') AS idxs,
                       count(*) FILTER (WHERE EXISTS (SELECT FROM scan WHERE ticket_id = ticket.id AND admitted))::integer AS came
                  FROM ticket WHERE order_id = g.order_id) t
 WHERE g.event_id = $1 AND ($2::uuid IS NULL OR g.id = $2) AND g.n > $3
 ORDER BY g.n LIMIT $4`

// List lists all guests of an event of the member's team, as they were added.
func (g *Guests) List(ctx context.Context, m organizers.Member, event int64) ([]Guest, error) {
	return g.read(ctx, m, event, nil, paging.Page{Limit: mostGuests})
}

// Page returns a page of that list, and where the list goes on; nil if there are no more.
func (g *Guests) Page(ctx context.Context, m organizers.Member, event int64, p paging.Page) (list []Guest, next *paging.Place, err error) {
	if list, err = g.read(ctx, m, event, nil, paging.Page{After: p.After, Limit: p.Limit + 1}); err != nil {
		return nil, nil, err
	}
	list, next = paging.Cut(list, p, func(o Guest) paging.Place { return paging.Place{N: o.N} })
	return list, next, nil
}

// Find returns a guest of an event. ErrNone if there is none.
func (g *Guests) Find(ctx context.Context, m organizers.Member, event int64, id seats.ID) (Guest, error) {
	list, err := g.read(ctx, m, event, &id, paging.Page{Limit: 1})
	if err == nil && len(list) == 0 {
		return Guest{}, ErrNone
	}
	if err != nil {
		return Guest{}, err
	}
	return list[0], nil
}

func (g *Guests) read(ctx context.Context, m organizers.Member, event int64, id *seats.ID, p paging.Page) (list []Guest, err error) {
	err = g.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, listSQL, event, id, p.After.N, p.Limit)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Guest])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("guests: list those of event %d: %w", event, err)
	}
	return list, nil
}

const countSQL = `SELECT count(*) FROM guest WHERE event_id = $1`

// Who is on the list already is there once.
const addSQL = `
INSERT INTO guest (id, event_id, name, email, places, note, invited_by)
SELECT $2, $1, $3, $4, $5, $6, $7
 WHERE NOT EXISTS (SELECT FROM guest WHERE event_id = $1 AND lower(name) = lower($3) AND lower(email) = lower($4) AND struck_at IS NULL)`

// Add puts guests on the list of an event; those who are on it already stay as they are. It returns how many are new.
//
// Errors: *seats.ValidationError; those of a form that is done once; the database's.
func (g *Guests) Add(ctx context.Context, m organizers.Member, key string, e seats.Event, list []Guest) (added int, err error) {
	if len(list) == 0 {
		return 0, &seats.ValidationError{Message: text.Mark("No guest was named. Write one on each line.")}
	}
	asked := []any{"guests", e.Slug}
	for _, one := range list {
		asked = append(asked, one.Name, one.Email, one.Places, one.Note, one.InvitedBy)
	}
	err = g.alone(ctx, e.ID, func(ctx context.Context) error {
		return g.desk.Change(ctx, m, key, asked, func(tx pgx.Tx) (err error) {
			if added, err = add(ctx, tx, e.ID, list); err != nil {
				return err
			}
			return organizers.Note(ctx, tx, m, text.Mark("invited guests to"), "events/"+e.Slug+"/guests", map[string]int{"guests": added})
		})
	})
	return added, wrap("add", err)
}

func add(ctx context.Context, tx pgx.Tx, event int64, list []Guest) (added int, err error) {
	var there int
	if err := tx.QueryRow(ctx, countSQL, event).Scan(&there); err != nil {
		return 0, err
	}
	if there+len(list) > mostGuests {
		return 0, &seats.ValidationError{Message: text.Mark("An event has at most %d guests. No guest was added."), Args: []any{mostGuests}}
	}
	for _, one := range list {
		tag, err := tx.Exec(ctx, addSQL, event, seats.NewID(), one.Name, one.Email, one.Places, one.Note, one.InvitedBy)
		if err != nil {
			return 0, err
		}
		added += int(tag.RowsAffected())
	}
	return added, nil
}

// alone changes the list of an event while no other request does.
func (g *Guests) alone(ctx context.Context, event int64, do func(ctx context.Context) error) error {
	return g.desk.Requests.Alone(ctx, "guests", strconv.FormatInt(event, 10), do)
}

const exportSQL = `
SELECT coalesce(json_agg(json_build_object('event', e.name, 'starts_at', e.starts_at, 'name', g.name, 'email', g.email, 'places', g.places, 'note', g.note, 'invited_by', g.invited_by, 'invited_at', g.at, 'struck_off_at', g.struck_at) ORDER BY g.n), '[]')
  FROM guest g JOIN event e ON e.id = g.event_id WHERE g.event_id = ANY($1) AND lower(g.email) = $2`

// Export returns where a person is on the guest lists of some events.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("guests: export: %w", err)
	}
	return list, nil
}

const (
	eraseWaitingSQL = `DELETE FROM guest WHERE event_id = ANY($1) AND ($2 = '' OR lower(email) = $2) AND order_id IS NULL`
	eraseSQL        = `UPDATE guest SET name = '', email = '', note = '', invited_by = '' WHERE event_id = ANY($1) AND ($2 = '' OR lower(email) = $2)`
)

// Erase takes a person off the guest lists of some events, or all guests for an empty email. Places and tickets stay.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) error {
	for _, sql := range []string{eraseWaitingSQL, eraseSQL} {
		if _, err := tx.Exec(ctx, sql, events, email); err != nil {
			return fmt.Errorf("guests: erase: %w", err)
		}
	}
	return nil
}

// wrap adds the call to an error that no member caused.
func wrap(call string, err error) error {
	var invalid *seats.ValidationError
	var refusal *seats.Conflict
	if err == nil || errors.As(err, &invalid) || errors.As(err, &refusal) || errors.Is(err, ErrNone) {
		return err
	}
	return fmt.Errorf("guests: %s: %w", call, err)
}
