package waitingroom

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// Each call notes what the page tells somebody at that moment, so that it can be said later how right that was.

// sample is somebody who waits: the k-th from now, near ones and far ones alike. 0 if nobody waits.
func sample(serving, waiting int64, random float64) (number int64) {
	if waiting < 1 {
		return 0
	}
	return serving + min(waiting, int64(math.Pow(float64(waiting+1), random)))
}

// told is what the page tells one of those who wait; nil for both if there is nobody, or nothing to tell.
func (o *Outlook) told(serving, waiting int64) (number *int64, wait *float64) {
	n := sample(serving, waiting, rand.Float64())
	e := o.Of(n)
	if n == 0 || e.IsUnknown {
		return nil, nil
	}
	seconds := e.Wait.Seconds()
	return &n, &seconds
}

// Accuracy is how right the waits were that pages told.
type Accuracy struct {
	Told   int     // of how many people it is known: they were told a minute or more, and were called since
	Within float64 // share of them who were called in the range they were told
	Off    float64 // half of them were called sooner or later by less than this share of what they were told
}

// Shorter waits are told as "less than a minute", and nobody counts seconds then. The range is that of Estimate.
const accuracySQL = `
SELECT count(*), coalesce(avg((off <= 0.2)::int), 0)::float8, coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY off), 0)::float8
  FROM room r, called t,
       LATERAL (SELECT at FROM called WHERE room_id = r.id AND epoch = r.epoch AND serving >= t.told_number ORDER BY serving LIMIT 1) c,
       LATERAL (SELECT abs(extract(epoch FROM c.at - t.at)::float8 / t.told_wait - 1) AS off OFFSET 0) e
 WHERE r.slug = $1 AND t.room_id = r.id AND t.epoch = r.epoch AND t.told_wait >= 60`

// Accuracy looks back at what the pages of a room told.
func (c Control) Accuracy(ctx context.Context, slug string) (a Accuracy, err error) {
	if err = c.DB.QueryRow(ctx, accuracySQL, slug).Scan(&a.Told, &a.Within, &a.Off); err != nil {
		return a, fmt.Errorf("waitingroom: how right the estimates of room %q were: %w", slug, err)
	}
	return a, nil
}
