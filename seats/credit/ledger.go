package credit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/usherbox/usher/seats"
)

// What may be said of a request without anything being broken. Nothing was moved then.
var (
	ErrShort    = errors.New("there is not enough credit")
	ErrNoHold   = errors.New("there is no such hold of credit")
	ErrCaptured = errors.New("this credit was captured already")
	ErrVoided   = errors.New("this credit was given back already")
	ErrDiffers  = errors.New("this was asked for before, with other words")
	ErrTooMuch  = errors.New("this is more than there is to move")
	ErrAddress  = errors.New("this is not an address of mail")
	ErrAmount   = errors.New("this is not an amount of a currency")
)

// Ledger moves credit. One is enough for a node.
type Ledger struct {
	db     seats.DB
	opened sync.Map // currencies with house accounts

	take string // what a hold is made with: takeSQL
}

// New returns the ledger of a database.
func New(db seats.DB) *Ledger { return &Ledger{db: db, take: takeSQL} }

// Amount is money: minor units of a currency.
type Amount struct {
	Minor    int64
	Currency string // ISO 4217
}

// Address is seats.NormalEmail. ErrAddress if the text is none.
func Address(text string) (string, error) {
	address, ok := seats.NormalEmail(text)
	if !ok {
		return "", ErrAddress
	}
	return address, nil
}

const openAccountsSQL = `
INSERT INTO credit_account (kind, currency)
SELECT kind, $1 FROM unnest('{held,issued,sales}'::text[]) AS kind ORDER BY kind
    ON CONFLICT DO NOTHING`

// Ready makes the house accounts for a currency. ErrAmount if the amount is none.
func (l *Ledger) Ready(ctx context.Context, a Amount) error { return l.ready(ctx, a) }

// ready makes the house accounts for a currency, and refuses amounts that are none.
func (l *Ledger) ready(ctx context.Context, a Amount) error {
	if a.Minor <= 0 || len(a.Currency) != 3 || strings.ToUpper(a.Currency) != a.Currency {
		return ErrAmount
	}
	if _, there := l.opened.Load(a.Currency); there {
		return nil
	}
	if _, err := l.db.Exec(ctx, openAccountsSQL, a.Currency); err != nil {
		return fmt.Errorf("credit: open house accounts: %w", err)
	}
	l.opened.Store(a.Currency, true)
	return nil
}
