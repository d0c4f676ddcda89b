package invoices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// A deposit has an invoice while it is asked for, or was paid in time and is with its booking or in its order. Documents follow from that and from
// the last one, whatever happened in between: a node that is late, or two changes at once, make no document twice.
const (
	takeDepositsSQL = `SELECT booking_id, array_agg(id) FROM invoice_due WHERE team_id = $1 AND booking_id IS NOT NULL GROUP BY booking_id ORDER BY min(id) LIMIT $2`

	readDepositSQL = `
SELECT d.event_id, b.organisation, b.name, b.email, e.currency, e.name, (e.starts_at AT TIME ZONE e.time_zone)::date::text,
       (clock_timestamp() AT TIME ZONE e.time_zone)::date, (d.due_at AT TIME ZONE e.time_zone)::date::text, e.language,
       d.paid_at IS NOT NULL, d.outcome = 'retained', d.rates,
       d.withdrawn_at IS NULL AND CASE WHEN d.paid_at IS NULL THEN b.order_id IS NULL AND x.at > clock_timestamp() AND e.status <> 'cancelled' ELSE d.outcome = 'order' OR d.outcome = '' AND d.paid_at < x.at END,
       d.outcome = '' AND b.order_id IS NULL AND x.at > clock_timestamp()
  FROM deposit d JOIN booking b ON b.id = d.booking_id JOIN block k ON k.id = b.id JOIN event e ON e.id = d.event_id,
       LATERAL (SELECT coalesce(b.cancelled_at, least(k.ends_at, k.ended_at)) AS at) x
 WHERE d.booking_id = $1`

	ofBookingSQL        = documentColumns + ` WHERE i.booking_id = $1 ORDER BY i.year, i.number`
	teamOfDepositDueSQL = `SELECT team_id::text FROM invoice_due WHERE booking_id = $1 LIMIT 1`
)

// prepaid is a deposit as its documents need it.
type prepaid struct {
	Event    int64
	Buyer    Party
	Currency string
	Title    string // of the event
	Day      string // of the event
	Today    time.Time
	DueOn    string
	Language string
	Paid     bool
	Retained bool
	Rates    []DepositRate
	Stands   bool // it has an invoice
	Begins   bool // it may get its first one: its option lasts
}

// issueDeposits writes the documents of deposits that changed, and returns how many it looked at.
func issueDeposits(ctx context.Context, tx pgx.Tx, team int64, sender Sender) (int, error) {
	type changed struct {
		Booking seats.ID
		Due     []int64
	}
	rows, _ := tx.Query(ctx, takeDepositsSQL, team, atOnce) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[changed])
	if err != nil {
		return 0, fmt.Errorf("find deposits: %w", err)
	}
	for _, c := range list {
		if err := issueDeposit(ctx, tx, team, sender, c.Booking); err != nil {
			return 0, fmt.Errorf("deposit of booking %s: %w", c.Booking, err)
		}
		if _, err := tx.Exec(ctx, doneSQL, c.Due); err != nil {
			return 0, fmt.Errorf("deposit of booking %s: %w", c.Booking, err)
		}
	}
	return len(list), nil
}

// issueDeposit credits the invoice of a deposit if it does not stand any more, and writes the one that does.
func issueDeposit(ctx context.Context, tx pgx.Tx, team int64, sender Sender, booking seats.ID) error {
	var p prepaid
	err := tx.QueryRow(ctx, readDepositSQL, booking).Scan(&p.Event, &p.Buyer.Company, &p.Buyer.Name, &p.Buyer.Email, &p.Currency, &p.Title, &p.Day, &p.Today, &p.DueOn, &p.Language,
		&p.Paid, &p.Retained, &p.Rates, &p.Stands, &p.Begins)
	if err != nil {
		return err
	}
	written, err := collect(tx.Query(ctx, ofBookingSQL, booking))
	if err != nil {
		return err
	}
	var q pgx.Batch
	wanted := p.document(sender)
	if n := len(written); n > 0 && written[n-1].Kind == Prepayment {
		last := written[n-1]
		if p.Stands && slices.Equal(last.Lines, wanted.Lines) && (p.Paid || last.DueOn == wanted.DueOn) {
			return nil
		}
		credit := last
		credit.Kind, credit.Year, credit.IssuedOn = Credit, p.Today.Year(), p.Today
		credit.Corrects, credit.Retained, credit.DueOn, credit.Paid = &Reference{last.Label, last.IssuedOn.Format(time.DateOnly)}, p.Retained, "", false
		if err := credit.queue(ctx, tx, &q, team, sender, p.Event, nil, nil, &booking); err != nil {
			return err
		}
	} else if !p.Begins {
		return nil
	}
	if p.Stands && wanted.Gross > 0 {
		if err := wanted.queue(ctx, tx, &q, team, sender, p.Event, nil, nil, &booking); err != nil {
			return err
		}
	}
	return tx.SendBatch(ctx, &q).Close()
}

// document is the invoice of a deposit.
func (p prepaid) document(sender Sender) Document {
	d := Document{Kind: Prepayment, Year: p.Today.Year(), IssuedOn: p.Today, Currency: p.Currency}
	for _, r := range p.Rates {
		d.Lines = append(d.Lines, Line{Kind: LineDeposit, Net: r.Amount - r.Tax, Rate: r.Rate, Tax: r.Tax, Gross: r.Amount})
		d.Net, d.Tax, d.Gross = d.Net+r.Amount-r.Tax, d.Tax+r.Tax, d.Gross+r.Amount
	}
	d.Content = Content{Seller: sender.Party, Buyer: p.Buyer, Event: p.Title, Day: p.Day, Paid: p.Paid, DueOn: p.DueOn, Language: p.Language, Lines: d.Lines}
	return d
}

// OfDeposit returns the documents of the deposit of a booking, the first first. It numbers what waits for a number.
func (v *Invoices) OfDeposit(ctx context.Context, booking seats.ID) ([]Document, error) {
	if v == nil {
		return nil, nil
	}
	var team string
	err := v.db.QueryRow(ctx, teamOfDepositDueSQL, booking).Scan(&team)
	for n := 1; err == nil && n > 0; {
		n, err = v.number(ctx, team)
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	list, err := collect(v.db.Query(ctx, ofBookingSQL, booking))
	if err != nil {
		return nil, fmt.Errorf("invoices: find those of a deposit: %w", err)
	}
	return list, nil
}
