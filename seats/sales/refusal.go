package sales

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Refused counts the refused claims of an event by reason.
type Refused struct {
	Code string // of the refusal
	N    int
}

// refused is the key under which refusals are counted.
type refused struct {
	event int64
	code  string
}

const gather = 3 * time.Second // of refusals in one statement

// Refused counts a refused claim. It returns at once, because thousands may be refused in a second.
func (s *Sales) Refused(event int64, code string) {
	s.noes.Lock()
	defer s.noes.Unlock()
	if len(s.told) == 0 {
		select {
		case s.toldFirst <- struct{}{}:
		default: // Run is about to write
		}
	}
	s.told[refused{event, code}]++
}

const refusedSQL = `
INSERT INTO refusal (event_id, code, n) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS r(event_id, code, n) ORDER BY 1, 2
    ON CONFLICT (event_id, code) DO UPDATE SET n = refusal.n + excluded.n`

// Run stores the counts each few seconds until ctx is done. Without refused claims it writes nothing.
func (s *Sales) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), s.writeRefused(context.WithoutCancel(ctx)))
		case <-s.toldFirst:
		}
		timer := time.NewTimer(gather)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() == nil {
			if err := s.writeRefused(ctx); err != nil {
				s.keepRefused()
			}
		}
	}
}

// writeRefused stores the counts. If that fails they stay in memory.
func (s *Sales) writeRefused(ctx context.Context) error {
	s.noes.Lock()
	counted := s.told
	s.told = map[refused]int64{}
	s.noes.Unlock()
	if len(counted) == 0 {
		return nil
	}
	var events, ns []int64
	var codes []string
	for r, n := range counted {
		events, codes, ns = append(events, r.event), append(codes, r.code), append(ns, n)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := s.db.Exec(ctx, refusedSQL, events, codes, ns); err != nil {
		s.noes.Lock()
		for r, n := range counted {
			s.told[r] += n
		}
		s.noes.Unlock()
		return fmt.Errorf("sales: count refusals: %w", err)
	}
	return nil
}

// keepRefused asks for another try.
func (s *Sales) keepRefused() {
	select {
	case s.toldFirst <- struct{}{}:
	default:
	}
}

const refusalsSQL = `SELECT code, n FROM refusal WHERE event_id = $1 ORDER BY n DESC, code`

func (l *Live) queueRefused(q *pgx.Batch, event int64) {
	q.Queue(refusalsSQL, event).Query(func(rows pgx.Rows) (err error) {
		l.Refused, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Refused])
		return err
	})
}
