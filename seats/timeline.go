package seats

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Moment is what became of a seat in one version of its event.
type Moment struct {
	Version int64
	At      time.Time
	State   State
	Holder  ID     // of a seat that is not free: the attendee, the order, or the block
	Reason  string // of a block
}

// timelineVersions is how many versions one look at a seat's past reads: its cost is the same however long the sale
// was.
const timelineVersions = 20_000

// The versions of an event have no gap, so these are so many rows of one index.
const timelineSQL = `
SELECT c.version, c.at, c.state[c.place], c.holder[c.place], coalesce((SELECT reason FROM block WHERE id = c.holder[c.place]), '')
  FROM (SELECT version, at, state, holder, array_position(idx, $2) AS place FROM change
         WHERE event_id = $1 AND version < $3 AND version >= $3 - $4::bigint) c
 WHERE c.place IS NOT NULL
 ORDER BY c.version DESC`

// Timeline is what became of a seat in the versions before one, the latest first; 0 stands for after the newest.
// back is the version to go on before, to look further back; 0 if there is nothing left.
func (s *Sale) Timeline(ctx context.Context, idx int, before int64) (list []Moment, back int64, err error) {
	if idx < 0 || idx >= len(s.Plan.Seats) {
		return nil, 0, &Nonsense{Unknown: true, Message: "This event has no such seat."}
	}
	if before <= 0 {
		before = s.Version() + 1
	}
	rows, err := s.office.db.Query(ctx, timelineSQL, s.Event.ID, int32(idx), before, timelineVersions)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Moment])
	}
	if err != nil {
		return nil, 0, fmt.Errorf("seats: timeline of seat %d of event %d: %w", idx, s.Event.ID, err)
	}
	return list, max(0, before-timelineVersions), nil
}

const blocksSQL = `
SELECT s.idx, coalesce(b.reason, '') FROM seat_state s LEFT JOIN block b ON b.id = s.holder WHERE s.event_id = $1 AND s.idx BETWEEN $2 AND $3 AND s.state = 5 /* blocked */`

// Blocked says why seats from one to another are kept back: reasons by idx.
func (s *Sale) Blocked(ctx context.Context, first, last int) (map[int]string, error) {
	rows, err := s.office.db.Query(ctx, blocksSQL, s.Event.ID, first, last)
	if err != nil {
		return nil, fmt.Errorf("seats: blocked seats of event %d: %w", s.Event.ID, err)
	}
	why := map[int]string{}
	var idx int
	var reason string
	if _, err := pgx.ForEachRow(rows, []any{&idx, &reason}, func() error { why[idx] = reason; return nil }); err != nil {
		return nil, fmt.Errorf("seats: blocked seats of event %d: %w", s.Event.ID, err)
	}
	return why, nil
}
