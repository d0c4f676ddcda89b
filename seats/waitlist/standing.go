package waitlist

import (
	"context"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats"
)

// standing is how the list of an event is.
type standing struct {
	now     time.Time // of the database, before the list was read
	saw     string    // what was committed by then: a pg_snapshot
	starts  time.Time // when the sale is over
	status  string    // of the event
	zone    string
	paused  bool // nothing is offered: the list is paused, or the event is
	flagged bool // batches keep what comes back
	someone bool // waits or is offered something
	waiting bool // entries wait
}

const standingSQL = `
SELECT clock_timestamp(), pg_current_snapshot()::text, e.starts_at, e.status, e.time_zone, coalesce(w.paused_at IS NOT NULL, false) OR e.status <> 'on sale' OR coalesce(e.opens_at > clock_timestamp(), false), e.wait_list,
       EXISTS (SELECT FROM entry n WHERE n.event_id = e.id AND n.state = 'waiting') OR EXISTS (SELECT FROM offer o WHERE o.event_id = e.id AND o.state = 'open'),
       EXISTS (SELECT FROM entry n WHERE n.event_id = e.id AND n.state = 'waiting')
  FROM event e LEFT JOIN wait_list w ON w.event_id = e.id
 WHERE e.id = $1`

func (l *List) standing(ctx context.Context, event int64) (st standing, err error) {
	err = l.db.QueryRow(ctx, standingSQL, event).Scan(&st.now, &st.saw, &st.starts, &st.status, &st.zone, &st.paused, &st.flagged, &st.someone, &st.waiting)
	if err != nil {
		return st, fmt.Errorf("waitlist: how the list is: %w", err)
	}
	return st, nil
}

// open reports whether the sale is not over. While it is paused nothing is offered.
func (st standing) open() bool {
	return st.now.Before(st.starts) && st.status != string(seats.Closed) && st.status != string(seats.Cancelled)
}

// place is the time zone of the event.
func (st standing) place() *time.Location {
	if zone, err := time.LoadLocation(st.zone); err == nil {
		return zone
	}
	return time.UTC
}
