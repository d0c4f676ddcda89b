package verify

import (
	"context"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// lookAnyway is every which look of a Watch leaves out no event. A change of the books that is no version (an extension,
// a hand in the tables) is found then at the latest.
const lookAnyway = 60

// Watch looks at the books again and again, and at an event only if it was not fine the last time or its version moved
// on since, so that it costs an idle server nothing. It also holds the maps of its node against the database. It is
// used by one goroutine.
type Watch struct {
	Box *seal.Box // opens the key of erasures and the secrets of public logs; may be nil

	db     DB
	office *seats.Inventory
	fine   map[int64]int64 // event → version at which nothing was against its promises
	looks  int
}

// NewWatch returns a Watch over every event of the database and the maps of this office.
func NewWatch(db DB, office *seats.Inventory) *Watch {
	return &Watch{db: db, office: office, fine: map[int64]int64{}}
}

// Look is like the function Look for every event. Events left out were fine, and count for nothing in the report.
func (w *Watch) Look(ctx context.Context) (*Report, error) {
	if w.looks%lookAnyway == 0 {
		clear(w.fine)
	}
	w.looks++
	l := look{box: w.Box, maps: map[int64]seats.Snapshot{}}
	for _, s := range w.office.Open() {
		l.maps[s.Event.ID] = s.Snapshot()
	}
	l.skip = func(event, version int64) bool {
		fine, ok := w.fine[event]
		return ok && fine == version
	}
	l.done = func(event, version int64, findings int) {
		delete(w.fine, event)
		if findings == 0 {
			w.fine[event] = version
		}
	}
	return l.run(ctx, w.db)
}
