package payouts_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/payouts"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// house is an event that is paid at a stand-in for Stripe.
type house struct {
	db      *pgxpool.Pool
	office  *seats.Inventory
	sale    *seats.Sale
	orders  *orders.Orders
	ledger  *credit.Ledger
	payouts *payouts.Payouts
	bank    *stripetest.Fake
	member  organizers.Member
}

func openHouse(t testing.TB) *house {
	t.Helper()
	h := &house{db: seatstest.DB(t), bank: stripetest.New(t)}
	p, _ := plan.Named("theatre")
	for _, slug := range []string{"evening", "theirs"} {
		e := events.Settings{Name: "Evening", Slug: slug, StartsAt: time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC), SeatsPerHolder: 50, Fees: seats.Fees{Ticket: 150, Percent: 333}}
		if _, err := events.Create(t.Context(), h.db, e, p); err != nil {
			t.Fatal(err)
		}
	}
	h.office = seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	account := stripe.New("sk_test_1", stripetest.Secret, h.bank.URL)
	h.orders, h.ledger = orders.New(h.db), credit.New(h.db)
	h.orders.Open(h.office, "http://localhost")
	h.orders.Payments.Accept(payments.Card, account)
	h.orders.Payments.Accept(payments.Credit, credit.Payments{Ledger: h.ledger})
	h.payouts = payouts.New(h.db, organizers.New(h.db, func() {}), account)
	h.payouts.Record, h.orders.Payments.PayoutsChanged = h.orders.Payments.Record, h.payouts.MakeDue
	seatstest.Run(t, h.db, append(h.orders.Jobs(), h.payouts.Job())...)
	var err error
	if h.sale, err = h.office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.member = organizers.Member{Team: h.sale.Event.Team, Role: organizers.Owner}
	return h
}

func (h *house) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// until waits until a query counts nothing.
func (h *house) until(t testing.TB, sql string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var n int
		if err := h.db.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			var reading string
			_ = h.db.QueryRow(t.Context(), `SELECT string_agg(r::text, ' ') FROM payout_reading r`).Scan(&reading) // it is told if it can be
			t.Fatalf("it never came to this: %s. The reading is %s", sql, reading)
		}
	}
}

const underWay = `SELECT (SELECT count(*) FROM intention WHERE done_at IS NULL) + (SELECT count(*) FROM inbox WHERE done_at IS NULL)`

// buys orders tickets of an event by card, a part of them by credit.
func (h *house) buys(t testing.TB, slug string, n int, byCredit int64) orders.Order {
	t.Helper()
	who := seats.NewID()
	sale, err := h.office.Sale(t.Context(), slug)
	if err != nil {
		t.Fatal(err)
	}
	hold, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: n, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	email := who.String() + "@example.org"
	f := orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Verified: email, Method: payments.Card}
	if byCredit > 0 {
		if err := h.ledger.Grant(t.Context(), who.String(), email, credit.Amount{Minor: byCredit, Currency: "EUR"}, seats.ID{}); err != nil {
			t.Fatal(err)
		}
		f.Account, f.Credit = email, byCredit
	}
	p, err := h.orders.Pay(t.Context(), sale, who, f)
	if err != nil {
		t.Fatal(err)
	}
	all := h.bank.Sessions()
	h.bank.Pays(all[len(all)-1].ID, false)
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.until(t, underWay)
	return h.find(t, p.Code)
}

func (h *house) find(t testing.TB, code string) orders.Order {
	t.Helper()
	o, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (h *house) gives(t testing.TB, o orders.Order, amount int64) {
	t.Helper()
	if err := h.orders.Refund(t.Context(), o, seats.NewID().String(), amount, "Loud neighbours"); err != nil {
		t.Fatal(err)
	}
	h.until(t, underWay)
}

// reads has payouts read as the webhook about one does, and returns the account of the team.
func (h *house) reads(t testing.TB, payout string) payouts.Account {
	t.Helper()
	account := stripe.New("sk_test_1", stripetest.Secret, h.bank.URL)
	body := h.bank.PayoutEvent(payout, "payout.paid")
	event, err := account.ReadWebhook(t.Context(), body, stripetest.Sign(body, stripetest.Secret, time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Payments.Record(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	h.until(t, underWay)
	h.until(t, `SELECT count(*) FROM payout_reading WHERE due_at < clock_timestamp() + interval '30 minutes'`)
	h.until(t, underWay)
	return h.list(t, h.member)
}

// list returns the payouts of a team, which are the same if they are read one by one.
func (h *house) list(t testing.TB, m organizers.Member) payouts.Account {
	t.Helper()
	all, next, err := h.payouts.List(t.Context(), m, paging.Page{Limit: payouts.PageSize})
	if err != nil || next != nil {
		t.Fatal(next, err)
	}
	page := paging.Page{Limit: 1}
	for i, p := range all.Payouts {
		one, next, err := h.payouts.List(t.Context(), m, page)
		if err != nil || len(one.Payouts) != 1 || one.Payouts[0].ID != p.ID || (next == nil) != (i == len(all.Payouts)-1) {
			t.Fatalf("page %d is %+v, then %v: %v", i, one, next, err)
		}
		if next != nil {
			page.After = *next
		}
	}
	return all
}

// broken are the findings about payouts and whatever else is against a promise.
func (h *house) broken(t testing.TB) (list []string) { return findings(t, h.db) }

func findings(t testing.TB, db verify.DB) (list []string) {
	t.Helper()
	r, err := verify.Look(t.Context(), db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Promises {
		for _, f := range p.Findings {
			list = append(list, p.Name+": "+f.String())
		}
	}
	return list
}

func TestRead_APayoutOfOursHasNoDifference(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	first, second := h.buys(t, "evening", 2, 0), h.buys(t, "evening", 3, 1500)
	h.gives(t, first, 1234)
	h.gives(t, second, second.Total-500) // the card's part, and a part of the credit
	h.bank.Adjusts("fee", "eur", "", -300)
	id := h.bank.PaysOut("eur")
	a := h.reads(t, id)
	if len(a.Payouts) != 1 || a.Reading.At == nil || a.Reading.Error != "" {
		t.Fatalf("the account is %+v", a)
	}
	got := a.Payouts[0]
	received := first.Total + second.Total - 1500
	want := payouts.Reckoned{Payments: 2, Refunds: 2, Received: received, Returned: 1234 + second.Total - 1500, Fees: 2*55 + 300, Net: received - (1234 + second.Total - 1500) - 410}
	if got.Payments != want.Payments || got.Refunds != want.Refunds || got.Received != want.Received || got.Returned != want.Returned || got.Fees != want.Fees || got.Net != want.Net ||
		got.Amount != want.Net || got.Difference() != 0 || got.Wrong != 0 || !got.Whole || !got.Read || got.Status != payouts.Paid {
		t.Errorf("the payout is %+v, want %+v and no difference", got, want)
	}
	_, lines, err := h.payouts.Find(t.Context(), h.member, id)
	if err != nil || len(lines) != 5 {
		t.Fatalf("its lines are %+v, %v", lines, err)
	}
	for _, l := range lines {
		if l.Kind != payouts.Fee && (l.Why != "" || l.Event != "evening" || l.Code != first.Code && l.Code != second.Code) {
			t.Errorf("a line is %+v", l)
		}
	}
	if again := h.reads(t, id); len(again.Payouts) != 1 || again.Payouts[0] != got {
		t.Errorf("read again it is %+v, was %+v", again.Payouts, got)
	}
	if found := h.broken(t); len(found) > 0 {
		t.Error(found)
	}
}

func TestRead_WhatIsNotOursIsNamed(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	order := h.buys(t, "evening", 2, 0)
	session := h.bank.Sessions()[0].ID
	h.bank.Adjusts("charge", "eur", "", 4200)
	h.bank.Adjusts("dispute", "eur", session, -700)
	h.bank.GivesBack(session, 300) // and no webhook tells of it
	id := h.bank.PaysOut("eur")
	got := h.reads(t, id).Payouts[0]
	if got.Difference() != 4200-700 || got.Wrong != 2 || got.Others != 4200-700 || got.Payments != 1 {
		t.Errorf("the payout is %+v with a difference of %d", got, got.Difference())
	}
	_, lines, err := h.payouts.Find(t.Context(), h.member, id)
	if err != nil {
		t.Fatal(err)
	}
	whys := map[string]int64{}
	for _, l := range lines {
		if l.Why != "" {
			whys[l.Why] += l.Off
		}
	}
	if len(whys) != 2 || whys[payouts.WhyForeign] != 4200 || whys[payouts.WhyDispute] != -700 {
		t.Errorf("named are %v", whys)
	}
	if after := h.find(t, order.Code); after.Paid != order.Paid-300 {
		t.Errorf("a refund that was made at the provider left %d of %d: reading the payout has to tell of it", after.Paid, order.Paid)
	}
	if found := h.broken(t); len(found) > 0 {
		t.Error(found)
	}
	h.exec(t, `UPDATE refund SET elsewhere = false, by_hand = true`)
	if got := h.list(t, h.member).Payouts[0]; got.Wrong != 3 || got.Difference() != 4200-700-300 {
		t.Errorf("with a refund that is not known the payout is %+v", got)
	}
}

func TestRead_APayoutIsReadOnceItsLinesAreKnown(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.buys(t, "evening", 2, 0)
	id := h.bank.PaysOut("eur")
	h.bank.Says(id, "reconciliation_status", "in_progress")
	h.bank.Says(id, "status", "in_transit")
	a := h.reads(t, id)
	if got := a.Payouts[0]; got.Read || got.Status != payouts.Transit || got.Difference() != 0 || a.Reading.Due == nil {
		t.Errorf("while it is not known: %+v", a)
	}
	h.bank.Says(id, "reconciliation_status", "completed")
	h.bank.Says(id, "status", "failed")
	a = h.reads(t, id)
	if got := a.Payouts[0]; !got.Read || got.Payments != 1 || got.Status != payouts.Failed || a.Reading.Due != nil {
		t.Errorf("once it is known: %+v", a)
	}
}

func TestList_ATeamSeesItsOwnLinesOnly(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.exec(t, `WITH t AS (INSERT INTO team (name) VALUES ('Theirs') RETURNING id) UPDATE event SET team_id = t.id FROM t WHERE slug = 'theirs'`)
	if err := h.office.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	var theirs organizers.Member
	if err := h.db.QueryRow(t.Context(), `SELECT team_id FROM event WHERE slug = 'theirs'`).Scan(&theirs.Team); err != nil {
		t.Fatal(err)
	}
	own := h.buys(t, "evening", 2, 0)
	alone := h.bank.PaysOut("eur")
	h.reads(t, alone)
	h.buys(t, "evening", 1, 0)
	foreign := h.buys(t, "theirs", 3, 0)
	h.bank.Adjusts("charge", "eur", "", 4200)
	shared := h.bank.PaysOut("eur")
	a := h.reads(t, shared)
	if len(a.Payouts) != 2 || a.Payouts[0].ID != shared || a.Payouts[0].Whole || !a.Payouts[1].Whole || a.Payouts[1].Amount != own.Total-55 {
		t.Fatalf("the payouts are %+v", a.Payouts)
	}
	if got := a.Payouts[0]; got.Payments != 1 || got.Total() != got.Received-55 || got.Difference() != 0 {
		t.Errorf("of a shared payout the team sees %+v", got)
	}
	got := h.list(t, theirs).Payouts
	if len(got) != 1 || got[0].Total() != foreign.Total-55 {
		t.Errorf("the other team sees %+v", got)
	}
	if _, _, err := h.payouts.Find(t.Context(), theirs, alone); !errors.Is(err, payouts.ErrNoPayout) {
		t.Errorf("the other team got a payout that it has nothing in: %v", err)
	}
	_, lines, err := h.payouts.Find(t.Context(), theirs, shared)
	if err != nil || len(lines) != 1 || lines[0].Code != foreign.Code {
		t.Errorf("the other team got the lines %+v, %v", lines, err)
	}
}

func TestList_APaymentInNoPayoutIsMissing(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	first := h.buys(t, "evening", 2, 0)
	id := h.bank.PaysOut("eur")
	late := h.buys(t, "evening", 1, 0)
	if got := h.reads(t, id).Missing; len(got) != 0 {
		t.Errorf("a payment of today is missing: %+v", got)
	}
	h.exec(t, `UPDATE intention SET done_at = done_at - interval '15 days' WHERE step = 'capture'`)
	got := h.list(t, h.member).Missing
	if len(got) != 1 || got[0].Code != late.Code || got[0].Amount != late.Total || got[0].Code == first.Code {
		t.Errorf("missing are %+v", got)
	}
}

func TestRead_AProviderThatIsDownIsAskedAgain(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.buys(t, "evening", 2, 0)
	id := h.bank.PaysOut("eur")
	h.bank.Down(true)
	if err := h.payouts.MakeDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.until(t, `SELECT 1 - count(*) FROM payout_reading WHERE error <> ''`)
	h.bank.Down(false)
	if a := h.list(t, h.member); a.Reading.Error == "" || a.Reading.Due == nil || a.Reading.At != nil {
		t.Errorf("the reading is %+v", a.Reading)
	}
	if a := h.reads(t, id); a.Reading.Error != "" || len(a.Payouts) != 1 {
		t.Errorf("afterwards it is %+v", a)
	}
}

var planted = []struct{ name, promise, says, sql string }{
	{"a payout is of another amount", "S1: payout", "and its lines come to", `UPDATE payout SET amount = amount + 1`},
	{"a line is lost", "S1: payout", "and its lines come to", `DELETE FROM payout_line WHERE kind = 'refund'`},
	{"a line of a payout that was not read", "S1: payout", "was not read", `UPDATE payout SET read_at = NULL`},
	{"a charge is a cent less", "S2: line", "is a charge of", `UPDATE payout_line SET charged = charged - 1 WHERE kind = 'charge'`},
	{"a charge is in another currency", "S2: line", "is a charge of", `UPDATE payout_line SET charged_currency = 'CHF' WHERE kind = 'charge'`},
	{"a payment took a cent less", "S2: line", "is a charge of", `UPDATE payment SET captured = captured - 1`},
	{"a refund is of another amount", "S2: line", "is a refund of", `UPDATE refund SET amount = amount + 1`},
	{"a refund is of another payment", "S2: line", "is of refund", `UPDATE refund SET payment_id = (SELECT id FROM payment p WHERE p.id <> refund.payment_id LIMIT 1)`},
	{"a payment was charged twice", "S2: payment", "is in 2 charges", `INSERT INTO payout_line SELECT 'txn_x', payout_id, kind, type, source, at, 0, 0, 0, charged, charged_currency, payment_id, refund_id, gift_card_id, ours, team_id FROM payout_line WHERE kind = 'charge' LIMIT 1`},
	{"a refund was made twice", "S2: refund", "is in 2 refunds", `INSERT INTO payout_line SELECT 'txn_x', payout_id, kind, type, source, at, 0, 0, 0, charged, charged_currency, payment_id, refund_id, gift_card_id, ours, team_id FROM payout_line WHERE kind = 'refund' LIMIT 1`},
	{"an amount lost a cent", "S2: line", "and its amount is", `UPDATE payout_line SET amount = amount - 1, net = net - 1 WHERE kind = 'charge'`},
	{"a line is another team's", "S2: line", "of another team", `WITH t AS (INSERT INTO team (name) VALUES ('x') RETURNING id) UPDATE payout_line SET team_id = t.id FROM t WHERE payment_id IS NOT NULL`},
}

// inside lets a look see what a transaction did before it is rolled back.
type inside struct{ pgx.Tx }

func (tx inside) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) { return tx.Begin(ctx) }

// plants corrupts the database, wants the promise to tell of it, and undoes it.
func (h *house) plants(t *testing.T, sql, promise, says string) {
	t.Helper()
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // the database is dropped if not
	if _, err := tx.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found := findings(t, inside{tx})
	if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, promise) && strings.Contains(f, says) }) {
		t.Errorf("%s did not tell of it; told was %q", promise, found)
	}
}

func TestVerify_FindsEachPlantedCorruptionOfPayouts(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.buys(t, "evening", 1, 0)
	h.gives(t, h.buys(t, "evening", 2, 0), 1234)
	h.reads(t, h.bank.PaysOut("eur"))
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			if found := h.broken(t); len(found) > 0 {
				t.Fatal(found)
			}
			h.plants(t, p.sql, p.promise, p.says)
		})
	}
}
