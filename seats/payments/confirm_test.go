package payments_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

// begins sends a form with an email that needs confirmation.
func (h *fixture) begins(t testing.TB, who seats.ID, f orders.Form) payments.Payment {
	t.Helper()
	if code, err := h.orders.Place(t.Context(), h.sale, who, f); !errors.Is(err, orders.ErrUnconfirmed) {
		t.Fatalf("the order was placed before its email was confirmed: %q, %v", code, err)
	}
	p, err := h.orders.Pay(t.Context(), h.sale, who, f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// unconfirmed is the form of a visitor with an unconfirmed email, with so many places.
func (h *fixture) unconfirmed(t testing.TB, who seats.ID, places int) orders.Form {
	t.Helper()
	f := h.form(t, who, places)
	f.Verified = ""
	return f
}

// clicks presses the button of the mail.
func (h *fixture) clicks(t testing.TB, p payments.Payment) payments.Payment {
	t.Helper()
	token, err := h.orders.Payments.ConfirmToken(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = h.orders.Payments.Confirm(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	return p
}

// elsewhere is another node with the same database.
func (h *fixture) elsewhere(t testing.TB) *fixture {
	t.Helper()
	office := seats.NewInventory(h.db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	sale, err := office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	o := orders.New(h.db)
	o.Open(office, "http://localhost")
	return &fixture{db: h.db, sale: sale, orders: o}
}

func TestConfirm_ManyClicksOnManyNodesMakeOneOrder(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	who := seats.NewID()
	f := h.unconfirmed(t, who, 2)
	p := h.begins(t, who, f)
	if again := h.begins(t, who, f); again.ID != p.ID || p.State != "open" {
		t.Errorf("the same form began %v and %v, %s", p.ID, again.ID, p.State)
	}
	if n := h.number(t, `SELECT count(*) FROM mail WHERE kind = 'confirm'`); n != 1 {
		t.Errorf("%d mails ask to confirm, want one", n)
	}
	if n := h.count(t, "orders"); n != 0 {
		t.Fatalf("%d orders before the click", n)
	}
	token, err := h.orders.Payments.ConfirmToken(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if h.number(t, `SELECT count(*) FROM confirmation WHERE encode(hash, 'escape') LIKE '%`+token+`%'`) != 0 {
		t.Error("the token stands in the database")
	}
	if looked, err := h.orders.Payments.ToConfirm(t.Context(), token); err != nil || looked.Done() || h.count(t, "orders") != 0 {
		t.Errorf("looking at the link made an order: %+v, %v", looked, err)
	}
	nodes := []*fixture{h, h.elsewhere(t), h.elsewhere(t)}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if _, err := nodes[i%len(nodes)].orders.Payments.Confirm(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p, err = h.orders.Payments.Confirm(t.Context(), token); err != nil || !p.Done() {
		t.Errorf("the last click answers %+v, %v", p, err)
	}
	if o, t1 := h.count(t, "orders"), h.count(t, "ticket"); o != 1 || t1 != 2 {
		t.Errorf("%d orders with %d tickets, want one with two", o, t1)
	}
	if _, err := h.orders.Payments.Confirm(t.Context(), "x"+token[1:]); !errors.Is(err, payments.ErrNoLink) {
		t.Errorf("another token: %v", err)
	}
	if code, err := h.orders.Place(t.Context(), h.sale, who, f); err != nil || code != p.Code {
		t.Errorf("the form once more: %q, %v, want the order", code, err)
	}
	h.wantBooks(t)
}

func TestConfirm_ClickOfANodeThatDiedIsCarriedOn(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 1})
	who := seats.NewID()
	p := h.begins(t, who, h.unconfirmed(t, who, 1))
	h.exec(t, `UPDATE payment SET confirmed_at = now()`) // and the node is gone
	h.exec(t, `UPDATE intention SET next_try = now(), tried_at = NULL`)
	other := h.elsewhere(t)
	seatstest.Do(t.Context(), t, other.db, other.orders.Jobs()...)
	if p, err := other.orders.Payments.Find(t.Context(), p.Code); err != nil || !p.Done() {
		t.Errorf("another node leaves it %+v, %v", p, err)
	}
	h.wantBooks(t)
}

func TestConfirm_ExpiryFreesSeatsAndLimit(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 1, Strict: true})
	who := seats.NewID()
	p := h.begins(t, who, h.unconfirmed(t, who, 1))
	h.wantPersonLimit(t, "Ann+again@example.org", 1) // it counts while it waits
	token, err := h.orders.Payments.ConfirmToken(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE payment SET created_at = created_at - interval '1 hour'`)
	h.exec(t, `UPDATE intention SET next_try = now(), tried_at = NULL`)
	seatstest.Do(t.Context(), t, h.db, h.orders.Jobs()...)
	if p, err = h.orders.Payments.Confirm(t.Context(), token); err != nil || !p.Over() || !strings.Contains(p.Reason, "not confirmed in time. Nothing was ordered") {
		t.Errorf("a click after its time: %+v, %v", p, err)
	}
	if n := h.count(t, "orders"); n != 0 {
		t.Errorf("it made %d orders", n)
	}
	if n := h.number(t, `SELECT count(*) FROM seat_state WHERE state = 3`); n != 0 {
		t.Errorf("%d seats are kept still", n)
	}
	if _, err := h.orderBy(t, "ann@example.org", 1); err != nil {
		t.Errorf("the same person again: %v", err)
	}
	h.wantBooks(t)
}

func TestConfirm_ConfirmsOnce(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	who, other := seats.NewID(), seats.NewID()
	if p := h.clicks(t, h.begins(t, who, h.unconfirmed(t, who, 1))); !p.Done() {
		t.Fatalf("after the click it is %+v", p)
	}
	f := h.unconfirmed(t, who, 1)
	f.Email = "Ann+2@example.org" // another spelling of the address that they confirmed
	if _, err := h.orders.Place(t.Context(), h.sale, who, f); err != nil {
		t.Errorf("the same visitor with the same address: %v", err)
	}
	strangers := h.unconfirmed(t, other, 1)
	strangers.Email = "bob@example.org"
	h.begins(t, other, strangers)
	h.wantBooks(t)
}

func TestConfirm_IsAskedByTheLimitOfTheEventUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit   int
		confirm seats.Confirm
		asks    bool
	}{
		{1, seats.ConfirmByLimit, true},
		{2, seats.ConfirmByLimit, true},
		{3, seats.ConfirmByLimit, false},
		{1, seats.ConfirmNever, false},
		{9, seats.ConfirmAlways, true},
	} {
		policy := seats.DefaultPolicy
		policy.Confirm = c.confirm
		h := open(t, "conference", events.Settings{SeatsPerHolder: c.limit, Policy: &policy})
		who := seats.NewID()
		_, err := h.orders.Place(t.Context(), h.sale, who, h.unconfirmed(t, who, 1))
		if errors.Is(err, orders.ErrUnconfirmed) != c.asks || !c.asks && err != nil {
			t.Errorf("limit %d, %q: %v, want it asked: %v", c.limit, c.confirm, err, c.asks)
		}
		who = seats.NewID()
		f := h.form(t, who, 1)
		f.Email, f.Verified = "eve@example.org", " EVE+x@example.org"
		if _, err := h.orders.Place(t.Context(), h.sale, who, f); err != nil {
			t.Errorf("limit %d, %q: a visitor signed in with the address got %v", c.limit, c.confirm, err)
		}
	}
}

func TestConfirm_OrderPaidLaterAlwaysIs(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.Confirm = seats.ConfirmNever
	for _, method := range []string{payments.Door, payments.Invoice} {
		h := openShop(t, events.Settings{Invoices: true, Policy: &policy})
		h.sale.Event.PayAtDoor = true
		who := seats.NewID()
		f := h.claims(t, who, 2)
		f.Method, f.Verified = method, ""
		p := h.clicks(t, h.begins(t, who, f))
		order, err := h.orders.Find(t.Context(), p.Code)
		if err != nil || order.Method != method || order.DueAt == nil || order.Paid != 0 || order.Due() != order.Total || order.Total == 0 {
			t.Errorf("%s: the order is %+v, %v", method, order, err)
		}
		if amount, _, err := h.orders.MarkPaid(t.Context(), p.Code, nil); err != nil || amount != order.Total {
			t.Errorf("%s: %d was paid, %v", method, amount, err)
		}
		h.wantMoney(t)
		if back := h.revokes(t, order, order.Tickets[0].ID); back.ByHand != costOf(order.Tickets[0]) {
			t.Errorf("%s: %d goes back by hand, want what a ticket costs", method, back.ByHand)
		}
		h.wantMoney(t)
		h.wantBooks(t)
	}
}

func TestConfirm_IsTakenBackToCorrectTheAddress(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 1})
	who := seats.NewID()
	f := h.unconfirmed(t, who, 1)
	f.Email = "an@example.org"
	p := h.begins(t, who, f)
	wrong, err := h.orders.Payments.ConfirmToken(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	f.Email = "ann@example.org"
	second := h.begins(t, who, f)
	if p, err := h.orders.Payments.Confirm(t.Context(), wrong); err != nil || !p.Over() {
		t.Errorf("the mail to the wrong address: %+v, %v", p, err)
	}
	if second = h.clicks(t, second); !second.Done() {
		t.Errorf("the mail to the right one: %+v", second)
	}
	if n := h.number(t, `SELECT count(*) FROM orders WHERE email = 'ann@example.org'`); n != 1 {
		t.Errorf("%d orders", n)
	}
	h.wantBooks(t)
}

func TestConfirm_MailIsSentAgainThreeTimesAtMost(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 1})
	who := seats.NewID()
	p := h.begins(t, who, h.unconfirmed(t, who, 1))
	if err := h.orders.Payments.ConfirmAgain(t.Context(), p); !errors.Is(err, payments.ErrMailed) {
		t.Errorf("while the first is on its way: %v", err)
	}
	for again := range 3 {
		h.exec(t, `UPDATE mail SET sent_at = now()`)
		if err := h.orders.Payments.ConfirmAgain(t.Context(), p); (err == nil) != (again < 2) {
			t.Errorf("mail %d: %v", again+2, err)
		}
	}
	h.clicks(t, p)
	if err := h.orders.Payments.ConfirmAgain(t.Context(), p); !errors.Is(err, payments.ErrMailed) {
		t.Errorf("of what was confirmed: %v", err)
	}
}

func TestUnpaid_BoundOfAnEmailHoldsOnManyNodes(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{Invoices: true, SeatsPerHolder: 100})
	const bound = 3
	nodes := []*fixture{h.fixture, h.elsewhere(t), h.elsewhere(t), h.elsewhere(t)}
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range 24 {
		who, n := seats.NewID(), nodes[i%len(nodes)]
		f := h.claims(t, who, 1)
		f.Method, f.Unpaid = payments.Invoice, orders.UnpaidLimits{PerEmail: bound}
		if i%2 == 0 {
			f.Verified = "" // it waits for its mail, and counts as well
		}
		all.Go(func() {
			<-start
			_, err := n.orders.Place(t.Context(), n.sale, who, f)
			if errors.Is(err, orders.ErrUnconfirmed) {
				_, err = n.orders.Pay(t.Context(), n.sale, who, f)
			}
			if err != nil && !errors.Is(err, orders.ErrUnpaid) {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	if n := h.count(t, "orders") + h.count(t, "payment"); n != bound {
		t.Errorf("%d unpaid orders of one email, want %d", n, bound)
	}
	h.wantBooks(t)
}

func TestUnpaid_BoundOfANetworkHoldsWhenManyOrdersComeAtOnce(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{Invoices: true})
	const bound = 3
	order := func(i int, unconfirmed bool) error {
		who := seats.NewID()
		f := h.claims(t, who, 1)
		f.Email = fmt.Sprintf("p%d@example.org", i)
		f.Method, f.Network, f.Unpaid, f.Verified = payments.Invoice, "192.0.2.0/24", orders.UnpaidLimits{PerNetwork: bound}, f.Email
		if unconfirmed {
			f.Verified = ""
		}
		_, err := h.orders.Place(t.Context(), h.sale, who, f)
		if errors.Is(err, orders.ErrUnconfirmed) {
			_, err = h.orders.Pay(t.Context(), h.sale, who, f)
		}
		return err
	}
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			if err := order(i, i%2 == 0); err != nil && !errors.Is(err, orders.ErrUnpaidNet) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	unpaid := h.count(t, "orders") + h.count(t, "payment")
	for ; unpaid < bound; unpaid++ { // orders that met too many beside them may come again
		if err := order(100+unpaid, true); err != nil {
			t.Error(err)
		}
	}
	if err := order(200, true); unpaid != bound || !errors.Is(err, orders.ErrUnpaidNet) {
		t.Errorf("a network has %d unpaid orders, and one more got %v, want %d", unpaid, err, bound)
	}
}

func TestUnpaid_PaidOrderWithACancelledTicketCountsNoMore(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{Invoices: true})
	order := func() (orders.Order, error) {
		who := seats.NewID()
		f := h.claims(t, who, 2)
		f.Method, f.Unpaid, f.Verified = payments.Invoice, orders.UnpaidLimits{PerEmail: 1}, f.Email
		code, err := h.orders.Place(t.Context(), h.sale, who, f)
		if err != nil {
			return orders.Order{}, err
		}
		return h.orders.Find(t.Context(), code)
	}
	first, err := order()
	if err != nil {
		t.Fatal(err)
	}
	h.revokes(t, first, first.Tickets[0].ID)
	if _, _, err := h.orders.MarkPaid(t.Context(), first.Code, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := order(); err != nil {
		t.Errorf("after the first was paid: %v", err)
	}
}
