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
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/text"
)

const releaseDeliverySQL = `UPDATE notice SET next_try = clock_timestamp() WHERE id = $1 AND sent_at IS NULL`

// one sends a delivery and stores the result. If ctx ends meanwhile, it releases the delivery. No transaction is open while
// it calls.
func (h *Hooks) one(ctx context.Context, d due) error {
	began := time.Now()
	status, err := h.call(ctx, d)
	if ctx.Err() != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, err = h.db.Exec(last, releaseDeliverySQL, d.ID)
		return errors.Join(ctx.Err(), err)
	}
	a := Answer{At: d.Now, Status: status, Took: int(time.Since(began).Milliseconds())}
	switch {
	case err != nil:
		a.Why = why(err)
	case status < 200 || status > 299:
		a.Why = "It was not taken: the answer was " + cmp.Or(http.StatusText(status), strconv.Itoa(status)) + "."
	}
	return h.storeResult(ctx, d, a)
}

// call makes the request. The body of the answer has no meaning.
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
	if err := setHeader(r.Header, d.Secrets, Delivery{ID: d.ID}.Name(), d.Now, body); err != nil {
		return 0, err
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
		return answer.StatusCode, nil // the status is the answer, whatever became of the rest
	}
	return answer.StatusCode, nil
}

// message is the body of a request, the same for every try.
type message struct {
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"` // of what happened
	Data      json.RawMessage `json:"data"`
}

// setHeader sets the headers of a request. It is signed with each valid secret, the newest first.
func setHeader(header http.Header, secrets [][]byte, id string, at time.Time, body []byte) error {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := standardwebhooks.NewWebhookRaw(secret)
		if err != nil {
			return err
		}
		if signatures[i], err = key.Sign(id, at, body); err != nil {
			return err
		}
	}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "Usher")
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}

const takenSQL = `UPDATE notice SET sent_at = clock_timestamp(), answers = answers || $2::jsonb WHERE id = $1`

const wellSQL = `UPDATE hook SET failures = 0, failing_since = NULL, rests_until = '-infinity' WHERE id = $1 AND failures > 0`

const notTakenSQL = `
UPDATE notice SET answers = answers || $2::jsonb, next_try = clock_timestamp() + make_interval(secs => $3),
       ended_at = CASE WHEN at < clock_timestamp() - make_interval(secs => $4) THEN clock_timestamp() END
 WHERE id = $1 AND sent_at IS NULL`

// notGood is why a hook is switched off after five days; failedSQL writes it.
var notGood = text.Mark("No answer was a good one for five days.")

// Of several calls that fail at once one counts.
const failedSQL = `
UPDATE hook SET failures = failures + 1, failing_since = coalesce(failing_since, clock_timestamp()),
       rests_until = clock_timestamp() + make_interval(secs => ($2::float8[])[least(failures + 1, cardinality($2))]),
       off_at = CASE WHEN $4 <> '' OR failing_since < clock_timestamp() - make_interval(secs => $3) THEN clock_timestamp() END,
       off_why = CASE WHEN $4 <> '' THEN $4 WHEN failing_since < clock_timestamp() - make_interval(secs => $3) THEN $5 ELSE '' END
 WHERE id = $1 AND off_at IS NULL AND rests_until <= clock_timestamp()`

// storeResult stores the result of a try.
func (h *Hooks) storeResult(ctx context.Context, d due, a Answer) error {
	line, err := json.Marshal([]Answer{a})
	if err != nil {
		return fmt.Errorf("webhooks: store an answer: %w", err)
	}
	var q pgx.Batch
	if a.Why == "" {
		q.Queue(takenSQL, d.ID, line)
		q.Queue(wellSQL, d.Hook)
	} else {
		gone := ""
		if a.Status == http.StatusGone {
			gone = text.Mark("It answered that it is gone for good (410).")
		}
		pause := backoff.After(d.Tries)
		h.sending.Failed(d.ID, d.Tries, pause, errors.New(a.Why))
		q.Queue(notTakenSQL, d.ID, line, pause.Seconds(), giveUp.Seconds())
		q.Queue(failedSQL, d.Hook, rests(), offAfter.Seconds(), gone, notGood)
	}
	if err := h.db.SendBatch(ctx, &q).Close(); err != nil {
		return fmt.Errorf("webhooks: store an answer: %w", err)
	}
	return nil
}

const (
	giveUp   = 3 * 24 * time.Hour // after which a delivery is not tried again
	offAfter = 5 * 24 * time.Hour // without a good answer, after which a webhook is switched off
)

var (
	backoff     = jobs.Backoff{First: 5 * time.Second, Most: 8 * time.Hour} // of a delivery
	hookBackoff = jobs.Backoff{First: 5 * time.Second, Most: time.Hour}     // of a webhook, from its third failure in a row on
)

// rests lists how many seconds a webhook is left alone, by failures in a row. The first two may be chance.
func rests() []float64 { return append([]float64{0, 0}, hookBackoff.Seconds()...) }
