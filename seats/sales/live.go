package sales

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Live is what the desk shows of an event, at one moment.
type Live struct {
	Figures
	Rows   []Row // of the span that was asked for, the first one first
	Span   Span
	Hour   []Row // minutes of the last hour
	Latest []Ordered
	Alerts []Alert
	Seen   map[string]Seen // by Alert.Key

	MoreAlerts bool // than Alerts has

	Acts    []Act
	Inside  int       // admitted visitors of the waiting room
	Asked   int       // visitors of it who asked to be told of their turn, and one more than MostAsked if there are more
	Refused []Refused // claims, the most frequent reason first
	Waits   Waits
}

// Waits counts the waitlist of an event.
type Waits struct {
	Ever     bool // it had an entry
	Paused   bool
	Waiting  int
	Open     int // offers
	Accepted int
	Ended    int // accepted, declined and missed
}

// Window is how much of the past a dashboard shows.
type Window string

// The windows. All is in hours once the sale is older than a day.
const (
	LastHour Window = "hour"
	LastDay  Window = "day"
	All      Window = "all"
)

// Ordered is an order as the desk lists it. Name and Email are empty unless they were asked for.
type Ordered struct {
	Code        string
	At          time.Time
	Total       int64 // minor units
	Method      string
	State       string
	Name, Email string
	Seats       []int
}

// Act is an organizer's action on the sale, for the chart.
type Act struct {
	At                time.Time
	What, Detail, Who string
}

// Evening is the sale of an event for the dashboards of this node: all of them share one Stats. One caller at a time. The zero
// Evening is ready to use.
type Evening struct {
	event seats.Event
	epoch uint32
	stats *Stats
}

const clockSQL = `SELECT clock_timestamp()`

const countsSQL = `SELECT free, held, sold, blocked FROM counter WHERE event_id = $1`

const waivedSQL = `SELECT coalesce(sum(waived - kept), 0)::bigint FROM orders WHERE event_id = $1 AND (waived > 0 OR kept > 0)`

// look brings the statistics up to date and says how everything stands. epoch is that of the node's map: with another one the
// database is another run, in which versions may have been given anew, and what is kept there counts.
func (v *Evening) look(ctx context.Context, db seats.DB, epoch uint32, recent Recent, w Window, names bool) (l Live, err error) {
	if v.stats == nil || v.epoch != epoch {
		if v.stats, err = loadStats(ctx, db, v.event); err != nil {
			return l, err
		}
		v.epoch = epoch
	}
	if err = v.stats.follow(ctx, db, v.event, recent); err != nil {
		v.stats = nil // it may have gone half of a step
		return l, err
	}
	var q pgx.Batch
	var now time.Time
	var waived int64
	var counts seats.Counts
	q.Queue(clockSQL).QueryRow(func(r pgx.Row) error { return r.Scan(&now) })
	q.Queue(countsSQL, v.event.ID).QueryRow(func(r pgx.Row) error {
		return r.Scan(&counts.Free, &counts.Held, &counts.Sold, &counts.Blocked)
	})
	q.Queue(waivedSQL, v.event.ID).QueryRow(func(r pgx.Row) error { return r.Scan(&waived) })
	l.queueLatest(&q, v.event.ID, names)
	l.queueAlerts(&q, v.event.ID)
	l.queueRoom(&q, v.event)
	l.queueRefused(&q, v.event.ID)
	l.queueWaits(&q, v.event)
	if err = db.SendBatch(ctx, &q).Close(); err != nil {
		return l, fmt.Errorf("sales: look at event %d: %w", v.event.ID, err)
	}
	if v.stats.Version == 0 { // nothing happened yet
		v.stats.Counts = counts
	}
	l.Figures = v.stats.figures(now, v.event)
	l.Waived = waived
	l.Rows, l.Span = v.stats.window(w, now)
	l.Hour = v.stats.minutes.since(now.Add(-time.Hour))
	l.addAlerts()
	return l, nil
}

// window is the rows of a part of the past.
func (t *Stats) window(w Window, now time.Time) ([]Row, Span) {
	switch w {
	case LastHour:
		return t.minutes.since(now.Add(-time.Hour)), Minute
	case LastDay:
		return t.minutes.since(now.Add(-minutesKept)), Minute
	}
	if all := t.hours.since(time.Time{}); len(all) > 0 && now.Sub(all[0].At) >= minutesKept {
		return all, Hour
	}
	return t.minutes.since(time.Time{}), Minute
}

// latestOrders is how many orders a desk lists.
const latestOrders = 24

const latestSQL = `
SELECT o.code, o.created_at, o.total, o.method, o.state, CASE WHEN $2 THEN o.name ELSE '' END, CASE WHEN $2 THEN o.email ELSE '' END,
       ARRAY(SELECT idx FROM ticket WHERE order_id = o.id AND moved_to IS NULL ORDER BY idx)
  FROM orders o WHERE o.event_id = $1 ORDER BY o.created_at DESC LIMIT $3`

func (l *Live) queueLatest(q *pgx.Batch, event int64, names bool) {
	q.Queue(latestSQL, event, names, latestOrders).Query(func(rows pgx.Rows) (err error) {
		l.Latest, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Ordered])
		return err
	})
}

// MostAsked is how many requests to be told of a turn the dashboard counts.
const MostAsked = 10_000

const insideSQL = `
SELECT count(*), (SELECT count(*) FROM (SELECT FROM turn_request WHERE room_id = (SELECT room_id FROM event WHERE id = $1) LIMIT $2) t)
  FROM slot WHERE room_id = (SELECT room_id FROM event WHERE id = $1) AND expires_at > clock_timestamp()`

// What was done to the event and to its waiting room, which is done elsewhere than at the desk, too. What is far back is
// not needed: a chart has room for few marks.
const actsSQL = `
(SELECT at, what || ' the waiting room', detail, who FROM control WHERE room_id = (SELECT room_id FROM event WHERE id = $1) ORDER BY id DESC LIMIT 40)
UNION ALL
(SELECT at, what, '', who FROM deed
  WHERE team_id = (SELECT team_id FROM event WHERE id = $1) AND subject = 'events/' || $2 AND what NOT LIKE '%waiting room' AND what <> 'saw'
  ORDER BY id DESC LIMIT 40)`

func (l *Live) queueRoom(q *pgx.Batch, event seats.Event) {
	q.Queue(insideSQL, event.ID, MostAsked+1).QueryRow(func(r pgx.Row) error { return r.Scan(&l.Inside, &l.Asked) })
	q.Queue(actsSQL, event.ID, event.Slug).Query(func(rows pgx.Rows) (err error) {
		l.Acts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Act])
		return err
	})
}

const waitsSQL = `
SELECT w.event_id IS NOT NULL, coalesce(w.paused_at IS NOT NULL, false), coalesce(n.waiting, 0), coalesce(o.open, 0), coalesce(o.accepted, 0), coalesce(o.ended, 0)
  FROM event e LEFT JOIN wait_list w ON w.event_id = e.id
  LEFT JOIN LATERAL (SELECT count(*) AS waiting FROM entry WHERE event_id = w.event_id AND state = 'waiting') n ON true
  LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE state = 'open') AS open, count(*) FILTER (WHERE state = 'accepted') AS accepted,
                            count(*) FILTER (WHERE state IN ('accepted', 'declined', 'missed')) AS ended FROM offer WHERE event_id = w.event_id) o ON true
 WHERE e.id = $1`

func (l *Live) queueWaits(q *pgx.Batch, event seats.Event) {
	w := &l.Waits
	q.Queue(waitsSQL, event.ID).QueryRow(func(r pgx.Row) error {
		return r.Scan(&w.Ever, &w.Paused, &w.Waiting, &w.Open, &w.Accepted, &w.Ended)
	})
}

// Live is how an event stands, in the name of a member, by the node's sale of it.
func (s *Sales) Live(ctx context.Context, m organizers.Member, v *Evening, sale *seats.Sale, w Window, names bool) (l Live, err error) {
	epoch, _ := sale.At()
	v.event = sale.Event
	err = s.organizers.As(ctx, m, func(tx pgx.Tx) error {
		l, err = v.look(ctx, tx, epoch, sale.Recent, w, names)
		return err
	})
	if err != nil {
		v.stats = nil // what it took for written may not be
	}
	return l, err
}

// Look is Live for the owner of a whole database that no node serves here, such as that of a rehearsal.
func (v *Evening) Look(ctx context.Context, db seats.DB, e seats.Event) (Live, error) {
	v.event = e
	return v.look(ctx, db, 0, func(int64) ([]seats.Change, bool) { return nil, false }, All, false)
}

// Save writes down how far an event was followed.
func (s *Sales) Save(ctx context.Context, m organizers.Member, v *Evening) error {
	if v.stats == nil || v.stats.unwritten == 0 {
		return nil
	}
	return s.organizers.As(ctx, m, func(tx pgx.Tx) error { return v.stats.save(ctx, tx, v.event.ID) })
}

// replayRows is how many versions a replay reads at once.
const replayRows = 2000

// Replay is the change log of an event, in the name of a member.
func (s *Sales) Replay(ctx context.Context, m organizers.Member, e seats.Event) (*Replay, error) {
	r := NewReplay(e.Seats)
	for more := true; more; {
		err := s.organizers.As(ctx, m, func(tx pgx.Tx) error {
			changes, err := seats.Changes(ctx, tx, e.ID, r.Version, replayRows)
			for _, c := range changes {
				r.add(c)
			}
			more = len(changes) == replayRows
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("sales: replay of event %d: %w", e.ID, err)
		}
	}
	return r, nil
}

// See notes that a member took note of an alert.
func (s *Sales) See(ctx context.Context, m organizers.Member, e seats.Event, key string) error {
	return s.organizers.As(ctx, m, func(tx pgx.Tx) error {
		fresh, err := see(ctx, tx, e.ID, key, m.Name)
		if err != nil || !fresh {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("saw"), "events/"+e.Slug, map[string]string{"concern": key})
	})
}
