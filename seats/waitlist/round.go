package waitlist

import (
	"context"
	"fmt"
	"time"

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
	if again, err = l.make(ctx, s, news); err != nil {
		return again, err
	}
	ordering, err := l.order(ctx, s)
	return again || ordering, err
}

// unlock ends a round for all nodes. A connection on which that fails is closed, which ends it as well.
func (l *List) unlock(conn *pgxpool.Conn, event int64) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, unlockSQL, lockNumber, event); err != nil {
		_ = conn.Conn().Close(ctx) // it is given back as a closed one
	}
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
	l.knows(s.Event.Slug, st.someone)
	news = l.grew(s.Event.Slug, s.Remaining()) || news
	open := st.open()
	if keep := open && st.someone; keep != st.flagged {
		if err := seats.SetWaitlist(ctx, l.db, event, keep); err != nil {
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
