package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// passed holds for a scan s with which a person went through the door: the server let them in, they came again after they went out, they left,
// or their device let them through by itself. Which of them are inside follows from the order of times, not from the order in which
// devices send them.
const passed = `(s.admitted OR s.offline AND s.said IS DISTINCT FROM 'still' OR s.way = 'out' OR s.said = 'in')`

const seenSQL = `UPDATE door SET seen_at = clock_timestamp() WHERE id = $1 AND coalesce(seen_at < clock_timestamp() - interval '10 seconds', true)`

// seen notes that a device is there.
func (o *Orders) seen(ctx context.Context, d Doorway) error {
	if _, err := o.db.Exec(ctx, seenSQL, d.id); err != nil {
		return fmt.Errorf("orders: note when a device was seen: %w", err)
	}
	return nil
}

// Scans of one ticket are judged one after the other.
const oneScanAtATimeSQL = `SELECT e.reentry FROM ticket t JOIN event e ON e.id = t.event_id WHERE t.id = $1 FOR NO KEY UPDATE OF t`

// What is known of a ticket at a moment: the ways of its last passage until then and of the next one after it, whether it was let in at
// all, and whether it is valid.
const lastPassageSQL = `
SELECT coalesce((SELECT s.way FROM scan s WHERE s.ticket_id = t.id AND ` + passed + ` AND s.scanned_at <= coalesce($2::timestamptz, 'infinity') ORDER BY s.scanned_at DESC, s.id DESC LIMIT 1), ''),
       coalesce((SELECT s.way FROM scan s WHERE s.ticket_id = t.id AND ` + passed + ` AND s.scanned_at > $2 ORDER BY s.scanned_at, s.id LIMIT 1), ''),
       EXISTS (SELECT FROM scan s WHERE s.ticket_id = t.id AND s.admitted), t.revoked_at IS NULL
  FROM ticket t WHERE t.id = $1`

const noteScanSQL = `
INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted, offline, way, said)
VALUES ($1, $2, $3, $4, $5, ` + scanTime + `, false, $6::timestamptz IS NOT NULL, $7, $8)
    ON CONFLICT DO NOTHING`

// pass judges and keeps a scan that is not the first entry of its ticket: an exit, an entry after one, or one too many. args are those
// of noteScanSQL, without the way and the word.
func (o *Orders) pass(ctx context.Context, d Doorway, s Scan, ticket seats.ID, args []any) (word string, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		var reentry, admitted, valid bool
		var last, next string
		if err := tx.QueryRow(ctx, oneScanAtATimeSQL, ticket).Scan(&reentry); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, lastPassageSQL, ticket, args[5]).Scan(&last, &next, &admitted, &valid); err != nil {
			return err
		}
		used := next == "in" // the exit before this entry: by a later one, which was sent first
		if word = judgePassage(s.Out, last, reentry && valid && admitted && !used); word == ScanAgain && !admitted {
			word = ScanRevoked // in the moment in which it was scanned
		}
		_, err := tx.Exec(ctx, noteScanSQL, append(args, wayOf(s.Out), word)...)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("orders: note a scan: %w", err)
	}
	return word, nil
}

const refusedOnlineSQL = `
SELECT EXISTS (SELECT FROM scan s WHERE s.event_id = $1 AND s.key = $2 AND s.ticket_id = $3 AND s.way = 'in' AND NOT s.offline AND NOT s.admitted AND coalesce(s.said, 'again') IN ('again', 'revoked'))`

// keyOf returns the key by which a scan is kept. A device that sent a scan and got no answer in time lets people in by itself, and sends
// it once more. If the answer that it missed was a refusal, which stays as it is, the entry is a scan of its own.
func (o *Orders) keyOf(ctx context.Context, d Doorway, s Scan, t Ticket) (string, error) {
	if s.At.IsZero() || s.Out {
		return s.Key, nil
	}
	var refused bool
	if err := o.db.QueryRow(ctx, refusedOnlineSQL, d.EventID, s.Key, t.ID).Scan(&refused); err != nil {
		return "", fmt.Errorf("orders: look for the answer that a device missed: %w", err)
	}
	if refused {
		return fmt.Sprintf("let in after %x", seal.Hash(s.Key)), nil
	}
	return s.Key, nil
}

// judgePassage says what becomes of a scan after the last passage: "in", "out", or empty if there is none.
func judgePassage(out bool, last string, reentry bool) string {
	switch {
	case out && last == "in":
		return ScanOut
	case out:
		return ScanOutside
	case reentry && last == "out":
		return ScanIn
	}
	return ScanAgain
}

func wayOf(out bool) string {
	if out {
		return "out"
	}
	return "in"
}

// noteVoid keeps a scan that is not valid, with the word of its verdict, if a device let it pass before it knew.
func (o *Orders) noteVoid(ctx context.Context, d Doorway, s Scan, v Verdict) error {
	if s.At.IsZero() {
		return nil
	}
	if said, err := o.answered(ctx, d, s, &Verdict{Ticket: v.Ticket}); err != nil || said {
		return err
	}
	if _, err := o.db.Exec(ctx, noteScanSQL, d.EventID, d.id, v.Ticket.ID, s.Key, s.Place, &s.At, wayOf(s.Out), v.Word); err != nil {
		return fmt.Errorf("orders: note a scan of a ticket that is not valid: %w", err)
	}
	return nil
}

// DoorConflict is an entry that should not have been: devices that were offline did not know of each other, or of a change.
type DoorConflict struct {
	Idx      int // the seat
	Replaced bool
	Revoked  bool      // the ticket was not valid any more; with Replaced: another one took its place. Else it came in twice.
	Still    bool      // a picture or a printout of a ticket with a rotating code
	At       time.Time // of this entry
	By       string    // its device, or its entrance; empty: neither has a name
	OtherAt  time.Time // of the entry of the same seat that counts; zero: there is none
	OtherBy  string
}

// Why is "twice", "cancelled", "replaced" or "still".
func (c DoorConflict) Why() string {
	switch {
	case c.Still:
		return "still"
	case c.Replaced:
		return "replaced"
	case c.Revoked:
		return "cancelled"
	}
	return "twice"
}

// An entry after another one of its ticket, with no exit between them; or of a ticket that was not valid when the scan arrived, or of a
// picture of one, next to the entry of the ticket that is. Exits count only where people may come in again.
const conflictsSQL = `
WITH passage AS (
    SELECT s.id, s.ticket_id, t.idx, t.moved_to IS NOT NULL AS replaced, s.way, s.scanned_at, s.said, coalesce(nullif(d.name, ''), s.place) AS device, lag(s.way) OVER w AS before,
           lag(s.scanned_at) OVER w AS other_at, lag(coalesce(nullif(d.name, ''), s.place)) OVER w AS other
      FROM scan s JOIN ticket t ON t.id = s.ticket_id JOIN event e ON e.id = s.event_id LEFT JOIN door d ON d.id = s.door_id
     WHERE s.event_id = $1 AND ` + passed + ` AND (s.way = 'in' OR e.reentry) AND coalesce(s.said, 'in') <> 'revoked'
    WINDOW w AS (PARTITION BY s.ticket_id ORDER BY s.scanned_at, s.id)
)
SELECT idx, false, false, false, scanned_at, device, other_at, other FROM passage WHERE way = 'in' AND before = 'in'
 UNION ALL
SELECT t.idx, t.moved_to IS NOT NULL, s.said = 'revoked', s.said = 'still', s.scanned_at, coalesce(nullif(d.name, ''), s.place), counts.scanned_at, coalesce(counts.device, '')
  FROM scan s JOIN ticket t ON t.id = s.ticket_id LEFT JOIN door d ON d.id = s.door_id
  LEFT JOIN LATERAL (SELECT a.scanned_at, coalesce(nullif(b.name, ''), a.place) AS device
                       FROM ticket u JOIN scan a ON a.ticket_id = u.id AND a.admitted LEFT JOIN door b ON b.id = a.door_id
                      WHERE u.event_id = t.event_id AND u.idx = t.idx AND u.revoked_at IS NULL) counts ON true
 WHERE s.event_id = $1 AND s.said IN ('revoked', 'still') AND s.offline AND s.way = 'in'
 ORDER BY 5, 1`

// conflicts lists what offline devices did that the server would have refused, by time.
func (o *Orders) conflicts(ctx context.Context, event int64) ([]DoorConflict, error) {
	rows, _ := o.db.Query(ctx, conflictsSQL, event) // CollectRows has its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c DoorConflict, err error) {
		var other *time.Time
		if err = row.Scan(&c.Idx, &c.Replaced, &c.Revoked, &c.Still, &c.At, &c.By, &other, &c.OtherBy); err == nil && other != nil {
			c.OtherAt = *other
		}
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("orders: list conflicts at the door: %w", err)
	}
	return list, nil
}

// For each link the index of its scans has the newest one at its end.
const doorMarkSQL = `
SELECT concat_ws('-', floor(extract(epoch FROM clock_timestamp()) / 60)::bigint, max(d.id), count(*), count(d.revoked_at), (extract(epoch FROM max(last.received_at)) * 1000000)::bigint)
  FROM door d LEFT JOIN LATERAL (SELECT received_at FROM scan s WHERE s.door_id = d.id ORDER BY received_at DESC LIMIT 1) last ON true
 WHERE d.event_id = $1`

// DoorMark returns a text that changes with every scan at a door of the event and with every link that is made or closed. It costs a small
// part of Turnout. It changes each minute as well, for what it leaves out: tickets that are sold or cancelled, when devices were seen, and
// people who join online.
func (o *Orders) DoorMark(ctx context.Context, event int64) (mark string, err error) {
	if err := o.db.QueryRow(ctx, doorMarkSQL, event).Scan(&mark); err != nil {
		return "", fmt.Errorf("orders: mark what is known of the doors: %w", err)
	}
	return mark, nil
}

// Passage is a scan of one ticket of an order.
type Passage struct {
	Idx     int
	At      time.Time
	Said    string // the word of the verdict
	Place   string
	By      string // the device; empty: it has no name
	Offline bool   // the device had let them pass by itself
}

const passagesSQL = `
SELECT t.idx, s.scanned_at, coalesce(s.said, CASE WHEN s.admitted THEN 'in' ELSE 'again' END), s.place, coalesce(d.name, ''), s.offline
  FROM ticket t JOIN scan s ON s.ticket_id = t.id LEFT JOIN door d ON d.id = s.door_id
 WHERE t.order_id = $1 ORDER BY s.scanned_at, s.id LIMIT 200`

// Passages lists the scans of an order's tickets, the first one first, 200 at most.
func (o *Orders) Passages(ctx context.Context, order seats.ID) ([]Passage, error) {
	rows, _ := o.db.Query(ctx, passagesSQL, order) // CollectRows has its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Passage])
	if err != nil {
		return nil, fmt.Errorf("orders: list scans of an order: %w", err)
	}
	return list, nil
}
