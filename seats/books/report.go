package books

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// Filter says what a report is about. Its zero value is everything.
type Filter struct {
	From, To      string // days such as 2030-05-01, both included, at the place of each event; empty: from the beginning, to now
	Event, Series string // slugs; empty: all
}

// Groups are what a report may be by.
const (
	ByDay         = "day"
	ByPerformance = "performance"
	BySeries      = "series"
	ByCategory    = "category"
	ByType        = "type"
	ByChannel     = "channel"
	ByMethod      = "method"
	ByRate        = "rate"
	ByPromoter    = "promoter"
)

// Groups lists them.
var Groups = []string{ByDay, ByPerformance, BySeries, ByCategory, ByType, ByChannel, ByMethod, ByRate, ByPromoter}

// Sums are the figures of postings. Amounts are minor units.
type Sums struct {
	Tickets   int   // sold less cancelled
	Gross     int64 // that came
	Exchanged int64 // that came from exchanged tickets, less what went to others
	Refunds   int64 // that went back, or is to go back
	Fees      int64 // of the total
	Tax       int64 // contained in the total
}

// Total is what stayed.
func (s Sums) Total() int64 { return s.Gross + s.Exchanged - s.Refunds }

// Net is the total without its tax.
func (s Sums) Net() int64 { return s.Total() - s.Tax }

// add adds a posting.
func (s *Sums) add(p Posting) {
	s.Tickets += p.Tickets
	switch p.Kind {
	case Payment:
		s.Gross += p.Amount
	case Exchanged:
		s.Exchanged += p.Amount
	case Refund:
		s.Refunds -= p.Amount
	}
	if p.Line == LineFee {
		s.Fees += p.Amount
	}
	s.Tax += p.Tax
}

// Row is a group of a report.
type Row struct {
	Key   string // equal for the same group: a day, a slug, a name, a rate in thousandths of a percent
	Line  string // of a group that has no key by its kind: LineDonation, LinePostage, LineExcess; empty for most
	Event *Event // of a performance or of a series; nil for other groups
	Sums
}

// Report is the rows of one currency.
type Report struct {
	Currency string // ISO 4217
	Rows     []Row
	Total    Sums
}

// key is the group of a posting.
func key(p Posting, by string) Row {
	switch by {
	case ByDay:
		return Row{Key: p.Day()}
	case ByPerformance:
		return Row{Key: p.Event.Slug, Event: p.Event}
	case BySeries:
		if p.Event.Series == "" {
			return Row{}
		}
		return Row{Key: p.Event.Series, Event: p.Event}
	case ByCategory, ByType:
		switch {
		case p.Line != LineTicket && p.Line != LineFee:
			return Row{Line: p.Line}
		case by == ByType:
			return Row{Key: p.Type}
		}
		return Row{Key: p.Category}
	case ByChannel:
		return Row{Key: p.Channel}
	case ByMethod:
		return Row{Key: p.Method}
	case ByPromoter:
		return Row{Key: p.Event.Promoter}
	case ByRate:
		return Row{Key: strconv.Itoa(p.Rate)}
	}
	return Row{}
}

// compare orders rows: performances by their start, rates by their number, all others by their key, and those without one last.
func compare(by string) func(a, b Row) int {
	return func(a, b Row) int {
		none := func(r Row) int {
			if r.Key == "" {
				return 1
			}
			return 0
		}
		if c := cmp.Or(cmp.Compare(none(a), none(b)), cmp.Compare(a.Line, b.Line)); c != 0 {
			return c
		}
		if by == ByPerformance {
			if c := a.Event.StartsAt.Compare(b.Event.StartsAt); c != 0 {
				return c
			}
		}
		if by == ByRate {
			x, _ := strconv.Atoi(a.Key)
			y, _ := strconv.Atoi(b.Key)
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a.Key, b.Key)
	}
}

// gathered are the rows of one currency while postings come in.
type gathered struct {
	rows  map[Row]*Sums // by a row without sums
	total Sums
}

// Books are those of all teams, for one node.
type Books struct {
	Mailed func() // called after a commit that may have written mail; must return at once

	db   *pgxpool.Pool
	desk *organizers.Desk
	job  *jobs.Job
}

// New returns the books of a database.
func New(db *pgxpool.Pool, desk *organizers.Desk) *Books {
	b := &Books{Mailed: func() {}, db: db, desk: desk}
	b.job = jobs.New("books", dueSQL, b.mail)
	return b
}

var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// Report is what a member's team earned, by one of Groups: a report for each currency, in the order of their codes.
func (b *Books) Report(ctx context.Context, m organizers.Member, f Filter, by string) (list []Report, err error) {
	if !slices.Contains(Groups, by) {
		return nil, fmt.Errorf("books: report: there is no group %q", by)
	}
	of := map[string]*gathered{}
	err = b.Postings(ctx, m, f, func(p Posting) {
		g := of[p.Event.Currency]
		if g == nil {
			g = &gathered{rows: map[Row]*Sums{}}
			of[p.Event.Currency] = g
		}
		to := key(p, by)
		if g.rows[to] == nil {
			g.rows[to] = &Sums{}
		}
		g.rows[to].add(p)
		g.total.add(p)
	})
	if err != nil {
		return nil, err
	}
	for currency, g := range of {
		r := Report{Currency: currency, Total: g.total}
		for row, sums := range g.rows {
			row.Sums = *sums
			r.Rows = append(r.Rows, row)
		}
		slices.SortFunc(r.Rows, compare(by))
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Report) int { return cmp.Compare(a.Currency, b.Currency) })
	return list, nil
}

// Postings visits the postings of a member's team that a filter names, those of an order together. They are of one snapshot.
func (b *Books) Postings(ctx context.Context, m organizers.Member, f Filter, visit func(Posting)) error {
	err := pgx.BeginTxFunc(ctx, b.db, snapshot, func(tx pgx.Tx) error {
		events, err := readEvents(ctx, tx, m.Team, f)
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		from, to := f.bounds()
		return eachPosting(ctx, tx, events, from, to, func(p Posting) {
			if f.has(p.Day()) {
				visit(p)
			}
		})
	})
	if err != nil {
		return fmt.Errorf("books: list postings: %w", err)
	}
	return nil
}

// eachPosting visits the postings of events, and what was retained of deposits.
func eachPosting(ctx context.Context, tx pgx.Tx, events []*Event, from, to time.Time, visit func(Posting)) error {
	if err := eachHistory(ctx, tx, events, from, to, func(h *history) { h.post(visit) }); err != nil {
		return err
	}
	return eachDeposit(ctx, tx, events, func(d deposit) {
		if d.outcome == "retained" && !d.endedAt.Before(from) && d.endedAt.Before(to) {
			visit(d.retained())
		}
	})
}

// has reports whether a day is one of the filter.
func (f Filter) has(day string) bool {
	return (f.From == "" || day >= f.From) && (f.To == "" || day <= f.To)
}

// bounds are times that enclose the days of a filter in all time zones, and what follows a cancellation in its transaction.
func (f Filter) bounds() (from, to time.Time) {
	const twoDays = 48 * time.Hour
	from, to = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if day, err := time.Parse(time.DateOnly, f.From); err == nil {
		from = day.Add(-twoDays)
	}
	if day, err := time.Parse(time.DateOnly, f.To); err == nil {
		to = day.Add(twoDays)
	}
	return from, to
}

// Account is what the books say of one order, and what the order says.
type Account struct {
	Order         string // code
	Event         string // slug
	Currency      string // ISO 4217
	Promoter      string // in whose row of a report the order is
	Paid, Booked  int64  // minor units: by the order's row, by its postings
	Credit        int64  // of Booked: by credit
	Deposit       int64  // of Booked: by deposits
	Tickets, Live int    // by its postings, by their rows
	Placed        bool   // it is an order, and not a payment without one
}

// Check visits all orders of all teams in a transaction, for package verify.
func Check(ctx context.Context, tx pgx.Tx, visit func(Account)) error {
	events, err := readEvents(ctx, tx, 0, Filter{})
	if err != nil {
		return fmt.Errorf("books: read events: %w", err)
	}
	from, to := Filter{}.bounds()
	err = eachHistory(ctx, tx, events, from, to, func(h *history) {
		a := Account{Order: h.code, Event: h.event.Slug, Currency: h.event.Currency, Paid: h.paid, Placed: h.placed}
		for _, t := range h.tickets {
			if t.revoked.IsZero() {
				a.Live++
			}
		}
		h.post(func(p Posting) {
			a.Promoter = key(p, ByPromoter).Key
			a.Booked, a.Tickets = a.Booked+p.Amount, a.Tickets+p.Tickets
			if p.Method == payments.Credit {
				a.Credit += p.Amount
			}
			if p.Method == payments.Deposit {
				a.Deposit += p.Amount
			}
		})
		visit(a)
	})
	if err != nil {
		return fmt.Errorf("books: check: %w", err)
	}
	return nil
}
