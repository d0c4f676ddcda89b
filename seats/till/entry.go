package till

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Kind is what an entry is.
type Kind string

// The kinds of entries.
const (
	Sale    Kind = "sale"    // an order of the box office
	Payment Kind = "payment" // of an order that was placed before
	Refund  Kind = "refund"  // of an order, paid back
	In      Kind = "in"      // paid in, with a reason
	Out     Kind = "out"     // paid out, with a reason

	Deposit     Kind = "deposit"      // of a group, before it has an order: no turnover yet
	DepositBack Kind = "deposit back" // paid out of the drawer
)

// cash is the way to pay that is in the drawer.
const cash = "cash"

// Line is the sum of entries of one kind and way to pay.
type Line struct {
	Kind    Kind
	Method  string
	Name    string // of the way to pay, as the team calls it; may be empty
	Count   int64
	Tickets int64
	Amount  int64
}

// Move is an entry that is of no order.
type Move struct {
	Kind   Kind
	Amount int64
	Reason string
	At     time.Time
}

// signed is the amount as it changes the drawer.
func (l Line) signed() int64 {
	if l.Kind.Out() {
		return -l.Amount
	}
	return l.Amount
}

// Out reports whether entries of the kind are paid out.
func (k Kind) Out() bool { return k == Refund || k == Out || k == DepositBack }

// OfOrders reports whether entries of the kind are of orders, and so of the turnover.
func (k Kind) OfOrders() bool { return k == Sale || k == Payment || k == Refund }

// Cash is what should be in the drawer.
func (s Session) Cash() int64 {
	sum := s.Opening
	for _, l := range s.Lines {
		if l.Method == cash {
			sum += l.signed()
		}
	}
	return sum
}

// Turnover is what came of orders in all ways to pay, less refunds.
func (s Session) Turnover() (sum int64) {
	for _, l := range s.Lines {
		if l.Kind.OfOrders() {
			sum += l.signed()
		}
	}
	return sum
}

// Tickets is how many were sold.
func (s Session) Tickets() (n int64) {
	for _, l := range s.Lines {
		n += l.Tickets
	}
	return n
}

const linesSQL = `
SELECT kind, method, name, count(*), sum(tickets)::bigint, sum(amount)::bigint FROM till_entry WHERE session_id = $1
 GROUP BY kind, method, name ORDER BY array_position('{sale,payment,refund,deposit,"deposit back",in,out}', kind), method, name`

func lines(ctx context.Context, tx pgx.Tx, session int64) ([]Line, error) {
	rows, err := tx.Query(ctx, linesSQL, session)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Line])
}

// Tickets are counted once: with what is paid beside a gift card, if there is such a rest. Those of an exchange were sold before.
const saleSQL = `
INSERT INTO till_entry (session_id, kind, method, name, amount, order_id, tickets)
SELECT till_session_for($1), 'sale', w.method, CASE w.method WHEN 'terminal' THEN $3 ELSE '' END, w.amount, o.id,
       CASE WHEN w.method = o.method AND NOT EXISTS (SELECT FROM exchange WHERE to_order = o.id) THEN (SELECT count(*) FROM ticket WHERE order_id = o.id) ELSE 0 END
  FROM orders o, LATERAL (SELECT o.method, o.received AS amount WHERE o.received > 0 OR $4 = 0 UNION ALL SELECT 'credit', $4::bigint WHERE $4 > 0) w
 WHERE o.id = $2`

// OfSale returns what writes the entries of an order that the box office makes, in the transaction that makes it: of what a gift card
// paid of it, and of the rest. name is that of the way to pay beside cash and the card terminal, or empty.
func OfSale(session int64, name string) func(q *pgx.Batch, order seats.ID, byCard int64) {
	return func(q *pgx.Batch, order seats.ID, byCard int64) { q.Queue(saleSQL, session, order, name, byCard) }
}

const paymentSQL = `
INSERT INTO till_entry (session_id, kind, method, name, amount, order_id)
SELECT till_session_for($1), 'payment', $3, $4, r.amount, o.id
  FROM orders o, LATERAL (SELECT amount FROM receipt WHERE order_id = o.id ORDER BY at DESC LIMIT 1) r WHERE o.code = $2`

// OfPayment returns what writes the entry of an order that was placed before and is paid at the till, after its receipt was written.
func OfPayment(session int64, order, method, name string) seats.TxHook {
	return func(q *pgx.Batch) { q.Queue(paymentSQL, session, order, method, name) }
}

// The refunds were noted as paid out by the statement before, in this transaction.
const refundSQL = `
INSERT INTO till_entry (session_id, kind, method, amount, order_id)
SELECT till_session_for($1), 'refund', $3, sum(r.amount - r.by_credit), o.id
  FROM orders o JOIN refund r ON r.order_id = o.id WHERE o.code = $2 AND r.by_hand AND r.done_at >= transaction_timestamp() GROUP BY o.id`

// OfRefund returns what writes the entry of refunds that are paid back at the till, after they were noted as paid out.
func OfRefund(session int64, order, method string) seats.TxHook {
	return func(q *pgx.Batch) { q.Queue(refundSQL, session, order, method) }
}

const depositSQL = `
INSERT INTO till_entry (session_id, kind, method, amount, deposit_id)
SELECT till_session_for($1), $3, $4, amount, booking_id FROM deposit WHERE booking_id = $2`

// OfDeposit returns what writes the entry of a deposit that came into a session, or with back was paid out of its drawer, after it was noted.
func OfDeposit(session int64, booking seats.ID, method string, back bool) seats.TxHook {
	kind := Deposit
	if back {
		kind = DepositBack
	}
	return func(q *pgx.Batch) { q.Queue(depositSQL, session, booking, kind, method) }
}

const moveSQL = `INSERT INTO till_entry (session_id, kind, method, amount, reason) VALUES ($1, $2, 'cash', $3, $4)`

// Moving is cash that is put into the drawer or taken out, for no order.
type Moving struct {
	Kind   Kind  // In or Out
	Amount int64 // minor units
	Reason string
}

// Add notes cash that a member puts into the drawer of their session, or takes out. A repeat of the form changes nothing more.
//
// Errors: *seats.ValidationError; a *seats.Conflict if the session is closed or the drawer has less; those of Desk.Change.
func Add(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, id int64, v Moving) error {
	v.Reason = strings.TrimSpace(v.Reason)
	if v.Kind != In && v.Kind != Out || v.Amount <= 0 || v.Amount > mostCash || v.Reason == "" || !seats.OneLine(v.Reason, seats.MostReason) {
		return &seats.ValidationError{Message: text.Mark("Enter an amount, such as 10.00, and a reason. Nothing was changed.")}
	}
	return change(ctx, d, m, key, []any{"add", id, v}, func(tx pgx.Tx) error {
		s, err := lock(ctx, tx, m, id)
		if err != nil {
			return err
		}
		if s.Lines, err = lines(ctx, tx, id); err != nil {
			return err
		}
		if v.Kind == Out && v.Amount > s.Cash() {
			return &seats.Conflict{Code: CodeMoney, Message: text.Mark("There is less than that in the drawer. Nothing was changed.")}
		}
		if _, err := tx.Exec(ctx, moveSQL, id, v.Kind, v.Amount, v.Reason); err != nil {
			return err
		}
		what := text.Mark("put cash into the till")
		if v.Kind == Out {
			what = text.Mark("took cash from the till")
		}
		return organizers.Note(ctx, tx, m, what, subject(id), map[string]any{"amount": v.Amount, "currency": s.Currency, "reason": v.Reason})
	})
}

const (
	findSQL  = sessionColumns + `WHERE id = $1 AND ($2 = 0 OR organizer_id = $2 AND key_id = $3)`
	movesSQL = `SELECT kind, amount, reason, at FROM till_entry WHERE session_id = $1 AND kind IN ('in', 'out') ORDER BY at, id`
)

// Find returns a session with its lines and moves: one of the member's own, or of the team for those who may see its figures. A
// *seats.ValidationError if there is none.
func Find(ctx context.Context, d *organizers.Desk, m organizers.Member, id int64) (s Session, err error) {
	own := m.Organizer
	if m.May(organizers.Look) {
		own = 0
	}
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, findSQL, id, own, m.Key)
		if err != nil {
			return err
		}
		found, err := pgx.CollectRows(rows, scanSession)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return errNoSession
		}
		s = found[0]
		if s.Lines, err = lines(ctx, tx, id); err != nil {
			return err
		}
		rows, err = tx.Query(ctx, movesSQL, id)
		if err != nil {
			return err
		}
		s.Moves, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Move])
		return err
	})
	switch {
	case err == errNoSession:
		return s, err
	case err != nil:
		return s, fmt.Errorf("till: find a session: %w", err)
	}
	return s, nil
}
