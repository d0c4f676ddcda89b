package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
)

const (
	hooksAtOnce = 32          // webhooks that a node calls at a time
	atOneHook   = 4           // calls at a time to one of them
	taken       = time.Minute // how long a taken delivery belongs to its node: longer than any call
)

// The earliest delivery of each webhook. The key is the webhook, so that a slow one delays no other.
const dueDeliveriesSQL = `
SELECT h.id::text, greatest(n.next_try, h.rests_until)
  FROM hook h, LATERAL (SELECT next_try FROM notice WHERE hook_id = h.id AND sent_at IS NULL AND ended_at IS NULL ORDER BY next_try LIMIT 1) n
 WHERE h.off_at IS NULL AND h.removed_at IS NULL`

const forgetDeliveriesSQL = `DELETE FROM notice WHERE at < clock_timestamp() - interval '30 days'`

// Jobs returns the jobs of webhooks: sending, and deleting old deliveries.
func (h *Hooks) Jobs() []*jobs.Job {
	return []*jobs.Job{h.sending, jobs.Hourly("delete old webhook deliveries", func(ctx context.Context) error {
		_, err := h.db.Exec(ctx, forgetDeliveriesSQL)
		return err
	})}
}

// Wake says that there may be deliveries to send. It returns at once.
func (h *Hooks) Wake() { h.sending.Wake() }

// due is a delivery that is to be sent now.
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

// A webhook that failed lately gets one delivery at a time, to see whether it works again.
const takeDeliveriesSQL = `
WITH ready AS (
    SELECT id, url, CASE WHEN failures > 0 THEN 1 ELSE $2::integer END AS most FROM hook
     WHERE id = $1 AND off_at IS NULL AND removed_at IS NULL AND rests_until <= clock_timestamp()
), due AS (
    SELECT n.id, r.url FROM ready r,
           LATERAL (SELECT id FROM notice WHERE hook_id = r.id AND sent_at IS NULL AND ended_at IS NULL AND next_try <= clock_timestamp()
                     ORDER BY next_try LIMIT r.most FOR UPDATE SKIP LOCKED) n
)
UPDATE notice n SET tries = n.tries + 1, next_try = clock_timestamp() + make_interval(secs => $3)
  FROM due
 WHERE n.id = due.id
RETURNING n.id, n.kind, n.at, n.data, n.tries, n.hook_id, due.url,
          ARRAY(SELECT secret FROM hook_secret WHERE hook_id = n.hook_id AND (until IS NULL OR until > clock_timestamp()) ORDER BY since DESC), clock_timestamp()`

// send sends some due deliveries of a webhook, beside each other. It returns how many it took.
func (h *Hooks) send(ctx context.Context, key string) (int, error) {
	hook, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return 0, err
	}
	rows, err := h.db.Query(ctx, takeDeliveriesSQL, hook, atOneHook, taken.Seconds())
	if err != nil {
		return 0, fmt.Errorf("webhooks: take: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, fmt.Errorf("webhooks: take: %w", err)
	}
	var calls sync.WaitGroup
	errs := make([]error, len(list))
	for i, d := range list {
		calls.Go(func() { errs[i] = h.one(ctx, d) })
	}
	calls.Wait()
	return len(list), errors.Join(errs...)
}
