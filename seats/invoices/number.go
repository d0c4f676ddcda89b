package invoices

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// background is the job that numbers documents.
type background = *jobs.Job

const dueSQL = `SELECT team_id::text, min(at) FROM invoice_due GROUP BY team_id`

// New returns the invoices of a database.
func New(db seats.DB, desk *organizers.Desk) *Invoices {
	v := &Invoices{db: db, desk: desk}
	v.job = jobs.New("invoices", dueSQL, v.number)
	return v
}

// Job returns the job that numbers documents.
func (v *Invoices) Job() *jobs.Job { return v.job }

// atOnce is how many changes of orders a transaction numbers.
const atOnce = 200

// Changes of one transaction are read together: they were committed together.
const (
	lockSenderSQL = senderSQL + ` FOR UPDATE`
	takeSQL       = `
SELECT d.id, d.order_id, d.change::text, d.placed, d.cancellation_id, d.kept, d.waived
  FROM invoice_due d
 WHERE d.team_id = $1 AND (d.order_id, d.change) IN (SELECT order_id, change FROM invoice_due WHERE team_id = $1 AND order_id IS NOT NULL ORDER BY id LIMIT $2)
 ORDER BY d.id`
	doneSQL = `DELETE FROM invoice_due WHERE id = ANY($1)`
)

// due is a row that waits for a document.
type due struct {
	ID           int64
	Order        seats.ID
	Change       string
	Placed       bool
	Cancellation *seats.ID
	Kept, Waived int64
}

// number gives the changes of a team's orders that wait their documents, at most atOnce of them, and returns how many it did.
func (v *Invoices) number(ctx context.Context, team string) (n int, err error) {
	id, err := strconv.ParseInt(team, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("invoices: number: %w", err)
	}
	err = pgx.BeginFunc(ctx, v.db, func(tx pgx.Tx) error {
		sender, err := scanSender(tx.QueryRow(ctx, lockSenderSQL, id))
		if err != nil {
			return err
		}
		if n, err = issueDeposits(ctx, tx, id, sender); err != nil { // before the invoices that take them off
			return err
		}
		rows, _ := tx.Query(ctx, takeSQL, id, atOnce) // CollectRows returns its error
		waiting, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
		if err != nil || len(waiting) == 0 {
			return err
		}
		n += len(waiting)
		return issue(ctx, tx, id, sender, waiting)
	})
	if err != nil {
		return 0, fmt.Errorf("invoices: number: %w", err)
	}
	return n, nil
}

// issue writes the documents of changes, and deletes the changes.
func issue(ctx context.Context, tx pgx.Tx, team int64, sender Sender, waiting []due) error {
	groups, ids := group(waiting)
	orders, err := readOrders(ctx, tx, waiting)
	if err != nil {
		return err
	}
	var q pgx.Batch
	for _, g := range groups {
		o := orders[g[0].Order]
		if o == nil {
			return fmt.Errorf("order %s is not there", g[0].Order)
		}
		d := o.document(sender, g)
		if d.Gross == 0 {
			continue
		}
		if err := d.queue(ctx, tx, &q, team, sender, o.Event, &o.ID, &g[0].ID, nil); err != nil {
			return err
		}
		if d.Kind == Invoice && o.First == nil {
			o.First = &Reference{d.Label, d.IssuedOn.Format(time.DateOnly)}
		}
	}
	q.Queue(doneSQL, ids)
	return tx.SendBatch(ctx, &q).Close()
}

const nextSQL = `
INSERT INTO invoice_series AS s (team_id, year, last) VALUES ($1, $2, 1)
ON CONFLICT (team_id, year) DO UPDATE SET last = s.last + 1 RETURNING last`

const issueSQL = `
INSERT INTO invoice (team_id, year, number, label, kind, event_id, order_id, due_id, booking_id, issued_on, currency, net, tax, gross, content)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

// queue gives a document the next number, and queues it: of a change of an order, or of the deposit of a booking.
func (d *Document) queue(ctx context.Context, tx pgx.Tx, q *pgx.Batch, team int64, sender Sender, event int64, order *seats.ID, due *int64, booking *seats.ID) error {
	content, err := json.Marshal(d.Content)
	if err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, nextSQL, team, d.Year).Scan(&d.Number); err != nil {
		return err
	}
	d.Label = label(sender.Prefix, d.Year, d.Number)
	q.Queue(issueSQL, team, d.Year, d.Number, d.Label, d.Kind, event, order, due, booking, d.IssuedOn, d.Currency, d.Net, d.Tax, d.Gross, content)
	return nil
}

// label writes a number, such as 2030-000017.
func label(prefix string, year int, number int64) string {
	return fmt.Sprintf("%s%d-%06d", prefix, year, number)
}

// group puts the rows of one change together, in the order of their first rows.
func group(waiting []due) (groups [][]due, ids []int64) {
	at := map[string]int{}
	for _, d := range waiting {
		ids = append(ids, d.ID)
		key := d.Order.String() + " " + d.Change
		i, known := at[key]
		if !known {
			i, at[key] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], d)
	}
	return groups, ids
}

// order is an order as documents need it.
type order struct {
	ID       seats.ID
	Event    int64
	Name     string
	Email    string
	Billing  billing
	Method   string
	AtOffice bool
	Currency string
	Title    string // of the event
	Day      string // of the event
	Today    time.Time
	DueOn    string
	Language string
	Deposit  *Deposit   // that the order took over
	Less     string     // the code or offer that took something off
	First    *Reference // its first invoice, if it has one
	Tickets  []ticket
	Extras   []extra
	Cancels  map[string][]string // tickets by cancellation
}

// billing is the company of a buyer (orders.Billing).
type billing struct {
	Party
	Reverse bool `json:"reverse_charge"`
}

// ticket is a ticket of an order. Price and fee contain their taxes.
type ticket struct {
	ID      string `json:"id"`
	First   bool   `json:"first"` // no ticket moved to it
	Text    string `json:"text"`
	Place   string `json:"place"`
	Less    int64  `json:"less"` // its discount
	Price   int64  `json:"price"`
	Tax     int64  `json:"tax"`
	Rate    int    `json:"rate"`
	Fee     int64  `json:"fee"`
	FeeTax  int64  `json:"fee_tax"`
	FeeRate int    `json:"fee_rate"`
}

// extra is what the buyer added (pricing.Extra). Its kind is that of its line.
type extra struct {
	Kind  string `json:"kind"`
	Price int64  `json:"price"`
	Tax   int64  `json:"tax"`
	Rate  int    `json:"rate"`
}

// extras are the lines of what the buyer added, and their sum.
func (o *order) extras() (lines []Line, sum int64) {
	for _, x := range o.Extras {
		lines = append(lines, Line{Kind: x.Kind, Net: x.Price - x.Tax, Rate: x.Rate, Tax: x.Tax, Gross: x.Price})
		sum += x.Price
	}
	return lines, sum
}

// lines are a ticket's price and its fee.
func (t ticket) lines() []Line {
	lines := []Line{{LineTicket, t.Text, t.Place, t.Less, t.Price - t.Tax, t.Rate, t.Tax, t.Price}}
	if t.Fee > 0 {
		lines = append(lines, Line{LineFee, t.Text, t.Place, 0, t.Fee - t.FeeTax, t.FeeRate, t.FeeTax, t.Fee})
	}
	return lines
}

// Everything about an order comes of one statement, and so of one moment. Its name is that of its first invoice, whatever its buyer
// changed since.
const readOrdersSQL = `
SELECT o.id, o.event_id, coalesce((SELECT i.content->'buyer'->>'name' FROM invoice i WHERE i.order_id = o.id AND i.kind = 'invoice' ORDER BY i.year, i.number LIMIT 1), o.name), o.email, o.billing, o.method, o.at_office, o.currency, e.name, (e.starts_at AT TIME ZONE e.time_zone)::date::text,
       (clock_timestamp() AT TIME ZONE e.time_zone)::date, coalesce((o.due_at AT TIME ZONE e.time_zone)::date::text, ''),
       (SELECT jsonb_build_object('amount', d.amount, 'on', (d.paid_at AT TIME ZONE e.time_zone)::date, 'rates', d.rates,
                   'label', coalesce((SELECT i.label FROM invoice i WHERE i.booking_id = d.booking_id AND i.kind = 'deposit' ORDER BY i.year DESC, i.number DESC LIMIT 1), ''))
          FROM deposit d WHERE d.order_id = o.id),
       o.language, CASE WHEN o.discount_code <> '' THEN o.discount_code ELSE o.offer END,
       (SELECT jsonb_build_object('label', i.label, 'on', i.issued_on) FROM invoice i WHERE i.order_id = o.id AND i.kind = 'invoice' ORDER BY i.year, i.number LIMIT 1),
       (SELECT jsonb_agg(jsonb_build_object('id', t.id, 'first', NOT EXISTS (SELECT FROM ticket b WHERE b.moved_to = t.id),
                   'text', concat_ws(', ', c.name, y.name), 'less', t.discount, 'place', concat_ws(' ', n.name, nullif(d.row, ''), d.number), 'price', t.price, 'tax', t.tax, 'rate', t.tax_rate,
                   'fee', t.fee, 'fee_tax', t.fee_tax, 'fee_rate', t.fee_rate) ORDER BY t.idx, t.id)
          FROM ticket t JOIN seat d ON d.event_id = t.event_id AND d.idx = t.idx
               JOIN section n ON n.event_id = d.event_id AND n.number = d.section
               JOIN category c ON c.event_id = d.event_id AND c.number = d.category
               LEFT JOIN ticket_type y ON y.event_id = t.event_id AND y.number = t.type
                    AND (t.type > 0 OR EXISTS (SELECT FROM ticket_type WHERE event_id = t.event_id AND number = 1)) -- the only one is not named
         WHERE t.order_id = o.id),
       o.extras, (SELECT coalesce(jsonb_object_agg(k.id, to_jsonb(k.tickets)), '{}') FROM cancellation k WHERE k.order_id = o.id)
  FROM orders o JOIN event e ON e.id = o.event_id
 WHERE o.id = ANY($1::uuid[])`

func readOrders(ctx context.Context, tx pgx.Tx, waiting []due) (map[seats.ID]*order, error) {
	ids := make([]seats.ID, len(waiting))
	for i, d := range waiting {
		ids[i] = d.Order
	}
	rows, err := tx.Query(ctx, readOrdersSQL, ids)
	if err != nil {
		return nil, err
	}
	found := map[seats.ID]*order{}
	var o order
	_, err = pgx.ForEachRow(rows, []any{&o.ID, &o.Event, &o.Name, &o.Email, &o.Billing, &o.Method, &o.AtOffice, &o.Currency, &o.Title, &o.Day, &o.Today, &o.DueOn, &o.Deposit, &o.Language, &o.Less, &o.First, &o.Tickets, &o.Extras, &o.Cancels}, func() error {
		one := o
		found[o.ID] = &one
		o = order{}
		return nil
	})
	return found, err
}

// document is what the changes of one transaction make.
func (o *order) document(sender Sender, changes []due) Document {
	var bought, lines []Line
	for _, t := range o.Tickets {
		if t.First {
			bought = append(bought, t.lines()...)
		}
	}
	added, sum := o.extras()
	for _, c := range changes {
		if c.Placed {
			lines = append(append(lines, bought...), added...)
		}
		if c.Cancellation != nil {
			lines = append(lines, o.cancelled(c.Cancellation.String())...)
		}
	}
	for _, c := range changes {
		if c.Kept < 0 && c.Kept == -sum { // what was added goes back
			for _, l := range added {
				lines = append(lines, l.negated())
			}
		} else if c.Kept != 0 {
			lines = append(lines, spread(LineKept, c.Kept, bought)...)
		}
		if c.Waived != 0 {
			lines = append(lines, spread(LineRefund, -c.Waived, bought)...)
		}
	}
	d := Document{Kind: Invoice, Year: o.Today.Year(), IssuedOn: o.Today, Currency: o.Currency}
	for _, l := range lines {
		d.Net, d.Tax, d.Gross = d.Net+l.Net, d.Tax+l.Tax, d.Gross+l.Gross
	}
	if d.Gross < 0 {
		d.Kind, d.Net, d.Tax, d.Gross = Credit, -d.Net, -d.Tax, -d.Gross
		for i := range lines {
			lines[i] = lines[i].negated()
		}
	}
	buyer := o.Billing.Party
	buyer.Name, buyer.Email = o.Name, o.Email
	d.Content = Content{
		Seller: sender.Party, Buyer: buyer, Event: o.Title, Day: o.Day, Method: o.Method, Lines: lines,
		Paid: o.AtOffice && !payments.Later(o.Method) || payments.Ahead(o.Method), DueOn: o.DueOn, Reverse: o.Billing.Reverse, Language: o.Language, Less: o.Less,
	}
	if d.Kind == Credit || o.First != nil {
		d.Corrects = o.First
	} else if o.Deposit != nil {
		d.Deposit = o.Deposit
		if d.Gross <= o.Deposit.Amount {
			d.Deposit = &Deposit{Amount: d.Gross, On: o.Deposit.On, Label: o.Deposit.Label, Invoiced: o.Deposit.Rates}
		}
	}
	return d
}

// cancelled are the lines of the tickets of a cancellation, which reduce the order.
func (o *order) cancelled(cancellation string) (lines []Line) {
	for _, id := range o.Cancels[cancellation] {
		for _, t := range o.Tickets {
			if strings.EqualFold(t.ID, id) {
				for _, l := range t.lines() {
					lines = append(lines, l.negated())
				}
			}
		}
	}
	return lines
}

// share is the part of an amount that a part has in a whole, rounded half up.
func share(amount, part, whole int64) int64 {
	if whole == 0 {
		return 0
	}
	n := new(big.Int).Mul(big.NewInt(amount), big.NewInt(part))
	sign := int64(n.Sign())
	n.Abs(n).Mul(n, big.NewInt(2)).Add(n, big.NewInt(whole)).Div(n, big.NewInt(2*whole))
	return sign * n.Int64()
}
