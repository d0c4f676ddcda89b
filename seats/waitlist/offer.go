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

// Offers are written in the transaction that holds their seats. Their entries are locked and waiting. An entry with a
// consent gets mail about its order instead, or about why there is none.
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

// making is offers to be made in one transaction.
type making struct {
	list   []chosen
	looked standing // before the list was read
	until  time.Time
	who    string // an organizer who acts out of turn; empty: by rank
	reason string
	also   seats.TxHook // commits with the offers
}

// do makes the offers and returns an error for each.
func (m making) do(ctx context.Context, s *seats.Sale) []error {
	offers, ranks := make([]seats.Offer, len(m.list)), map[int64]int64{}
	for i, c := range m.list {
		offers[i] = seats.Offer{ID: seats.NewID(), Entry: c.id, Since: c.since, Seats: c.seats, Until: m.until, Blocked: m.who != ""}
		ranks[c.id] = c.rank
	}
	return s.Offer(ctx, offers, lockEntries, func(q *pgx.Batch, made []seats.Offered) {
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

const lockEntriesSQL = `
SELECT id, waits_since FROM entry WHERE event_id = $1 AND id = ANY($2::bigint[]) AND state = 'waiting' ORDER BY id FOR NO KEY UPDATE`

// lockEntries locks entries that are offered seats, and finds those that wait and since when.
func lockEntries(q *pgx.Batch, event int64, entries []int64, found func(entry int64, since time.Time)) {
	q.Queue(lockEntriesSQL, event, entries).Query(func(rows pgx.Rows) error {
		var entry int64
		var since time.Time
		_, err := pgx.ForEachRow(rows, []any{&entry, &since}, func() error { found(entry, since); return nil })
		return err
	})
}

const (
	offersAtOnce = 100             // in one transaction
	offersWithin = 3 * time.Second // the most time a round pauses between its offers
)

// offer makes the offers of a round by rank. It reports whether some were refused, because their seats or entries changed
// meanwhile. The entries behind those wait for the next round. Pauses between the offers leave the database to buyers.
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
			no := errors.As(err, new(*seats.Conflict))
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

// mostMisses is how many unanswered offers end an entry: two at its rank, and two more at the end of the list.
const mostMisses = 4

// The hold decides about its offer: there is an order of it, or it has no seats left. A late order may come after the offer
// was counted as missed, if its seats were still available.
const settleSQL = `
WITH ended AS (
    SELECT o.id, CASE WHEN ordered.id IS NOT NULL THEN 'accepted' WHEN o.declined_at IS NOT NULL THEN 'declined' ELSE 'missed' END AS outcome
      FROM offer o LEFT JOIN orders ordered ON ordered.hold_id = o.hold_id
     WHERE o.event_id = $1
       AND (o.state = 'open' AND (ordered.id IS NOT NULL OR NOT EXISTS (
                SELECT FROM hold h WHERE h.event_id = $1 AND h.holder = o.holder AND h.id = o.hold_id AND NOT h.lapsed AND cardinality(h.seats) > 0))
         OR o.state = 'missed' AND o.ended_at > clock_timestamp() - interval '2 days' AND ordered.id IS NOT NULL)
), closed AS (
    UPDATE offer SET state = ended.outcome, ended_at = clock_timestamp() FROM ended WHERE offer.id = ended.id
    RETURNING offer.entry_id, ended.outcome
), moved AS (
    UPDATE entry n
       SET misses = n.misses + CASE c.outcome WHEN 'missed' THEN 1 ELSE 0 END,
           state  = CASE WHEN c.outcome = 'accepted' THEN 'served' WHEN c.outcome = 'declined' OR n.misses + 1 >= $2 THEN 'left' ELSE 'waiting' END,
           rank   = CASE WHEN c.outcome = 'missed' AND n.misses % 2 = 1 THEN (extract(epoch FROM clock_timestamp()) * 1000000)::bigint ELSE n.rank END,
           waits_since = clock_timestamp(), waits_in = pg_current_xact_id(), passed = NULL, had = NULL, passed_at = NULL, passed_in = NULL, gather_until = NULL
      FROM closed c
     WHERE n.id = c.entry_id AND n.state IN ('offered', 'waiting')
    RETURNING n.id, n.event_id, c.outcome, n.state, n.misses
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail)
    SELECT event_id, id, outcome, CASE WHEN outcome <> 'missed' THEN '' WHEN state = 'left' THEN 'it left the list' WHEN misses % 2 = 1 THEN 'it keeps its rank' ELSE 'it waits at the end' END FROM moved
), told AS (
    INSERT INTO mail (entry_id, kind)
    SELECT id, CASE state WHEN 'left' THEN 'wait-left' ELSE 'wait-missed' END FROM moved WHERE outcome <> 'accepted'
)
SELECT id, outcome, state = 'waiting' FROM moved`

// Ends entries that reached their time limit. They are locked in the order of their ids, as a batch with offers locks them;
// the index by rank would give another order.
const expireSQL = `
WITH due AS (
    SELECT id FROM entry WHERE event_id = $1 AND state = 'waiting' AND until <= clock_timestamp() ORDER BY id FOR NO KEY UPDATE
), gone AS (
    UPDATE entry SET state = 'over' FROM due WHERE entry.id = due.id RETURNING entry.id, event_id
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT event_id, id, 'over', 'the time until which it waited' FROM gone
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-left' FROM gone`

// settled is the result of settling the offers of an event.
type settled struct {
	resting map[int64]bool // entries that just missed an offer: others get the same seats first
	moved   bool           // the list changed
	mail    bool           // mail was written
}

// settle records the outcome of ended offers of an event, and ends entries that reached their time limit.
func (l *List) settle(ctx context.Context, event int64) (found settled, err error) {
	found.resting = map[int64]bool{}
	rows, err := l.db.Query(ctx, settleSQL, event, mostMisses)
	if err != nil {
		return found, fmt.Errorf("waitlist: settle: %w", err)
	}
	var entry int64
	var outcome string
	var waits bool
	_, err = pgx.ForEachRow(rows, []any{&entry, &outcome, &waits}, func() error {
		found.moved, found.mail = true, found.mail || outcome != "accepted"
		if waits {
			found.resting[entry] = true
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("waitlist: settle: %w", err)
	}
	tag, err := l.db.Exec(ctx, expireSQL, event)
	if err != nil {
		return found, fmt.Errorf("waitlist: expire: %w", err)
	}
	found.mail = found.mail || tag.RowsAffected() > 0
	return found, nil
}

// The sale is over, so waiting ends. Open offers stay open until their own end.
const closeSQL = `
WITH waits AS (
    SELECT id FROM entry WHERE event_id = $1 AND state IN ('new', 'waiting') ORDER BY id FOR NO KEY UPDATE
), gone AS (
    UPDATE entry SET state = 'over' FROM waits WHERE entry.id = waits.id RETURNING entry.id, event_id
)
INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT event_id, id, 'over', 'the sale' FROM gone`

// Windows is how long an offer is open, by the time left until the sale ends.
func Windows(left time.Duration) time.Duration {
	switch {
	case left > 7*24*time.Hour:
		return 24 * time.Hour
	case left > 24*time.Hour:
		return 4 * time.Hour
	case left > time.Hour:
		return 20 * time.Minute
	default:
		return 5 * time.Minute
	}
}

// Quiet hours in the event's time zone. An offer that would end in them ends in the morning, unless the event is near.
const (
	quietFrom = 22 * time.Hour
	quietTo   = 8*time.Hour + 30*time.Minute
)

// until is when an offer made now ends: not at night unless the sale ends within a day, and not after the sale.
func until(now, end time.Time, zone *time.Location, windows func(time.Duration) time.Duration) time.Time {
	left := end.Sub(now)
	at := now.Add(windows(left))
	if left > 24*time.Hour {
		at = morning(at.In(zone))
	}
	if at.After(end) {
		return end
	}
	return at
}

// morning moves a time in quiet hours to their end.
func morning(at time.Time) time.Time {
	y, m, d := at.Date()
	clock := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	switch {
	case clock >= quietFrom:
		d++
	case clock >= quietTo:
		return at
	}
	return time.Date(y, m, d, int(quietTo/time.Hour), int(quietTo%time.Hour/time.Minute), 0, 0, at.Location())
}
