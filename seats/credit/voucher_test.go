package credit_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
)

func TestAVoucherLoadsCreditOnce(t *testing.T) {
	t.Parallel()
	p := open(t)
	codes, err := p.Vouchers(t.Context(), 3, euros(2000), nil)
	if err != nil || len(codes) != 3 {
		t.Fatal(codes, err)
	}
	for _, code := range []string{codes[0], codes[0], strings.ToLower(codes[1]), " " + strings.ReplaceAll(codes[2], "-", " ")} {
		a, err := p.Redeem(t.Context(), ann, strings.NewReplacer("0", "o", "1", "l").Replace(code))
		if err != nil || a != euros(2000) {
			t.Errorf("%q got %v, %v", code, a, err)
		}
	}
	p.has(t, ann, "EUR", 6000) // the first one twice loads it once
	p.wantBooks(t)
	if n := p.number(t, `SELECT count(*) FROM credit_voucher WHERE position('`+codes[0]+`'::bytea IN code) > 0`); n != 0 {
		t.Error("the table has a code as it was printed")
	}
}

func TestBadVouchersAreRefusedAndLoadNothing(t *testing.T) {
	t.Parallel()
	p := open(t)
	past := time.Now().Add(-time.Hour)
	expired, err := p.Vouchers(t.Context(), 1, euros(100), &past)
	if err != nil {
		t.Fatal(err)
	}
	used, err := p.Vouchers(t.Context(), 1, credit.Amount{Minor: 100, Currency: "JPY"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Redeem(t.Context(), bob, used[0]); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		name, email, code string
		want              error
	}{
		{"expired", ann, expired[0], credit.ErrExpired},
		{"redeemed by another attendee", ann, used[0], credit.ErrRedeemed},
		{"unknown", ann, "0000-0000-0000-0000", credit.ErrNoVoucher},
		{"another letter", ann, flip(used[0]), credit.ErrNoVoucher},
		{"empty", ann, "", credit.ErrNoVoucher},
		{"short", ann, used[0][:10], credit.ErrNoVoucher},
		{"10 MB", ann, strings.Repeat("A", 10<<20), credit.ErrNoVoucher},
		{"a zero byte", ann, "\x00", credit.ErrNoVoucher},
		{"no text", ann, "\xff\xfe", credit.ErrNoVoucher},
		{"without a domain", "ann", used[0], credit.ErrAddress},
	} {
		if _, err := p.Redeem(t.Context(), bad.email, bad.code); !errors.Is(err, bad.want) {
			t.Errorf("%s: got %v, want %v", bad.name, err, bad.want)
		}
	}
	// A voucher of another currency loads an account of that currency, which pays nothing in this one.
	if err := p.Hold(t.Context(), holdRequest(bob, euros(100))); !errors.Is(err, credit.ErrShort) {
		t.Errorf("yen paid euros: %v", err)
	}
	for _, count := range []int{0, -1, credit.MostVouchers + 1} {
		if _, err := p.Vouchers(t.Context(), count, euros(1), nil); !errors.Is(err, credit.ErrTooMuch) {
			t.Errorf("%d vouchers got %v", count, err)
		}
	}
	p.has(t, ann, "EUR", 0)
	p.wantBooks(t)
}

// flip changes the last letter of a code.
func flip(code string) string {
	last := "Z"
	if strings.HasSuffix(code, last) {
		last = "Y"
	}
	return code[:len(code)-1] + last
}

func TestVoucher_IsRedeemedOnce(t *testing.T) {
	t.Parallel()
	p := open(t)
	codes, err := p.Vouchers(t.Context(), 1, euros(500), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	errs := make(chan error, 32)
	for i := range cap(errs) {
		all.Go(func() {
			_, err := p.Redeem(t.Context(), string(rune('a'+i%16))+"@example.org", codes[0])
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil && !errors.Is(err, credit.ErrRedeemed) {
			t.Error(err)
		}
	}
	if n := p.number(t, `SELECT sum(balance) FROM credit_account`); n != 500 {
		t.Errorf("a voucher of 500 loaded %d", n)
	}
	p.wantBooks(t)
}

func TestCard_MoneyThatGoesBackToAnExpiredOneMayBeSpent(t *testing.T) {
	t.Parallel()
	p := open(t)
	soon := time.Now().Add(time.Hour)
	codes, err := p.Vouchers(t.Context(), 1, euros(2000), &soon)
	if err != nil {
		t.Fatal(err)
	}
	pays := credit.Payments{Ledger: p.Ledger}
	card, err := pays.Card(t.Context(), codes[0])
	if err != nil {
		t.Fatal(err)
	}
	var q pgx.Batch
	payment := seats.NewID()
	card.Spend(&q, payment, seats.NewID(), 1500)
	if err := p.db.SendBatch(t.Context(), &q).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.db.Exec(t.Context(), `UPDATE credit_voucher SET expires_at = clock_timestamp() - interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	if card, err = pays.Card(t.Context(), codes[0]); err == nil {
		t.Errorf("an expired card pays %d", card.Balance)
	}
	if err := p.Refund(t.Context(), "back", payment, 1500); err != nil {
		t.Fatal(err)
	}
	if card, err = pays.Card(t.Context(), codes[0]); err != nil || card.Balance != 2000 {
		t.Errorf("the card has %d after a refund, %v", card.Balance, err)
	}
	if days := p.number(t, `SELECT extract(day FROM expires_at - clock_timestamp())::bigint FROM credit_voucher`); days < 364 {
		t.Errorf("it lasts %d days", days)
	}
	p.wantBooks(t)
}
