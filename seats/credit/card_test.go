package credit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
)

func TestCard_SaysWhyItPaysNothingAtTheMomentOfTheSale(t *testing.T) {
	t.Parallel()
	p := open(t)
	change := func(sql string) func(string) error {
		return func(code string) error {
			c, err := credit.Payments{Ledger: p.Ledger}.Card(t.Context(), code)
			if err == nil {
				_, err = p.db.Exec(t.Context(), sql, strings.TrimPrefix(c.Account, "card-"))
			}
			return err
		}
	}
	for says, meanwhile := range map[string]func(code string) error{
		"has expired":             change(`UPDATE credit_voucher SET expires_at = clock_timestamp() WHERE id = $1::bigint`),
		"was paid back":           change(`UPDATE credit_voucher SET voided_at = clock_timestamp() WHERE id = $1::bigint`),
		"loaded into":             func(code string) error { _, err := p.Redeem(t.Context(), bob, code); return err },
		"used at the same moment": nil,
	} {
		codes, err := p.Vouchers(t.Context(), 1, euros(100), nil)
		if err != nil {
			t.Fatal(err)
		}
		card, err := credit.Payments{Ledger: p.Ledger}.Card(t.Context(), codes[0])
		if err != nil {
			t.Fatal(err)
		}
		minor := int64(100)
		if meanwhile == nil {
			minor = 101
		} else if err := meanwhile(codes[0]); err != nil {
			t.Fatalf("%s: %v", says, err)
		}
		q := &pgx.Batch{}
		card.Spend(q, seats.NewID(), seats.NewID(), minor)
		err = p.db.SendBatch(t.Context(), q).Close()
		var refusal *seats.Conflict
		if why := card.Short(t.Context(), err); !errors.As(why, &refusal) || !strings.Contains(refusal.Error(), says) {
			t.Errorf("%v is said as %v, want %q", err, why, says)
		}
	}
	if card, err := (credit.Payments{Ledger: p.Ledger}).Card(t.Context(), "x"); err == nil || card.Short != nil {
		t.Errorf("a card of no code: %v", err)
	}
	p.wantBooks(t)
}
