package seats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	lapseAtMost  = 256              // holds ended in one pass
	lapseAtLeast = 30 * time.Second // a pass is made at least this often, for holds that other nodes left behind
)

const dueHoldsSQL = `
SELECT e.slug, h.holder
  FROM hold h JOIN event e ON e.id = h.event_id
 WHERE NOT h.lapsed AND h.expires_at <= statement_timestamp()  -- the statement's time, which an index can be asked for
 ORDER BY h.expires_at
 LIMIT $1`

const nextEndSQL = `SELECT min(expires_at), clock_timestamp() FROM hold WHERE NOT lapsed`

// lapseHolds announces the end of holds until ctx is done. Correctness does not wait for it: the guard lets others
// claim a seat from the moment its time is up. It sleeps until the next hold ends and is safe on all nodes at once.
func (o *Office) lapseHolds(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.wake:
		case <-timer.C:
		}
		wait, err := o.lapseDue(ctx)
		if err != nil && ctx.Err() == nil {
			o.log.Warn("holds could not be ended; the next try is in a second", "error", err)
			wait = time.Second
		}
		timer.Reset(wait)
	}
}

// lapseDue ends the holds whose time is up and returns how long until the next one.
func (o *Office) lapseDue(ctx context.Context) (time.Duration, error) {
	o.nextEnd.Store(nil) // until it is read again, every new hold asks for one more look
	type due struct {
		Slug   string
		Holder ID
	}
	rows, err := o.db.Query(ctx, dueHoldsSQL, lapseAtMost)
	if err != nil {
		return 0, fmt.Errorf("seats: find holds that are over: %w", err)
	}
	over, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, fmt.Errorf("seats: find holds that are over: %w", err)
	}
	answers := make(chan error, len(over))
	for _, d := range over {
		s, err := o.Sale(ctx, d.Slug)
		if err != nil {
			return 0, err
		}
		go func() { answers <- s.lapse(ctx, d.Holder) }()
	}
	for range over {
		err = errors.Join(err, <-answers)
	}
	if err != nil || len(over) == lapseAtMost {
		return 0, err
	}
	var end *time.Time
	var now time.Time
	if err := o.db.QueryRow(ctx, nextEndSQL).Scan(&end, &now); err != nil {
		return 0, fmt.Errorf("seats: find the next end of a hold: %w", err)
	}
	if end == nil {
		return lapseAtLeast, nil
	}
	o.nextEnd.Store(end)
	return min(max(end.Sub(now)+time.Millisecond, time.Millisecond), lapseAtLeast), nil
}

// wakeLapse makes lapseHolds look again now, if a hold with this end may be the next to end.
func (o *Office) wakeLapse(end time.Time) {
	if next := o.nextEnd.Load(); next != nil && !end.Before(*next) {
		return
	}
	select {
	case o.wake <- struct{}{}:
	default: // it is awake already
	}
}

// lapse announces the end of one hold, if its time is really up.
func (s *Sale) lapse(ctx context.Context, holder ID) error {
	_, err := s.do(ctx, &command{holder: holder, decide: func(b *batch) (Hold, error) {
		h, live := b.live(holder)
		if h == nil || live || h.lapsed {
			return Hold{}, nil
		}
		for _, idx := range b.still(h) {
			if r := b.rows[idx]; (r.state == Held || r.state == Paying) && r.open(b.now) {
				b.set(idx, holder, b.over(r))
			}
		}
		if b.terms.strict {
			h.keepSeats(nil)
		}
		h.lapsed, h.touched = true, true
		return Hold{}, nil
	}})
	return err
}

// over is what becomes of a seat whose time is up: others may take it. In a strict event it is nobody's, and while
// somebody waits for it, it is kept for them.
func (b *batch) over(r row) row {
	if b.terms.strict || b.listed && r.holder != waitList {
		return row{}
	}
	return row{state: Lapsed, holder: r.holder, expiresAt: r.expiresAt}
}
