package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/verify"
)

// creditFixture has credit of ann: €50 were granted and a voucher of €20 redeemed; holds of €10 are open, captured with €8 of
// which €3 went back, and voided.
func creditFixture(t *testing.T) *fixture {
	t.Helper()
	h := open(t, "theatre", events.Settings{})
	l, ann := credit.New(h.db), "ann@example.org"
	euros := func(minor int64) credit.Amount { return credit.Amount{Minor: minor, Currency: "EUR"} }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(l.Grant(t.Context(), "first", ann, euros(5000), seats.ID{}))
	do(l.Grant(t.Context(), "second", ann, credit.Amount{Minor: 900, Currency: "JPY"}, seats.ID{}))
	codes, err := l.Vouchers(t.Context(), 2, euros(2000), nil)
	do(err)
	_, err = l.Redeem(t.Context(), ann, codes[0])
	do(err)
	var holds [3]seats.ID
	for i := range holds {
		holds[i] = seats.NewID()
		do(l.Hold(t.Context(), credit.HoldRequest{ID: holds[i], Order: seats.NewID(), Email: ann, Amount: euros(1000), Length: time.Hour}))
	}
	do(l.Capture(t.Context(), holds[1], 800))
	do(l.Refund(t.Context(), "back", holds[1], 300))
	do(l.Void(t.Context(), holds[2]))
	wantFine(t, h.look(t))
	return h
}

var plantedCredit = []struct {
	name, promise, says, sql string
}{
	{
		"money became another currency on its way", "C1", "entries in EUR sum to",
		`UPDATE credit_transfer SET to_id = (SELECT id FROM credit_account WHERE email IS NOT NULL AND currency = 'JPY') WHERE key = 'first'`,
	},
	{
		"the account of an entry is gone", "C1", "entries in no account sum to",
		`DELETE FROM credit_account WHERE kind = 'sales' AND currency = 'EUR'`,
	},
	{
		"a balance has a cent too much", "C2", "and its entries sum to",
		`UPDATE credit_account SET balance = balance + 1 WHERE email IS NOT NULL AND currency = 'EUR'`,
	},
	{
		"an update of a balance was lost", "C2", "and its entries sum to",
		`INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, key)
		 SELECT 'grant', from_id, to_id, currency, amount, 'third' FROM credit_transfer WHERE key = 'first'`,
	},
	{
		"a transfer is gone", "C2", "and its entries sum to",
		`DELETE FROM credit_transfer WHERE key = 'first'`,
	},
	{
		"a balance is below nothing, and its entries, too", "C2", "has -100 JPY",
		`UPDATE credit_transfer SET amount = -100 WHERE key = 'second'; UPDATE credit_account SET balance = -100 WHERE currency = 'JPY' AND email IS NOT NULL`,
	},
	{
		"a hold was captured without a transfer", "C3", "is captured with 1000 captured",
		`UPDATE credit_hold SET state = 'captured', captured = 1000 WHERE state = 'open'`,
	},
	{
		"a hold was voided without a transfer", "C3", "is voided",
		`UPDATE credit_hold SET state = 'voided' WHERE state = 'open'`,
	},
	{
		"a hold was captured twice", "C3", "captured 1600",
		`INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, hold_id)
		 SELECT kind, from_id, to_id, currency, amount, hold_id FROM credit_transfer WHERE kind = 'capture'`,
	},
	{
		"more was refunded than captured", "C3", "900 refunded",
		`UPDATE credit_hold SET refunded = 900 WHERE state = 'captured'; UPDATE credit_transfer SET amount = 900 WHERE key = 'back'`,
	},
	{
		"a hold is gone and its transfers stayed", "C3", "its transfers held 1000",
		`DELETE FROM credit_hold WHERE state = 'voided'`,
	},
	{
		"a hold came from nowhere", "C3", "its transfers held ,",
		`INSERT INTO credit_hold (id, account_id, currency, order_id, amount, expires_at)
		 SELECT gen_random_uuid(), account_id, currency, order_id, amount, expires_at FROM credit_hold LIMIT 1`,
	},
	{
		"the house holds more than open holds say", "C4", "the house has 1000 of held",
		`DELETE FROM credit_hold WHERE state = 'open'`,
	},
	{
		"the house sold more than was captured", "C4", "of sales",
		`UPDATE credit_transfer SET amount = amount + 1 WHERE kind = 'capture'`,
	},
	{
		"a voucher was loaded twice", "C5", "in 2 transfers",
		`INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, voucher_id)
		 SELECT kind, from_id, to_id, currency, amount, voucher_id FROM credit_transfer WHERE kind = 'load'`,
	},
	{
		"a voucher may be redeemed again", "C5", "loaded 2000 EUR",
		`UPDATE credit_voucher SET redeemed_at = NULL`,
	},
	{
		"a voucher was redeemed for nothing", "C5", "in 0 transfers",
		`UPDATE credit_voucher SET redeemed_at = now()`,
	},
}

func TestVerifyFindsEachPlantedCorruptionOfCredit(t *testing.T) {
	t.Parallel()
	h := creditFixture(t)
	h.exec(t, dropWalls)
	h.exec(t, `DROP TRIGGER "what was booked stands" ON credit_transfer`)
	for _, planted := range plantedCredit {
		t.Run(planted.name, func(t *testing.T) {
			wantFine(t, h.look(t))
			r, err := h.plant(t, planted.sql)
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, p := range r.Promises {
				for _, f := range p.Findings {
					if p.Name == planted.promise && strings.Contains(f.String(), planted.says) {
						return
					}
					told = append(told, p.Name+": "+f.String())
				}
			}
			t.Errorf("%s did not tell of it; told was %q", planted.promise, told)
		})
	}
}

func TestAWatchLooksAtCreditThatMovedAndLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	h := creditFixture(t)
	w := verify.NewWatch(h.db, h.office)
	for look, want := range []int{10, 0, 11, 0} {
		if look == 2 {
			if err := credit.New(h.db).Grant(t.Context(), "late", "bob@example.org", credit.Amount{Minor: 1, Currency: "EUR"}, seats.ID{}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := w.Look(t.Context())
		if err != nil || r.Transfers != want {
			t.Errorf("look %d was at %d transfers, %v; want %d", look, r.Transfers, err, want)
		}
		wantFine(t, r)
	}
}
