package main

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/credit"
)

func TestVoucher_CodesArePrintedOnceAndCarryTheAmount(t *testing.T) {
	t.Parallel()
	folder, db := privateServer(t)
	out, err := try(t, "voucher", "create", "--data", folder, "--amount", "20.5", "--currency", "EUR", "--count", "3", "--expires", "2999-12-31")
	codes := strings.Fields(out)
	if err != nil || len(codes) != 3 {
		t.Fatalf("%q, %v", out, err)
	}
	for _, code := range codes {
		a, err := credit.New(db).Redeem(t.Context(), "ann@example.org", code)
		if err != nil || a != (credit.Amount{Minor: 2050, Currency: "EUR"}) {
			t.Errorf("%s loaded %v, %v", code, a, err)
		}
	}
	for _, args := range []string{
		"", "--amount 20.001", "--amount 0", "--amount -5", "--amount 5 --currency XXY", "--amount 5 --currency eur",
		"--amount 1.5 --currency JPY", "--amount 5 --count 0", "--amount 5 --count 10001", "--amount 5 --expires tomorrow", "--amount 99999999999999999999",
	} {
		if code, out := status(t, append([]string{"voucher", "create", "--data", folder}, strings.Fields(args)...)...); code != 2 || out != "" {
			t.Errorf("%q: exit status %d, and printed %q", args, code, out)
		}
	}
}

func TestAmountsHaveTheDecimalsOfTheirCurrency(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]credit.Amount{
		"20 EUR": {Minor: 2000, Currency: "EUR"}, "0.05 USD": {Minor: 5, Currency: "USD"}, "3000 JPY": {Minor: 3000, Currency: "JPY"},
		"1.250 KWD": {Minor: 1250, Currency: "KWD"}, "7.5 CHF": {Minor: 750, Currency: "CHF"}, "1.250 IQD": {Minor: 1250, Currency: "IQD"},
	} {
		amount, iso, _ := strings.Cut(text, " ")
		if got, err := worthOf(amount, iso); err != nil || got != want {
			t.Errorf("%s became %v, %v", text, got, err)
		}
	}
}
