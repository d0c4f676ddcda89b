package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Change is one version of an event: what one batch of commands did to its seats. Idx, State and Holder go together;
// a seat that became free has the zero Holder. A version without seats says that the event itself was changed.
type Change struct {
	Version int64
	At      time.Time
	Idx     []int32
	State   []int16
	Holder  []ID
	Counts  Counts
}

const changesSQL = `
SELECT version, at, idx, state, holder, free, held, sold, blocked
  FROM change
 WHERE event_id = $1 AND version > $2
 ORDER BY version
 LIMIT $3`

// Changes reads the event's change log after a version, at most limit rows, in order and without gap.
func Changes(ctx context.Context, db DB, event, after int64, limit int) ([]Change, error) {
	rows, err := db.Query(ctx, changesSQL, event, after, limit)
	if err != nil {
		return nil, fmt.Errorf("seats: changes of event %d after %d: %w", event, after, err)
	}
	changes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Change, err error) {
		return c, row.Scan(&c.Version, &c.At, &c.Idx, &c.State, &c.Holder,
			&c.Counts.Free, &c.Counts.Held, &c.Counts.Sold, &c.Counts.Blocked)
	})
	if err != nil {
		return nil, fmt.Errorf("seats: changes of event %d after %d: %w", event, after, err)
	}
	return changes, nil
}

const catchUpRows = 512

// CatchUp brings this node's map to the newest committed version and tells Office.Changed if it moved.
func (s *Sale) CatchUp(ctx context.Context) error {
	moved, changed := false, s.stale.Load()
	for {
		changes, err := Changes(ctx, s.office.db, s.Event.ID, s.Version(), catchUpRows)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(changes, func(c Change) bool { return len(c.Idx) == 0 }) {
			changed = true
			if err := s.office.reread(ctx, s.Event.Slug); err != nil { // first: what comes after may name seats that are new
				s.stale.Store(true)
				return err
			}
		}
		for _, c := range changes {
			moved = s.seats.apply(c) || moved
		}
		if len(changes) < catchUpRows {
			break
		}
	}
	if changed {
		s.stale.Store(true)
		if err := s.office.reread(ctx, s.Event.Slug); err != nil {
			return err
		}
		s.office.wakeOpening()
	}
	if moved {
		s.office.changed(s)
	}
	return nil
}

// Behind tells whether this node has to read something to be where the event is: its changes up to a version, or
// its row.
func (s *Sale) Behind(version int64) bool { return version > s.Version() || s.stale.Load() }

// One statement, so that version, counts, states and array sizes are of one moment.
const mapSQL = `
SELECT c.version, c.free, c.held, c.sold, c.blocked,
       (SELECT array_agg(s.state ORDER BY s.idx) FROM seat_state s WHERE s.event_id = c.event_id),
       ARRAY(SELECT s.idx FROM seat_state s WHERE s.event_id = c.event_id AND s.holder = $2 AND s.state = 1 /* held */)
  FROM counter c
 WHERE c.event_id = $1`

// reload reads the whole map anew, in a run of the database.
func (s *Sale) reload(ctx context.Context, epoch uint32) error {
	err := s.readMap(ctx, s.office.db, epoch)
	if errors.Is(err, errGrew) {
		if err := s.office.reread(ctx, s.Event.Slug); err != nil {
			return err
		}
		err = s.readMap(ctx, s.office.db, epoch)
	}
	return err
}

// errGrew says that seats were added since the plan was read.
var errGrew = errors.New("the event has more seats than its plan on this node")

// readMap reads the whole map from the seat rows.
func (s *Sale) readMap(ctx context.Context, db DB, epoch uint32) error {
	var version int64
	var states []State
	var counts Counts
	var kept []int32
	err := db.QueryRow(ctx, mapSQL, s.Event.ID, waitList).
		Scan(&version, &counts.Free, &counts.Held, &counts.Sold, &counts.Blocked, &states, &kept)
	if err == nil && !s.seats.knows(len(states)) {
		err = errGrew
	}
	if err != nil {
		return fmt.Errorf("seats: read map of event %d: %w", s.Event.ID, err)
	}
	s.seats.reset(epoch, version, states, counts, kept)
	return nil
}
