package waitingroom

import (
	"context"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats"
)

// Each call records the promise that pages make at that moment to one number: one of those that wait and have a promise, each as
// probable as the others. Such a promise is decided once the number is called, or its later time is over. Nothing is written
// for a person.

// Calibration counts what became of the recorded promises of a room.
type Calibration struct {
	At      time.Time `json:"at"`      // the database's clock
	Said    int       `json:"said"`    // promises that are decided
	Right   int       `json:"right"`   // of them, numbers that were called between the promised times
	Early   int       `json:"early"`   // called before
	Late    int       `json:"late"`    // not called by the later time
	Pending int       `json:"pending"` // promises that are not decided yet
	Width   float64   `json:"width"`   // seconds between the promised times: the median
	Wait    float64   `json:"wait"`    // seconds from a promise to the middle of its times: the median

	weight, early, late float64 // the same, but promises that run at the same time count as one
}

// Share is the share of promises that held; 0 before the first was decided.
func (c *Calibration) Share() float64 {
	if c.Said == 0 {
		return 0
	}
	return float64(c.Right) / float64(c.Said)
}

// Sides are how far promises reach on each side, as a share of what a forecast alone says.
type Sides struct{ Early, Late float64 }

const (
	learns    = 2.0 // by how much a side moves for one independent promise that failed
	narrowest = 0.7
	widest    = 3.0
)

// sides widens a side on which more promises failed than may, and narrows one on which fewer did.
func (c *Calibration) sides() Sides {
	move := func(failed, may float64) float64 {
		return min(max(1+learns*(failed-may*c.weight), narrowest), widest)
	}
	return Sides{move(c.early, mayEarly), move(c.late, mayLate)}
}

// A second counts for the part of a promise that it is: as many promises as run at the same time count as one.
const calibrationSQL = `
SELECT clock_timestamp(), count(*) FILTER (WHERE decided), count(*) FILTER (WHERE called BETWEEN from_ AND to_), count(*) FILTER (WHERE called < from_),
       count(*) FILTER (WHERE late), count(*) FILTER (WHERE NOT decided),
       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM to_ - from_)) FILTER (WHERE decided), 0)::float8,
       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM from_ - at + (to_ - from_) / 2)) FILTER (WHERE decided), 0)::float8,
       coalesce(sum(weight) FILTER (WHERE decided), 0)::float8, coalesce(sum(weight) FILTER (WHERE called < from_), 0)::float8,
       coalesce(sum(weight) FILTER (WHERE late), 0)::float8
  FROM (SELECT t.at, t.told_from AS from_, t.told_to AS to_, c.at AS called, c.at IS NOT NULL OR t.told_to < clock_timestamp() AS decided,
               coalesce(c.at > t.told_to, t.told_to < clock_timestamp()) AS late,
               1 / greatest(1, extract(epoch FROM t.told_to - t.at)) AS weight
          FROM room r JOIN called t ON t.room_id = r.id AND t.epoch = r.epoch AND t.told_to IS NOT NULL
          LEFT JOIN LATERAL (SELECT at FROM called
                              WHERE room_id = r.id AND epoch = r.epoch AND serving >= t.told_number ORDER BY serving LIMIT 1) c ON true
         WHERE r.slug = $1) p`

func readCalibration(ctx context.Context, db seats.DB, slug string) (c Calibration, err error) {
	err = db.QueryRow(ctx, calibrationSQL, slug).Scan(&c.At, &c.Said, &c.Right, &c.Early, &c.Late, &c.Pending, &c.Width, &c.Wait, &c.weight, &c.early, &c.late)
	if err != nil {
		return c, fmt.Errorf("waitingroom: count the promises of room %q that held: %w", slug, err)
	}
	return c, nil
}

// Calibration is how many promises held, counted each half minute. It answers from memory; false before the first count.
func (r *Room) Calibration() (Calibration, bool) {
	if c := r.calibration.Load(); c != nil {
		return *c, true
	}
	return Calibration{}, false
}

// calibrateFor is how long a count of promises may take.
const calibrateFor = 20 * time.Second

// calibrate counts the promises of this room, beside the loop that calls numbers, unless that cannot have changed or is under way.
func (r *Room) calibrate(ctx context.Context, s *State) {
	known := r.calibration.Load()
	if known != nil && known.Pending == 0 && s.Phase != PhaseOpen && s.Phase != PhasePaused || !r.calibrating.CompareAndSwap(false, true) {
		return
	}
	r.rooms.running.Go(func() {
		defer r.calibrating.Store(false)
		limited, cancel := context.WithTimeout(ctx, calibrateFor)
		defer cancel()
		c, err := readCalibration(limited, r.rooms.db, r.Slug)
		if err == nil {
			r.calibration.Store(&c)
		} else if ctx.Err() == nil {
			r.rooms.log.Warn("the promises of a waiting room were not counted; they are counted again in half a minute", "error", err)
		}
	})
}
