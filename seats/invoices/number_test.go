package invoices_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/text"
)

func TestNumber_HasNoGapUnderConcurrentOrdersAndKill9(t *testing.T) {
	t.Parallel()
	h := open(t, events.Settings{})
	var crowd sync.WaitGroup
	over := make(chan bool)
	for i := range 64 {
		crowd.Go(func() {
			code := h.order(t, 1+i%3)
			switch o := h.find(t, code); i % 4 {
			case 0:
				if err := h.orders.Revoke(t.Context(), h.sale, o, false, o.Tickets[0].ID); err != nil {
					t.Error(err)
				}
			case 1:
				_, _, err := h.orders.MarkPaid(t.Context(), code, nil)
				if err == nil {
					err = h.orders.Refund(t.Context(), o, "k", 500, "late")
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { crowd.Wait(); close(over) }()
	for kills, going := 0, true; kills < 8 || going; kills++ {
		node := exec.Command(os.Args[0])
		node.Env = append(os.Environ(), "USHER_TEST_NUMBERS="+h.dsn)
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+rand.IntN(200)) * time.Millisecond) // it may be anywhere
		_, _ = node.Process.Kill(), node.Wait()
		select {
		case <-over:
			going = false
		default:
		}
	}
	seatstest.Do(t.Context(), t, h.db, h.invoices.Job())
	var n, last int64
	if err := h.db.QueryRow(t.Context(), `SELECT count(*), max(number) FROM invoice`).Scan(&n, &last); err != nil || n != last || n != 64+16+16 {
		t.Errorf("%d documents have numbers up to %d, %v; want %d", n, last, err, 64+16+16)
	}
	h.wantBooks(t)
}

func TestNumber_ARolledBackOrderTakesNone(t *testing.T) {
	t.Parallel()
	h := open(t, events.Settings{})
	first := h.order(t, 1)
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), `INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total)
		SELECT gen_random_uuid(), event_id, 'x', holder, gen_random_uuid(), wish, name, email, method, currency, total FROM orders`)
	if err != nil {
		t.Fatal(err)
	}
	h.of(t, first)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := words(h.of(t, h.order(t, 1))); got != "invoice 2 25.00" {
		t.Errorf("the order after it has %s", got)
	}
	h.wantBooks(t)
}

func TestNumber_EachCancellationAndRefundHasACreditNote(t *testing.T) {
	t.Parallel()
	h := open(t, events.Settings{})
	code := h.order(t, 3)
	if _, _, err := h.orders.MarkPaid(t.Context(), code, nil); err != nil {
		t.Fatal(err)
	}
	o := h.find(t, code)
	for i := range 2 { // before any of it has a number
		if err := h.orders.Refund(t.Context(), o, fmt.Sprint(i), 100, "late"); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.orders.Revoke(t.Context(), h.sale, o, false, o.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	list := h.of(t, code)
	if got := words(list); got != "invoice 1 75.00, credit 2 1.00, credit 3 1.00, credit 4 25.00" {
		t.Errorf("it has %s", got)
	}
	for _, d := range list[1:] {
		if d.Corrects == nil || d.Corrects.Label != list[0].Label {
			t.Errorf("%s corrects %+v", d.Label, d.Corrects)
		}
	}
	h.wantBooks(t)
}

func TestNumber_WhatTheTermsKeepIsNotCredited(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.CancelFee = 500
	h := open(t, events.Settings{Policy: &policy})
	code := h.order(t, 2)
	if _, _, err := h.orders.MarkPaid(t.Context(), code, nil); err != nil {
		t.Fatal(err)
	}
	o := h.find(t, code)
	if err := h.orders.RevokeBy(t.Context(), h.sale, o, orders.Revoking{}, o.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	list := h.of(t, code)
	if got := words(list); got != "invoice 1 50.00, credit 2 20.00" {
		t.Errorf("it has %s", got)
	}
	if lines := list[1].Lines; len(lines) != 2 || lines[0].Gross != 2500 || lines[1].Kind != invoices.LineKept || lines[1].Gross != -500 {
		t.Errorf("the credit note says %+v", lines)
	}
	h.wantBooks(t)
}

func TestNumber_AChangeThatComesToNothingTakesNone(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.CancelFee = price
	h := open(t, events.Settings{Policy: &policy})
	code := h.order(t, 1)
	if _, _, err := h.orders.MarkPaid(t.Context(), code, nil); err != nil {
		t.Fatal(err)
	}
	if err := h.orders.RevokeBy(t.Context(), h.sale, h.find(t, code), orders.Revoking{}); err != nil {
		t.Fatal(err)
	}
	if got := words(h.of(t, code)); got != "invoice 1 25.00" {
		t.Errorf("an order of which all was kept has %s", got)
	}
	if got := words(h.of(t, h.order(t, 1))); got != "invoice 2 25.00" {
		t.Errorf("the next one has %s", got)
	}
	h.wantBooks(t)
}

func TestNumber_OnlyOrdersOfATeamWithASenderAreInvoiced(t *testing.T) {
	t.Parallel()
	h := open(t, events.Settings{})
	h.exec(t, `UPDATE invoice_sender SET paused = true`)
	before := h.order(t, 1)
	h.exec(t, `UPDATE invoice_sender SET paused = false`)
	after := h.order(t, 1)
	o := h.find(t, before)
	if err := h.orders.Revoke(t.Context(), h.sale, o, false); err != nil {
		t.Fatal(err)
	}
	if got := words(h.of(t, before)); got != "" {
		t.Errorf("an order from before has %s", got)
	}
	if got := words(h.of(t, after)); got != "invoice 1 25.00" {
		t.Errorf("an order after it has %s", got)
	}
	h.wantBooks(t)
}

func TestInvoice_IsNeverChanged(t *testing.T) {
	t.Parallel()
	h := open(t, events.Settings{})
	h.of(t, h.order(t, 1))
	for _, sql := range []string{`UPDATE invoice SET gross = 1`, `DELETE FROM invoice`, `TRUNCATE invoice`} {
		if _, err := h.db.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s is done", sql)
		}
	}
}

// A line says which ticket it is for, and what a code or an offer took off.
func TestNumber_LinesNameTypeAndDiscount(t *testing.T) {
	t.Parallel()
	h := open(t, events.Settings{})
	h.exec(t, `INSERT INTO ticket_type (event_id, number, key, name, position, sold_to, least, most, proof, with_accessible, with_each, retired) SELECT id, 1, 'child', 'Child', 1, 'everyone', 0, 0, '', false, 0, false FROM event`)
	h.exec(t, `UPDATE event SET price_rules = '{"offers": [{"number": 1, "kind": "multi", "name": "3 for 2", "count": 3, "pay": 2}], "last_offer": 1}'`)
	h.exec(t, `INSERT INTO price (event_id, version, phase, type, category, amount) SELECT event_id, version, 0, 1, category, 1000 FROM price`)
	office := seats.NewInventory(h.db, nil)
	sale, err := office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	f := orders.OfficeForm{Key: "k", Seats: []int{0, 1, 2}, Types: map[int]string{0: "child"}, Method: "cash"}
	code, err := h.orders.SellAtOffice(t.Context(), sale, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := h.of(t, code)[0]
	if d.Gross != 2*price || !strings.HasSuffix(d.Lines[0].Text, ", Child") || d.Lines[0].Less != 1000 || d.Lines[1].Less != 0 {
		t.Errorf("the invoice is %+v", d)
	}
	if en, de := d.Words(t.Context(), d.Lines[0]), d.Words(text.With(t.Context(), "de"), d.Lines[0]); !strings.HasSuffix(en, ", discount 10.00 (3 for 2)") || !strings.HasSuffix(de, ", Ermäßigung 10.00 (3 for 2)") {
		t.Errorf("a line says %q and %q", en, de)
	}
	h.wantBooks(t)
}
