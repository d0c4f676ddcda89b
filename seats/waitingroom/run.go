package waitingroom

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
)

const (
	paceBusy = time.Second      // between two looks at rooms in use: the tick, and what a lost bell costs
	paceCalm = 2 * time.Second  // at rooms where nobody waits
	paceIdle = 30 * time.Second // at rooms that nobody can be kept waiting in
	busyFor  = 10 * time.Second // how long a room counts as in use after its last change
)

// Run listens for changes of rooms, closes lobbies, draws, and calls numbers, until ctx is done; then it waits for the
// statements that are under way. It is safe on all nodes at once. While the database is gone it tries again; nobody is
// called or let in then, and what everybody is shown stays.
func (g *Gate) Run(ctx context.Context) error { return g.keepOn(ctx, g.follow) }

// keepOn does something again and again that ends only when the database is lost.
func (g *Gate) keepOn(ctx context.Context, follow func(context.Context) error) error {
	defer g.lanes.Wait()
	for failures := 1; ; failures++ {
		began := time.Now()
		err := follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > busyFor {
			failures = 1
		}
		if failures > 1 { // one connection that broke is not worth a word to those who wait
			for _, r := range g.Rooms() {
				r.away()
			}
		}
		g.log.Warn("the waiting rooms lost the database; nobody is let in until it is back", "error", err)
		if err := seats.Sleep(ctx, 100*time.Millisecond+rand.N(400*time.Millisecond)); err != nil {
			return err
		}
	}
}

const listenSQL = `LISTEN usher_room`

// follow listens first, then looks, then waits: nothing can fall between.
func (g *Gate) follow(ctx context.Context) error {
	conn, err := database.Dial(ctx, g.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }() // it only listens
	if _, err := conn.Exec(ctx, listenSQL); err != nil {
		return err
	}
	if err := g.keys.again(ctx); err != nil {
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		for {
			bell, err := conn.WaitForNotification(ctx)
			if err == nil && bell.Payload == keysBell {
				err = g.keys.again(ctx)
			}
			if err != nil {
				return err
			}
			g.poke()
		}
	})
	both.Go(func() error { return g.lookOnAndOn(ctx) })
	return both.Wait()
}

func (g *Gate) lookOnAndOn(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-g.wake:
		case <-timer.C:
		}
		if err := g.look(ctx); err != nil {
			return err
		}
		timer.Reset(g.pace())
	}
}

// look reads all rooms and does what is due in each.
func (g *Gate) look(ctx context.Context) error {
	if err := g.load(ctx); err != nil {
		return err
	}
	for _, r := range g.Rooms() {
		if err := r.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pace is how long nobody need look at the rooms, if no bell rings.
func (g *Gate) pace() time.Duration {
	pace := paceIdle
	for _, r := range g.Rooms() {
		pace = min(pace, r.pace())
	}
	return pace
}

func (r *Room) pace() time.Duration {
	s := r.state.Load()
	switch s.Phase {
	case PhaseThrough, PhaseEnded:
		return paceIdle
	case PhaseDrawing:
		return paceBusy
	case PhaseLobby:
		if left := s.OpensAt.Sub(s.Now); left < paceCalm {
			return max(left, 10*time.Millisecond)
		}
	case PhaseOpen:
		if s.Serving < s.last() {
			return paceBusy
		}
	}
	if time.Since(time.Unix(0, r.moved.Load())) < busyFor {
		return paceBusy
	}
	return paceCalm
}

// poke makes the loop look now.
func (g *Gate) poke() {
	select {
	case g.wake <- struct{}{}:
	default: // it is about to
	}
}

const ringSQL = `SELECT pg_notify('usher_room', $1)`

// ring tells all nodes that a room is at a version now. It may be lost: the next look finds it, too.
func (g *Gate) ring(ctx context.Context, room, version int64) {
	if _, err := g.db.Exec(ctx, ringSQL, fmt.Sprintf("%d:%d", room, version)); err != nil && ctx.Err() == nil {
		g.log.Warn("the bell of a room was not rung; other nodes learn of its change by their own look", "room", room, "error", err)
	}
}

// tickEach is the least time between two calls of numbers, by the database's clock.
const tickEach = 900 * time.Millisecond

// A hold whose time is up counts as free seats, though nobody announced it yet. How many came in is told of a whole minute only:
// of a part of it, waits would be foretold that are far too long.
const seenSQL = `
SELECT (SELECT count(*) FROM slot s WHERE s.room_id = r.id AND s.expires_at > clock_timestamp()),
       (SELECT count(*) FROM slot s WHERE s.room_id = r.id AND s.expires_at > clock_timestamp()
           AND EXISTS (SELECT FROM event e JOIN hold h ON h.event_id = e.id WHERE e.room_id = r.id AND h.holder = s.holder AND NOT h.lapsed)),
       (SELECT coalesce(sum(n), 0) FROM event e JOIN counter c ON c.event_id = e.id, unnest(c.free) n WHERE e.room_id = r.id),
       (SELECT coalesce(sum(n), 0) FROM event e JOIN counter c ON c.event_id = e.id, unnest(c.held) n WHERE e.room_id = r.id),
       (SELECT count(*) FROM admission a WHERE a.room_id = r.id AND a.entered > 0 AND a.admitted_at > now() - interval '1 minute'
           AND EXISTS (SELECT FROM called c WHERE c.room_id = r.id AND c.epoch = r.epoch AND c.at < now() - interval '1 minute'))
  FROM room r
 WHERE r.id = $1`

// Numbers that were given up are called for nobody. Each call finds its own numbers in the ledger: left to a join, the
// planner, who knows nothing of a sale that began a minute ago, compared each call with everybody who was let in (seen 3 s
// for 600 calls and 20,000 people).
const cohortsSQL = `
SELECT extract(epoch FROM clock_timestamp() - c.at)::float8, c.serving - c.before - a.gone, a.came
  FROM (SELECT serving, at, coalesce(lag(serving) OVER (ORDER BY serving), $3::bigint) AS before
          FROM called
         WHERE room_id = $1 AND epoch = $2 AND serving > $3::bigint) c,
       LATERAL (SELECT count(*) FILTER (WHERE entered = 0) AS gone, count(*) FILTER (WHERE entered > 0) AS came
                  FROM admission
                 WHERE room_id = $1 AND epoch = $2 AND number > c.before AND number <= c.serving) a`

// Everything up to here was called so long ago that it is worth nothing any more.
const overSQL = `
SELECT coalesce(max(c.serving), 0)
  FROM called c JOIN room r ON r.id = c.room_id AND r.epoch = c.epoch
 WHERE r.id = $1 AND c.at < clock_timestamp() - r.valid`

// see looks at everything the controller wants to know.
func (r *Room) see(ctx context.Context, s *State) (seen Seen, in float64, err error) {
	seen = Seen{Since: time.Second, Waiting: s.last() - s.Serving, Slots: s.Slots, Limit: s.Rate}
	if s.TickedAt != nil {
		seen.Since = s.Now.Sub(*s.TickedAt)
	}
	var lately, over int64
	var d done
	var q pgx.Batch
	q.Queue(seenSQL, r.ID).QueryRow(func(row pgx.Row) error {
		return row.Scan(&seen.Active, &seen.Holding, &seen.Free, &seen.Held, &lately)
	})
	q.Queue(habitsSQL, r.ID).QueryRow(func(row pgx.Row) error { return row.Scan(&d.ended, &d.bought, &d.seats) })
	q.Queue(overSQL, r.ID).QueryRow(func(row pgx.Row) error { return row.Scan(&over) })
	if err := r.gate.db.SendBatch(ctx, &q).Close(); err != nil {
		return seen, 0, fmt.Errorf("waitingroom: room %d: look: %w", r.ID, err)
	}
	d.returned, d.sold = r.gate.ended(r)
	seen.Habits = d.habits()
	rows, err := r.gate.db.Query(ctx, cohortsSQL, r.ID, s.Epoch, over)
	if err == nil {
		var age float64
		var c Cohort
		_, err = pgx.ForEachRow(rows, []any{&age, &c.Called, &c.Came}, func() error {
			c.Age = seconds(age)
			seen.Cohorts = append(seen.Cohorts, c)
			return nil
		})
	}
	if err != nil {
		return seen, 0, fmt.Errorf("waitingroom: room %d: look at who came: %w", r.ID, err)
	}
	seen.Claims, seen.Failed = r.gate.claims.lately(time.Now())
	return seen, float64(lately) / 60, nil
}

// One node does it each second: the row decides which. What it was decided from may be a moment old; the phase is not.
const tickSQL = `
WITH ticked AS (
    UPDATE room
       SET version = version + 1, ticked_at = clock_timestamp(), pace = $5, outlook = $6,
           serving = least(serving + $4::bigint, lobby + line),
           phase = CASE WHEN $7::boolean AND serving = lobby + line THEN 'through' ELSE phase END
     WHERE id = $1 AND epoch = $2 AND phase = 'open' AND ticked_at = coalesce($3, '-infinity'::timestamptz)
       AND ticked_at < clock_timestamp() - make_interval(secs => $8)
    RETURNING id, epoch, serving, version
), call AS (
    INSERT INTO called (room_id, epoch, serving, told_number, told_wait)
    SELECT id, epoch, serving, $9::bigint, $10::float8 FROM ticked WHERE serving > 0 AND $4::bigint > 0 ON CONFLICT DO NOTHING
)
SELECT version FROM ticked`

// tick calls as many numbers as the controller says. While nobody waits nothing is written; a room that opened by itself
// lets everybody through again then.
func (r *Room) tick(ctx context.Context) error {
	s := r.state.Load()
	waiting := s.last() - s.Serving
	if s.TickedAt != nil && s.Now.Sub(*s.TickedAt) < tickEach || waiting == 0 && s.Mode != ModeAuto {
		return nil
	}
	seen, in, err := r.see(ctx, s)
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
	seen.Waiting -= int64(step.Call)
	outlook := Foresee(&seen, step, after, present, in, leave)
	paceJSON, err := json.Marshal(pace)
	if err != nil {
		return err
	}
	outlookJSON, err := json.Marshal(outlook)
	if err != nil {
		return err
	}
	number, wait := outlook.told(after, seen.Waiting)
	return r.move(ctx, tickSQL, r.ID, s.Epoch, s.TickedAt, step.Call, paceJSON, outlookJSON, calm, tickEach.Seconds(), number, wait)
}
