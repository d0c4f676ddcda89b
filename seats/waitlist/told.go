package waitlist

import (
	"context"
	"fmt"
)

// Stand is what a waiting visitor is told besides their entry.
type Stand struct {
	Place   int // how many wait before them, and they; 0 if they do not wait
	Waiting int // people who wait
	Figures
	Before int    // offers to people behind them since they wait
	Paused bool   // nothing is offered for the time being
	Note   string // why
}

// Figures are what became of the offers of an event so far.
type Figures struct {
	Open     int
	Accepted int
	Ended    int // accepted, declined and missed
}

// Rate is how many of a hundred offers that ended were accepted.
func (f Figures) Rate() int {
	if f.Ended == 0 {
		return 0
	}
	return (100*f.Accepted + f.Ended/2) / f.Ended
}

const standSQL = `
SELECT (SELECT count(*) FROM entry o WHERE o.event_id = n.event_id AND o.state = 'waiting' AND (o.rank, o.id) <= (n.rank, n.id) AND n.state = 'waiting'),
       (SELECT count(*) FROM entry o WHERE o.event_id = n.event_id AND o.state = 'waiting'),
       f.open, f.accepted, f.ended, f.before, coalesce(w.paused_at IS NOT NULL, false), coalesce(w.note, '')
  FROM entry n LEFT JOIN wait_list w ON w.event_id = n.event_id,
       LATERAL (SELECT count(*) FILTER (WHERE o.state = 'open') AS open, count(*) FILTER (WHERE o.state = 'accepted') AS accepted,
                       count(*) FILTER (WHERE o.state IN ('accepted', 'declined', 'missed')) AS ended,
                       count(*) FILTER (WHERE o.rank > n.rank AND o.at > n.waits_since) AS before
                  FROM offer o WHERE o.event_id = n.event_id) f
 WHERE n.id = $1`

// Stand tells where an entry stands now.
func (l *List) Stand(ctx context.Context, entry int64) (s Stand, err error) {
	err = l.db.QueryRow(ctx, standSQL, entry).Scan(&s.Place, &s.Waiting, &s.Open, &s.Accepted, &s.Ended, &s.Before, &s.Paused, &s.Note)
	if err != nil {
		return s, fmt.Errorf("waitlist: where entry %d stands: %w", entry, err)
	}
	return s, nil
}

const waitingSQL = `
SELECT count(*) FROM entry n JOIN event e ON e.id = n.event_id WHERE e.slug = $1 AND n.state = 'waiting'`

// Waiting is how many people wait for seats of an event.
func (l *List) Waiting(ctx context.Context, slug string) (n int, err error) {
	if err = l.db.QueryRow(ctx, waitingSQL, slug).Scan(&n); err != nil {
		return 0, fmt.Errorf("waitlist: how many wait: %w", err)
	}
	return n, nil
}
