package waitingroom

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// tickEach is the least time between two calls of numbers, by the database's clock.
const tickEach = 900 * time.Millisecond

// An expired hold counts as available seats, even if its expiry is not announced yet. Admissions are those between two times.
const seenSQL = `
SELECT (SELECT count(*) FROM slot s WHERE s.room_id = r.id AND s.expires_at > clock_timestamp()),
       (SELECT count(*) FROM slot s WHERE s.room_id = r.id AND s.expires_at > clock_timestamp()
           AND EXISTS (SELECT FROM event e JOIN hold h ON h.event_id = e.id WHERE e.room_id = r.id AND h.holder = s.holder AND NOT h.lapsed)),
       (SELECT coalesce(sum(n), 0) FROM event e JOIN counter c ON c.event_id = e.id, unnest(c.free) n WHERE e.room_id = r.id),
       (SELECT coalesce(sum(n), 0) FROM event e JOIN counter c ON c.event_id = e.id, unnest(c.held) n WHERE e.room_id = r.id),
       (SELECT count(*) FROM admission a WHERE a.room_id = r.id AND a.entered > 0 AND a.admitted_at > $2 AND a.admitted_at <= $3)
  FROM room r
 WHERE r.id = $1`

// Visitors admitted within the last hour. Of them are done: buyers, those who gave up, and those who could stay no longer.
const habitsSQL = `
SELECT count(*) FILTER (WHERE a.outcome IS NOT NULL OR a.admitted_at < clock_timestamp() - r.stay),
       count(*) FILTER (WHERE a.outcome = 'bought'), coalesce(sum(a.seats) FILTER (WHERE a.outcome = 'bought'), 0)
  FROM room r
  LEFT JOIN admission a ON a.room_id = r.id AND a.entered > 0 AND a.admitted_at > now() - interval '1 hour'
 WHERE r.id = $1`

// A number that was given up before its call has an admission that was never entered: it does not count as called. The valid
// calls of the last ten minutes are split in two: settled ones, and recent ones with visitors who may still be on their way.
const cohortsSQL = `
SELECT e.settled - e.over - a.settled_gone, a.settled_came, e.serving - e.settled - a.recent_gone, a.recent_came
  FROM (SELECT r.serving,
               coalesce((SELECT c.serving FROM called c WHERE c.room_id = r.id AND c.epoch = r.epoch
                            AND c.at < clock_timestamp() - least(r.valid, interval '10 minutes') ORDER BY c.serving DESC LIMIT 1), 0) AS over,
               coalesce((SELECT c.serving FROM called c WHERE c.room_id = r.id AND c.epoch = r.epoch
                            AND c.at < clock_timestamp() - least(make_interval(secs => $3), r.valid / 2) ORDER BY c.serving DESC LIMIT 1), 0) AS settled
          FROM room r WHERE r.id = $1) e,
       LATERAL (SELECT count(*) FILTER (WHERE number <= e.settled AND entered = 0) AS settled_gone,
                       count(*) FILTER (WHERE number <= e.settled AND entered > 0) AS settled_came,
                       count(*) FILTER (WHERE number > e.settled AND entered = 0) AS recent_gone,
                       count(*) FILTER (WHERE number > e.settled AND entered > 0) AS recent_came
                  FROM admission
                 WHERE room_id = $1 AND epoch = $2 AND number > e.over AND number <= e.serving) a`

// see reads what the controller needs. admitted is the number of visitors that the forecast has not counted yet.
func (r *Room) see(ctx context.Context, s *State) (seen Seen, admitted int64, err error) {
	seen = Seen{Since: time.Second, Waiting: s.last() - s.Serving, Slots: s.Slots, Limit: s.Rate}
	if s.TickedAt != nil {
		seen.Since = s.Now.Sub(*s.TickedAt)
	}
	var d done
	var q pgx.Batch
	q.Queue(seenSQL, r.ID, s.Forecast.Until, s.Now.Add(-countedLate)).QueryRow(func(row pgx.Row) error {
		return row.Scan(&seen.Active, &seen.Holding, &seen.Free, &seen.Held, &admitted)
	})
	q.Queue(habitsSQL, r.ID).QueryRow(func(row pgx.Row) error { return row.Scan(&d.ended, &d.bought, &d.seats) })
	q.Queue(cohortsSQL, r.ID, s.Epoch, responseTime.Seconds()).QueryRow(func(row pgx.Row) error {
		return row.Scan(&seen.Settled.Called, &seen.Settled.Came, &seen.Recent.Called, &seen.Recent.Came)
	})
	if err := r.rooms.db.SendBatch(ctx, &q).Close(); err != nil {
		return seen, 0, fmt.Errorf("waitingroom: room %d: look: %w", r.ID, err)
	}
	d.returned, d.sold = r.rooms.ended(r)
	seen.Habits = d.habits()
	seen.Slow, seen.Failed = r.rooms.claims.lately(time.Now())
	return seen, admitted, nil
}

// done is what became of visitors and held seats.
type done struct {
	ended, bought, seats int64 // visitors who are done, the buyers of them, and the buyers' seats
	returned, sold       int64 // held seats that became available again, or were sold
}

// enough is how many visitors, or seats, make a measured habit better than the usual one.
const enough = 200

func (d done) habits() Habits {
	h := UsualHabits
	if d.ended >= enough {
		h.Buying = max(0.05, float64(d.bought)/float64(d.ended))
	}
	if d.bought >= enough && d.seats >= d.bought {
		h.Seats = float64(d.seats) / float64(d.bought)
	}
	if all := d.returned + d.sold; all >= enough {
		h.Returning = min(0.95, float64(d.returned)/float64(all))
	}
	return h
}

// ended adds up what this node saw of held seats in the events of a room.
func (rs *Rooms) ended(room *Room) (returned, sold int64) {
	if rs.Ended == nil {
		return 0, 0
	}
	rs.mu.RLock()
	defer rs.mu.RUnlock()
	for event, r := range rs.event {
		if r == room {
			back, kept := rs.Ended(event)
			returned, sold = returned+back, sold+kept
		}
	}
	return returned, sold
}

// One node ticks each second: the row decides which. What the decision was made from may be a moment old. The phase is not.
const tickSQL = `
WITH ticked AS (
    UPDATE room
       SET version = version + 1, ticked_at = clock_timestamp(), pace = $5, outlook = $6, forecast = $9,
           serving = least(serving + $4::bigint, lobby + line),
           phase = CASE WHEN $7::boolean AND serving = lobby + line THEN 'through' ELSE phase END
     WHERE id = $1 AND epoch = $2 AND phase = 'open' AND ticked_at = coalesce($3, '-infinity'::timestamptz)
       AND ticked_at < clock_timestamp() - make_interval(secs => $8)
    RETURNING id, epoch, serving, version
), call AS (
    INSERT INTO called (room_id, epoch, serving, told_number, told_from, told_to)
    SELECT id, epoch, serving, $10::bigint, $11::timestamptz, $12::timestamptz FROM ticked WHERE serving > 0 AND $4::bigint > 0 ON CONFLICT DO NOTHING
)
SELECT version FROM ticked`

// tick calls as many numbers as the controller says. While no visitor waits nothing is written. A room that opened by
// itself lets every visitor through again then.
func (r *Room) tick(ctx context.Context) error {
	s := r.state.Load()
	waiting := s.last() - s.Serving
	if s.TickedAt != nil && s.Now.Sub(*s.TickedAt) < tickEach || waiting == 0 && s.Mode != ModeAuto {
		return nil
	}
	seen, admitted, err := r.see(ctx, s)
	if err != nil {
		return err
	}
	calm := s.Mode == ModeAuto && waiting == 0 && 10*seen.Active <= 9*s.Slots
	if waiting == 0 && !calm {
		return nil
	}
	pace, step := Next(s.Pace, seen)
	present, leave := r.present(s)
	after := s.Serving + int64(step.Call)
	forecast := s.Forecast.after(&seen, step, s.Now, admitted)
	calibration, _ := r.Calibration()
	seen.Waiting -= int64(step.Call)
	outlook := foresee(&seen, step, after, present, forecast.line(&seen, step, pace, leave, calibration.sides()))
	at := s.Now.Truncate(time.Second)
	outlook.At = &at
	paceJSON, err := json.Marshal(pace)
	if err != nil {
		return err
	}
	outlookJSON, err := json.Marshal(outlook)
	if err != nil {
		return err
	}
	forecastJSON, err := json.Marshal(forecast)
	if err != nil {
		return err
	}
	number, from, to := outlook.told(after, seen.Waiting)
	return r.move(ctx, tickSQL, r.ID, s.Epoch, s.TickedAt, step.Call, paceJSON, outlookJSON, calm, tickEach.Seconds(), forecastJSON, number, from, to)
}
