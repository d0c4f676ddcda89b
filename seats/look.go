package seats

import (
	"context"
	"fmt"
)

// Beside the lane, claims of newcomers that this node's map would refuse, or all of them while it thinks that the
// event is not on sale, are looked up together in one statement that locks nothing and keeps no writer waiting. Who
// may win after all goes on to the lane.

// mostLooks is the most claims that are looked up at once.
const mostLooks = 4096

// lookTries is how often a look is tried while the database restarts.
const lookTries = 20

// look returns the refusal of a claim for which the database has nothing; nil if it may win. Only claims of people of
// whom nothing is stored are looked up: anybody else may be repeating a claim that won, or name a seat of their own.
func (s *Sale) look(ctx context.Context, c *command) error {
	if !c.visit.isNew() || s.onSale.Load() && !s.doubtful(c) {
		return nil
	}
	c.answer = make(chan answer, 1)
	s.looks.Come(c)
	select {
	case a := <-c.answer:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// doubtful tells whether the map would refuse a claim.
func (s *Sale) doubtful(c *command) bool {
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if c.choice != nil {
		free, known := s.countIn(c.choice.scope, m.counts.Free)
		return known && free < c.choice.n
	}
	for _, idx := range c.seats {
		if m.states[idx].Shown() != Free {
			return true
		}
	}
	return false
}

// lookUp answers claims that are looked up together.
func (s *Sale) lookUp(ctx context.Context, commands []*command) {
	seen, err := s.see(ctx, commands)
	for _, c := range commands {
		a := answer{err: err}
		if err == nil {
			a.err = seen.refuse(s, c)
		}
		c.answer <- a
	}
}

// seen is what the database says of some seats, at one moment.
type seen struct {
	terms terms // its status alone

	free []int // seats by category, as counted
	due  bool  // some hold's time is up and that was not announced: the counts may be too low
	open map[int]bool
}

const lookSQL = `
SELECT CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.opens_at, e.reason,
       c.free,
       EXISTS (SELECT FROM hold WHERE NOT lapsed AND expires_at <= statement_timestamp()),
       ARRAY(SELECT s.idx
               FROM unnest($2::integer[]) AS n(idx),
                    LATERAL (SELECT idx FROM seat_state
                              WHERE event_id = $1 AND idx = n.idx AND (holder IS NULL OR expires_at <= clock_timestamp()) OFFSET 0) s)
  FROM counter c JOIN event e ON e.id = c.event_id
 WHERE c.event_id = $1`

func (s *Sale) see(ctx context.Context, commands []*command) (seen, error) {
	asked := map[int]bool{}
	list := []int32{}
	for _, c := range commands {
		for _, idx := range c.seats {
			if !asked[idx] {
				asked[idx] = true
				list = append(list, int32(idx))
			}
		}
	}
	var got seen
	var open []int
	read := func() error {
		return s.office.db.QueryRow(ctx, lookSQL, s.Event.ID, list).
			Scan(&got.terms.status, &got.terms.opensAt, &got.terms.reason, &got.free, &got.due, &open)
	}
	err := read()
	for tries := 1; connectionLost(err) && tries < lookTries && Sleep(ctx, retryPause) == nil; tries++ {
		err = read()
	}
	got.open = make(map[int]bool, len(open))
	for _, idx := range open {
		got.open[idx] = true
	}
	if err != nil {
		return got, fmt.Errorf("seats: event %d: look at %d seats: %w", s.Event.ID, len(list), err)
	}
	return got, nil
}

// refuse returns why a claim cannot win; nil if it may.
func (seen seen) refuse(s *Sale, c *command) error {
	if seen.terms.status != OnSale {
		return refuseShut(s.Event.under(&seen.terms))
	}
	s.onSale.Store(true)
	if !s.doubtful(c) {
		return nil
	}
	if c.choice != nil {
		if seen.due || seen.free == nil {
			return nil
		}
		if left, known := s.countIn(c.choice.scope, seen.free); known && left < c.choice.n {
			return soldOut(left, c.choice.n, 0)
		}
		return nil
	}
	var gone []int
	for _, idx := range c.seats {
		if !seen.open[idx] {
			gone = append(gone, idx)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.taken(gone)
}
