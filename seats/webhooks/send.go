package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const (
	atOnce    = 32               // calls of a node
	atOneHook = 4                // of those, to one hook
	taken     = time.Minute      // how long a notice is its node's own: longer than any call
	rounds    = time.Minute      // how often a node looks for notices of nodes that died
	breath    = time.Second / 10 // between two looks
)

// Run sends what is due until ctx is done. What this node writes wakes it.
func (h *Hooks) Run(ctx context.Context) error {
	p := &post{hooks: h, done: make(chan int64, atOnce), busy: map[int64]int{}}
	forget := time.Now()
	for ctx.Err() == nil {
		n, err := p.take(ctx)
		if err != nil && ctx.Err() == nil {
			h.log.Error("webhooks wait: what is due cannot be read", "error", err)
		}
		if time.Since(forget) > 0 {
			forget = time.Now().Add(time.Hour)
			if _, err := h.db.Exec(ctx, forgetNoticesSQL); err != nil && ctx.Err() == nil {
				h.log.Warn("old notices were not taken away", "error", err)
			}
		}
		p.rest(ctx, n, err)
	}
	for p.calls > 0 {
		p.ended(<-p.done)
	}
	h.client.CloseIdleConnections()
	return ctx.Err()
}

const forgetNoticesSQL = `DELETE FROM notice WHERE at < clock_timestamp() - interval '30 days'`

// Wake says that there may be notices to send. It returns at once.
func (h *Hooks) Wake() {
	select {
	case h.wake <- struct{}{}:
	default: // it looks anyway
	}
}

// post is the calls of a node that are under way.
type post struct {
	hooks *Hooks
	done  chan int64 // of the hook whose call ended
	calls int
	busy  map[int64]int // calls by hook
	last  time.Time     // when it looked for what is due
}

func (p *post) ended(hook int64) {
	p.calls--
	if p.busy[hook]--; p.busy[hook] == 0 {
		delete(p.busy, hook)
	}
}

// due is a notice that is to be sent now.
type due struct {
	ID      seats.ID
	Kind    Kind
	At      time.Time
	Data    json.RawMessage
	Tries   int // with this one
	Hook    int64
	URL     string
	Secrets [][]byte
	Now     time.Time // the database's clock
}

// A hook that failed lately gets one notice at a time, to see whether it is well again.
const takeNoticesSQL = `
WITH ready AS (
    SELECT id, url, CASE WHEN failures > 0 THEN 1 ELSE $2::integer END AS most FROM hook
     WHERE off_at IS NULL AND removed_at IS NULL AND rests_until <= clock_timestamp() AND id <> ALL ($3::bigint[])
), due AS (
    SELECT n.id, r.url FROM ready r,
           LATERAL (SELECT id FROM notice WHERE hook_id = r.id AND sent_at IS NULL AND ended_at IS NULL AND next_try <= clock_timestamp()
                     ORDER BY next_try LIMIT r.most FOR UPDATE SKIP LOCKED) n
     LIMIT $1
)
UPDATE notice n SET tries = n.tries + 1, next_try = clock_timestamp() + make_interval(secs => $4)
  FROM due
 WHERE n.id = due.id
RETURNING n.id, n.kind, n.at, n.data, n.tries, n.hook_id, due.url,
          ARRAY(SELECT secret FROM hook_secret WHERE hook_id = n.hook_id AND (until IS NULL OR until > clock_timestamp()) ORDER BY since DESC), clock_timestamp()`

// take takes notices that are due and calls their hooks, each beside the loop. It returns how many it took.
func (p *post) take(ctx context.Context) (int, error) {
	if p.calls == atOnce {
		return 0, nil
	}
	if wait := breath - time.Since(p.last); wait > 0 { // who writes much wakes it often
		time.Sleep(wait)
	}
	p.last = time.Now()
	full := []int64{}
	for hook, n := range p.busy {
		if n >= atOneHook {
			full = append(full, hook)
		}
	}
	rows, err := p.hooks.db.Query(ctx, takeNoticesSQL, atOnce-p.calls, atOneHook, full, taken.Seconds())
	if err != nil {
		return 0, fmt.Errorf("webhooks: take: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, fmt.Errorf("webhooks: take: %w", err)
	}
	for _, d := range list {
		p.calls++
		p.busy[d.Hook]++
		go func() {
			p.hooks.one(ctx, d)
			p.done <- d.Hook
		}()
	}
	return len(list), nil
}

const nextNoticeSQL = `
SELECT coalesce(extract(epoch FROM min(greatest(n.next_try, h.rests_until)) - clock_timestamp()), 3600)::float8
  FROM hook h, LATERAL (SELECT next_try FROM notice WHERE hook_id = h.id AND sent_at IS NULL AND ended_at IS NULL ORDER BY next_try LIMIT 1) n
 WHERE h.off_at IS NULL AND h.removed_at IS NULL`

// rest waits until there may be more to do.
func (p *post) rest(ctx context.Context, took int, failed error) {
	pause := rounds
	switch {
	case took > 0:
		pause = breath
	case p.calls > 0:
		pause = time.Second // a call that ends wakes it
	case failed == nil:
		var next float64
		if err := p.hooks.db.QueryRow(ctx, nextNoticeSQL).Scan(&next); err == nil {
			pause = min(pause, max(breath, time.Duration(next*float64(time.Second))+breath))
		}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-p.hooks.wake:
	case hook := <-p.done:
		p.ended(hook)
	}
	for {
		select {
		case hook := <-p.done:
			p.ended(hook)
			continue
		default:
		}
		return
	}
}
