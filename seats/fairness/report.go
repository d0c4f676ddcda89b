package fairness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Report is who got what in the sale of an event. Orders that were cancelled later are in it: they got their seats.
type Report struct {
	At     time.Time `json:"at"`     // when it was published
	Opened time.Time `json:"opened"` // minutes count from here: when the sale opened, or the first order of one that was open at once
	Orders Count     `json:"orders"`
	Seats  Count     `json:"seats"` // of those orders

	Groups []Group `json:"groups"`

	Shared   Count            `json:"shared"`            // tickets of orders with an email address, account or card that another order has
	Returned Count            `json:"returned"`          // tickets that were cancelled later
	Refunded Count            `json:"refunded"`          // orders of which money went back, or is to
	Refused  map[string]int64 `json:"refused,omitempty"` // claims by the code of what refused them; a person may make many
}

// What the orders of a group have in common.
const (
	ByMinute = "minute" // minutes from the opening of the sale, from 0; the first group has those before it, too
	ByParty  = "party"  // seats of the order
	ByPlace  = "place"  // where it was placed: From is the place in Places
)

// Places are where orders are placed: on the pages of the sale, by a member of the team, by a program with a key.
var Places = []string{"web", "office", "program"}

// Group is orders with something in common.
type Group struct {
	By     string `json:"by"`
	From   int64  `json:"from"` // of what they have in common
	To     int64  `json:"to"`
	Orders int64  `json:"orders"`
	Seats  int64  `json:"seats"`
}

const openedSQL = `SELECT CASE WHEN e.opens_at <= clock_timestamp() THEN e.opens_at END, (SELECT min(created_at) FROM orders WHERE event_id = e.id) FROM event e WHERE e.id = $1`

// A value is that of %[1]s for an order o with so many seats.
const groupsSQL = `
SELECT %[1]s AS value, count(*), sum(seats)::bigint
  FROM (SELECT o.created_at, o.at_office, o.sold_by, count(*) AS seats FROM orders o JOIN ticket t ON t.order_id = o.id
         WHERE o.event_id = $1 AND t.moved_to IS NULL GROUP BY o.id) o, (SELECT $2::timestamptz AS opened) s
 GROUP BY 1 ORDER BY 1`

var (
	minuteSQL = fmt.Sprintf(groupsSQL, `floor(extract(epoch FROM o.created_at - s.opened) / 60)::bigint`)
	partySQL  = fmt.Sprintf(groupsSQL, `o.seats`)
	placeSQL  = fmt.Sprintf(groupsSQL, `CASE WHEN o.sold_by <> '' THEN 2 WHEN o.at_office THEN 1 ELSE 0 END::bigint`)
)

// Of makes the report of an event as it stands.
func Of(ctx context.Context, db seats.DB, event int64) (r Report, err error) {
	var opens, first *time.Time
	if err := db.QueryRow(ctx, openedSQL, event).Scan(&opens, &first); err != nil {
		return r, fmt.Errorf("fairness: read when the sale of event %d opened: %w", event, err)
	}
	for _, at := range []*time.Time{first, opens} {
		if at != nil {
			r.Opened = at.UTC()
		}
	}
	t, err := TicketsOf(ctx, db, event)
	if err != nil {
		return r, err
	}
	r.Shared, r.Returned, r.Refunded, r.Refused = Hide(t.Shared), Hide(t.Returned), Hide(t.Refunded), t.Refused
	var minutes, parties, places []Group
	for _, by := range []struct {
		name, sql string
		list      *[]Group
	}{{ByMinute, minuteSQL, &minutes}, {ByParty, partySQL, &parties}, {ByPlace, placeSQL, &places}} {
		rows, _ := db.Query(ctx, by.sql, event, r.Opened) // CollectRows returns its error
		*by.list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Group, error) {
			g := Group{By: by.name}
			err := row.Scan(&g.From, &g.Orders, &g.Seats)
			g.To = g.From
			return g, err
		})
		if err != nil {
			return r, fmt.Errorf("fairness: sum up the orders of event %d by %s: %w", event, by.name, err)
		}
	}
	var orders, sold int64
	for _, g := range parties {
		orders, sold = orders+g.Orders, sold+g.Seats
	}
	r.Orders, r.Seats = Hide(orders), Hide(sold)
	r.Groups = append(joined(minutes, max(Fewest, orders/parts)), joined(parties, Fewest)...)
	r.Groups = append(r.Groups, apart(places)...)
	return r, nil
}

// parts is into about how many groups orders are split by minute: each has as many orders, as most are placed in the first minutes.
const parts = 10

// joined joins neighbours until each group has so many orders. There is no group if all have too few together.
func joined(each []Group, least int64) (list []Group) {
	for _, g := range each {
		if n := len(list); n > 0 && list[n-1].Orders < least {
			list[n-1].join(g)
		} else {
			list = append(list, g)
		}
	}
	if n := len(list); n > 1 && list[n-1].Orders < Fewest {
		list[n-2].join(list[n-1])
		list = list[:n-1]
	}
	if len(list) == 1 && list[0].Orders < Fewest {
		return nil
	}
	return list
}

func (g *Group) join(o Group) {
	g.To, g.Orders, g.Seats = o.To, g.Orders+o.Orders, g.Seats+o.Seats
}

// apart are groups that have no neighbours: none, if one of them has too few orders.
func apart(list []Group) []Group {
	for _, g := range list {
		if g.Orders < Fewest {
			return nil
		}
	}
	return list
}

// Reports are the published reports of all events.
type Reports struct {
	db   seats.DB
	desk *organizers.Desk
}

// New returns the reports of a database.
func New(db seats.DB, desk *organizers.Desk) *Reports { return &Reports{db, desk} }

// Over reports whether the sale of an event is over: it has begun, or its sale was closed or called off.
func Over(e seats.Event, now time.Time) bool {
	return e.Status == seats.Closed || e.Status == seats.Cancelled || e.Status != seats.Draft && !e.StartsAt.After(now)
}

var errNotOver = text.Say("The fairness report can be published once the sale is over: the event has begun, or you closed its sale.")

const publishSQL = `
INSERT INTO fairness_report (event_id, report) VALUES ($1, $2)
    ON CONFLICT (event_id) DO UPDATE SET at = clock_timestamp(), report = excluded.report`

// Publish shows all visitors the report of an event whose sale is over, as of now.
//
// Errors: a *seats.ValidationError; those of a form that is done once; the database's.
func (rs *Reports) Publish(ctx context.Context, m organizers.Member, key string, e seats.Event) error {
	if !Over(e, time.Now()) {
		return seats.Unchanged(errNotOver)
	}
	r, err := Of(ctx, rs.db, e.ID)
	if err != nil {
		return err
	}
	err = rs.desk.Change(ctx, m, key, []any{"fairness", e.ID}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, publishSQL, e.ID, r); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("published the fairness report"), "events/"+e.Slug, nil)
	})
	if err != nil {
		return fmt.Errorf("fairness: publish the report of event %d: %w", e.ID, err)
	}
	return nil
}

const publishedSQL = `SELECT at, report FROM fairness_report WHERE event_id = $1`

// Published is the published report of an event; nil if there is none.
func (rs *Reports) Published(ctx context.Context, event int64) (*Report, error) {
	var at time.Time
	r := &Report{}
	err := rs.db.QueryRow(ctx, publishedSQL, event).Scan(&at, r)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fairness: read the report of event %d: %w", event, err)
	}
	r.At = at.UTC()
	return r, nil
}
