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

	"github.com/usherbox/usher/seats"
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
	ByReason      = "reason"
)

// Groups lists them.
var Groups = []string{ByDay, ByPerformance, BySeries, ByCategory, ByType, ByChannel, ByMethod, ByRate, ByPromoter, ByReason}

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

// key is the group of what is summed in a cell of an event.
func key(e *Event, c cell, by string) Row {
	switch by {
	case ByDay:
		return Row{Key: c.day}
	case ByPerformance:
		return Row{Key: e.Slug, Event: e}
	case BySeries:
		if e.Series == "" {
			return Row{}
		}
		return Row{Key: e.Series, Event: e}
	case ByCategory, ByType:
		switch {
		case c.line != "":
			return Row{Line: c.line}
		case by == ByType:
			return Row{Key: e.types[c.kind]}
		}
		return Row{Key: e.categories[c.category]}
	case ByChannel:
		return Row{Key: c.channel}
	case ByMethod:
		return Row{Key: c.method}
	case ByReason:
		return Row{Key: c.reason}
	case ByPromoter:
		return Row{Key: e.Promoter}
	case ByRate:
		return Row{Key: strconv.Itoa(c.rate)}
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

// Books are those of all teams, for one node.
type Books struct {
	Mailed func() // called after a commit that may have written mail; must return at once

	db   *pgxpool.Pool
	desk *organizers.Desk
	job  *jobs.Job

	counting *jobs.Job
	most     int // orders that are counted at once, and that a report reads whatever its days are
}

// New returns the books of a database.
func New(db *pgxpool.Pool, desk *organizers.Desk) *Books {
	b := &Books{Mailed: func() {}, db: db, desk: desk, most: atOnce}
	b.job = jobs.New("books", dueSQL, b.mail)
	b.counting = jobs.New("books: count orders", countDueSQL, b.count)
	return b
}

var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

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
	Stale         bool   // what is counted of it is not what its postings are, and it does not wait for being counted
}

const touchesSQL = `SELECT DISTINCT order_id FROM book_touch`

// Check visits all orders of all teams in a transaction, for package verify.
func Check(ctx context.Context, tx pgx.Tx, visit func(Account)) error {
	events, err := readEvents(ctx, tx, 0, Filter{})
	if err != nil {
		return fmt.Errorf("books: read events: %w", err)
	}
	rows, _ := tx.Query(ctx, touchesSQL) // CollectRows returns its error
	touched, err := pgx.CollectRows(rows, pgx.RowTo[seats.ID])
	if err != nil {
		return fmt.Errorf("books: read changes: %w", err)
	}
	waits := make(map[seats.ID]bool, len(touched))
	for _, id := range touched {
		waits[id] = true
	}
	from, to := Filter{}.bounds()
	err = eachChunk(ctx, tx, events, from, to, func(ids []seats.ID, list []*history) error {
		stored, err := readStored(ctx, tx, ids)
		if err != nil {
			return fmt.Errorf("read what is counted: %w", err)
		}
		for _, h := range list {
			a, fresh := h.account()
			a.Stale = !waits[h.id] && !slices.Equal(stored[h.id], fresh)
			visit(a)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("books: check: %w", err)
	}
	return nil
}

// account sums the postings of an order, and returns what is to be counted of it.
func (h *history) account() (a Account, fresh []row) {
	a = Account{Order: h.code, Event: h.event.Slug, Currency: h.event.Currency, Paid: h.paid, Placed: h.placed}
	for _, t := range h.tickets {
		if t.revoked.IsZero() {
			a.Live++
		}
	}
	fresh = h.rows(func(p Posting) {
		a.Promoter = key(p.Event, cellOf(p), ByPromoter).Key
		a.Booked, a.Tickets = a.Booked+p.Amount, a.Tickets+p.Tickets
		if p.Method == payments.Credit {
			a.Credit += p.Amount
		}
		if p.Method == payments.Deposit {
			a.Deposit += p.Amount
		}
	})
	return a, fresh
}
