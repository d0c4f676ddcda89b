package credit_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/seatstest"
)

const ann, bob = "ann@example.org", "bob@example.org"

func TestCreditIsHeldThenCapturedOrGivenBack(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.load(t, ann, euros(10000))
	whole, part, void := p.holds(t, ann, euros(2000)), p.holds(t, ann, euros(3000)), p.holds(t, ann, euros(500))
	p.has(t, ann, "EUR", 4500)
	for range 2 { // a repeat changes nothing
		for _, err := range []error{p.Capture(t.Context(), whole, 2000), p.Capture(t.Context(), part, 1000), p.Void(t.Context(), void)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		p.has(t, ann, "EUR", 7000)
		p.wantBooks(t)
	}
	key := rand.Text()
	for range 2 {
		if err := p.Refund(t.Context(), key, whole, 1500); err != nil {
			t.Fatal(err)
		}
		p.has(t, ann, "EUR", 8500)
	}
	p.wantBooks(t)
}

func TestMove_RefusedTransferMovesNothing(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.load(t, ann, euros(1000))
	first := holdRequest(ann, euros(400))
	if err := p.Hold(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	other, dollars := first, first
	other.Amount.Minor, dollars.Amount.Currency = 401, "USD"
	captured, voided := p.holds(t, ann, euros(100)), p.holds(t, ann, euros(100))
	key := rand.Text()
	if err := errors.Join(p.Capture(t.Context(), captured, 90), p.Void(t.Context(), voided), p.Refund(t.Context(), key, captured, 10)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		name      string
		got, want error
	}{
		{"more than there is", p.Hold(t.Context(), holdRequest(ann, euros(521))), credit.ErrShort},
		{"an address without credit", p.Hold(t.Context(), holdRequest(bob, euros(1))), credit.ErrShort},
		{"another currency", p.Hold(t.Context(), holdRequest(ann, credit.Amount{Minor: 1, Currency: "USD"})), credit.ErrShort},
		{"nothing", p.Hold(t.Context(), holdRequest(ann, euros(0))), credit.ErrAmount},
		{"less than nothing", p.Hold(t.Context(), holdRequest(ann, euros(-5))), credit.ErrAmount},
		{"no currency", p.Hold(t.Context(), holdRequest(ann, credit.Amount{Minor: 1, Currency: "euro"})), credit.ErrAmount},
		{"no address", p.Hold(t.Context(), holdRequest("ann", euros(1))), credit.ErrAddress},
		{"the same hold for more", p.Hold(t.Context(), other), credit.ErrDiffers},
		{"the same hold in another currency", p.Hold(t.Context(), dollars), credit.ErrDiffers},
		{"a repeat after the capture", p.Capture(t.Context(), captured, 100), credit.ErrCaptured},
		{"a void after the capture", p.Void(t.Context(), captured), credit.ErrCaptured},
		{"a capture after the void", p.Capture(t.Context(), voided, 100), credit.ErrVoided},
		{"more captured than held", p.Capture(t.Context(), first.ID, 401), credit.ErrTooMuch},
		{"less than nothing captured", p.Capture(t.Context(), first.ID, -1), credit.ErrAmount},
		{"a hold that is not there", p.Capture(t.Context(), seats.NewID(), 1), credit.ErrNoHold},
		{"a void of nothing", p.Void(t.Context(), seats.NewID()), credit.ErrNoHold},
		{"more refunded than captured", p.Refund(t.Context(), rand.Text(), captured, 81), credit.ErrTooMuch},
		{"a refund of an open hold", p.Refund(t.Context(), rand.Text(), first.ID, 1), credit.ErrTooMuch},
		{"a refund of nothing", p.Refund(t.Context(), rand.Text(), seats.NewID(), 1), credit.ErrNoHold},
		{"a refund's key for more", p.Refund(t.Context(), key, captured, 11), credit.ErrDiffers},
		{"a refund's key for a grant", p.Grant(t.Context(), key, ann, euros(10), seats.ID{}), credit.ErrDiffers},
		{"a negative refund", p.Refund(t.Context(), rand.Text(), captured, -1), credit.ErrAmount},
	} {
		if !errors.Is(bad.got, bad.want) {
			t.Errorf("%s: got %v, want %v", bad.name, bad.got, bad.want)
		}
	}
	p.has(t, ann, "EUR", 1000-400-90+10)
	p.wantBooks(t)
}

func TestAnAddressNamesOneAccountAndNoOther(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{" Ann@Example.ORG ": ann, "ann@example.org": ann, "Þóra@example.org": "Þóra@example.org"} {
		if got, err := credit.Address(text); err != nil || got != want {
			t.Errorf("%q became %q, %v; want %q", text, got, err, want)
		}
	}
	// The sign for kelvin is no k: who owns its address owns no other one.
	if got, err := credit.Address("\u212aate@example.org"); err == nil && got == "kate@example.org" {
		t.Error("an address that looks like another was taken for it")
	}
	for _, text := range []string{"", "ann", "Ann <ann@example.org>", "a@b.c, d@e.f", "a@b.c\nBcc: d@e.f", strings.Repeat("a", 250) + "@example.org"} {
		if _, err := credit.Address(text); !errors.Is(err, credit.ErrAddress) {
			t.Errorf("%q got %v", text, err)
		}
	}
}

func TestHoldsOfCreditEndAndOthersStay(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.load(t, ann, euros(1000))
	over := holdRequest(ann, euros(300))
	over.Length = -time.Minute
	if err := p.Hold(t.Context(), over); err != nil {
		t.Fatal(err)
	}
	live := p.holds(t, ann, euros(200))
	if n := seatstest.Do(t.Context(), t, p.db, p.Jobs()...); n != 1 {
		t.Fatalf("%d ended", n)
	}
	p.has(t, ann, "EUR", 800)
	if err := p.Capture(t.Context(), over.ID, 300); !errors.Is(err, credit.ErrVoided) {
		t.Errorf("a capture of what has ended got %v", err)
	}
	if err := p.Capture(t.Context(), live, 200); err != nil {
		t.Error(err)
	}
	p.wantBooks(t)
}

func TestLedger_IsAppendOnlyAndKeepsCurrenciesApart(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.load(t, ann, euros(1000))
	p.load(t, bob, credit.Amount{Minor: 1000, Currency: "JPY"})
	for _, sql := range []string{
		`INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, key)
		 SELECT 'grant', a.id, b.id, 'EUR', 5, 'x' FROM credit_account a, credit_account b WHERE a.email = 'ann@example.org' AND b.email = 'bob@example.org'`,
		`UPDATE credit_transfer SET amount = 1`, `DELETE FROM credit_transfer`, `TRUNCATE credit_transfer`,
		`UPDATE credit_account SET balance = -1`, `UPDATE credit_account SET currency = 'USD' WHERE kind = 'attendee'`,
	} {
		if _, err := p.db.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s went through", sql)
		}
	}
	p.wantBooks(t)
}
