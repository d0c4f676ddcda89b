package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/text"
)

// Kinds of bulk jobs: changes of every order of an event.
const (
	BulkCancel  = "cancel"  // their tickets are cancelled, and what was paid goes back
	BulkMessage = "message" // mail goes to the buyers
)

const bulkJobSQL = `INSERT INTO errand (id, event_id, kind, message_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`

// CancelAll begins to give every order of an event back, with what it is queued into: the event being called off. WakeBulkJobs
// after that was committed.
func (o *Orders) CancelAll(event int64) seats.TxHook {
	return func(q *pgx.Batch) {
		q.Queue(bulkJobSQL, idOf(BulkCancel, event), event, BulkCancel, nil)
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

const tellSomeSQL = `
WITH next AS (
    SELECT o.id FROM orders o
     WHERE o.event_id = $2 AND o.state = 'confirmed' AND o.email <> '' AND NOT EXISTS (SELECT FROM errand_order v WHERE v.errand_id = $1 AND v.order_id = o.id)
     ORDER BY o.created_at, o.id LIMIT 500
), mails AS (
    INSERT INTO mail (order_id, kind, message_id) SELECT id, 'message', $3 FROM next ON CONFLICT DO NOTHING
), been AS (
    INSERT INTO errand_order (errand_id, order_id) SELECT $1, id FROM next ON CONFLICT DO NOTHING RETURNING order_id
)
UPDATE errand SET done = done + (SELECT count(*) FROM been) WHERE id = $1 AND ended_at IS NULL
RETURNING (SELECT count(*) FROM next)`

func (o *Orders) tellSome(ctx context.Context, e bulkJob) (ended bool, err error) {
	var n int
	err = o.db.QueryRow(ctx, tellSomeSQL, e.id, e.eventID, e.message).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil // another node ended it
	}
	if n > 0 {
		o.mailWritten()
	}
	return n == 0, err
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

// cancelFor gives one order back, except tickets that were checked in.
func (o *Orders) cancelFor(ctx context.Context, s *seats.Sale, e bulkJob, code string) error {
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
			refused = "A ticket of this order was already used."
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
		refused = refusal.Error() // a person has to look at it
	}
	var q pgx.Batch
	been(&q)
	return o.db.SendBatch(ctx, &q).Close()
}

// BulkJobStatus is how far a bulk job is.
type BulkJobStatus struct {
	Kind    string
	Subject string // of a message
	Text    string
	BegunAt time.Time
	EndedAt *time.Time
	Done    int // orders
	Refused int // orders that it could not be done to
}

const bulkJobsSQL = `
SELECT r.kind, coalesce(m.subject, ''), coalesce(m.text, ''), r.begun_at, r.ended_at, r.done, r.refused
  FROM errand r LEFT JOIN message m ON m.id = r.message_id
 WHERE r.event_id = $1 ORDER BY r.begun_at DESC LIMIT 100`

// BulkJobs lists what was done or is being done to all orders of an event, the latest first.
func (o *Orders) BulkJobs(ctx context.Context, event int64) ([]BulkJobStatus, error) {
	rows, err := o.db.Query(ctx, bulkJobsSQL, event)
	if err != nil {
		return nil, fmt.Errorf("orders: list bulk jobs: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[BulkJobStatus])
	if err != nil {
		return nil, fmt.Errorf("orders: list bulk jobs: %w", err)
	}
	return list, nil
}

// Message is what an organizer writes to everybody who ordered.
type Message struct{ Subject, Text string }

// Fields of a message that a Mistake is about.
const (
	FieldSubject = "subject"
	FieldText    = "text"
)

const (
	mostSubject = 200   // characters
	mostText    = 10000 // characters
)

func (m Message) tidy() Message {
	return Message{strings.Join(strings.Fields(m.Subject), " "), strings.TrimSpace(strings.ReplaceAll(m.Text, "\r\n", "\n"))}
}

func (m Message) check() error {
	var wrong Mistakes
	bad := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	note := func(field, message string, is bool) {
		if is {
			wrong = append(wrong, Mistake{field, message})
		}
	}
	note(FieldSubject, text.Mark("Enter a subject."), m.Subject == "")
	note(FieldSubject, text.Mark("The subject is longer than 200 characters."), utf8.RuneCountInString(m.Subject) > mostSubject)
	note(FieldSubject, text.Mark("The subject has characters that cannot be printed."), !utf8.ValidString(m.Subject) || strings.ContainsFunc(m.Subject, unicode.IsControl))
	note(FieldText, text.Mark("Enter a message."), m.Text == "")
	note(FieldText, text.Mark("The text is longer than 10,000 characters."), utf8.RuneCountInString(m.Text) > mostText)
	note(FieldText, text.Mark("The text has characters that cannot be printed."), !utf8.ValidString(m.Text) || strings.ContainsFunc(m.Text, bad))
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

const messageSQL = `INSERT INTO message (id, event_id, subject, text) VALUES ($1, $2, $3, $4)`

// Tell writes to all who ordered of an event, one mail for each confirmed order. A repeat with its key sends nothing.
// Errors: Mistakes; idempotency.ErrNoKey; a *seats.Conflict if the key came with other content; the database's.
func (o *Orders) Tell(ctx context.Context, event int64, key string, m Message, also seats.TxHook) error {
	m = m.tidy()
	k, err := idempotency.New(fmt.Sprintf("message/%d", event), key, m)
	if err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	_, err = o.once(ctx, k, func(tx pgx.Tx) error {
		id := seats.NewID()
		if _, err := tx.Exec(ctx, messageSQL, id, event, m.Subject, m.Text); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, bulkJobSQL, id, event, BulkMessage, id); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("orders: tell everybody: %w", err)
	}
	o.WakeBulkJobs()
	return nil
}

const messageOfSQL = `SELECT m.subject, m.text FROM message m JOIN mail l ON l.message_id = m.id WHERE l.id = $1`

// MessageOf is what a mail of the outbox says, if an organizer wrote it.
func (o *Orders) MessageOf(ctx context.Context, mail int64) (m Message, err error) {
	if err = o.db.QueryRow(ctx, messageOfSQL, mail).Scan(&m.Subject, &m.Text); err != nil {
		return m, fmt.Errorf("orders: read a message: %w", err)
	}
	return m, nil
}
