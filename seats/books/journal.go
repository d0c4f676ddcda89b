package books

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

// Entry is a booking for accountants: the sum of the postings of a day, a performance, a method and a tax rate. Amounts are minor
// units, and negative for what went back.
type Entry struct {
	Day           string // such as 2030-05-01
	Event         string // slug; empty: gift cards
	Text          string // name of the event
	Line          string // of postings, or LineGiftCard or LineDeposit
	Method        string
	Rate          int // thousandths of a percent
	Currency      string
	Amount, Tax   int64
	Debit, Credit string // account numbers: of the method, of what was earned
}

// LineGiftCard is the line of gift cards that were sold, or paid back: no earning yet, but owed.
const LineGiftCard = "gift card"

// Journal returns what a member's team earned in the days of a filter, as entries with account numbers, by day. Money of the demo card
// is none and left out. With gift cards, those that were sold and paid back, unless the filter names an event or a series.
//
// Errors: *MissingAccounts; the database's.
func (b *Books) Journal(ctx context.Context, m organizers.Member, f Filter) (list []Entry, c Chart, err error) {
	sums := map[Entry]*[2]int64{}
	add := func(e Entry, amount, tax int64) {
		if sums[e] == nil {
			sums[e] = &[2]int64{}
		}
		sums[e][0], sums[e][1] = sums[e][0]+amount, sums[e][1]+tax
	}
	err = pgx.BeginTxFunc(ctx, b.db, snapshot, func(tx pgx.Tx) error { return journal(ctx, tx, m.Team, f, add) })
	if err != nil {
		return nil, c, fmt.Errorf("books: list entries: %w", err)
	}
	err = b.desk.As(ctx, m, func(tx pgx.Tx) error {
		c, err = readChart(ctx, tx, m.Team)
		return err
	})
	if err != nil {
		return nil, c, fmt.Errorf("books: list entries: %w", err)
	}
	missing := map[string]bool{}
	for e, sum := range sums {
		if e.Amount, e.Tax = sum[0], sum[1]; e.Amount == 0 && e.Tax == 0 {
			continue
		}
		e.Debit, e.Credit = c.account(AccountKey{AccountMethod, e.Method}, missing), c.account(e.earned(), missing)
		list = append(list, e)
	}
	if len(missing) > 0 {
		return nil, c, missingAccounts(missing)
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.Currency, b.Currency))
	})
	return list, c, nil
}

// journal adds what the entries of a team consist of, all of it as one snapshot has it: what an order took over of a deposit leaves it there.
func journal(ctx context.Context, tx pgx.Tx, team int64, f Filter, add func(e Entry, amount, tax int64)) error {
	events, err := readEvents(ctx, tx, team, f)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	post := func(p Posting) {
		if p.Amount != 0 && p.Method != payments.Demo && f.has(p.Day()) {
			add(Entry{Day: p.Day(), Event: p.Event.Slug, Text: p.Event.Name, Line: p.Line, Method: p.Method, Rate: p.Rate, Currency: p.Event.Currency}, p.Amount, p.Tax)
		}
	}
	from, to := f.bounds()
	if err := eachHistory(ctx, tx, events, from, to, func(h *history) { h.post(post) }); err != nil {
		return err
	}
	if err := eachDeposit(ctx, tx, events, func(d deposit) {
		d.add(f, add)
		if d.outcome == "retained" {
			post(d.retained())
		}
	}); err != nil {
		return err
	}
	if f.Event != "" || f.Series != "" {
		return nil
	}
	return giftCards(ctx, tx, team, f, add)
}

// earned is the account that an entry credits.
func (e Entry) earned() AccountKey {
	switch e.Line {
	case LineGiftCard:
		return AccountKey{AccountMethod, payments.Credit}
	case LineExcess, LineRetained:
		return AccountKey{Kind: e.Line}
	}
	return AccountKey{e.Line, strconv.Itoa(e.Rate)}
}

// account is the number of an account, or notes that there is none.
func (c Chart) account(k AccountKey, missing map[string]bool) string {
	number := c.Accounts[k.String()]
	if number == "" {
		missing[k.String()] = true
	}
	return number
}

// MissingAccounts says which accounts have no number.
type MissingAccounts struct{ Keys []AccountKey }

func (m *MissingAccounts) Error() string {
	names := make([]string, len(m.Keys))
	for i, k := range m.Keys {
		names[i] = k.String()
	}
	return "books: there is no account for " + strings.Join(names, ", ")
}

func missingAccounts(missing map[string]bool) error {
	m := &MissingAccounts{}
	for written := range missing {
		m.Keys = append(m.Keys, readKey(written))
	}
	slices.SortFunc(m.Keys, func(a, b AccountKey) int {
		return cmp.Or(cmp.Compare(orderOf(a), orderOf(b)), cmp.Compare(a.Name, b.Name))
	})
	return m
}

// Gift cards count on a day in UTC: they are of no place.
const giftCardsSQL = `
SELECT to_char(issued_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), method, currency, amount FROM gift_card WHERE team_id = $1 AND issued_at IS NOT NULL
 UNION ALL
SELECT to_char(refunded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), method, currency, -amount FROM gift_card WHERE team_id = $1 AND refunded_at IS NOT NULL`

// giftCards adds what gift cards were sold for, and what of it was paid back.
func giftCards(ctx context.Context, tx pgx.Tx, team int64, f Filter, add func(e Entry, amount, tax int64)) error {
	rows, err := tx.Query(ctx, giftCardsSQL, team)
	if err != nil {
		return err
	}
	e := Entry{Line: LineGiftCard}
	var amount int64
	_, err = pgx.ForEachRow(rows, []any{&e.Day, &e.Method, &e.Currency, &amount}, func() error {
		if e.Method != payments.Demo && f.has(e.Day) {
			add(e, amount, 0)
		}
		return nil
	})
	return err
}

// Year returns the first day of the business year that the days of a filter are in, such as 2030-01-01.
//
// Errors: a *seats.ValidationError if the filter has no first and last day, or they are in two years.
func (c Chart) Year(f Filter) (string, error) {
	if f.From == "" || f.To == "" {
		return "", seats.Unchanged(text.Say("Choose a first and a last day."))
	}
	begins := func(day string) string {
		year, _ := strconv.Atoi(day[:4])
		if month, _ := strconv.Atoi(day[5:7]); month < c.YearMonth {
			year--
		}
		return fmt.Sprintf("%04d-%02d-01", year, c.YearMonth)
	}
	if begins(f.From) != begins(f.To) {
		return "", seats.Unchanged(text.Say("A DATEV file is of one business year. Choose days of one year."))
	}
	return begins(f.From), nil
}
