package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Kinds of bulk jobs: changes of every order of an event.
const (
	BulkCancel  = "cancel"  // their tickets are cancelled, and what was paid goes back
	BulkMessage = "message" // mail goes to the buyers
)

const bulkJobSQL = `INSERT INTO errand (id, event_id, kind) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

// CancelAll begins to give every order of an event back, with what it is queued into: the event being called off. WakeBulkJobs
// after that was committed.
func (o *Orders) CancelAll(event int64) seats.TxHook {
	return func(q *pgx.Batch) {
		q.Queue(bulkJobSQL, idOf(BulkCancel, event), event, BulkCancel)
	}
}

// WakeBulkJobs makes this node look for bulk jobs now.
func (o *Orders) WakeBulkJobs() { o.jobs.bulk.Wake() }

const bulkAtOnce = 50 // that are given back before the bulk job is taken anew

// A bulk job under way, as it was taken.
type bulkJob struct {
	id      seats.ID
	event   string // slug
	eventID int64
	kind    string
	message *seats.ID
}

const takeBulkJobSQL = `
UPDATE errand r SET taken_until = clock_timestamp() + interval '1 minute'
  FROM event e
 WHERE e.id = r.event_id
   AND r.id = (SELECT id FROM errand WHERE ended_at IS NULL AND taken_until <= clock_timestamp() ORDER BY begun_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING r.id, e.slug, e.id, r.kind, r.message_id`

const releaseBulkJobSQL = `UPDATE errand SET taken_until = clock_timestamp(), ended_at = CASE WHEN $2 THEN clock_timestamp() END WHERE id = $1`

// RunBulkJob takes one bulk job a step further. It reports whether there was one.
func (o *Orders) RunBulkJob(ctx context.Context) (was bool, err error) {
	var e bulkJob
	err = o.db.QueryRow(ctx, takeBulkJobSQL).Scan(&e.id, &e.event, &e.eventID, &e.kind, &e.message)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	var ended bool
	if err == nil && e.kind == BulkMessage {
		ended, err = o.tellSome(ctx, e)
	} else if err == nil {
		ended, err = o.cancelSome(ctx, e)
	}
	if err != nil {
		return false, fmt.Errorf("orders: bulk job to %s: %w", e.kind, err)
	}
	if _, err := o.db.Exec(ctx, releaseBulkJobSQL, e.id, ended); err != nil {
		return false, fmt.Errorf("orders: release a bulk job: %w", err)
	}
	return true, nil
}

const cancelNextSQL = `
SELECT code FROM orders o
 WHERE o.event_id = $2 AND o.state = 'confirmed' AND NOT EXISTS (SELECT FROM errand_order v WHERE v.errand_id = $1 AND v.order_id = o.id)
 ORDER BY o.created_at, o.id LIMIT $3`

const beenSQL = `
WITH been AS (
    INSERT INTO errand_order (errand_id, order_id, refused) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING refused
)
UPDATE errand SET done = done + CASE been.refused WHEN '' THEN 1 ELSE 0 END, refused = errand.refused + CASE been.refused WHEN '' THEN 0 ELSE 1 END,
       taken_until = clock_timestamp() + interval '1 minute'
  FROM been WHERE errand.id = $1`

// cancelSome gives some orders back. Each is noted in the transaction that frees its seats.
func (o *Orders) cancelSome(ctx context.Context, e bulkJob) (ended bool, err error) {
	s, err := o.office.Sale(ctx, e.event)
	if err != nil {
		return false, err
	}
	codes, err := texts(ctx, o.db, cancelNextSQL, e.id, e.eventID, bulkAtOnce)
	if err != nil {
		return false, err
	}
	for _, code := range codes {
		if err := o.cancelFor(ctx, s, e, code); err != nil {
			return false, err
		}
	}
	return len(codes) == 0, nil
}

func texts(ctx context.Context, db seats.DB, sql string, args ...any) ([]string, error) {
	rows, _ := db.Query(ctx, sql, args...) // CollectRows returns its error
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// cancelFor gives one order back, except tickets that were checked in. If they changed in this moment, it looks once more.
func (o *Orders) cancelFor(ctx context.Context, s *seats.Sale, e bulkJob, code string) error {
	err := o.cancelOnce(ctx, s, e, code, false)
	if errors.Is(err, errChanged) {
		err = o.cancelOnce(ctx, s, e, code, true)
	}
	return err
}

var errChanged = errors.New("the tickets changed in this moment")

func (o *Orders) cancelOnce(ctx context.Context, s *seats.Sale, e bulkJob, code string, last bool) error {
	order, err := o.Find(ctx, code)
	if err != nil {
		return err
	}
	var unused []seats.ID
	refused := ""
	for _, t := range order.Tickets {
		switch {
		case t.Revoked:
		case t.In != nil:
			refused = text.Mark("A ticket of this order was already used.")
		default:
			unused = append(unused, t.ID)
		}
	}
	been := func(q *pgx.Batch) { q.Queue(beenSQL, e.id, order.ID, refused) }
	if len(unused) > 0 {
		err = o.RevokeAnd(ctx, s, order, false, been, unused...)
		var refusal *seats.Conflict
		if !errors.As(err, &refusal) {
			return err
		}
		if refusal.Code == seats.CodeChanged && !last {
			return errChanged
		}
		refused = refusal.Error() // a person has to look at it
	}
	var q pgx.Batch
	been(&q)
	return o.db.SendBatch(ctx, &q).Close()
}

// BulkJobStatus is how far a bulk job is.
type BulkJobStatus struct {
	ID        seats.ID
	Kind      string
	Message   Message // if it is one
	TypeName  string  // of the ticket type that the message goes to
	BegunAt   time.Time
	SendAt    *time.Time // a message that waits until then
	StoppedAt *time.Time // when it was taken back before
	EndedAt   *time.Time
	Done      int // orders
	Refused   int // orders that it could not be done to
	Sent      int // mails of a message that went out
	Bounced   int // mails that the receiver's server refused
}

const bulkJobsSQL = `
SELECT r.id, r.kind, coalesce(m.subject, ''), coalesce(m.text, ''), coalesce(m.segment, ''), coalesce(m.type, 0), m.was,
       coalesce((SELECT name FROM ticket_type t WHERE t.event_id = r.event_id AND t.number = m.type), ''), r.begun_at, r.send_at, r.stopped_at, r.ended_at, r.done, r.refused, n.sent, n.bounced
  FROM errand r LEFT JOIN message m ON m.id = r.message_id,
       LATERAL (SELECT count(sent_at) AS sent, count(refused_at) AS bounced FROM mail WHERE message_id = r.message_id AND order_id IS NOT NULL) n
 WHERE r.event_id = $1 ORDER BY r.begun_at DESC LIMIT 100`

// BulkJobs lists what was done or is being done to all orders of an event, the latest first.
func (o *Orders) BulkJobs(ctx context.Context, event int64) ([]BulkJobStatus, error) {
	rows, err := o.db.Query(ctx, bulkJobsSQL, event)
	if err != nil {
		return nil, fmt.Errorf("orders: list bulk jobs: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (j BulkJobStatus, err error) {
		m := &j.Message
		return j, row.Scan(&j.ID, &j.Kind, &m.Subject, &m.Text, &m.Segment, &m.Type, &m.Was, &j.TypeName, &j.BegunAt, &j.SendAt, &j.StoppedAt, &j.EndedAt, &j.Done, &j.Refused, &j.Sent, &j.Bounced)
	})
	if err != nil {
		return nil, fmt.Errorf("orders: list bulk jobs: %w", err)
	}
	return list, nil
}
