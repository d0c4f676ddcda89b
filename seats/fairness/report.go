package fairness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Report is who got what in the sale of an event. Orders that were cancelled later are in it: they got their seats.
type Report struct {
	At     time.Time  `json:"at"`    // when it was published
	Until  time.Time  `json:"until"` // it has orders until then
	First  *time.Time `json:"first"` // the minute in which the first order on the pages of the sale was placed; nil: there are fewer than Fewest
	Orders Count      `json:"orders"`
	Seats  Count      `json:"seats"` // of those orders

	Groups []Group `json:"groups"`

	Shared   Count            `json:"shared"`            // tickets of orders with an email address, account or card that another order has
	Returned Count            `json:"returned"`          // tickets that were cancelled later
	Refunded Count            `json:"refunded"`          // orders of which money went back, or is to
	Refused  map[string]int64 `json:"refused,omitempty"` // claims by the code of what refused them; a person may make many
}

// What the orders of a group have in common.
const (
	ByMinute = "minute" // minutes from the first order on the pages of the sale; -1: before it, at the box office or by a program
	ByParty  = "party"  // seats of the order
	ByPlace  = "place"  // where it was placed: From and To are the place in Places
)

// Places are where orders are placed: on the pages of the sale, by a member of the team, by a program with a key.
var Places = []string{"web", "office", "program"}

// Group is orders with something in common.
type Group struct {
	By     string `json:"by"`
	From   int64  `json:"from"` // of what they have in common
	To     *int64 `json:"to"`   // nil: and all above
	Orders int64  `json:"orders"`
	Seats  int64  `json:"seats"`
}

const firstSQL = family + `
SELECT min(created_at), count(*) FROM bought WHERE NOT at_office AND sold_by = ''`

// The value of an order of so many seats stands between these.
const (
	groupOf = family + `
SELECT `
	groups = `, count(*), sum(seats)::bigint
  FROM bought, LATERAL (SELECT count(*) AS seats FROM ticket t WHERE t.order_id = bought.id AND t.moved_to IS NULL) n
 WHERE seats > 0 GROUP BY 1 ORDER BY 1`

	minuteSQL = groupOf + `greatest(-1, floor(extract(epoch FROM created_at - $3::timestamptz) / 60))::bigint` + groups
	partySQL  = groupOf + `seats` + groups
	placeSQL  = groupOf + `CASE WHEN sold_by <> '' THEN 2 WHEN at_office THEN 1 ELSE 0 END::bigint` + groups
)

// Of makes the report of the orders of an event until a time.
func Of(ctx context.Context, db seats.DB, event int64, until time.Time) (r Report, err error) {
	r.Until = until.UTC().Truncate(time.Second)
	events := []int64{event}
	var first *time.Time
	var here int64
	if err := db.QueryRow(ctx, firstSQL, events, until).Scan(&first, &here); err != nil {
		return r, fmt.Errorf("fairness: find the first order of event %d: %w", event, err)
	}
	if here >= Fewest {
		minute := first.UTC().Truncate(time.Minute)
		r.First = &minute
	}
	t, err := TicketsOf(ctx, db, &until, event)
	if err != nil {
		return r, err
	}
	r.Orders, r.Seats, r.Shared, r.Returned, r.Refunded, r.Refused = Hide(t.Sold.Orders), t.Sold.Hide(), t.Shared.Hide(), t.Returned.Hide(), Hide(t.Refunded), t.Refused
	sum := func(by, sql string, args ...any) ([]Group, error) {
		rows, _ := db.Query(ctx, sql, append([]any{events, until}, args...)...) // CollectRows returns its error
		each, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Group, error) {
			g := Group{By: by}
			return g, row.Scan(&g.From, &g.Orders, &g.Seats)
		})
		if err != nil {
			return nil, fmt.Errorf("fairness: sum up the orders of event %d by %s: %w", event, by, err)
		}
		return each, nil
	}
	if r.First != nil {
		minutes, err := sum(ByMinute, minuteSQL, first)
		if err != nil {
			return r, err
		}
		r.Groups = joined(minutes, max(Fewest, t.Sold.Orders/parts))
	}
	parties, err := sum(ByParty, partySQL)
	if err != nil {
		return r, err
	}
	places, err := sum(ByPlace, placeSQL)
	if err != nil {
		return r, err
	}
	r.Groups = append(append(r.Groups, joined(parties, Fewest)...), apart(places)...)
	return r, nil
}

// parts is into how many groups orders are split by minute, at most: each has about as many, as most are placed in the first minutes.
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
	for i := range len(list) - 1 {
		to := list[i+1].From - 1
		list[i].To = &to
	}
	return list
}

func (g *Group) join(o Group) { g.Orders, g.Seats = g.Orders+o.Orders, g.Seats+o.Seats }

// apart are groups that have no neighbours: none, if one of them has too few orders.
func apart(list []Group) []Group {
	for i := range list {
		if list[i].Orders < Fewest {
			return nil
		}
		list[i].To = &list[i].From
	}
	return list
}

// Reports are the published reports of all events.
type Reports struct {
	db   seats.DB
	desk *organizers.Desk

	there sync.Map // ids of events with a report
	none  sync.Map // by id of an event: until when it is taken to have none
}

// New returns the reports of a database.
func New(db seats.DB, desk *organizers.Desk) *Reports { return &Reports{db: db, desk: desk} }

// May reports whether an event may have a report: it has begun, or its sale was closed or called off.
func May(e seats.Event, now time.Time) bool {
	return e.TestOf == 0 && (e.Status == seats.Closed || e.Status == seats.Cancelled || e.Status != seats.Draft && !e.StartsAt.After(now))
}

var (
	errEarly = text.Say("The fairness report can be published once the event has begun, or you closed its sale.")
	errRoom  = text.Say("This event has a waiting room. Publish the fairness report of the waiting room.")
)

const roomSQL = `SELECT room_id IS NOT NULL FROM event WHERE id = $1`

const beginSQL = `
INSERT INTO fairness_report (event_id, report) VALUES ($1, '{}')
    ON CONFLICT (event_id) DO UPDATE SET at = clock_timestamp()
RETURNING until`

const publishSQL = `UPDATE fairness_report SET report = $2 WHERE event_id = $1`

// Publish shows all visitors the report of an event. Published again, it has what became of the same orders since. An event with a waiting
// room has none, as it could be subtracted from that of the room.
//
// Errors: a *seats.ValidationError; those of a form that is done once; the database's.
func (rs *Reports) Publish(ctx context.Context, m organizers.Member, key string, e seats.Event) error {
	if !May(e, time.Now()) {
		return seats.Unchanged(errEarly)
	}
	err := rs.desk.Change(ctx, m, key, []any{"fairness", e.ID}, func(tx pgx.Tx) error {
		var room bool
		if err := tx.QueryRow(ctx, roomSQL, e.ID).Scan(&room); err != nil {
			return err
		}
		if room {
			return seats.Unchanged(errRoom)
		}
		var until time.Time
		if err := tx.QueryRow(ctx, beginSQL, e.ID).Scan(&until); err != nil {
			return err
		}
		r, err := Of(ctx, tx, e.ID, until)
		if err != nil {
			return err
		}
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

const isSQL = `SELECT EXISTS (SELECT FROM fairness_report WHERE event_id = $1)`

// noneFor is how long a page may not lead to a report that was just published.
const noneFor = time.Second

// Is reports whether an event has a published report, as it was a second ago. It is for pages that many people open, also while the database is away.
func (rs *Reports) Is(ctx context.Context, e seats.Event) bool {
	if _, there := rs.there.Load(e.ID); there || !May(e, time.Now()) {
		return there
	}
	if until, ok := rs.none.Load(e.ID); ok && time.Now().Before(until.(time.Time)) {
		return false
	}
	var is bool
	if err := rs.db.QueryRow(ctx, isSQL, e.ID).Scan(&is); err == nil && is {
		rs.there.Store(e.ID, true)
		return true
	}
	rs.none.Store(e.ID, time.Now().Add(noneFor))
	return false
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
