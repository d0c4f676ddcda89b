package main

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestAnOrderIsCancelledRefundedAndPaidOutFromTheShell(t *testing.T) {
	t.Parallel()
	folder, db := privateHouse(t)
	s, err := seats.NewOffice(db, newLog(t.Output(), "text")).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	hold, err := s.Claim(t.Context(), who, "", seats.Wish{Best: 2, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := seatstest.Order(t.Context(), db, s, who)
	if err != nil {
		t.Fatal(err)
	}
	said := func(want int, says string, args ...string) {
		t.Helper()
		args = append(args, "--data", folder)
		out, err := try(t, args...)
		if err != nil {
			out = err.Error()
		}
		if got := exitCode(err, t.Output()); got != want || !strings.Contains(out, says) {
			t.Errorf("usher %s: exit status %d, want %d, and %q in %q", strings.Join(args, " "), got, want, says, out)
		}
	}
	said(1, "0.00 that were paid, and not EUR 1.00", "order", "refund", code, "--amount", "1")
	said(0, "are paid for order", "order", "paid", code)
	said(2, "--amount is missing", "order", "refund", code)
	said(2, "is not an amount", "order", "refund", code, "--amount", "1,50")
	said(2, "2 decimals", "order", "refund", code, "--amount", "1.505")
	said(1, "nothing went back", "order", "refund", code, "--amount", "1000000")
	said(0, "EUR 1.50 are to be paid out by hand", "order", "refund", code, "--amount", "1.5", "--key", "view")
	said(0, "Nothing more went back", "order", "refund", code, "--amount", "1.5", "--key", "view")
	said(1, "for another amount", "order", "refund", code, "--amount", "2", "--key", "view")
	said(1, "no seat \"Moon/1\"", "order", "cancel", code, "--seat", "Moon/1")
	said(0, "1 ticket of order "+code+" was cancelled; its seat is free again.", "order", "cancel", code, "--seat", s.Plan.Label(hold.Seats[0]))
	said(0, "to pay out", "attention")
	said(0, "1 ticket of order", "order", "cancel", code)
	said(1, "were cancelled before", "order", "cancel", code)
	said(0, "were paid out", "order", "refunded", code)
	said(1, "nothing of order", "order", "refunded", code)
	said(0, "Nothing needs attention", "attention")
	for _, verb := range []string{"cancel", "refunded", "paid"} {
		said(1, "there is no order", "order", verb, "0000")
	}
	said(0, "Each captured cent", "verify")
}

func TestOrderCancel_StandsInTheLogWithItsOverride(t *testing.T) {
	t.Parallel()
	folder, db := privateHouse(t)
	s, err := seats.NewOffice(db, newLog(t.Output(), "text")).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	hold, err := s.Claim(t.Context(), who, "", seats.Wish{Best: 2, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := seatstest.Order(t.Context(), db, s, who)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `UPDATE event SET cancel_until = NULL`); err != nil {
		t.Fatal(err)
	}
	deeds := func() (n int, who, subject, override string) {
		if err := db.QueryRow(t.Context(), `SELECT count(*), coalesce(max(who), ''), coalesce(max(subject), ''), coalesce(max(detail->>'override'), '')
			FROM deed WHERE what = 'cancelled tickets'`).Scan(&n, &who, &subject, &override); err != nil {
			t.Fatal(err)
		}
		return n, who, subject, override
	}
	if _, err := try(t, "order", "cancel", code, "--data", folder); err == nil || !strings.Contains(err.Error(), "--override") {
		t.Errorf("against the policy: %v", err)
	}
	if n, _, _, _ := deeds(); n != 0 {
		t.Errorf("what was refused has %d lines in the log", n)
	}
	if _, err := try(t, "order", "cancel", code, "--override", "--seat", s.Plan.Label(hold.Seats[0]), "--data", folder); err != nil {
		t.Fatal(err)
	}
	if n, who, subject, override := deeds(); n != 1 || who != "the operator" || subject != "events/evening/orders/"+code || override != "true" {
		t.Errorf("the log has %d lines: %q did it to %q, override %q", n, who, subject, override)
	}
}
