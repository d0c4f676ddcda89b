package banktransfer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is an event that takes bank transfers, in a database of its own.
type fixture struct {
	db     *pgxpool.Pool
	sale   *seats.Sale
	orders *orders.Orders
	bank   *banktransfer.Bank
	team   int64
}

func open(t testing.TB) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	theatre, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0), Invoices: true, SeatsPerHolder: 50}, theatre); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.orders = orders.New(h.db)
	h.orders.Open(office, "http://localhost")
	h.bank, h.team = banktransfer.New(h.db, h.orders, organizers.New(h.db, func() {})), h.sale.Event.Team
	return h
}

// ordered is an order by bank transfer.
func (h *fixture) ordered(t testing.TB, email string) orders.Order {
	t.Helper()
	who := seats.NewID()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: 2})
	if err != nil {
		t.Fatal(err)
	}
	code, err := h.orders.Place(t.Context(), h.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Method: payments.Invoice, Verified: email})
	if err != nil {
		t.Fatal(err)
	}
	return h.find(t, code)
}

func (h *fixture) find(t testing.TB, code string) orders.Order {
	t.Helper()
	o, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// line is a statement with one entry of an amount beyond what is due for an order, each with another name.
func (h *fixture) imports(t testing.TB, o orders.Order, more int64, id string) banktransfer.Import {
	t.Helper()
	amount := o.Due() + more
	return h.reads(t, []byte(fmt.Sprintf("Date,Amount,Currency,Text,Name,ID\n2030-03-01,%d.%02d,%s,%s,Ann,%s\n", amount/100, amount%100, o.Currency, banktransfer.Reference(o.ID), id)))
}

func (h *fixture) reads(t testing.TB, content []byte) banktransfer.Import {
	t.Helper()
	s, err := banktransfer.Read(content, "EUR")
	if err != nil {
		t.Fatal(err)
	}
	i, err := h.bank.Import(t.Context(), h.team, "a.csv", content, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// all is the content of every table that an import may change.
func (h *fixture) all(t testing.TB) (text string) {
	t.Helper()
	for _, table := range []string{"orders", "receipt", "refund", "statement", "statement_entry", "mail"} {
		var rows string
		if err := h.db.QueryRow(t.Context(), `SELECT coalesce(string_agg(x::text, E'\n' ORDER BY x::text), '') FROM `+table+` x`).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		text += table + "\n" + rows + "\n"
	}
	return text
}

func (h *fixture) only(t testing.TB) banktransfer.Open {
	t.Helper()
	list, err := h.bank.Opens(t.Context(), h.team)
	if err != nil || len(list) != 1 {
		t.Fatalf("open are %+v, %v, want one entry", list, err)
	}
	return list[0]
}

func (h *fixture) wantBooks(t testing.TB) {
	t.Helper()
	report, err := verify.Look(t.Context(), h.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			t.Errorf("%s: %s", p.Name, f)
		}
	}
}

func TestImport_TwiceChangesNothingTwice(t *testing.T) {
	t.Parallel()
	h := open(t)
	ann, bob := h.ordered(t, "ann@example.org"), h.ordered(t, "bob@example.org")
	amount := func(o orders.Order, more int64) string {
		return fmt.Sprintf("%d.%02d", (o.Due()+more)/100, (o.Due()+more)%100)
	}
	content := file(t, "statement.xml", banktransfer.Reference(ann.ID), banktransfer.Reference(bob.ID))
	content = []byte(strings.ReplaceAll(strings.ReplaceAll(string(content), ">60.00<", ">"+amount(ann, 0)+"<"), ">70.00<", ">"+amount(bob, 500)+"<"))
	if i := h.reads(t, content); i.Entries != 3 || i.Fresh != 3 || i.Applied != 1 || i.Skipped != 2 || i.Repeated {
		t.Errorf("the import is %+v", i)
	}
	if o := h.find(t, ann.Code); o.Paid != ann.Total || o.DueAt != nil {
		t.Errorf("the order that was paid has %d and is due at %v", o.Paid, o.DueAt)
	}
	if o := h.find(t, bob.Code); o.Paid != 0 || o.DueAt == nil {
		t.Errorf("the order with a doubtful entry has %d and is due at %v", o.Paid, o.DueAt)
	}
	before := h.all(t)
	if i := h.reads(t, content); !i.Repeated || i.Applied != 0 {
		t.Errorf("the same file is %+v", i)
	}
	if after := h.all(t); after != before {
		t.Errorf("the same file changed\n%s\nto\n%s", before, after)
	}
	overlapping := []byte(strings.Replace(string(content), "2030-42", "2030-43", 1)) // another file with the same entries
	if i := h.reads(t, overlapping); i.Repeated || i.Fresh != 0 || i.Applied != 0 {
		t.Errorf("another file with the same entries is %+v", i)
	}
	if o := h.find(t, ann.Code); o.Paid != ann.Total || o.Back != 0 {
		t.Errorf("after an overlapping file the order has %d, and %d goes back", o.Paid, o.Back)
	}
	list, err := h.bank.Opens(t.Context(), h.team)
	if err != nil || len(list) != 2 {
		t.Errorf("open are %+v, %v, want two entries", list, err)
	}
	h.wantBooks(t)
}

func TestImport_RefusesAStatementOfAnotherAccount(t *testing.T) {
	t.Parallel()
	h := open(t)
	ann := h.ordered(t, "ann@example.org")
	content := file(t, "statement.xml", banktransfer.Reference(ann.ID), banktransfer.Reference(ann.ID))
	s, err := banktransfer.Read(content, "EUR")
	if err != nil {
		t.Fatal(err)
	}
	for iban, refused := range map[string]bool{"AT611904300234573201": true, "DE75512108001245126199": false} {
		if _, err := h.db.Exec(t.Context(), `INSERT INTO bank_account (team_id, holder, iban) VALUES ($1, 'House', $2) ON CONFLICT (team_id) DO UPDATE SET iban = $2`, h.team, iban); err != nil {
			t.Fatal(err)
		}
		before := h.all(t)
		var wrong *banktransfer.FileError
		_, err := h.bank.Import(t.Context(), h.team, "a.xml", content, s, nil)
		if errors.As(err, &wrong) != refused || err != nil && !refused {
			t.Errorf("with the account %s: %v", iban, err)
		}
		if after := h.all(t); refused && (after != before || !strings.Contains(wrong.Error(), iban)) {
			t.Errorf("it was refused (%v), and changed\n%s\nto\n%s", wrong, before, after)
		}
	}
}

func TestMatch_MoneyInAnotherCurrencyWaits(t *testing.T) {
	t.Parallel()
	h := open(t)
	ann := h.ordered(t, "ann@example.org")
	content := fmt.Appendf(nil, "Date,Amount,Currency,Reference\n2030-03-01,%d.%02d,CHF,%s\n", ann.Due()/100, ann.Due()%100, banktransfer.Reference(ann.ID))
	if i := h.reads(t, content); i.Fresh != 1 || i.Applied != 0 {
		t.Errorf("the import is %+v", i)
	}
	entry := h.only(t)
	if err := h.bank.Apply(t.Context(), h.team, entry.ID, ann.Code, nil); !errors.Is(err, orders.ErrNotDue) {
		t.Errorf("applied by hand: %v", err)
	}
	if o := h.find(t, ann.Code); o.Paid != 0 || o.DueAt == nil || h.only(t).ID != entry.ID {
		t.Errorf("the order has %d", o.Paid)
	}
	h.wantBooks(t)
}

func TestApply_TooMuchGoesBackByHandAndTooLittleStaysDue(t *testing.T) {
	t.Parallel()
	h := open(t)
	order := h.ordered(t, "ann@example.org")
	if i := h.imports(t, order, -100, "less"); i.Applied != 0 {
		t.Fatal("too little was applied by itself")
	}
	less := h.only(t)
	if less.Order != order.Code || less.Exact() {
		t.Errorf("the entry is %+v", less)
	}
	if err := h.bank.Apply(t.Context(), h.team, less.ID, order.Code, nil); err != nil {
		t.Fatal(err)
	}
	if o := h.find(t, order.Code); o.Due() != 100 || o.DueAt == nil || o.Back != 0 {
		t.Errorf("after too little %d is due until %v", o.Due(), o.DueAt)
	}
	h.wantBooks(t)
	h.imports(t, h.find(t, order.Code), 250, "more")
	more := h.only(t)
	for range 2 {
		err := h.bank.Apply(t.Context(), h.team, more.ID, banktransfer.Reference(order.ID), nil)
		if err != nil && !errors.Is(err, banktransfer.ErrDecided) {
			t.Fatal(err)
		}
	}
	if o := h.find(t, order.Code); o.Due() != 0 || o.DueAt != nil || o.Paid != order.Total || o.ByHand != 250 {
		t.Errorf("after too much %d is due, %d paid and %d to be paid out", o.Due(), o.Paid, o.ByHand)
	}
	h.wantBooks(t)
}

func TestApply_MoneyForACancelledOrderGoesBackByHand(t *testing.T) {
	t.Parallel()
	h := open(t)
	order := h.ordered(t, "ann@example.org")
	if err := h.orders.Revoke(t.Context(), h.sale, order, false); err != nil {
		t.Fatal(err)
	}
	if i := h.imports(t, order, 0, "late"); i.Applied != 0 {
		t.Error("money for a cancelled order was applied by itself")
	}
	if err := h.bank.Apply(t.Context(), h.team, h.only(t).ID, order.Code, nil); err != nil {
		t.Fatal(err)
	}
	if o := h.find(t, order.Code); o.Paid != 0 || o.ByHand != order.Total {
		t.Errorf("a cancelled order has %d, and %d is to be paid out, want %d", o.Paid, o.ByHand, order.Total)
	}
	h.wantBooks(t)
}

func TestDue_OrderWithTooLittleIsCancelledAndItsMoneyGoesBackByHand(t *testing.T) {
	t.Parallel()
	h := open(t)
	order := h.ordered(t, "ann@example.org")
	h.imports(t, order, -100, "less")
	if err := h.bank.Apply(t.Context(), h.team, h.only(t).ID, order.Code, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `UPDATE orders SET due_at = clock_timestamp(), remind_at = NULL`); err != nil {
		t.Fatal(err)
	}
	seatstest.Do(t.Context(), t, h.db, h.orders.Jobs()...)
	if o := h.find(t, order.Code); o.State != orders.Cancelled || o.ByHand != order.Total-100 {
		t.Errorf("after its due date the order is %s, and %d of %d is to be paid out", o.State, o.ByHand, order.Total-100)
	}
	h.wantBooks(t)
}

func TestApply_KeepsTeamsApart(t *testing.T) {
	t.Parallel()
	h := open(t)
	order := h.ordered(t, "ann@example.org")
	var other int64
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Others') RETURNING id`).Scan(&other); err != nil {
		t.Fatal(err)
	}
	ours := h.team
	h.team = other
	if i := h.imports(t, order, 0, "x"); i.Applied != 0 {
		t.Error("another team's statement paid an order")
	}
	entry := h.only(t)
	if entry.Order != "" {
		t.Errorf("another team sees the order %s", entry.Order)
	}
	if err := h.bank.Apply(t.Context(), other, entry.ID, order.Code, nil); !errors.Is(err, banktransfer.ErrOrder) {
		t.Errorf("another team applied an entry: %v", err)
	}
	if err := h.bank.Apply(t.Context(), ours, entry.ID, order.Code, nil); !errors.Is(err, banktransfer.ErrNoEntry) {
		t.Errorf("an entry of another team: %v", err)
	}
	if err := h.bank.SetAside(t.Context(), other, entry.ID, nil); err != nil {
		t.Fatal(err)
	}
	if err := h.bank.SetAside(t.Context(), other, entry.ID, nil); !errors.Is(err, banktransfer.ErrDecided) {
		t.Errorf("set aside twice: %v", err)
	}
	if due := h.find(t, order.Code).Due(); due != order.Total {
		t.Errorf("%d is due, want %d", due, order.Total)
	}
	h.wantBooks(t)
}
