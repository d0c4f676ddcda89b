package waitlist

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Offers are written in the transaction that holds their seats. Their entries are locked, and wait. Who agreed to have it
// ordered is told of the order, or why there is none.
const offerSQL = `
WITH o AS (
    SELECT * FROM unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::bigint[]) AS o(id, entry_id, hold_id, seats, rank)
), made AS (
    INSERT INTO offer (id, event_id, entry_id, holder, hold_id, seats, rank, looked_at, saw, until, by_hand)
    SELECT id, $1, entry_id, id, hold_id, seats::integer[], rank, $7, $8::text::pg_snapshot, $9, $10 FROM o
), moved AS (
    UPDATE entry SET state = 'offered' FROM o WHERE entry.id = o.entry_id RETURNING entry.id, method
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail, who) SELECT $1, entry_id, 'offered', $11, $12 FROM o
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-offer' FROM moved WHERE method IS NULL`

// making is offers about to be made at once.
type making struct {
	list   []chosen
	looked standing // before the list was read
	until  time.Time
	who    string // an organizer; empty: it is their turn
	reason string
	also   seats.Also // commits with it
}

// do makes the offers. It returns what became of each.
func (m making) do(ctx context.Context, s *seats.Sale) []error {
	offers, ranks := make([]seats.Offer, len(m.list)), map[int64]int64{}
	for i, c := range m.list {
		offers[i] = seats.Offer{ID: seats.NewID(), Entry: c.id, Since: c.since, Seats: c.seats, Until: m.until, Blocked: m.who != ""}
		ranks[c.id] = c.rank
	}
	return s.Offer(ctx, offers, func(q *pgx.Batch, made []seats.Offered) {
		var ids, holds []seats.ID
		var entries, rank []int64
		var list []string
		for _, o := range made {
			ids, holds, entries, rank = append(ids, o.ID), append(holds, o.Hold), append(entries, o.Entry), append(rank, ranks[o.Entry])
			list = append(list, "{"+strings.Trim(strings.Join(strings.Fields(fmt.Sprint(o.Seats)), ","), "[]")+"}")
		}
		q.Queue(offerSQL, s.Event.ID, ids, entries, holds, list, rank, m.looked.now, m.looked.saw, m.until, m.who != "", m.reason, m.who)
		if m.also != nil {
			m.also(q)
		}
	})
}

const (
	offersAtOnce = 100             // in one transaction
	offersWithin = 3 * time.Second // the most time that is left to others between the offers of one round
)

// offer makes the offers of a round by rank. It reports whether some were refused: then the seats or the entries changed
// meanwhile, and entries behind lost seats wait for the next round. Between many offers the database has time
// for other work.
func (l *List) offer(ctx context.Context, s *seats.Sale, st standing, list []chosen) (refused bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	defer l.Wrote()
	m := making{looked: st, until: until(st.now, st.starts, st.place(), l.Windows)}
	most := offersWithin / time.Duration(1+len(list)/offersAtOnce)
	for len(list) > 0 && !refused {
		n := min(len(list), offersAtOnce)
		m.list, list = list[:n], list[n:]
		began := time.Now()
		for _, err := range m.do(ctx, s) {
			no := errors.As(err, new(*seats.Refusal))
			if err != nil && !no {
				return refused, fmt.Errorf("waitlist: offer: %w", err)
			}
			refused = refused || no
		}
		if len(list) > 0 {
			if err := seats.Sleep(ctx, min(time.Since(began), most)); err != nil {
				return refused, err
			}
		}
	}
	return refused, nil
}
