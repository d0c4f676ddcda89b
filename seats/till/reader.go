package till

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// CodeReader is the code of a refusal: the till has no card reader, or the reader cannot be used now.
const CodeReader = "card_reader"

const readerSQL = `UPDATE till_session SET reader = $2, reader_label = $3 WHERE id = $1`

// UseReader sets the card reader of a session of the member, with audit; an empty one takes it away. The next session of the member
// begins with it.
//
// Errors: *seats.ValidationError; a *seats.Conflict if the session is closed; the database's.
func UseReader(ctx context.Context, d *organizers.Desk, m organizers.Member, id int64, reader, label string, audit seats.TxHook) error {
	err := d.As(ctx, m, func(tx pgx.Tx) error {
		if _, err := lock(ctx, tx, m, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, readerSQL, id, reader, label); err != nil {
			return err
		}
		return audit.Run(ctx, tx)
	})
	if err != nil && err != errNoSession && err != errClosed {
		return fmt.Errorf("till: choose a card reader: %w", err)
	}
	return err
}

// ReaderOf returns the open session of a member in a currency, with which a card reader takes money.
//
// Errors: a *seats.Conflict if none is open, or if it has no reader; the database's.
func ReaderOf(ctx context.Context, d *organizers.Desk, m organizers.Member, currency string) (Session, error) {
	if m.Test {
		return Session{}, &seats.Conflict{Code: CodeReader, Message: text.Mark("A test sale takes no cards. Nothing was sold.")}
	}
	list, err := Current(ctx, d, m)
	if err != nil {
		return Session{}, err
	}
	s, open := InCurrency(list, currency)
	switch {
	case !open:
		return s, errSellClosed
	case s.Reader == "":
		return s, &seats.Conflict{Code: CodeReader, Message: text.Mark("Your till has no card reader. Nothing was sold. Choose one at your till first.")}
	}
	return s, nil
}

const takesSQL = `SELECT till_takes($1)`

const openTill = "a payment begins in an open till"

// Begin calls begin with what makes sure that a session is open when a payment at a card reader begins in it, in the transaction that
// begins it. It is not closed until that payment is over.
//
// Errors: a *seats.Conflict if it is closed; those of begin.
func Begin(session int64, begin func(also seats.TxHook) error) error {
	err := begin(func(q *pgx.Batch) { q.Queue(takesSQL, session) })
	if seats.IsConstraint(err, openTill) {
		return errSellClosed
	}
	return err
}

// NoteCancel notes that a member asks to cancel the payment with a code at a card reader, which is ended next if no card was charged. A repeat of the form notes nothing
// more. Errors are those of Desk.Change.
func NoteCancel(ctx context.Context, d *organizers.Desk, m organizers.Member, key, code, subject string, detail map[string]any) error {
	return change(ctx, d, m, key, []any{"cancel", code}, func(tx pgx.Tx) error {
		return organizers.Note(ctx, tx, m, text.Mark("asked to cancel a sale at the card reader"), subject, detail)
	})
}

const cardSaleSQL = `
INSERT INTO till_entry (session_id, kind, method, amount, order_id, tickets)
SELECT till_session_for($1), 'sale', w.method, w.amount, o.id, CASE WHEN w.leads THEN (SELECT count(*) FROM ticket WHERE order_id = o.id) ELSE 0 END
  FROM orders o, LATERAL (SELECT 'card', o.total - $3, true WHERE o.total > $3 OR $3 = 0 UNION ALL SELECT 'credit', $3::bigint, o.total = $3 WHERE $3 > 0) w (method, amount, leads)
 WHERE o.id = $2`

// QueueCardSale writes the entries of an order that a card reader was paid for, in the transaction that makes the order: of what a gift
// card paid of it, and of the rest.
func QueueCardSale(q *pgx.Batch, session int64, order seats.ID, byCard int64) {
	q.Queue(cardSaleSQL, session, order, byCard)
}
