package credit_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is a ledger in a database of its own.
type fixture struct {
	*credit.Ledger
	db *pgxpool.Pool
}

func open(t testing.TB) *fixture {
	db := seatstest.DB(t)
	return &fixture{credit.New(db), db}
}

func euros(minor int64) credit.Amount { return credit.Amount{Minor: minor, Currency: "EUR"} }

// load gives an address credit.
func (p *fixture) load(t testing.TB, email string, a credit.Amount) {
	t.Helper()
	if err := p.Grant(t.Context(), rand.Text(), email, a, seats.ID{}); err != nil {
		t.Fatal(err)
	}
}

// holdRequest asks to set an amount aside for an hour.
func holdRequest(email string, a credit.Amount) credit.HoldRequest {
	return credit.HoldRequest{ID: seats.NewID(), Order: seats.NewID(), Email: email, Amount: a, Length: time.Hour}
}

func (p *fixture) holds(t testing.TB, email string, a credit.Amount) seats.ID {
	t.Helper()
	w := holdRequest(email, a)
	if err := p.Hold(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return w.ID
}

func (p *fixture) has(t testing.TB, email, currency string, want int64) {
	t.Helper()
	if got, err := p.Balance(t.Context(), email, currency); err != nil || got != want {
		t.Errorf("%s has %d %s, %v; want %d", email, got, currency, err, want)
	}
}

func (p *fixture) number(t testing.TB, sql string) (n int64) {
	t.Helper()
	if err := p.db.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (p *fixture) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := p.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// wrongs are the ways in which books of credit can be wrong: queries that must count none.
var wrongs = map[string]string{
	"currencies with entries that do not sum to zero": `SELECT count(*) FROM (SELECT FROM credit_entry GROUP BY currency HAVING sum(amount) <> 0) x`,
	"balances that are not the sum of the entries": `
		SELECT count(*) FROM credit_account a
		 WHERE kind = 'attendee' AND balance <> (SELECT coalesce(sum(amount), 0) FROM credit_entry WHERE account_id = a.id)`,
	// What is taken gets its number after the account was locked, so the numbers of one account are in order.
	"moments at which a balance was below nothing": `
		SELECT count(*) FROM (
			SELECT sum(e.amount) OVER (PARTITION BY account_id ORDER BY transfer_id) AS running
			  FROM credit_entry e JOIN credit_account a ON a.id = account_id WHERE kind = 'attendee') x
		 WHERE running < 0`,
	"currencies in which the house does not hold what open holds say": `
		SELECT count(*) FROM credit_account a
		 WHERE kind = 'held' AND (SELECT coalesce(sum(amount), 0) FROM credit_entry WHERE account_id = a.id)
		                      <> (SELECT coalesce(sum(amount), 0) FROM credit_hold h WHERE state = 'open' AND h.currency = a.currency)`,
	"currencies in which the sales are not what was captured": `
		SELECT count(*) FROM credit_account a
		 WHERE kind = 'sales' AND (SELECT coalesce(sum(amount), 0) FROM credit_entry WHERE account_id = a.id)
		                       <> (SELECT coalesce(sum(captured - refunded), 0) FROM credit_hold h WHERE h.currency = a.currency)`,
}

// audit lists what is wrong with the books.
func (p *fixture) audit(t testing.TB) (found []string) {
	t.Helper()
	for what, sql := range wrongs {
		if p.number(t, sql) != 0 {
			found = append(found, what)
		}
	}
	return found
}

func (p *fixture) wantBooks(t testing.TB) {
	t.Helper()
	for _, what := range p.audit(t) {
		t.Errorf("there are %s", what)
	}
}
