package sales

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

// Alert is something a person has to look at. Its words are made where it is shown.
type Alert struct {
	Kind   string
	Key    string // identifies the alert in Seen
	Order  string // code of the order or payment; empty if it is about none
	Amount int64  // minor units
	Why    string // what was noted
	At     time.Time
	Rate   Rate
	Before Rate
}

// The kinds of alerts that the database knows of, besides those of package orders. A page may add others.
const (
	OfHook    = "hook"    // a webhook fails, or was switched off
	OfFailing = "failing" // many payments fail
	OfExpired = "lapses"  // many more holds expire than before
)

// MostAlerts is how many of each kind a dashboard shows, the latest ones.
const MostAlerts = 20

// Failing webhooks and those that were switched off.
const deafSQL = `
SELECT 'hook', 'hook:' || h.id || ':' || coalesce(h.off_at, h.failing_since)::date,
       h.url || CASE WHEN h.off_at IS NULL THEN ' has accepted no deliveries for an hour or more. We keep trying.' ELSE ' no longer gets deliveries: ' || h.off_why END,
       coalesce(h.off_at, h.failing_since) AS at
  FROM hook h
 WHERE h.team_id = (SELECT team_id FROM event WHERE id = $1) AND h.removed_at IS NULL
   AND (h.off_why <> '' OR h.off_at IS NULL AND h.failing_since < statement_timestamp() - interval '1 hour')
 ORDER BY at DESC LIMIT $2`

// The share of recent payments that failed. statement_timestamp() allows the use of an index.
const failingSQL = `
SELECT count(*) FILTER (WHERE reason <> ''), count(*)
  FROM (SELECT reason FROM payment WHERE event_id = $1 AND method NOT IN ('free', 'door', 'invoice') AND created_at > statement_timestamp() - interval '10 minutes'
         ORDER BY created_at DESC LIMIT 500) p`

// hooks is what alerts about webhooks note (deafSQL).
var hooks = text.NewStored(text.Mark("%s has accepted no deliveries for an hour or more. We keep trying."), text.Mark("%s no longer gets deliveries: %s"))

// Reason is Why in the language of its reader.
func (a Alert) Reason(ctx context.Context) string {
	if a.Kind == OfHook {
		return hooks.In(ctx, a.Why)
	}
	return payments.Reason(a.Why).In(ctx)
}

// Seen is the organizer who marked an alert as seen, and when.
type Seen struct {
	Who string
	At  time.Time
}

const seenListSQL = `SELECT concern, who, at FROM seen WHERE event_id = $1 ORDER BY at DESC LIMIT 200`

func (l *Live) queueAlerts(q *pgx.Batch, event int64) {
	of := map[string]int{}
	note := func(c Alert) {
		if of[c.Kind]++; of[c.Kind] > MostAlerts {
			l.MoreAlerts = true
			return
		}
		l.Alerts = append(l.Alerts, c)
	}
	payments.QueueAlerts(q, event, MostAlerts+1, func(c payments.Alert) {
		note(Alert{Kind: c.Kind, Key: c.Key, Order: c.Code, Amount: c.Amount, Why: c.Why, At: c.At})
	})
	q.Queue(deafSQL, event, MostAlerts+1).Query(func(rows pgx.Rows) error {
		var c Alert
		_, err := pgx.ForEachRow(rows, []any{&c.Kind, &c.Key, &c.Why, &c.At}, func() error { note(c); return nil })
		return err
	})
	failing := Alert{Kind: OfFailing}
	q.Queue(failingSQL, event).QueryRow(func(r pgx.Row) error {
		err := r.Scan(&failing.Rate.Some, &failing.Rate.Of)
		if failing.Rate.Known() && failing.Rate.Share() > failingShare {
			note(failing)
		}
		return err
	})
	q.Queue(seenListSQL, event).Query(func(rows pgx.Rows) error {
		l.Seen = map[string]Seen{}
		var key string
		var s Seen
		_, err := pgx.ForEachRow(rows, []any{&key, &s.Who, &s.At}, func() error {
			l.Seen[key] = s
			return nil
		})
		return err
	})
}

const failingShare = 0.25 // of the payments that began lately

// addAlerts adds alerts that follow from the figures, and sorts the latest first. An alert that returns on another day is a
// new one.
func (l *Live) addAlerts() {
	before := Rate{l.Expired.Some - l.Lately.Some, l.Expired.Of - l.Lately.Of}
	if l.Lately.Known() && before.Known() && l.Lately.Share() > 2*max(before.Share(), 0.05) {
		l.Alerts = append(l.Alerts, Alert{Kind: OfExpired, Rate: l.Lately, Before: before})
	}
	for i := range l.Alerts {
		if c := &l.Alerts[i]; c.Key == "" { // about the current figures
			c.Key, c.At = c.Kind+":"+l.At.Format(time.DateOnly), l.At
		}
	}
	slices.SortStableFunc(l.Alerts, func(a, b Alert) int { return b.At.Compare(a.At) })
}

const seeSQL = `
INSERT INTO seen (event_id, concern, who) VALUES ($1, $2, $3) ON CONFLICT (event_id, concern) DO NOTHING`

// see marks an alert as seen. The first organizer who does is recorded.
func see(ctx context.Context, db seats.DB, event int64, key, who string) (fresh bool, err error) {
	if key == "" || len(key) > 200 {
		return false, &seats.ValidationError{Message: text.Mark("There is no such alert. Nothing was changed.")}
	}
	tag, err := db.Exec(ctx, seeSQL, event, key, who)
	if err != nil {
		return false, fmt.Errorf("sales: note what was seen: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}
