package wallets

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/outbound"
)

// pusher tells phones, through Apple's push service, that one of their passes changed.
type pusher struct {
	client *http.Client
	url    string // of the service
	topic  string // the pass type id
}

func newPusher(pair tls.Certificate, topic string) *pusher {
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1, Proxy: http.ProxyFromEnvironment}
	return &pusher{client: &http.Client{Transport: transport, Timeout: 10 * time.Second, CheckRedirect: outbound.Stay}, url: "https://api.push.apple.com", topic: topic}
}

// push tells a phone. It reports whether the phone is there: Apple says so when it is not.
func (p *pusher) push(ctx context.Context, token string) (there bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/3/device/"+url.PathEscape(token), strings.NewReader("{}"))
	if err != nil {
		return true, err
	}
	r.Header.Set("apns-topic", p.topic)
	answer, err := p.client.Do(r)
	if err != nil {
		return true, err
	}
	defer func() { _ = answer.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 500)) // a reason in JSON, for the log
	switch {
	case answer.StatusCode == http.StatusOK:
		return true, nil
	case answer.StatusCode == http.StatusGone, answer.StatusCode == http.StatusBadRequest && strings.Contains(string(said), "BadDeviceToken"):
		return false, nil
	}
	return true, fmt.Errorf("the push service answered %s %s", answer.Status, said)
}

const mostTries = 8 // of telling a phone: about an hour. It asks by itself, too

var pushBackoff = jobs.Backoff{First: 15 * time.Second, Most: 30 * time.Minute}

const duePushesSQL = `SELECT push_token, min(next_push) FROM wallet_device WHERE next_push IS NOT NULL GROUP BY push_token`

// One push tells a phone of all its passes. A row is taken for a minute, which is longer than a call.
const takePushSQL = `
WITH due AS (
    SELECT device, serial FROM wallet_device WHERE push_token = $1 AND next_push <= clock_timestamp() ORDER BY device, serial FOR UPDATE SKIP LOCKED
)
UPDATE wallet_device w SET next_push = clock_timestamp() + interval '1 minute', tries = tries + 1
  FROM due WHERE w.device = due.device AND w.serial = due.serial
RETURNING w.tries, w.changed_at`

const (
	toldSQL       = `UPDATE wallet_device SET next_push = NULL WHERE push_token = $1 AND changed_at <= $2`
	pushLaterSQL  = `UPDATE wallet_device SET next_push = CASE WHEN tries < $3 THEN clock_timestamp() + make_interval(secs => $2) END WHERE push_token = $1 AND next_push IS NOT NULL`
	deadDeviceSQL = `DELETE FROM wallet_device WHERE push_token = $1`
)

// Jobs returns the jobs of passes: noticing what changed, and telling phones. None without Apple.
func (w *Wallets) Jobs() []*jobs.Job {
	if w.Apple == nil {
		return nil
	}
	notice := jobs.Hourly("notice changed passes", func(ctx context.Context) error {
		tag, err := w.db.Exec(ctx, refreshAllSQL)
		if err == nil && tag.RowsAffected() > 0 {
			w.push.Wake()
		}
		return err
	})
	notice.Every = time.Minute
	return []*jobs.Job{notice, w.push}
}

// tell tells the phone of a push token of its changed passes. It returns how many rows it took.
func (w *Wallets) tell(ctx context.Context, token string) (n int, err error) {
	rows, err := w.db.Query(ctx, takePushSQL, token)
	if err != nil {
		return 0, fmt.Errorf("wallets: take a push: %w", err)
	}
	var tries, most int
	var changed, latest time.Time
	if _, err = pgx.ForEachRow(rows, []any{&tries, &changed}, func() error {
		if n, most = n+1, max(most, tries); changed.After(latest) {
			latest = changed
		}
		return nil
	}); err != nil || n == 0 {
		return 0, err
	}
	there, failed := w.Apple.push.push(ctx, token)
	ctx = context.WithoutCancel(ctx) // what was told is to be noted, also when the node ends
	switch {
	case failed != nil:
		pause := pushBackoff.After(most)
		w.push.Failed("a phone with a pass", most, pause, failed)
		_, err = w.db.Exec(ctx, pushLaterSQL, token, pause.Seconds(), mostTries)
	case !there:
		_, err = w.db.Exec(ctx, deadDeviceSQL, token)
	default:
		_, err = w.db.Exec(ctx, toldSQL, token, latest)
	}
	if err != nil {
		return n, fmt.Errorf("wallets: note a push: %w", err)
	}
	return n, nil
}
