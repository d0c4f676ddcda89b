package books_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// charted gives the house's team accounts, of the chart SKR 03 where it has them.
const chartedSQL = `
INSERT INTO book_accounts (team_id, accounts, consultant, client) SELECT id, '{"method card": "1361", "method cash": "1000", "method terminal": "1362", "method invoice": "1200", "method door": "1001", "method credit": "1718",
 "method exchange": "1590", "ticket 7000": "8300", "ticket 10000": "8310", "fee 19000": "8400", "postage 19000": "8401", "donation 0": "8200", "excess": "1719", "method by hand": "1201"}', 1001, 1 FROM team`

func TestJournal_ComesToTheReport(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	_, _, err := h.books.Journal(t.Context(), h.member, books.Filter{})
	var missing *books.MissingAccounts
	if !errors.As(err, &missing) || len(missing.Keys) == 0 || missing.Keys[0].Kind != books.AccountMethod {
		t.Fatalf("without accounts the journal is refused with %v", err)
	}
	h.exec(t, chartedSQL)
	h.exec(t, `
		WITH v AS (INSERT INTO credit_voucher (code, currency, amount) VALUES ('x', 'EUR', 5000) RETURNING id)
		INSERT INTO gift_card (id, team_id, code, currency, amount, buyer, recipient, giver, message, method, state, voucher_id, secret, issued_at)
		SELECT gen_random_uuid(), (SELECT min(id) FROM team), 'x', 'EUR', 5000, '', '', '', '', 'card', 'issued', id, 'x', now() FROM v`)
	entries, chart, err := h.books.Journal(t.Context(), h.member, books.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var sum, tax, cards int64
	for _, e := range entries {
		if e.Line == books.LineGiftCard {
			cards += e.Amount
			if e.Debit != "1361" || e.Credit != "1718" {
				t.Errorf("a gift card is booked %+v", e)
			}
			continue
		}
		sum, tax = sum+e.Amount, tax+e.Tax
	}
	if want := h.report(t, books.Filter{}, books.ByDay).Total; sum != want.Total() || tax != want.Tax || cards != 5000 {
		t.Errorf("the journal comes to %d with a tax of %d and gift cards of %d, the report is %+v", sum, tax, cards, want)
	}
	if _, err := books.Datev(chart, books.Filter{}, entries, time.Now()); err == nil {
		t.Error("a DATEV file was made without days")
	}
}

func TestDatev_IsAsTheFormatHasIt(t *testing.T) {
	t.Parallel()
	c := books.Chart{Consultant: 1001, Client: 1, Digits: 4, YearMonth: 8}
	f := books.Filter{From: "2030-05-01", To: "2030-05-31"}
	now := time.Date(2030, 6, 1, 12, 30, 15, 0, time.UTC)
	file, err := books.Datev(c, f, []books.Entry{
		{Day: "2030-05-02", Event: "der-räuber", Text: `Die "Räuber" für 5 € 日`, Line: books.LineTicket, Rate: 7000, Currency: "EUR", Amount: 123456, Tax: 8077, Debit: "1361", Credit: "8300"},
		{Day: "2030-05-31", Event: "evening", Text: "=1+1", Line: books.LineFee, Rate: 19000, Currency: "EUR", Amount: -5, Tax: -1, Debit: "1361", Credit: "8400"},
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(file, []byte("\r\n"))
	if len(lines) != 5 || len(lines[4]) != 0 {
		t.Fatalf("it has %d lines", len(lines))
	}
	if want := `"EXTF";700;21;"Buchungsstapel";13;20300601123015000;;"US";"";"";1001;1;20290801;4;20300501;20300531;"Ticketverkauf";"";1;0;0;"EUR";;"";;;"";;;"";""`; string(lines[0]) != want {
		t.Errorf("the header is\n%s\nwant\n%s", lines[0], want)
	}
	for i, line := range lines[1:4] {
		if n := bytes.Count(line, []byte(";")) + 1; n != 125 {
			t.Errorf("line %d has %d fields", i+2, n)
		}
	}
	if !strings.HasPrefix(string(lines[2]), "1234,56;\"S\";\"EUR\";;;\"\";1361;8300;\"\";0205;\"der-r-uber\";\"\";;\"Die \"\"R\xe4uber\"\" f\xfcr 5 \x80 ? Tickets\";;") {
		t.Errorf("an entry is %q", lines[2])
	}
	if !strings.HasPrefix(string(lines[3]), `0,05;"H";"EUR";;;"";1361;8400;"";3105;"evening"`) {
		t.Errorf("money that went is %q", lines[3])
	}
	if !bytes.Contains(lines[3], []byte(`;"'=1+1 Geb`)) {
		t.Errorf("a name that a spreadsheet would compute is %q", lines[3])
	}
	for name, of := range map[string]struct {
		chart  books.Chart
		filter books.Filter
	}{
		"no consultant": {books.Chart{Client: 1, YearMonth: 1}, f}, "no days": {c, books.Filter{}},
		"two years": {c, books.Filter{From: "2030-07-31", To: "2030-08-01"}},
	} {
		var wrong *seats.ValidationError
		if _, err := books.Datev(of.chart, of.filter, nil, now); !asValidation(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChart_BadOnesAreRefused(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	for _, c := range []books.Chart{
		{Accounts: map[string]string{"method card": "12a"}, Digits: 4, YearMonth: 1},
		{Accounts: map[string]string{"method barter": "1000"}, Digits: 4, YearMonth: 1},
		{Accounts: map[string]string{"ticket 07000": "1000"}, Digits: 4, YearMonth: 1},
		{Accounts: map[string]string{"method card": "123456"}, Digits: 4, YearMonth: 1},
		{Digits: 3, YearMonth: 1},
		{Digits: 4, YearMonth: 13},
		{Digits: 4, YearMonth: 1, Consultant: 1},
		{Digits: 4, YearMonth: 1, Client: -1},
	} {
		var wrong *seats.ValidationError
		if err := h.books.SetChart(t.Context(), h.member, c, "k"); !asValidation(err, &wrong) {
			t.Errorf("%+v was answered %v", c, err)
		}
	}
	_, keys, err := h.books.Chart(t.Context(), h.member)
	if err != nil || len(keys) != 8+3+1+1+1 {
		t.Errorf("the keys are %v, %v", keys, err)
	}
}

// The account of deposits has what is owed to groups: of those that were taken over, paid back or retained, nothing is left, at no rate. What came
// and stayed is earned once.
func TestJournal_OwesDepositsUntilTheyAreTakenOver(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.member.Name = "Ann"
	desk := organizers.New(h.db, func() {})
	groups := bookings.New(h.db, desk, h.orders, blocks.New(h.office, desk))
	s, err := h.office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	group := func(amount int64, method string, idxs ...int) seats.ID {
		t.Helper()
		until := s.Event.StartsAt.Add(-time.Hour)
		id, err := groups.Take(t.Context(), h.member, seats.NewID().String(), s, bookings.Request{
			Contact: bookings.Contact{Name: "Eva"}, Seats: idxs, Until: until, Deposit: &bookings.DepositTerms{Amount: amount, Due: until}, Prices: []bookings.Price{{Type: "youth", Count: 1}},
		})
		if err == nil {
			err = groups.PayDeposit(t.Context(), h.member, seats.NewID().String(), s, id, bookings.DepositPayment{Method: method})
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	ends := func(id seats.ID, end bookings.DepositEnd) {
		t.Helper()
		if err := groups.Cancel(t.Context(), h.member, seats.NewID().String(), s, id); err != nil {
			t.Fatal(err)
		}
		if err := groups.EndDeposit(t.Context(), h.member, seats.NewID().String(), s, id, end); err != nil {
			t.Fatal(err)
		}
	}
	h.exec(t, chartedSQL)
	ordered, back, kept := group(2001, payments.Invoice, 10, 11, 12), group(1003, payments.Cash, 20, 21), group(707, payments.Terminal, 30, 31)
	group(505, payments.Cash, 40, 41) // stays with its group
	if _, err := groups.Confirm(t.Context(), h.member, seats.NewID().String(), s, ordered, bookings.Confirming{Due: s.Event.StartsAt}); err != nil {
		t.Fatal(err)
	}
	ends(back, bookings.DepositEnd{Outcome: bookings.Refunded, Back: payments.Cash})
	ends(kept, bookings.DepositEnd{Outcome: bookings.Retained})
	_, _, err = h.books.Journal(t.Context(), h.member, books.Filter{})
	var missing *books.MissingAccounts
	if !errors.As(err, &missing) {
		t.Fatalf("without accounts of deposits the journal is refused with %v", err)
	}
	chart, keys, err := h.books.Chart(t.Context(), h.member)
	for _, k := range keys {
		if chart.Accounts[k.String()] == "" {
			chart.Accounts[k.String()] = map[string]string{"deposit 7000": "1711", "deposit 10000": "1712", "deposit 19000": "1718", "retained": "2700", "method deposit": "1593"}[k.String()]
		}
	}
	if err == nil {
		err = h.books.SetChart(t.Context(), h.member, chart, "k")
	}
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := h.books.Journal(t.Context(), h.member, books.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	balance, tax := map[string]int64{}, int64(0)
	for _, e := range entries {
		balance[e.Debit], balance[e.Credit] = balance[e.Debit]+e.Amount, balance[e.Credit]-e.Amount
		if e.Line == books.LineDeposit {
			tax += e.Tax
		}
	}
	if owed := -balance["1711"] - balance["1712"] - balance["1718"]; owed != 505 || tax <= 0 || balance["1593"] != 0 || balance["2700"] != -707 {
		t.Errorf("%d are owed to groups with %d of tax, %d are on their way, %d were retained: %+v", owed, tax, balance["1593"], -balance["2700"], entries)
	}
	if balance["1200"] != 2001 || balance["1000"] != 505 || balance["1362"] != 707 {
		t.Errorf("the money is %v", balance)
	}
	for _, by := range books.Groups {
		if total := h.report(t, books.Filter{}, by).Total; total.Total() != 2001+707 || total.Gross != 2001+707 {
			t.Errorf("by %s the report is %+v", by, total)
		}
	}
	if settled, err := h.books.Settlement(t.Context(), h.member, "evening"); err != nil || settled.Total.Total() != 2001+707 {
		t.Errorf("the settlement is %+v, %v", settled, err)
	}

	// Money that came online and is no deposit is owed until it goes back.
	chart.Accounts["deposit 0"], chart.Accounts["method card"] = "1710", "1361"
	if err := h.books.SetChart(t.Context(), h.member, chart, "k2"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sql  string
		owed int64
	}{
		{`INSERT INTO deposit_payment (id, booking_id, event_id, method, currency, amount, rates, language, state, captured_at)
			SELECT gen_random_uuid(), booking_id, event_id, m, 'EUR', 300, '[]', '', 'refunding', now() FROM deposit, unnest('{card,demo}'::text[]) m WHERE outcome = ''`, 300},
		{`UPDATE deposit_payment SET state = 'refunded', refunded_at = now() + interval '1 day'`, 300},
	} {
		h.exec(t, c.sql)
		entries, _, err := h.books.Journal(t.Context(), h.member, books.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		came, back := int64(0), int64(0)
		for _, e := range entries {
			if e.Credit == "1710" && e.Debit == "1361" {
				came, back = came+max(e.Amount, 0), back-min(e.Amount, 0)
			}
		}
		if came != c.owed || c.sql[0] == 'U' && back != 300 || c.sql[0] == 'I' && back != 0 {
			t.Errorf("of money that goes back, %d came and %d went: %+v", came, back, entries)
		}
	}
}
