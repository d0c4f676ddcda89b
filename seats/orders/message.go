package orders

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/text"
)

// Message is what an organizer writes to people who ordered.
type Message struct {
	Subject string
	Text    string // Markdown; may be empty if the message tells a change
	Segment Segment
	Type    int        // number of the ticket type, of SegmentType
	SendAt  *time.Time // nil: now
	Series  bool       // also to orders of the other performances to come, each by a message of its own; not if it tells a change
	Was     *Was       // nil: it tells no change
}

// Was is what held before an event was changed.
type Was struct {
	StartsAt time.Time `json:"starts_at"`
	Venue    string    `json:"venue"`
	Doors    int       `json:"doors"` // minutes before the start; 0: not said
}

// Segment is a part of the orders.
type Segment string

// Parts of the orders that a message goes to. All are of orders that hold and have an address.
const (
	SegmentAll       Segment = "all"
	SegmentType      Segment = "type"      // with a ticket of a type
	SegmentScanned   Segment = "scanned"   // with a ticket that was checked in
	SegmentUnscanned Segment = "unscanned" // with a ticket that was not
)

// Fields of a message that a Mistake is about.
const (
	FieldSubject = "subject"
	FieldText    = "text"
	FieldSegment = "segment"
	FieldSendAt  = "send_at"
)

const (
	mostSubject = 200   // characters
	mostText    = 10000 // characters
	mostWait    = 10 * 366 * 24 * time.Hour
)

func (m Message) tidy() Message {
	m.Subject, m.Text = strings.Join(strings.Fields(m.Subject), " "), strings.TrimSpace(strings.ReplaceAll(m.Text, "\r\n", "\n"))
	if m.Segment == "" {
		m.Segment = SegmentAll
	}
	if m.Segment != SegmentType {
		m.Type = 0
	}
	if m.Was != nil { // other performances had another start
		m.Series = false
	}
	return m
}

// Check returns Mistakes if a message cannot be sent.
func (m Message) Check() error {
	m = m.tidy()
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
	note(FieldText, text.Mark("Enter a message."), m.Text == "" && m.Was == nil)
	note(FieldText, text.Mark("The text is longer than 10,000 characters."), utf8.RuneCountInString(m.Text) > mostText)
	note(FieldText, text.Mark("The text has characters that cannot be printed."),
		!utf8.ValidString(m.Text) || strings.ContainsFunc(m.Text, bad) || m.Was != nil && strings.ContainsFunc(m.Was.Venue, unicode.IsControl))
	switch m.Segment {
	case SegmentAll, SegmentType, SegmentScanned, SegmentUnscanned:
		note(FieldSegment, text.Mark("Choose who gets the message."), m.Type < 0 || m.Type > math.MaxInt32)
	default:
		note(FieldSegment, text.Mark("Choose who gets the message."), true)
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// inSegment holds for orders o that a message to a segment goes to. Tickets that were sent to friends are theirs. seg has its segment and type.
const inSegment = `o.state = 'confirmed' AND o.email <> '' AND CASE seg.segment
      WHEN 'type' THEN EXISTS (SELECT FROM ticket t WHERE t.order_id = o.id AND t.revoked_at IS NULL AND t.type = seg.type AND NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = t.id AND f.accepted_at IS NOT NULL))
      WHEN 'scanned' THEN EXISTS (SELECT FROM ticket t JOIN scan s ON s.ticket_id = t.id AND s.admitted WHERE t.order_id = o.id AND NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = t.id AND f.accepted_at IS NOT NULL))
      WHEN 'unscanned' THEN EXISTS (SELECT FROM ticket t WHERE t.order_id = o.id AND t.revoked_at IS NULL AND NOT EXISTS (SELECT FROM scan s WHERE s.ticket_id = t.id AND s.admitted) AND NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = t.id AND f.accepted_at IS NOT NULL))
      ELSE true END`

// toldEvents are event $1 and, with $2, the other performances of its series that are to come.
const toldEvents = `
SELECT id FROM event WHERE id = $1
 UNION
SELECT e.id FROM event e JOIN event o ON o.id = $1 AND o.series_id = e.series_id WHERE $2::boolean AND e.starts_at > clock_timestamp() AND e.status NOT IN ('draft', 'cancelled')`

// Audience is how many orders a segment has.
type Audience struct {
	Segment  Segment
	Type     int
	TypeName string
	Orders   int
}

const audiencesSQL = `
WITH told AS (` + toldEvents + `)
SELECT seg.segment, coalesce(seg.type, 0), seg.name, count(o.id)
  FROM (VALUES (1, 'all', NULL::integer, ''), (3, 'unscanned', NULL, ''), (4, 'scanned', NULL, '')
         UNION ALL SELECT 2, 'type', number, name FROM ticket_type WHERE event_id = $1 AND EXISTS (SELECT FROM ticket_type WHERE event_id = $1 AND number = 1)) seg(place, segment, type, name)
  LEFT JOIN orders o ON o.event_id IN (SELECT id FROM told) AND ` + inSegment + `
 GROUP BY seg.place, seg.segment, seg.type, seg.name ORDER BY seg.place, seg.type`

const performancesSQL = `SELECT count(*) FROM (` + toldEvents + `) told WHERE id <> $1`

// Audiences lists the segments of an event with their orders, and how many other performances a message may also go to. With
// series the orders of those count, too.
func (o *Orders) Audiences(ctx context.Context, event int64, series bool) (list []Audience, others int, err error) {
	rows, err := o.db.Query(ctx, audiencesSQL, event, series)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Audience])
	}
	if err == nil {
		err = o.db.QueryRow(ctx, performancesSQL, event, true).Scan(&others)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("orders: count who gets a message: %w", err)
	}
	return list, others, nil
}

const messageSQL = `INSERT INTO message (id, event_id, subject, text, segment, type, was) VALUES ($1, $2, $3, $4, $5, $6, $7)`

// A message that waits is a bulk job that is taken until its time.
const tellSQL = `
INSERT INTO errand (id, event_id, kind, message_id, send_at, taken_until) VALUES ($1, $2, 'message', $1, $3::timestamptz, coalesce($3::timestamptz, '-infinity'))`

const mayWaitSQL = `SELECT $1::timestamptz > clock_timestamp() AND $1 < clock_timestamp() + make_interval(secs => $2)`

// Tell writes to the people of a segment, one mail for each confirmed order, now or at a time. A repeat with its key sends nothing.
// Errors: Mistakes; idempotency.ErrNoKey; a *seats.Conflict if the key came with other content; the database's.
func (o *Orders) Tell(ctx context.Context, event int64, key string, m Message, also seats.TxHook) error {
	m = m.tidy()
	k, err := idempotency.New(fmt.Sprintf("message/%d", event), key, m)
	if err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return err
	}
	_, err = o.once(ctx, k, func(tx pgx.Tx) error { return m.write(ctx, tx, event, also) })
	if err != nil {
		var wrong Mistakes
		if errors.As(err, &wrong) {
			return wrong
		}
		return fmt.Errorf("orders: tell everybody: %w", err)
	}
	o.WakeBulkJobs()
	return nil
}

const hasTypeSQL = `SELECT EXISTS (SELECT FROM ticket_type WHERE event_id = $1 AND number = $2)`

// checkType refuses the people with a type of ticket that the event does not have.
func (m Message) checkType(ctx context.Context, tx pgx.Tx, event int64) error {
	if m.Segment != SegmentType {
		return nil
	}
	has := false
	if err := tx.QueryRow(ctx, hasTypeSQL, event, m.Type).Scan(&has); err != nil {
		return err
	}
	if !has {
		return Mistakes{{FieldSegment, text.Mark("Choose who gets the message.")}}
	}
	return nil
}

// write writes the message of each event with its bulk job.
func (m Message) write(ctx context.Context, tx pgx.Tx, event int64, also seats.TxHook) error {
	if err := m.checkType(ctx, tx, event); err != nil {
		return err
	}
	if m.SendAt != nil {
		may := false
		if err := tx.QueryRow(ctx, mayWaitSQL, *m.SendAt, mostWait.Seconds()).Scan(&may); err != nil {
			return err
		}
		if !may {
			return Mistakes{{FieldSendAt, text.Mark("Choose a time in the future, within ten years.")}}
		}
	}
	rows, err := tx.Query(ctx, toldEvents, event, m.Series)
	if err != nil {
		return err
	}
	events, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, e := range events {
		id, err := m.save(ctx, tx, e)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, tellSQL, id, e, m.SendAt); err != nil {
			return err
		}
	}
	return also.Run(ctx, tx)
}

const tellChangeSQL = `
WITH told AS (
    INSERT INTO message (id, event_id, subject, text, segment, was)
    SELECT $1, $2, $3, '', 'all', $4 WHERE EXISTS (SELECT FROM orders WHERE event_id = $2 AND state = 'confirmed' AND email <> '')
        OR EXISTS (SELECT FROM ticket_transfer WHERE event_id = $2 AND accepted_at IS NOT NULL AND email <> '')
    RETURNING id, event_id
)
INSERT INTO errand (id, event_id, kind, message_id) SELECT id, event_id, 'message', id FROM told`

// TellChange writes what held before a change to everyone who ordered, in the transaction of the change. Wake the bulk jobs then.
func (o *Orders) TellChange(event int64, subject string, was Was) seats.TxHook {
	return func(q *pgx.Batch) { q.Queue(tellChangeSQL, seats.NewID(), event, subject, was) }
}

func (m Message) save(ctx context.Context, tx pgx.Tx, event int64) (seats.ID, error) {
	id := seats.NewID()
	var kind *int
	if m.Segment == SegmentType {
		kind = &m.Type
	}
	_, err := tx.Exec(ctx, messageSQL, id, event, m.Subject, m.Text, m.Segment, kind, m.Was)
	return id, err
}

// MailMessageTest is a message that goes to its writer alone.
const MailMessageTest = "message-test"

const testMessageSQL = `INSERT INTO mail (kind, email, message_id, language) VALUES ('message-test', $1, $2, $3)`

// TryMessage sends a message to the address of its writer alone. A repeat with its key sends nothing. Errors: those of Tell.
func (o *Orders) TryMessage(ctx context.Context, event int64, key string, m Message, to string, also seats.TxHook) error {
	m = m.tidy()
	k, err := idempotency.New(fmt.Sprintf("message-test/%d", event), key, m, to)
	if err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return err
	}
	_, err = o.once(ctx, k, func(tx pgx.Tx) error {
		if err := m.checkType(ctx, tx, event); err != nil {
			return err
		}
		id, err := m.save(ctx, tx, event)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, testMessageSQL, to, id, text.Tag(ctx)); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("orders: try a message: %w", err)
	}
	o.mailWritten()
	return nil
}

const stopMessageSQL = `
UPDATE errand SET ended_at = clock_timestamp(), stopped_at = clock_timestamp()
 WHERE id = $1 AND event_id = $2 AND kind = 'message' AND ended_at IS NULL AND send_at > clock_timestamp() AND done = 0`

// CodeBegun refuses to take a message back that is being sent.
const CodeBegun = "over"

const hasMessageSQL = `SELECT EXISTS (SELECT FROM errand WHERE id = $1 AND event_id = $2 AND kind = 'message')`

// ErrNoMessage says that an event has no such message.
var ErrNoMessage = errors.New("there is no such message")

// StopMessage takes a message back that waits for its time. ErrNoMessage if the event has none of this id; a *seats.Conflict if it
// is being sent, was sent or was taken back.
func (o *Orders) StopMessage(ctx context.Context, event int64, message seats.ID, also seats.TxHook) error {
	has := false
	if err := o.db.QueryRow(ctx, hasMessageSQL, message, event).Scan(&has); err != nil {
		return fmt.Errorf("orders: take a message back: %w", err)
	}
	if !has {
		return ErrNoMessage
	}
	stopped, err := o.execAnd(ctx, also, stopMessageSQL, message, event)
	if err != nil {
		return fmt.Errorf("orders: take a message back: %w", err)
	}
	if !stopped {
		return &seats.Conflict{Code: CodeBegun, Message: text.Mark("This message no longer waits: it was sent or taken back.")}
	}
	return nil
}

const tellSomeSQL = `
WITH next AS (
    SELECT o.id FROM orders o, message seg
     WHERE seg.id = $3 AND o.event_id = $2 AND NOT EXISTS (SELECT FROM errand_order v WHERE v.errand_id = $1 AND v.order_id = o.id) AND ` + inSegment + `
     ORDER BY o.created_at, o.id LIMIT 500
), mails AS (
    INSERT INTO mail (order_id, kind, message_id) SELECT id, 'message', $3 FROM next ON CONFLICT DO NOTHING
), friends AS (
    SELECT DISTINCT ON (f.order_id, lower(f.email)) f.id
      FROM message seg JOIN ticket_transfer f ON f.event_id = $2 AND f.accepted_at IS NOT NULL AND f.email <> '' JOIN ticket t ON t.id = f.ticket_id AND t.revoked_at IS NULL
      LEFT JOIN scan s ON s.ticket_id = t.id AND s.admitted
     WHERE seg.id = $3 AND CASE seg.segment WHEN 'type' THEN t.type = seg.type WHEN 'scanned' THEN s.id IS NOT NULL WHEN 'unscanned' THEN s.id IS NULL ELSE true END
       AND NOT EXISTS (SELECT FROM mail m JOIN ticket_transfer g ON g.id = m.transfer_id WHERE m.message_id = $3 AND g.order_id = f.order_id AND lower(g.email) = lower(f.email))
     ORDER BY f.order_id, lower(f.email), f.accepted_at LIMIT 500
), theirs AS (
    INSERT INTO mail (transfer_id, kind, message_id) SELECT id, 'message', $3 FROM friends ON CONFLICT DO NOTHING
), been AS (
    INSERT INTO errand_order (errand_id, order_id) SELECT $1, id FROM next ON CONFLICT DO NOTHING RETURNING order_id
)
UPDATE errand SET done = done + (SELECT count(*) FROM been) WHERE id = $1 AND ended_at IS NULL
RETURNING (SELECT count(*) FROM next) + (SELECT count(*) FROM friends)`

// tellSome writes the mails of a message to some more orders, and to the friends who have tickets of them.
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

const messageOfSQL = `SELECT m.subject, m.text, m.segment, coalesce(m.type, 0), m.was, e.slug FROM message m JOIN mail l ON l.message_id = m.id JOIN event e ON e.id = m.event_id WHERE l.id = $1`

// MessageOf is what a mail of the outbox says, if an organizer wrote it, and the event that it is about.
func (o *Orders) MessageOf(ctx context.Context, mail int64) (m Message, event string, err error) {
	if err = o.db.QueryRow(ctx, messageOfSQL, mail).Scan(&m.Subject, &m.Text, &m.Segment, &m.Type, &m.Was, &event); err != nil {
		return m, "", fmt.Errorf("orders: read a message: %w", err)
	}
	return m, event, nil
}
