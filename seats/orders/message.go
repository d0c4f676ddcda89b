package orders

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
)

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
	note(FieldSubject, "Say in a line what it is about.", m.Subject == "")
	note(FieldSubject, fmt.Sprintf("The subject is longer than %d characters.", mostSubject), utf8.RuneCountInString(m.Subject) > mostSubject)
	note(FieldSubject, "The subject has characters that cannot be printed.", !utf8.ValidString(m.Subject) || strings.ContainsFunc(m.Subject, unicode.IsControl))
	note(FieldText, "Write something.", m.Text == "")
	note(FieldText, fmt.Sprintf("The text is longer than %d characters.", mostText), utf8.RuneCountInString(m.Text) > mostText)
	note(FieldText, "The text has characters that cannot be printed.", !utf8.ValidString(m.Text) || strings.ContainsFunc(m.Text, bad))
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

const messageSQL = `INSERT INTO message (id, event_id, subject, text) VALUES ($1, $2, $3, $4)`

// Tell writes to all who ordered of an event, one mail for each confirmed order. A repeat with its key sends nothing.
// Errors: Mistakes; idempotency.ErrNoKey; a *seats.Refusal if the key came with other content; the database's.
func (o *Orders) Tell(ctx context.Context, event int64, key string, m Message, also seats.Also) error {
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
		if _, err := tx.Exec(ctx, errandSQL, id, event, ErrandMessage, id); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("orders: tell everybody: %w", err)
	}
	o.WakeErrands()
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
