package waitingroom

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const (
	mostJoin   = 1 << 16 // people who join in one statement
	mostRecent = 1 << 16 // people whose place a node remembers
)

// joiner is somebody who wants a place.
type joiner struct {
	holder seats.ID
	person []byte // who they showed they are, or what they worked for, where the room asks for that
	by     string // how they came to be that person
	again  bool   // they have a place that is worth nothing any more
	answer chan joined
}

type joined struct {
	place Place
	err   error
}

// Join gives a holder a place, or the one they have: token is what their browser kept, empty if nothing. Call it only
// for holders that came back with their session, so that who keeps no cookie has no number. It returns the place and
// what the browser is to keep.
//
// Errors: ErrNotYet before the lobby opens, ErrEnded, ErrEmail where an address is asked for (see JoinAs), ErrWork where
// work is (see JoinBy), or the database's.
func (r *Room) Join(ctx context.Context, holder seats.ID, token string) (Place, string, error) {
	if p, err := r.place(ctx, token, holder); err == nil {
		return p, token, nil
	}
	if p, ok := r.recall(holder); ok && r.state.Load().Entry != EntryEmail {
		token, err := r.gate.Sign(ctx, p, holder)
		return p, token, err
	}
	if err := r.state.Load().asks(); err != nil {
		return Place{}, "", err
	}
	return r.join(ctx, &joiner{holder: holder})
}

// asks says what nobody joins without.
func (s *State) asks() error {
	switch {
	case s.Entry == EntryEmail:
		return ErrEmail
	case s.AsksWork():
		return ErrWork
	}
	return nil
}

func (r *Room) join(ctx context.Context, j *joiner) (Place, string, error) {
	j.answer = make(chan joined, 1)
	r.joiners.Come(j)
	select {
	case a := <-j.answer:
		if a.err != nil {
			return Place{}, "", a.err
		}
		token, err := r.gate.Sign(ctx, a.place, j.holder)
		return a.place, token, err
	case <-ctx.Done():
		return Place{}, "", fmt.Errorf("waitingroom: room %d: wait for a place: %w", r.ID, ctx.Err())
	}
}

// give answers everybody who joins with one statement, or two if some of them are persons. Who asks twice at once gets one
// place.
func (r *Room) give(ctx context.Context, joiners []*joiner) {
	var first, persons []*joiner
	have := map[seats.ID]Place{}
	for _, j := range joiners {
		if _, came := have[j.holder]; came {
			continue
		}
		p, has := r.recall(j.holder)
		switch {
		case has && !j.again:
		case j.person != nil:
			persons = append(persons, j)
		default:
			first = append(first, j)
		}
		have[j.holder] = p
	}
	failed := map[seats.ID]error{}
	answer := func(some []*joiner, places func(context.Context, []*joiner) ([]Place, error)) {
		if len(some) == 0 {
			return
		}
		given, err := places(ctx, some)
		for i, j := range some {
			if err != nil {
				failed[j.holder] = err
				continue
			}
			have[j.holder] = given[i]
			r.remember(j.holder, given[i])
		}
	}
	answer(first, r.places)
	answer(persons, r.placesOfPersons)
	for _, j := range joiners {
		j.answer <- joined{have[j.holder], failed[j.holder]}
	}
}

func (r *Room) places(ctx context.Context, first []*joiner) ([]Place, error) {
	var kind Kind
	var epoch int32
	var last int64
	var phase Phase
	n := int64(len(first))
	err := r.gate.db.QueryRow(ctx, joinSQL, r.ID, n).Scan(&phase, &epoch, &kind, &last)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, r.closed(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: %d join: %w", r.ID, n, err)
	}
	switch {
	case phase != r.state.Load().Phase:
		r.gate.ring(ctx, r.ID, 0) // people wait from now on: all nodes look after them, also if this one ends
	case phase == PhaseThrough:
		r.gate.poke()
	}
	places := make([]Place, n)
	for i := range places {
		places[i] = Place{Room: r.ID, Epoch: epoch, Kind: kind, Index: last - n + int64(i) + 1}
	}
	return places, nil
}

// In through, numbers are called as far as slots are free and not about to be taken by those called in the last seconds;
// when there are fewer than people who come, the others wait.
const withSpace = `
space AS MATERIALIZED (
    SELECT (SELECT count(*) FROM slot s WHERE s.room_id = r.id AND s.slot <= r.slots AND s.expires_at > clock_timestamp()) AS live,
           coalesce((SELECT c.serving FROM called c WHERE c.room_id = r.id AND c.epoch = r.epoch AND c.at < clock_timestamp() - interval '10 seconds'
                      ORDER BY c.serving DESC LIMIT 1), 0)
             + (SELECT count(*) FROM admission a WHERE a.room_id = r.id AND a.admitted_at >= now() - interval '10 seconds') AS settled
      FROM room r
     WHERE r.id = $1 AND r.phase = 'through'
)`

// calledOf is how many of n who come in through are called.
const calledOf = `least(n.came, greatest(0, r.slots - coalesce((SELECT live + greatest(0, r.serving - settled) FROM space), r.slots)))`

// The phase and the counters are one row: what the phase is decides where people come to, and the moment the lobby closes
// is the same for all nodes. The first statement after that time closes it, whoever sends it.
const joinSQL = `
WITH n AS MATERIALIZED (SELECT clock_timestamp() AS now, $2::bigint AS came), ` + withSpace + `, given AS (
    UPDATE room r
       SET version   = r.version + 1,
           phase     = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN 'drawing'
                            WHEN r.phase = 'through' AND ` + calledOf + ` < n.came THEN 'open' ELSE r.phase END,
           closed_at = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN n.now ELSE r.closed_at END,
           lobby     = r.lobby + CASE WHEN r.phase = 'lobby' AND r.opens_at > n.now THEN n.came ELSE 0 END,
           line      = r.line + CASE WHEN r.phase = 'lobby' AND r.opens_at > n.now THEN 0 ELSE n.came END,
           serving   = r.serving + CASE WHEN r.phase = 'through' THEN ` + calledOf + ` ELSE 0 END
      FROM n
     WHERE r.id = $1 AND r.phase <> 'ended' AND (r.phase <> 'lobby' OR r.lobby_opens_at IS NULL OR r.lobby_opens_at <= n.now)
    RETURNING r.id, r.phase, r.epoch, r.lobby, r.line, r.serving
), call AS (
    INSERT INTO called (room_id, epoch, serving)
    SELECT id, epoch, serving FROM given WHERE serving > 0 AND EXISTS (SELECT FROM space) ON CONFLICT DO NOTHING
)
SELECT phase, epoch, CASE WHEN phase = 'lobby' THEN 1 ELSE 2 END, CASE WHEN phase = 'lobby' THEN lobby ELSE line END FROM given`

// closed says why nobody can join.
func (r *Room) closed(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.state.Load().Phase == PhaseLobby {
		return ErrNotYet
	}
	return ErrEnded
}

// remember keeps somebody's place for a while, so that whoever asks again, because an answer got lost or in another tab,
// has the same one. In a full memory any other one gives way.
func (r *Room) remember(holder seats.ID, p Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.recent) >= mostRecent {
		for other := range r.recent {
			delete(r.recent, other)
			break
		}
	}
	r.recent[holder] = p
}

func (r *Room) recall(holder seats.ID) (Place, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.recent[holder]
	return p, ok && p.Epoch == r.state.Load().Epoch
}
