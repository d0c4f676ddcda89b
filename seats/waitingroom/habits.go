package waitingroom

import (
	"context"
	"fmt"
	"sync/atomic"
)

// enough is how many people, or seats, must have done something before what they do is measured and not assumed.
const enough = 200

// Those who came in within the last hour, and of them who is done: they bought, gave up, or could have stayed no longer.
const habitsSQL = `
SELECT count(*) FILTER (WHERE a.outcome IS NOT NULL OR a.admitted_at < clock_timestamp() - r.stay),
       count(*) FILTER (WHERE a.outcome = 'bought'), coalesce(sum(a.seats) FILTER (WHERE a.outcome = 'bought'), 0)
  FROM room r
  LEFT JOIN admission a ON a.room_id = r.id AND a.entered > 0 AND a.admitted_at > now() - interval '1 hour'
 WHERE r.id = $1`

// done is what people and seats of a room did.
type done struct {
	ended, bought, seats int64 // people who are done, those of them who bought, and the seats of these
	returned, sold       int64 // seats that were held: they came back free, or were sold
}

// habits are what is usual, and what was measured where enough was.
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

// ended adds up what became of held seats in the events of a room, as far as this node saw it.
func (g *Gate) ended(room *Room) (returned, sold int64) {
	if g.Ended == nil {
		return 0, 0
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	for event, r := range g.event {
		if r == room {
			back, kept := g.Ended(event)
			returned, sold = returned+back, sold+kept
		}
	}
	return returned, sold
}

// Whoever has a slot, or may still take their old one again, has not gone away. Nobody can be let in again with a number
// that was let in so long ago, unless they held seats all the time.
const goneSQL = `
UPDATE admission a
   SET outcome = 'went away', left_at = clock_timestamp()
  FROM room r
 WHERE r.id = $1 AND a.room_id = $1 AND a.outcome IS NULL AND a.admitted_at < clock_timestamp() - r.stay
   AND NOT EXISTS (SELECT FROM slot s
                    WHERE s.room_id = $1 AND s.holder = a.holder AND s.epoch = a.epoch AND s.number = a.number
                      AND (s.expires_at > clock_timestamp() OR s.since + r.stay > clock_timestamp()))`

// noteGone writes into the ledger who went away: their slot ended, and their time to come back is over as well.
func (r *Room) noteGone(ctx context.Context) error {
	if _, err := r.gate.db.Exec(ctx, goneSQL, r.ID); err != nil {
		return fmt.Errorf("waitingroom: room %d: note who went away: %w", r.ID, err)
	}
	return nil
}

// Hurried notes that somebody was told to join later, because too many of their network joined. Who it was is not kept.
func (r *Room) Hurried() { r.hurry.Add(1) }

const limitSQL = `INSERT INTO control (room_id, who, what, detail) VALUES ($1, 'usher', 'limit', $2)`

// noteLimits writes down how many were told to join later, or to work first, if any were.
func (r *Room) noteLimits(ctx context.Context) error {
	for _, limit := range []struct {
		times *atomic.Int64
		words string
	}{
		{&r.hurry, "%d times somebody of a network from which very many join was told to do so later"},
		{&r.idle, "%d times somebody joined without the work that was asked for, and was told to do it"},
	} {
		n := limit.times.Swap(0)
		if n == 0 {
			continue
		}
		if _, err := r.gate.db.Exec(ctx, limitSQL, r.ID, fmt.Sprintf(limit.words, n)); err != nil {
			limit.times.Add(n)
			return fmt.Errorf("waitingroom: room %d: note a limit: %w", r.ID, err)
		}
	}
	return nil
}
