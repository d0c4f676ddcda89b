package credit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Statement is what an address has in one currency, and how it came about.
type Statement struct {
	Currency string
	Balance  int64 // minor units
	Lines    []Line
	Older    bool // there are lines before these
}

// Line is one thing that moved a balance. The lines of a statement sum to its balance, unless there are older ones.
type Line struct {
	At     time.Time
	Kind   string // voucher, grant, held, paid, refund
	Amount int64  // minor units; less than zero: the balance went down
	Order  string // code; empty if it is about no order
	Event  string // its name
}

// mostLines is how many lines of an account are read.
const mostLines = 200

// One statement, so that balance and lines are of one moment. A hold and what became of it are one line; a hold that was
// voided whole is none.
const statementSQL = `
SELECT a.currency, a.balance, line.at, coalesce(line.kind, ''), coalesce(line.amount, 0), coalesce(o.code, ''), coalesce(e.name, '')
  FROM credit_account a
       LEFT JOIN LATERAL (
           SELECT t.at, CASE WHEN t.kind IN ('load', 'move') THEN 'voucher' ELSE t.kind END AS kind, t.amount, coalesce(t.order_id, h.order_id) AS order_id
             FROM credit_transfer t LEFT JOIN credit_hold h ON h.id = t.hold_id
            WHERE t.to_id = a.id AND t.kind IN ('load', 'move', 'grant', 'refund')
            UNION ALL
           SELECT h.created_at, CASE h.state WHEN 'open' THEN 'held' ELSE 'paid' END,
                  CASE h.state WHEN 'open' THEN -h.amount ELSE -h.captured END, h.order_id
             FROM credit_hold h
            WHERE h.account_id = a.id AND h.state <> 'voided'
            ORDER BY at DESC
            LIMIT $2) line ON true
       LEFT JOIN orders o ON o.id = line.order_id
       LEFT JOIN event e ON e.id = o.event_id
 WHERE a.kind = 'attendee' AND a.email = $1
 ORDER BY a.currency, line.at DESC`

// Statements returns what an address has, by currency, the latest line first. Who never had credit has none.
func (l *Ledger) Statements(ctx context.Context, email string) (list []Statement, err error) {
	email, err = Address(email)
	if err != nil {
		return nil, err
	}
	rows, err := l.db.Query(ctx, statementSQL, email, mostLines+1)
	if err != nil {
		return nil, fmt.Errorf("credit: statement: %w", err)
	}
	var s Statement
	var line Line
	var at *time.Time
	_, err = pgx.ForEachRow(rows, []any{&s.Currency, &s.Balance, &at, &line.Kind, &line.Amount, &line.Order, &line.Event}, func() error {
		if len(list) == 0 || list[len(list)-1].Currency != s.Currency {
			list = append(list, s)
		}
		if at != nil {
			line.At = *at
			list[len(list)-1].add(line)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("credit: statement: %w", err)
	}
	return list, nil
}

func (s *Statement) add(line Line) {
	if len(s.Lines) == mostLines {
		s.Older = true
		return
	}
	s.Lines = append(s.Lines, line)
}

const balanceSQL = `SELECT balance FROM credit_account WHERE kind = 'attendee' AND email = $1 AND currency = $2`

// Balance is what an address has in a currency, in minor units: nothing if it never had credit.
func (l *Ledger) Balance(ctx context.Context, email, currency string) (minor int64, err error) {
	email, err = Address(email)
	if err != nil {
		return 0, err
	}
	err = l.db.QueryRow(ctx, balanceSQL, email, currency).Scan(&minor)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("credit: balance: %w", err)
	}
	return minor, nil
}
