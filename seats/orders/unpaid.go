package orders

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
)

// UnpaidLimits bound the orders of an event that are not paid yet. 0 is no limit.
type UnpaidLimits struct {
	PerEmail   int // of one email address
	PerNetwork int // of one network, before its visitors do work first
}

// Why an order that is paid later is not placed.
var (
	ErrUnpaid    = errors.New("this email address has too many unpaid orders for this event")
	ErrUnpaidNet = errors.New("this network has many unpaid orders for this event, so its visitors do work first")
)

// What is to be confirmed counts as well, so that confirming it changes no count.
const unpaidOfKey = `(
  (SELECT count(*) FROM orders WHERE event_id = $1 AND keys[1] = $2 AND method IN ('door', 'invoice') AND state = 'confirmed' AND due_at IS NOT NULL)
+ (SELECT count(*) FROM payment WHERE event_id = $1 AND keys[1] = $2 AND method IN ('door', 'invoice') AND state IN ('open', 'authorized')))`

const unpaidSQL = `
SELECT ` + unpaidOfKey + `,
       (SELECT count(*) FROM orders WHERE event_id = $1 AND network = $3 AND network <> '' AND state = 'confirmed' AND due_at IS NOT NULL)
     + (SELECT count(*) FROM payment WHERE event_id = $1 AND form->>'network' = $3 AND $3 <> '' AND method IN ('door', 'invoice') AND state IN ('open', 'authorized'))`

// limitUnpaid refuses an order that is paid later if too many of its kind are unpaid. The bound of an email is held by
// queueUnpaid; this is the answer before anything is locked. Orders of a network that are on their way at this node count
// until leave is called, so that those sent at once do not all pass. Other nodes do not know of them.
func (o *Orders) limitUnpaid(ctx context.Context, s *seats.Sale, p placed) (leave func(), err error) {
	f := p.form
	if !p.unpaid() || f.Unpaid == (UnpaidLimits{}) {
		return func() {}, nil
	}
	beside, leave := o.unpaid.comes(networkKey{s.Event.ID, f.Network}, f.Hold)
	var email, network int
	err = o.db.QueryRow(ctx, unpaidSQL, s.Event.ID, p.keys[0], f.Network).Scan(&email, &network)
	switch {
	case err != nil:
		return leave, fmt.Errorf("orders: count what is unpaid: %w", err)
	case f.Unpaid.PerEmail > 0 && email >= f.Unpaid.PerEmail:
		return leave, ErrUnpaid
	case f.Unpaid.PerNetwork > 0 && f.Network != "" && network+beside >= f.Unpaid.PerNetwork:
		return leave, ErrUnpaidNet
	}
	return leave, nil
}

// unpaid reports whether the order will be paid later.
func (p placed) unpaid() bool { return p.total > 0 && payments.Later(p.form.Method) }

// unpaidOrders are the orders on their way at this node that will be paid later, by the key of their email.
type unpaidOrders struct {
	mu   sync.Mutex
	of   map[unpaidKey]map[*unpaidOrder]struct{}
	from map[networkKey]map[seats.ID]int // those of a network: how often each hold is posted
}

type networkKey struct {
	event   int64
	network string
}

// comes counts an order of a network until leave is called, and returns how many of other holds there are beside it.
func (u *unpaidOrders) comes(key networkKey, hold seats.ID) (beside int, leave func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.from == nil {
		u.from = map[networkKey]map[seats.ID]int{}
	}
	if u.from[key] == nil {
		u.from[key] = map[seats.ID]int{}
	}
	u.from[key][hold]++
	return len(u.from[key]) - 1, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.from[key][hold]--; u.from[key][hold] == 0 {
			delete(u.from[key], hold)
		}
		if len(u.from[key]) == 0 {
			delete(u.from, key)
		}
	}
}

type unpaidKey struct {
	event int64
	email seats.ID
}

// unpaidOrder is one of them. Its booleans are guarded by the lock of unpaidOrders.
type unpaidOrder struct {
	all     *unpaidOrders
	key     unpaidKey
	passed  bool // the guard let it through in the batch that is being written
	tooMany bool // it may not be placed
}

// enter makes an order known that is bounded, until leave is called.
func (u *unpaidOrders) enter(s *seats.Sale, p *placed) (leave func()) {
	if !p.unpaid() || p.form.Unpaid.PerEmail == 0 {
		return func() {}
	}
	one := &unpaidOrder{all: u, key: unpaidKey{s.Event.ID, p.keys[0]}}
	p.bounded = one
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[unpaidKey]map[*unpaidOrder]struct{}{}
	}
	if u.of[one.key] == nil {
		u.of[one.key] = map[*unpaidOrder]struct{}{}
	}
	u.of[one.key][one] = struct{}{}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if delete(u.of[one.key], one); len(u.of[one.key]) == 0 {
			delete(u.of, one.key)
		}
	}
}

// met notes whether the guard let the order through. If not, those that wait behind it have no place either.
func (one *unpaidOrder) met(passed bool) {
	one.all.mu.Lock()
	defer one.all.mu.Unlock()
	if one.passed = passed; passed {
		return
	}
	for other := range one.all.of[one.key] {
		other.tooMany = other.tooMany || !other.passed
	}
}

// The transaction has the lock of the key (seats/sell.go), so no other transaction counts or adds unpaid orders of it. Too many
// of them make the count of tickets null, which undoes the batch.
const guardUnpaidSQL = `UPDATE purchase_key SET tickets = NULL WHERE event_id = $1 AND key = $2 AND $3 <= ` + unpaidOfKey

// queueUnpaid holds the bound on unpaid orders of an email in the transaction that adds one. The batch that was undone
// comes again, and check refuses the deal then.
func (p placed) queueUnpaid(q *pgx.Batch, s *seats.Sale) {
	if p.bounded == nil {
		return
	}
	q.Queue(guardUnpaidSQL, s.Event.ID, p.keys[0], p.form.Unpaid.PerEmail).QueryRow(func(row pgx.Row) error {
		err := row.Scan()
		var pg *pgconn.PgError
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			p.bounded.met(true)
			return nil
		case errors.As(err, &pg) && pg.TableName == "purchase_key" && pg.ColumnName == "tickets":
			p.bounded.met(false)
		}
		return err
	})
}

// check refuses an order that met too many unpaid ones under the lock.
func (p placed) check() error {
	if p.bounded == nil {
		return nil
	}
	p.bounded.all.mu.Lock()
	defer p.bounded.all.mu.Unlock()
	if p.bounded.passed = false; p.bounded.tooMany {
		return ErrUnpaid
	}
	return nil
}

const fromNetworkSQL = `UPDATE orders SET network = $2 WHERE id = $1`

// queueNetwork notes where an order came from that is paid later.
func (p placed) queueNetwork(q *pgx.Batch) {
	if p.form.Network != "" && p.unpaid() {
		q.Queue(fromNetworkSQL, p.id, p.form.Network)
	}
}
