package payments

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// A payment may be for several orders, one in each of several events: those of a subscription. It keeps and sells the seats of
// all, in one transaction, or of none (seats.Inventory.Together). Its own event, order and hold are those of the first share. What
// is captured is in the orders by their shares, and each of them is refunded for itself.

// Share is the part of a payment that is for one order.
type Share struct {
	EventID int64           `json:"event_id"`
	Event   string          `json:"event"` // slug
	Order   seats.ID        `json:"order"`
	Code    string          `json:"code"` // of the order
	Amount  int64           `json:"amount"`
	Form    json.RawMessage `json:"form"` // from which the order is made
}

// Shared reports whether a payment is for several orders.
func (p Payment) Shared() bool { return len(p.Shares) > 0 }

// each returns the payment as it is for each of its orders, by the id of their events: itself, for most.
func (p Payment) each() ([]Payment, error) {
	if !p.Shared() {
		return []Payment{p}, nil
	}
	all := make([]Payment, len(p.Shares))
	for i, s := range p.Shares {
		one := p
		one.Event, one.EventID, one.Order, one.Code, one.Amount, one.Form, one.Details = s.Event, s.EventID, s.Order, s.Code, s.Amount, s.Form, Details{}
		if err := json.Unmarshal(s.Form, &one.Details); err != nil {
			return nil, fmt.Errorf("payments: read a share of a payment: %w", err)
		}
		all[i] = one
	}
	return all, nil
}

// orders returns the ids of its orders.
func (p Payment) orders() []seats.ID {
	if !p.Shared() {
		return []seats.ID{p.Order}
	}
	ids := make([]seats.ID, len(p.Shares))
	for i, s := range p.Shares {
		ids[i] = s.Order
	}
	return ids
}

// Written with the orders.
const shareSQL = `INSERT INTO payment_share (order_id, payment_id, amount) VALUES ($1, $2, $3)`

// queueShares writes which orders a payment is for.
func (p Payment) queueShares(q *pgx.Batch) {
	for _, s := range p.Shares {
		q.Queue(shareSQL, s.Order, p.ID, s.Amount)
	}
}
