package waitlist

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// give offers what there is to those who wait.
func (l *List) give(ctx context.Context, s *seats.Sale, st standing, found settled) (again bool, err error) {
	kept, free := s.Kept(), s.FreeSeats()
	if len(kept)+len(free) == 0 {
		return false, nil
	}
	m := &match{
		pool: s.NewPool(append(free, kept...)), kept: map[int]bool{}, resting: found.resting,
		gathers: st.starts.Sub(st.now) > 7*24*time.Hour, now: st.now,
	}
	for _, idx := range kept {
		m.kept[idx] = true
	}
	if err := l.walk(ctx, s.Event.ID, m); err != nil {
		return false, err
	}
	if err := l.notePasses(ctx, s.Event.ID, m); err != nil {
		return false, err
	}
	again, err = l.offer(ctx, s, st, m.chosen)
	if err != nil || again {
		return again, err
	}
	var over []int
	for _, idx := range m.pool.Left() {
		if m.kept[idx] {
			over = append(over, idx)
		}
	}
	if m.group != 0 {
		l.later(s.Event.Slug, m.gatherTo.Sub(st.now))
		if err := l.keepOn(ctx, s); err != nil {
			return false, err
		}
	}
	return false, l.letGo(ctx, s, over)
}

// chunk is how many entries are read at once.
const chunk = 4096

const waitersSQL = `
SELECT id, rank, waits_since, quantity, sections, categories, together, fewer, coalesce(passed, ''), coalesce(had, 0), gather_until
  FROM entry
 WHERE event_id = $1 AND state = 'waiting' AND (rank, id) > ($2, $3)
 ORDER BY rank, id
 LIMIT $4`

// walk goes down the list by rank until nothing is left to give.
func (l *List) walk(ctx context.Context, event int64, m *match) error {
	var after waiter
	for {
		rows, err := l.db.Query(ctx, waitersSQL, event, after.rank, after.id, chunk)
		if err != nil {
			return fmt.Errorf("waitlist: read the list: %w", err)
		}
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w waiter, err error) {
			return w, row.Scan(&w.id, &w.rank, &w.since, &w.wanted.Quantity, &w.wanted.Sections, &w.wanted.Categories, &w.wanted.Together, &w.wanted.Fewer, &w.passed, &w.had, &w.gathers)
		})
		if err != nil {
			return fmt.Errorf("waitlist: read the list: %w", err)
		}
		for _, w := range list {
			if !m.next(w) {
				break
			}
		}
		if m.over() || len(list) < chunk {
			m.finish()
			return nil
		}
		after = list[len(list)-1]
	}
}

// Since when an entry is passed over stays: it is before the first offer to an entry behind it. An entry with another wish
// was not passed over for its old one.
const passSQL = `
WITH fresh AS (
    UPDATE entry n SET passed = p.reason, had = p.had, passed_at = coalesce(n.passed_at, clock_timestamp()), passed_in = coalesce(n.passed_in, pg_current_xact_id())
      FROM (SELECT * FROM unnest($2::bigint[], $3::text[], $4::integer[], $5::timestamptz[]) AS p(id, reason, had, since) ORDER BY id) p
     WHERE n.id = p.id AND n.state = 'waiting' AND n.waits_since = p.since
    RETURNING n.id, p.reason, p.had
)
INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT $1, id, 'passed over', format('%s: %s', reason, had) FROM fresh`

const gatherSQL = `UPDATE entry SET gather_until = $2 WHERE id = $1 AND state = 'waiting' AND gather_until IS NULL`

// notePasses writes down who is passed over, before anybody is offered anything.
func (l *List) notePasses(ctx context.Context, event int64, m *match) error {
	var ids []int64
	var reasons []string
	var had []int32
	var since []time.Time
	for _, p := range m.told() {
		ids, reasons, had, since = append(ids, p.id), append(reasons, p.reason), append(had, int32(p.had)), append(since, p.since)
	}
	var errs []error
	if len(ids) > 0 {
		_, err := l.db.Exec(ctx, passSQL, event, ids, reasons, had, since)
		errs = append(errs, err)
	}
	if m.group != 0 && m.begins {
		_, err := l.db.Exec(ctx, gatherSQL, m.group, m.gatherTo)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("waitlist: note who is passed over: %w", err)
	}
	return nil
}
