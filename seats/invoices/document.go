package invoices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

// Kinds of documents.
const (
	Invoice    = "invoice"
	Credit     = "credit"
	Prepayment = "deposit" // of the deposit of a group, before its order
)

// Document is an invoice or a credit note. Amounts are minor units; those of a credit note are positive, too.
type Document struct {
	Year     int       `json:"year"`
	Number   int64     `json:"number"`
	Label    string    `json:"label"` // the number as it is written
	Kind     string    `json:"kind"`
	Order    string    `json:"order"`             // code; empty for a deposit
	Booking  string    `json:"booking,omitempty"` // of a deposit
	IssuedAt time.Time `json:"issued_at"`
	IssuedOn time.Time `json:"-"` // a day
	Currency string    `json:"currency"`
	Net      int64     `json:"net"`
	Tax      int64     `json:"tax"`
	Gross    int64     `json:"gross"`
	Content
}

// Content is what a document says beside its sums.
type Content struct {
	Seller   Party      `json:"seller"`
	Buyer    Party      `json:"buyer"`
	Event    string     `json:"event"`
	Day      string     `json:"day"` // of the event, 2006-01-02
	Method   string     `json:"method"`
	Paid     bool       `json:"paid"`                     // with the order
	DueOn    string     `json:"due_on,omitempty"`         // 2006-01-02
	Deposit  *Deposit   `json:"deposit,omitempty"`        // that was paid before
	Corrects *Reference `json:"corrects,omitempty"`       // the invoice that a credit note is about
	Reverse  bool       `json:"reverse_charge,omitempty"` // the buyer owes the tax
	Language string     `json:"language,omitempty"`       // of the buyer; empty: not known
	Less     string     `json:"less,omitempty"`           // the code or offer of the discounts
	Retained bool       `json:"retained,omitempty"`       // the amount of a credit note stays with the team as compensation
	Lines    []Line     `json:"lines"`
}

// Deposit is what the buyer paid before the order, of the document's amount.
type Deposit struct {
	Amount int64  `json:"amount"`
	On     string `json:"on"`              // 2006-01-02
	Label  string `json:"label,omitempty"` // of its invoice; empty: it has none

	Rates    []DepositRate `json:"rates,omitempty"`    // its parts by tax rate; none if the deposit is all of the document
	Invoiced []DepositRate `json:"invoiced,omitempty"` // what its invoice is of, if that is more than Rates
}

// InvoicedBefore is what a document contains of the invoice of its deposit, by tax rate.
func (d Document) InvoicedBefore() []DepositRate {
	switch {
	case d.Deposit == nil || d.Deposit.Label == "":
		return nil
	case len(d.Deposit.Invoiced) > 0:
		return d.Deposit.Invoiced
	}
	return d.Deposit.Rates
}

// DepositRate is the part of a deposit that is taxed at a rate.
type DepositRate struct {
	Rate   int   `json:"rate"` // thousandths of a percent
	Amount int64 `json:"amount"`
	Tax    int64 `json:"tax"` // contained in Amount
}

// Due is what is left to pay of an invoice, as of the day it was issued. Nothing is of a credit note.
func (d Document) Due() int64 {
	switch {
	case d.Paid || d.Kind == Credit:
		return 0
	case d.Deposit != nil:
		return d.Gross - d.Deposit.Amount
	}
	return d.Gross
}

// Reference names another document.
type Reference struct {
	Label string `json:"label"`
	On    string `json:"on"` // 2006-01-02
}

// Kinds of lines.
const (
	LineTicket = "ticket"
	LineFee    = "fee"    // of a ticket
	LineKept   = "kept"   // kept of cancelled tickets, by the terms of the event
	LineRefund = "refund" // given back although the tickets are valid

	LineDonation = "donation" // that the buyer added, without tax
	LinePostage  = "postage"  // of the tickets

	LineDeposit = "prepayment" // the deposit of a group, for tickets that it gets later
)

// Line is a part of a document. Its amounts are negative if it reduces the document.
type Line struct {
	Kind  string `json:"kind"`
	Text  string `json:"text,omitempty"`  // of a ticket: its category and type
	Place string `json:"place,omitempty"` // of a ticket: its seat
	Less  int64  `json:"less,omitempty"`  // of a ticket: its discount, which the amounts do not contain
	Net   int64  `json:"net"`
	Rate  int    `json:"rate"` // thousandths of a percent
	Tax   int64  `json:"tax"`
	Gross int64  `json:"gross"`
}

func (l Line) negated() Line {
	l.Net, l.Tax, l.Gross = -l.Net, -l.Tax, -l.Gross
	return l
}

// Rate is what a document taxes at one rate.
type Rate struct {
	Rate            int // thousandths of a percent
	Net, Tax, Gross int64
}

// Rates returns the sums of each rate, the lowest first.
func (d Document) Rates() (rates []Rate) {
	for _, l := range d.Lines {
		at := slices.IndexFunc(rates, func(r Rate) bool { return r.Rate == l.Rate })
		if at < 0 {
			at, rates = len(rates), append(rates, Rate{Rate: l.Rate})
		}
		rates[at].Net, rates[at].Tax, rates[at].Gross = rates[at].Net+l.Net, rates[at].Tax+l.Tax, rates[at].Gross+l.Gross
	}
	slices.SortFunc(rates, func(a, b Rate) int { return cmp.Compare(a.Rate, b.Rate) })
	return rates
}

// spread splits an amount over the rates of lines, in proportion to what they come to.
func spread(kind string, amount int64, over []Line) (lines []Line) {
	rates := Document{Content: Content{Lines: over}}.Rates()
	total := int64(0)
	for _, r := range rates {
		total += r.Gross
	}
	if total <= 0 {
		return []Line{{Kind: kind, Net: amount, Gross: amount}}
	}
	left, of := amount, total
	for _, r := range rates {
		gross := share(left, r.Gross, of)
		left, of = left-gross, of-r.Gross
		if gross == 0 {
			continue
		}
		tax := share(gross, r.Tax, r.Gross)
		lines = append(lines, Line{Kind: kind, Net: gross - tax, Rate: r.Rate, Tax: tax, Gross: gross})
	}
	return lines
}

const documentColumns = `
SELECT i.year, i.number, i.label, i.kind, coalesce(o.code, ''), coalesce(i.booking_id::text, ''), i.issued_at, i.issued_on, i.currency, i.net, i.tax, i.gross, i.content
  FROM invoice i LEFT JOIN orders o ON o.id = i.order_id`

const (
	ofOrderSQL   = documentColumns + ` WHERE o.code = $1 ORDER BY i.year, i.number`
	ofYearSQL    = documentColumns + ` WHERE i.team_id = $1 AND i.year = $2 AND ($3::bigint = 0 OR i.number < $3) ORDER BY i.number DESC LIMIT $4`
	byLabelSQL   = documentColumns + ` WHERE i.team_id = $1 AND i.label = $2`
	yearsSQL     = `SELECT year, last FROM invoice_series WHERE team_id = $1 ORDER BY year DESC`
	waitingSQL   = `SELECT count(*) FROM invoice_due WHERE team_id = $1`
	teamOfDueSQL = `SELECT team_id::text FROM invoice_due WHERE order_id = (SELECT id FROM orders WHERE code = $1) LIMIT 1`
)

func collect(rows pgx.Rows, err error) ([]Document, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Document, err error) {
		err = row.Scan(&d.Year, &d.Number, &d.Label, &d.Kind, &d.Order, &d.Booking, &d.IssuedAt, &d.IssuedOn, &d.Currency, &d.Net, &d.Tax, &d.Gross, &d.Content)
		return d, err
	})
}

// Of returns the documents of an order with this code, the first first. It numbers what waits for a number.
func (v *Invoices) Of(ctx context.Context, code string) ([]Document, error) {
	if v == nil {
		return nil, nil
	}
	var team string
	err := v.db.QueryRow(ctx, teamOfDueSQL, code).Scan(&team)
	for n := 1; err == nil && n > 0; {
		n, err = v.number(ctx, team)
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	list, err := collect(v.db.Query(ctx, ofOrderSQL, code))
	if err != nil {
		return nil, fmt.Errorf("invoices: find those of an order: %w", err)
	}
	return list, nil
}

// Series is the documents of a team in a year.
type Series struct {
	Year int   `json:"year"`
	Last int64 `json:"documents"`
}

// Book is what a team has issued.
type Book struct {
	Years   []Series      `json:"years"` // the last first
	Year    int           `json:"year"`
	List    []Document    `json:"documents"` // of the year, the last first
	Next    *paging.Place `json:"-"`         // where the list goes on, nil at its end
	Waiting int           `json:"waiting"`   // for their number
}

// Book returns a page of the documents of a member's team in a year, or in the last year if it is 0, the last one first.
func (v *Invoices) Book(ctx context.Context, m organizers.Member, year int, p paging.Page) (b Book, err error) {
	err = v.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, yearsSQL, m.Team) // CollectRows returns its error
		if b.Years, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Series]); err != nil {
			return err
		}
		if b.Year = year; year == 0 && len(b.Years) > 0 {
			b.Year = b.Years[0].Year
		}
		if err := tx.QueryRow(ctx, waitingSQL, m.Team).Scan(&b.Waiting); err != nil {
			return err
		}
		b.List, err = collect(tx.Query(ctx, ofYearSQL, m.Team, b.Year, p.After.N, p.Limit+1))
		return err
	})
	if err != nil {
		return b, fmt.Errorf("invoices: list: %w", err)
	}
	b.List, b.Next = paging.Cut(b.List, p, func(d Document) paging.Place { return paging.Place{N: d.Number, Rank: int64(d.Year)} })
	return b, nil
}

// ErrNoDocument says that a team has no document with a number.
var ErrNoDocument = errors.New("there is no such document")

// Find returns the document of a member's team with a number as it is written.
func (v *Invoices) Find(ctx context.Context, m organizers.Member, label string) (d Document, err error) {
	var found []Document
	err = v.desk.As(ctx, m, func(tx pgx.Tx) error {
		found, err = collect(tx.Query(ctx, byLabelSQL, m.Team, label))
		return err
	})
	switch {
	case err != nil:
		return d, fmt.Errorf("invoices: find: %w", err)
	case len(found) == 0:
		return d, ErrNoDocument
	}
	return found[0], nil
}

// Invoices are the documents of all teams, for one node.
type Invoices struct {
	VIES VIES

	db   seats.DB
	desk *organizers.Desk
	job  background
}
