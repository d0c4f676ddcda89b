package books

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/payments"
)

// LineDeposit is the line of deposits of groups: no earning yet, but owed. It is taxed when it comes, as a payment ahead for tickets is.
const LineDeposit = "deposit"

// deposit is a paid deposit of a group. Amounts are minor units.
type deposit struct {
	event   *Event
	paidAt  time.Time
	method  string
	endedAt time.Time // zero: it is with its booking
	outcome string    // order, refunded or retained
	back    string    // how it was paid back
	rates   []depositRate
}

// depositRate is the part of a deposit that is taxed at a rate.
type depositRate struct {
	Rate   int // thousandths of a percent
	Amount int64
	Tax    int64 // contained in Amount
}

// Money that came online and is no deposit goes back. Until then it is owed, and not taxed.
const depositsSQL = `
SELECT event_id, paid_at, method, ended_at, outcome, back, rates FROM deposit WHERE event_id = ANY($1) AND paid_at IS NOT NULL
 UNION ALL
SELECT p.event_id, p.captured_at, p.method, p.refunded_at, CASE WHEN p.refunded_at IS NULL THEN '' ELSE 'refunded' END, p.method, jsonb_build_array(jsonb_build_object('rate', 0, 'amount', p.amount, 'tax', 0))
  FROM deposit_payment p WHERE p.event_id = ANY($1) AND p.captured_at IS NOT NULL AND NOT EXISTS (SELECT FROM deposit d WHERE d.payment_id = p.id)
 ORDER BY 2, 1`

// eachDeposit visits the paid deposits of events.
func eachDeposit(ctx context.Context, tx pgx.Tx, events []*Event, visit func(deposit)) error {
	of, ids := make(map[int64]*Event, len(events)), make([]int64, len(events))
	for i, e := range events {
		of[e.ID], ids[i] = e, e.ID
	}
	return readDeposits(ctx, tx, func(event int64, d deposit) {
		d.event = of[event]
		visit(d)
	}, depositsSQL, ids)
}

// readDeposits visits the deposits that a query finds, without their events.
func readDeposits(ctx context.Context, tx pgx.Tx, visit func(event int64, d deposit), sql string, args ...any) error {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("read deposits: %w", err)
	}
	var event int64
	var ended *time.Time
	var d deposit
	_, err = pgx.ForEachRow(rows, []any{&event, &d.paidAt, &d.method, &ended, &d.outcome, &d.back, &d.rates}, func() error {
		if d.endedAt = (time.Time{}); ended != nil {
			d.endedAt = *ended
		}
		visit(event, d)
		d.rates = nil
		return nil
	})
	if err != nil {
		return fmt.Errorf("read deposits: %w", err)
	}
	return nil
}

// retained is the posting of a deposit that its group does not get back. It is a compensation, and not taxed.
func (d deposit) retained() Posting {
	p := Posting{At: d.endedAt, Kind: Payment, Line: LineRetained, Event: d.event, Channel: BoxOffice, Method: payments.Deposit}
	if d.method == payments.Demo {
		p.Method = d.method
	}
	for _, r := range d.rates {
		p.Amount += r.Amount
	}
	return p
}

// entries are what comes into the account of deposits, and what leaves it: to its order or to what was retained, by the method Deposit,
// or back to the group.
func (d deposit) entries(add func(at time.Time, method string, rate int, amount, tax int64)) {
	for _, r := range d.rates {
		add(d.paidAt, d.method, r.Rate, r.Amount, r.Tax)
		switch {
		case d.outcome == "refunded":
			add(d.endedAt, d.back, r.Rate, -r.Amount, -r.Tax)
		case d.outcome != "":
			add(d.endedAt, payments.Deposit, r.Rate, -r.Amount, -r.Tax)
		}
	}
}

// add adds the entries of a deposit in the days of a filter. The demo card moves no money.
func (d deposit) add(f Filter, add func(e Entry, amount, tax int64)) {
	if d.method == payments.Demo {
		return
	}
	d.entries(func(at time.Time, method string, rate int, amount, tax int64) {
		if day := d.event.Local(at).Format(time.DateOnly); f.has(day) {
			add(Entry{Day: day, Event: d.event.Slug, Text: d.event.Name, Line: LineDeposit, Method: method, Rate: rate, Currency: d.event.Currency}, amount, tax)
		}
	})
}
