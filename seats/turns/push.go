package turns

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"
	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/text"
)

const (
	pushesAtOnce = 16              // messages to one push service at a time
	mostTries    = 6               // of one message
	patience     = 3 * time.Second // with a push service
)

// Six tries take about five minutes.
var pushBackoff = jobs.Backoff{First: 10 * time.Second, Most: 5 * time.Minute}

// message is a push message that is due.
type message struct {
	id             int64
	endpoint       string
	p256dh, auth   []byte
	language, name string
	room, entry    string // the slug of a room, or the code of an entry
	tries          int
	offer          *[16]byte
	left           float64 // seconds until it is too late
}

// A key is the host of a push service. A slow one delays no mail, which has a job of its own. It holds one of 16 tasks, for 3
// seconds for each 16 messages, so that many slow ones delay messages to others by seconds.
const duePushSQL = `
SELECT t.host, min(t.next_try) FROM turn_request t JOIN (` + calledSQL + `) c USING (id) WHERE t.host IS NOT NULL GROUP BY t.host`

// A message is taken for a minute, which is longer than a call.
const takePushesSQL = `
WITH due AS (
    SELECT t.id, c.until, c.offer FROM turn_request t JOIN (` + calledSQL + `) c USING (id)
     WHERE t.host = $1 AND t.next_try <= clock_timestamp() ORDER BY t.next_try LIMIT $2 FOR UPDATE OF t SKIP LOCKED
)
UPDATE turn_request t SET tries = t.tries + 1, next_try = clock_timestamp() + interval '1 minute'
  FROM due LEFT JOIN offer o ON o.id = due.offer LEFT JOIN event e ON e.id = o.event_id LEFT JOIN entry n ON n.id = o.entry_id
 WHERE t.id = due.id
RETURNING t.id, t.endpoint, t.p256dh, t.auth, t.language, coalesce(e.name, (SELECT name FROM room WHERE id = t.room_id)),
          coalesce((SELECT slug FROM room WHERE id = t.room_id), ''), coalesce(n.code, ''), t.tries, due.offer, extract(epoch FROM due.until - clock_timestamp())::float8`

// push sends some messages to one push service, beside each other. It returns how many it took.
func (t *Turns) push(ctx context.Context, host string) (int, error) {
	rows, err := t.db.Query(ctx, takePushesSQL, host, pushesAtOnce)
	if err != nil {
		return 0, fmt.Errorf("turns: take push messages: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m message, err error) {
		return m, row.Scan(&m.id, &m.endpoint, &m.p256dh, &m.auth, &m.language, &m.name, &m.room, &m.entry, &m.tries, &m.offer, &m.left)
	})
	if err != nil {
		return 0, fmt.Errorf("turns: take push messages: %w", err)
	}
	var calls sync.WaitGroup
	errs := make([]error, len(list))
	for i, m := range list {
		calls.Go(func() { errs[i] = t.one(ctx, m) })
	}
	calls.Wait()
	return len(list), errors.Join(errs...)
}

const (
	toldSQL      = `DELETE FROM turn_request WHERE id = $1`
	toldOfferSQL = `UPDATE turn_request SET offer_id = $2, tries = 0, next_try = clock_timestamp() WHERE id = $1`
	laterSQL     = `UPDATE turn_request SET next_try = clock_timestamp() + make_interval(secs => $2) WHERE id = $1`
)

// one sends one message and stores the result. No transaction is open while it calls.
func (t *Turns) one(ctx context.Context, m message) (err error) {
	status, failed := http.StatusOK, error(nil)
	if m.left > 0 && m.tries <= mostTries { // else it would come too late, or a node died at its last try
		status, failed = t.send(ctx, m)
	}
	if failed == nil && status > 299 {
		failed = fmt.Errorf("the push service answered %d", status)
	}
	if failed != nil && m.tries >= mostTries {
		t.log.Warn("a push message is given up", "tries", m.tries, "error", failed)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // what was told is to be noted, also when the node ends
	defer cancel()
	switch {
	case status == http.StatusNotFound || status == http.StatusGone: // the subscription has ended
		_, err = t.db.Exec(ctx, toldSQL, m.id)
	case failed != nil && m.tries < mostTries:
		pause := pushBackoff.After(m.tries)
		t.pushes.Failed("a push message", m.tries, pause, failed)
		_, err = t.db.Exec(ctx, laterSQL, m.id, pause.Seconds())
	case m.offer != nil:
		_, err = t.db.Exec(ctx, toldOfferSQL, m.id, m.offer)
	default:
		_, err = t.db.Exec(ctx, toldSQL, m.id)
	}
	if err != nil {
		return fmt.Errorf("turns: note a push message: %w", err)
	}
	return nil
}

// Shown is what a push message says: the browser shows it, and opens its address when it is pressed.
type Shown struct {
	Title     string `json:"title"`
	Body      string `json:"body"`
	URL       string `json:"url"` // on the site where the browser subscribed
	Language  string `json:"lang"`
	Direction string `json:"dir"`
}

func (m message) shown(ctx context.Context) Shown {
	ctx = text.For(ctx, m.language)
	s := Shown{Title: text.T(ctx, "It is your turn"), Body: m.name, URL: "/rooms/" + m.room, Language: text.Tag(ctx), Direction: text.Direction(ctx)}
	if m.offer != nil {
		s.Title, s.URL = text.T(ctx, "Seats for you"), "/waitlist/"+m.entry
	}
	return s
}

// send encrypts a message as RFC 8291 says, signs the call as RFC 8292 says, and makes it.
func (t *Turns) send(ctx context.Context, m message) (status int, err error) {
	k, err := t.readKey(ctx)
	if err != nil {
		return 0, err
	}
	body, err := json.Marshal(m.shown(ctx))
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	topic := "turn-" + strconv.FormatInt(m.id, 10) // what is not delivered yet is replaced by a repeat
	answer, err := webpush.SendNotificationWithContext(ctx, body, &webpush.Subscription{
		Endpoint: m.endpoint, Keys: webpush.Keys{P256dh: base64.RawURLEncoding.EncodeToString(m.p256dh), Auth: base64.RawURLEncoding.EncodeToString(m.auth)},
	}, &webpush.Options{
		HTTPClient: t.Client, Subscriber: t.Contact, Topic: topic, TTL: int(m.left) + 1, Urgency: webpush.UrgencyHigh, VAPIDPublicKey: k.public, VAPIDPrivateKey: k.private,
	})
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err // the text before it has the endpoint: a secret of the browser, which no log keeps
	}
	if err != nil {
		return 0, err
	}
	_, _ = io.CopyN(io.Discard, answer.Body, 16<<10) // nothing in it matters
	_ = answer.Body.Close()
	return answer.StatusCode, nil
}
