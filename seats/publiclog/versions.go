package publiclog

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// versionsAtOnce is how many versions are read at a time.
const versionsAtOnce = 512

// rules are those of the versions of an event after one, as far as they changed.
type rules struct {
	list  map[int64]*Rules
	start time.Time // of version 0
	seats int       // at version 0
}

func (r *rules) at(version int64) *Rules { return r.list[version] }

// An event may get seats, and these are rules of that version. All is read at one moment.
const rulesSQL = `
SELECT t.version, t.at, t.status, t.opens_at,
       e.seats - coalesce((SELECT sum(seats) FROM added a WHERE a.event_id = $1 AND a.version > t.version), 0)::integer,
       e.seats - coalesce((SELECT sum(seats) FROM added a WHERE a.event_id = $1), 0)::integer
  FROM event e JOIN terms t ON t.event_id = e.id
 WHERE e.id = $1 AND (t.version > $2 OR t.version = 0) ORDER BY t.version`

func readRules(ctx context.Context, db seats.DB, event, after int64) (*rules, error) {
	r := &rules{list: map[int64]*Rules{}}
	rows, err := db.Query(ctx, rulesSQL, event, after)
	if err != nil {
		return nil, err
	}
	var version int64
	var at time.Time
	var status string
	var opensAt *time.Time
	var count int
	_, err = pgx.ForEachRow(rows, []any{&version, &at, &status, &opensAt, &count, &r.seats}, func() error {
		r.list[version] = &Rules{byte(max(0, slices.Index(Statuses, status))), opens(opensAt), uint32(count)}
		if version == 0 {
			r.start = at
		}
		return nil
	})
	return r, err
}

// versions reads the versions after one, some at a time, and the rules that they changed. It reports whether there are no more. Version 0 is
// the event as it was made: it has no row in the change log. Rules are committed with their version, so they are read after it.
func versions(ctx context.Context, db seats.DB, event, after int64) (list []seats.Change, r *rules, last bool, err error) {
	more, err := seats.Changes(ctx, db, event, max(after, 0), versionsAtOnce)
	if err != nil {
		return nil, nil, false, err
	}
	if r, err = readRules(ctx, db, event, after); err != nil {
		return nil, nil, false, err
	}
	if after < 0 {
		list = append(list, seats.Change{At: r.start, Counts: seats.Counts{Free: []int{r.seats}}})
	}
	return append(list, more...), r, len(more) < versionsAtOnce, nil
}
