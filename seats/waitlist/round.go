package waitlist

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
)

// The number of the advisory locks of wait lists, beside the event's.
const lockNumber = 0x77616974

const (
	lockSQL   = `SELECT pg_try_advisory_lock($1, $2::integer)`
	unlockSQL = `SELECT pg_advisory_unlock($1, $2::integer)`
)

// round does what there is to do for the list of an event, if no other node does. It tells whether another round is
// worth while soon. news: the list itself may have changed, so that seats that are free already may fit.
func (l *List) round(ctx context.Context, slug string, news bool) (again bool, err error) {
	s, err := l.office.Sale(ctx, slug)
	if err != nil {
		return false, err
	}
	conn, err := l.db.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("waitlist: round: %w", err)
	}
	defer conn.Release()
	var mine bool
	if err := conn.QueryRow(ctx, lockSQL, lockNumber, s.Event.ID).Scan(&mine); err != nil {
		return false, fmt.Errorf("waitlist: round: %w", err)
	}
	if !mine {
		if news {
			l.Wake(slug)
		}
		return true, nil // another node is at it; it may have read before what was heard here
	}
	defer l.unlock(conn, s.Event.ID)
	return l.make(ctx, s, news)
}

// unlock ends a round for all nodes. A connection on which that fails is closed, which ends it as well.
func (l *List) unlock(conn *pgxpool.Conn, event int64) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, unlockSQL, lockNumber, event); err != nil {
		_ = conn.Conn().Close(ctx) // it is given back as a closed one
	}
}

// standing is how the list of an event is.
type standing struct {
	now     time.Time // of the database, before the list was read
	starts  time.Time // when the sale is over
	status  string    // of the event
	zone    string
	paused  bool // nothing is offered: the list is paused, or the event is
	flagged bool // batches keep what comes back
	someone bool // waits or is offered something
	waiting bool // somebody waits
}

const standingSQL = `
SELECT clock_timestamp(), e.starts_at, e.status, e.time_zone, coalesce(w.paused_at IS NOT NULL, false) OR e.status <> 'on sale' OR coalesce(e.opens_at > clock_timestamp(), false), e.wait_list,
       EXISTS (SELECT FROM entry n WHERE n.event_id = e.id AND n.state = 'waiting') OR EXISTS (SELECT FROM offer o WHERE o.event_id = e.id AND o.state = 'open'),
       EXISTS (SELECT FROM entry n WHERE n.event_id = e.id AND n.state = 'waiting')
  FROM event e LEFT JOIN wait_list w ON w.event_id = e.id
 WHERE e.id = $1`

func (l *List) standing(ctx context.Context, event int64) (st standing, err error) {
	err = l.db.QueryRow(ctx, standingSQL, event).Scan(&st.now, &st.starts, &st.status, &st.zone, &st.paused, &st.flagged, &st.someone, &st.waiting)
	if err != nil {
		return st, fmt.Errorf("waitlist: how the list is: %w", err)
	}
	return st, nil
}

// open tells whether the sale is not over. While it is paused nothing is offered.
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

// Only this statement says whether seats that come back are kept.
const flagSQL = `UPDATE event SET wait_list = $2 WHERE id = $1 AND wait_list <> $2`

func (l *List) flag(ctx context.Context, event int64, keep bool) error {
	if _, err := l.db.Exec(ctx, flagSQL, event, keep); err != nil {
		return fmt.Errorf("waitlist: flag: %w", err)
	}
	return nil
}

// make makes a round. The advisory lock is held.
func (l *List) make(ctx context.Context, s *seats.Sale, news bool) (again bool, err error) {
	event := s.Event.ID
	if err := s.CatchUp(ctx); err != nil {
		return false, err
	}
	found, err := l.settle(ctx, event)
	if err != nil {
		return false, err
	}
	if found.mail {
		l.Wrote()
	}
	st, err := l.standing(ctx, event)
	if err != nil {
		return false, err
	}
	if err := l.order(ctx, s); err != nil { // what a node that died left
		return false, err
	}
	l.knows(s.Event.Slug, st.someone)
	news = l.grew(s.Event.Slug, s.Remaining()) || news
	open := st.open()
	if keep := open && st.someone; keep != st.flagged {
		if err := l.flag(ctx, event, keep); err != nil {
			return false, err
		}
		news = true
	}
	switch {
	case !open:
		if _, err := l.db.Exec(ctx, closeSQL, event); err != nil {
			return false, fmt.Errorf("waitlist: close: %w", err)
		}
		return false, l.letGo(ctx, s, s.Kept())
	case !st.waiting:
		return false, l.letGo(ctx, s, s.Kept())
	case st.paused:
		return false, l.keepOn(ctx, s)
	case !news && !found.moved && !s.Keeps():
		return false, nil
	}
	return l.give(ctx, s, st, found)
}

func (l *List) letGo(ctx context.Context, s *seats.Sale, list []int) error {
	if len(list) == 0 {
		return nil
	}
	return s.LetGo(ctx, list)
}

func (l *List) keepOn(ctx context.Context, s *seats.Sale) error {
	if !s.Keeps() {
		return nil
	}
	return s.KeepOn(ctx)
}

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
	if err == nil {
		err = l.order(ctx, s)
	}
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
SELECT id, rank, quantity, sections, categories, together, fewer, coalesce(passed, ''), coalesce(had, 0), gather_until
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
			return w, row.Scan(&w.id, &w.rank, &w.wanted.Quantity, &w.wanted.Sections, &w.wanted.Categories, &w.wanted.Together, &w.wanted.Fewer, &w.passed, &w.had, &w.gathers)
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

// Since when an entry is passed over stays: it is before the first offer to somebody behind it.
const passSQL = `
WITH fresh AS (
    UPDATE entry n SET passed = p.reason, had = p.had, passed_at = coalesce(n.passed_at, clock_timestamp())
      FROM unnest($2::bigint[], $3::text[], $4::integer[]) AS p(id, reason, had)
     WHERE n.id = p.id AND n.state = 'waiting'
    RETURNING n.id, p.reason, p.had
)
INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT $1, id, 'passed over', format('%s: %s', reason, had) FROM fresh`

const gatherSQL = `UPDATE entry SET gather_until = $2 WHERE id = $1 AND state = 'waiting' AND gather_until IS NULL`

// notePasses writes down who is passed over, before anybody is offered anything.
func (l *List) notePasses(ctx context.Context, event int64, m *match) error {
	var ids []int64
	var reasons []string
	var had []int32
	for _, p := range m.told() {
		ids, reasons, had = append(ids, p.id), append(reasons, p.reason), append(had, int32(p.had))
	}
	var errs []error
	if len(ids) > 0 {
		_, err := l.db.Exec(ctx, passSQL, event, ids, reasons, had)
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
