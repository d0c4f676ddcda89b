package webhooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// one sends a notice and writes down what became of it. No transaction is open while it calls.
func (h *Hooks) one(ctx context.Context, d due) {
	began := time.Now()
	status, err := h.call(ctx, d)
	if ctx.Err() != nil {
		return // it is taken again when its time is up
	}
	a := Answer{At: d.Now, Status: status, Took: int(time.Since(began).Milliseconds())}
	switch {
	case err != nil:
		a.Why = why(err)
	case status < 200 || status > 299:
		a.Why = "It was not taken: the answer was " + cmp.Or(http.StatusText(status), strconv.Itoa(status)) + "."
	}
	if err := h.heard(ctx, d, a); err != nil && ctx.Err() == nil {
		h.log.Error("what became of a notice was not written down; it is sent again", "notice", d.ID, "error", err)
	}
}

// call makes the request. The answer's body says nothing.
func (h *Hooks) call(ctx context.Context, d due) (status int, err error) {
	for i, value := range d.Secrets {
		if d.Secrets[i], err = h.box.Open(value, Secrets.Context(d.Hook)); err != nil {
			return 0, err
		}
	}
	body, err := json.Marshal(message{string(d.Kind), d.At.UTC(), d.Data})
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range header(d.Secrets, Notice{ID: d.ID}.Name(), d.Now, body) {
		r.Header.Set(name, value)
	}
	answer, err := h.client.Do(r)
	if err != nil {
		return 0, err
	}
	_, err = io.CopyN(io.Discard, answer.Body, mostBytes)
	if closing := answer.Body.Close(); err == nil || errors.Is(err, io.EOF) {
		err = closing
	}
	if err != nil {
		return answer.StatusCode, nil //nolint:nilerror // the status is the answer, whatever became of the rest
	}
	return answer.StatusCode, nil
}

const takenSQL = `UPDATE notice SET sent_at = clock_timestamp(), answers = answers || $2::jsonb WHERE id = $1`

const wellSQL = `UPDATE hook SET failures = 0, failing_since = NULL, rests_until = '-infinity' WHERE id = $1 AND failures > 0`

const notTakenSQL = `
UPDATE notice SET answers = answers || $2::jsonb, next_try = clock_timestamp() + make_interval(secs => $3),
       ended_at = CASE WHEN at < clock_timestamp() - make_interval(secs => $4) THEN clock_timestamp() END
 WHERE id = $1 AND sent_at IS NULL`

// Of several calls that fail at once one counts.
const failedSQL = `
UPDATE hook SET failures = failures + 1, failing_since = coalesce(failing_since, clock_timestamp()),
       rests_until = clock_timestamp() + make_interval(secs => ($2::float8[])[least(failures + 1, cardinality($2))]),
       off_at = CASE WHEN $4 <> '' OR failing_since < clock_timestamp() - make_interval(secs => $3) THEN clock_timestamp() END,
       off_why = CASE WHEN $4 <> '' THEN $4 WHEN failing_since < clock_timestamp() - make_interval(secs => $3) THEN 'No answer was a good one for five days.' ELSE '' END
 WHERE id = $1 AND off_at IS NULL AND rests_until <= clock_timestamp()`

// heard writes down what became of a try.
func (h *Hooks) heard(ctx context.Context, d due, a Answer) error {
	line, err := json.Marshal([]Answer{a})
	if err != nil {
		return fmt.Errorf("webhooks: note an answer: %w", err)
	}
	var q pgx.Batch
	if a.Why == "" {
		q.Queue(takenSQL, d.ID, line)
		q.Queue(wellSQL, d.Hook)
	} else {
		gone := ""
		if a.Status == http.StatusGone {
			gone = "It answered that it is gone for good (410)."
		}
		q.Queue(notTakenSQL, d.ID, line, later(d.Tries).Seconds(), giveUp.Seconds())
		q.Queue(failedSQL, d.Hook, rests, offAfter.Seconds(), gone)
	}
	if err := h.db.SendBatch(ctx, &q).Close(); err != nil {
		return fmt.Errorf("webhooks: note an answer: %w", err)
	}
	return nil
}
