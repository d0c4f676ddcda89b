package books

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

// Chart is the account numbers that a team's accountant books to.
type Chart struct {
	Accounts   map[string]string // number, by AccountKey
	Consultant int               // DATEV: Beraternummer; 0: none
	Client     int               // DATEV: Mandantennummer; 0: none
	Digits     int               // of an account, 4 to 8
	YearMonth  int               // in which the business year begins, 1 to 12
}

// AccountKey names an account: that of a payment method, or that of what is earned at a tax rate.
type AccountKey struct {
	Kind string // AccountMethod, or a line of postings
	Name string // the method, or the rate in thousandths of a percent; empty for an excess
}

// AccountMethod is the kind of the accounts of payment methods.
const AccountMethod = "method"

func (k AccountKey) String() string { return strings.TrimSpace(k.Kind + " " + k.Name) }

// readKey is the key that String wrote.
func readKey(written string) AccountKey {
	kind, name, _ := strings.Cut(written, " ")
	return AccountKey{kind, name}
}

// methods are those with an account. Credit is what gift cards are owed: selling one and paying with one are booked there.
var methods = []string{payments.Card, payments.Cash, payments.Terminal, payments.Door, payments.Invoice, payments.Credit, payments.Exchange, payments.Deposit, ByHand}

// The tax rates of a team's events.
const ratesSQL = `
SELECT DISTINCT kind, rate FROM event e, LATERAL (
    SELECT 'ticket' AS kind, coalesce((e.price_rules->'tax'->>'rate')::integer, 0) AS rate
     UNION ALL SELECT 'ticket', (t->>'rate')::integer FROM jsonb_array_elements(CASE jsonb_typeof(e.price_rules->'tax'->'types') WHEN 'array' THEN e.price_rules->'tax'->'types' ELSE '[]' END) t
     UNION ALL SELECT 'fee', coalesce((e.price_rules->'tax'->>'fee_rate')::integer, 0) WHERE e.fee_ticket + e.fee_percent > 0
     UNION ALL SELECT 'postage', coalesce((e.price_rules->'extras'->>'postage_rate')::integer, 0) WHERE coalesce((e.price_rules->'extras'->>'postage')::bigint, 0) > 0
     UNION ALL SELECT 'deposit', (x->>'rate')::integer FROM deposit d, jsonb_array_elements(d.rates) x WHERE d.event_id = e.id AND d.paid_at IS NOT NULL AND d.method <> 'demo'
     UNION ALL SELECT 'deposit', 0 FROM deposit_payment p WHERE p.event_id = e.id AND p.captured_at IS NOT NULL AND p.method <> 'demo' AND NOT EXISTS (SELECT FROM deposit d WHERE d.payment_id = p.id)
     UNION ALL SELECT 'donation', 0 WHERE e.price_rules->'extras' ? 'donations') r
 WHERE e.team_id = $1 ORDER BY 1, 2`

const chartSQL = `SELECT accounts, consultant, client, digits, year_month FROM book_accounts WHERE team_id = $1`

// Chart returns the accounts of a member's team, and the keys that its events need now, in the order of a form.
func (b *Books) Chart(ctx context.Context, m organizers.Member) (c Chart, keys []AccountKey, err error) {
	err = b.desk.As(ctx, m, func(tx pgx.Tx) error {
		if c, err = readChart(ctx, tx, m.Team); err != nil {
			return err
		}
		var k AccountKey
		var rate int
		rows, _ := tx.Query(ctx, ratesSQL, m.Team) // ForEachRow returns its error
		_, err := pgx.ForEachRow(rows, []any{&k.Kind, &rate}, func() error {
			k.Name = strconv.Itoa(rate)
			keys = append(keys, k)
			return nil
		})
		return err
	})
	if err != nil {
		return c, nil, fmt.Errorf("books: read accounts: %w", err)
	}
	deposits := slices.ContainsFunc(keys, func(k AccountKey) bool { return k.Kind == LineDeposit })
	for _, method := range methods {
		if method != payments.Deposit || deposits {
			keys = append(keys, AccountKey{AccountMethod, method})
		}
	}
	keys = append(keys, AccountKey{Kind: LineExcess})
	if deposits {
		keys = append(keys, AccountKey{Kind: LineRetained})
	}
	for written := range c.Accounts { // of rates that no event has any more
		if k := readKey(written); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	slices.SortStableFunc(keys, func(a, b AccountKey) int { return cmp.Compare(orderOf(a), orderOf(b)) })
	return c, keys, nil
}

// orderOf puts methods first, and then lines as orders have them.
func orderOf(k AccountKey) int {
	return slices.Index([]string{AccountMethod, LineTicket, LineFee, LinePostage, LineDonation, LineExcess, LineDeposit, LineRetained}, k.Kind)
}

func readChart(ctx context.Context, tx pgx.Tx, team int64) (c Chart, err error) {
	c = Chart{Accounts: map[string]string{}, Digits: 4, YearMonth: 1}
	err = tx.QueryRow(ctx, chartSQL, team).Scan(&c.Accounts, &c.Consultant, &c.Client, &c.Digits, &c.YearMonth)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return c, err
}

const setChartSQL = `
INSERT INTO book_accounts (team_id, accounts, consultant, client, digits, year_month) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (team_id) DO UPDATE SET (accounts, consultant, client, digits, year_month) = ($2, $3, $4, $5, $6)`

// SetChart changes the accounts of a member's team. An empty number is none.
//
// Errors: a *seats.ValidationError that says what is wrong; those of idempotency.Key.Take; the database's.
func (b *Books) SetChart(ctx context.Context, m organizers.Member, c Chart, key string) error {
	kept := map[string]string{}
	for written, number := range c.Accounts {
		if number != "" {
			kept[written] = number
		}
	}
	c.Accounts = kept
	if wrong := c.check(); wrong.ID != "" {
		return seats.Unchanged(wrong)
	}
	return b.desk.Change(ctx, m, key, []any{"accounts", c}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setChartSQL, m.Team, c.Accounts, c.Consultant, c.Client, c.Digits, c.YearMonth); err != nil {
			return fmt.Errorf("books: set accounts: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the accounts"), "books/accounts", map[string]any{"accounts": c.Accounts, "consultant": c.Consultant, "client": c.Client})
	})
}

var accountNumber = regexp.MustCompile(`^[0-9]{1,9}$`)

// check says what is wrong; the zero message if nothing is.
func (c Chart) check() (wrong text.Message) {
	for written, number := range c.Accounts {
		k := readKey(written)
		rate, err := strconv.Atoi(k.Name)
		known := k.Kind == AccountMethod && slices.Contains(methods, k.Name) || k == AccountKey{Kind: LineExcess} || k == AccountKey{Kind: LineRetained} ||
			slices.Contains([]string{LineTicket, LineFee, LinePostage, LineDonation, LineDeposit}, k.Kind) && err == nil && rate >= 0 && rate < 100_000 && strconv.Itoa(rate) == k.Name
		switch {
		case !known:
			return text.Say("There is no account for “%s”.", written)
		case !accountNumber.MatchString(number):
			return text.Say("“%s” is no account number: enter up to nine digits.", number)
		case len(number) > c.Digits+1:
			return text.Say("The account number %[1]s is longer than your accounts, which have %[2]d digits.", number, c.Digits)
		}
	}
	switch {
	case c.Consultant != 0 && (c.Consultant < 1001 || c.Consultant > 9_999_999):
		return text.Say("A DATEV consultant number is between 1001 and 9999999.")
	case c.Client < 0 || c.Client > 99_999:
		return text.Say("A DATEV client number is between 1 and 99999.")
	case c.Digits < 4 || c.Digits > 8:
		return text.Say("Accounts have 4 to 8 digits.")
	case c.YearMonth < 1 || c.YearMonth > 12:
		return text.Say("The business year begins in a month from 1 to 12.")
	}
	return wrong
}
