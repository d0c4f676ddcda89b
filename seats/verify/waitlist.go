package verify

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// waitList is the holder of seats that came back and are kept for those who wait.
var waitList = seats.ID{15: 2}

const waitsSQL = `SELECT count(*) FROM entry WHERE event_id = $1`

const offersSQL = `
SELECT id, hold_id, true FROM offer WHERE event_id = $1
 UNION ALL
SELECT id, hold_id, false FROM resale_offer WHERE event_id = $1`

// readOffers notes which holds are offers, of the waitlist or to a friend.
func (b *books) readOffers(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, offersSQL, b.id)
	if err != nil {
		return err
	}
	b.offered, b.offers = map[seats.ID]bool{}, map[seats.ID]bool{}
	var id, hold seats.ID
	var ofList bool
	_, err = pgx.ForEachRow(rows, []any{&id, &hold, &ofList}, func() error {
		if b.offered[hold], b.offers[id] = true, true; ofList {
			b.report.Offers++
		}
		return nil
	})
	if err != nil {
		return err
	}
	var waits int
	err = tx.QueryRow(ctx, waitsSQL, b.id).Scan(&waits)
	b.report.Waits += waits
	return err
}

// Everything that is against the promises of the wait list (seats/waitlist). Whether an entry waited when others were
// offered seats is plain of those who wait still, and of what the round saw that made the offers.
const waitListSQL = `
WITH o AS (
    SELECT o.*, n.email, n.state AS of_state, n.quantity, n.sections, n.categories, n.together, n.fewer
      FROM offer o LEFT JOIN entry n ON n.id = o.entry_id AND n.event_id = o.event_id
     WHERE o.event_id = $1
), live AS (
    SELECT o.id, h.holder, h.id AS hold_id, h.seats
      FROM o JOIN hold h ON h.event_id = $1 AND h.id = o.hold_id
     WHERE o.state = 'open' AND NOT h.lapsed AND h.expires_at > clock_timestamp()
)
SELECT 'W1', NULL::integer, format('an address has %s places', count(*))
  FROM entry WHERE event_id = $1 AND state IN ('new', 'waiting', 'offered') GROUP BY email HAVING count(*) > 1
 UNION ALL
SELECT 'W2', NULL, format('entry %s is %s and has %s open offers', n.id, n.state, c.open)
  FROM entry n, LATERAL (SELECT count(*) AS open FROM offer WHERE entry_id = n.id AND state = 'open') c
 WHERE n.event_id = $1 AND c.open <> CASE n.state WHEN 'offered' THEN 1 ELSE 0 END
 UNION ALL
SELECT 'W2', NULL, format('entry %s is %s and accepted %s offers', n.id, n.state, c.accepted)
  FROM entry n, LATERAL (SELECT count(*) AS accepted FROM offer WHERE entry_id = n.id AND state = 'accepted') c
 WHERE n.event_id = $1 AND c.accepted <> CASE n.state WHEN 'served' THEN 1 ELSE 0 END
 UNION ALL
SELECT 'W2', NULL, format('offer %s is of an entry of another event, or of none', left(id::text, 8)) FROM o WHERE of_state IS NULL
 UNION ALL
SELECT 'W2', NULL, format('offer %s was accepted, and there is no order of its hold', left(id::text, 8))
  FROM o WHERE state = 'accepted' AND NOT EXISTS (SELECT FROM orders WHERE hold_id = o.hold_id)
 UNION ALL
SELECT 'W3', idx, format('is in %s open offers', count(*)) FROM live, unnest(live.seats) AS u(idx) GROUP BY idx HAVING count(*) > 1
 UNION ALL
SELECT 'W4', NULL, format('offer %s has no hold: it was made outside of the guard', left(id::text, 8))
  FROM o WHERE state = 'open' AND NOT EXISTS (SELECT FROM hold h WHERE h.event_id = $1 AND (h.id = o.hold_id OR h.holder = o.id))
 UNION ALL
SELECT 'W4', NULL, format('offer %s is of the hold of another visitor', left(o.id::text, 8)) FROM o JOIN live ON live.id = o.id WHERE live.holder <> o.holder
 UNION ALL
SELECT 'W4', u.idx, format('stands in the hold of offer %s, and its row does not say so', left(live.id::text, 8))
  FROM live, unnest(live.seats) AS u(idx) LEFT JOIN seat_state s ON s.event_id = $1 AND s.idx = u.idx
 WHERE s.holder IS DISTINCT FROM live.holder
 UNION ALL
SELECT 'W5', NULL, format('entry %s waits and was passed over without a reason, in favour of offer %s', n.id, left(behind.id::text, 8))
  FROM entry n,
       LATERAL (SELECT o.id FROM offer o
                 WHERE o.event_id = $1 AND NOT o.by_hand AND o.entry_id <> n.id AND (o.rank, o.entry_id) > (n.rank, n.id)
                   AND o.at > n.waits_since AND pg_visible_in_snapshot(n.waits_in, o.saw) AND (n.passed_in IS NULL OR n.passed_in > o.made_in)
                 LIMIT 1) behind
 WHERE n.event_id = $1 AND n.state = 'waiting' AND n.rank <= (SELECT max(rank) FROM offer WHERE event_id = $1)
 UNION ALL
SELECT 'W6', NULL, format('offer %s is of %s seats, and %s were wanted', left(id::text, 8), cardinality(seats), quantity)
  FROM o WHERE state IN ('open', 'accepted') AND NOT by_hand AND (cardinality(seats) > quantity OR cardinality(seats) < quantity AND NOT fewer)
 UNION ALL
SELECT 'W6', u.idx, format('was offered to entry %s, who would not sit there', o.entry_id)
  FROM o, unnest(o.seats) AS u(idx) JOIN seat d ON d.event_id = $1 AND d.idx = u.idx
 WHERE o.state IN ('open', 'accepted') AND NOT o.by_hand AND cardinality(o.sections) + cardinality(o.categories) > 0
   AND d.section <> ALL (o.sections) AND d.category <> ALL (o.categories)
 UNION ALL
SELECT 'W7', NULL, format('offer %s was made when the sale was over', left(o.id::text, 8))
  FROM o JOIN event e ON e.id = $1 WHERE o.state = 'open' AND o.looked_at >= e.starts_at
 UNION ALL
SELECT 'W11', NULL, format('offer %s was ordered for %s off-session, and its person agreed to %s', left(o.id::text, 8), made.total, n.most)
  FROM o JOIN entry n ON n.id = o.entry_id JOIN orders made ON made.hold_id = o.hold_id
 WHERE o.ordering_at IS NOT NULL AND o.holder = o.id AND made.total > n.most
 UNION ALL
SELECT 'W11', NULL, format('offer %s was ordered off-session, and its order does not say that version %s of the terms was accepted', left(o.id::text, 8), n.terms)
  FROM o JOIN entry n ON n.id = o.entry_id JOIN orders made ON made.hold_id = o.hold_id
 WHERE o.ordering_at IS NOT NULL AND o.holder = o.id AND n.terms IS NOT NULL
   AND NOT EXISTS (SELECT FROM consent c WHERE c.order_id = made.id AND c.version = n.terms AND c.at = n.agreed_at)`

var waitListNames = []string{"W1", "W2", "W3", "W4", "W5", "W6", "W7", "W11"}

// checkWaitList looks at who waits and at what was offered.
func (b *books) checkWaitList(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, waitListSQL, b.id)
	if err != nil {
		return err
	}
	var name, what string
	var seat *int
	_, err = pgx.ForEachRow(rows, []any{&name, &seat, &what}, func() error {
		idx := none
		if seat != nil {
			idx = *seat
		}
		b.broken(w1+slices.Index(waitListNames, name), idx, "%s", what)
		return nil
	})
	return err
}
