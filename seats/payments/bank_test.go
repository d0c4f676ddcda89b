package payments_test

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

// bank is a provider with books of its own. It knows a repeated call by its key.
type bank struct {
	mu      sync.Mutex
	stands  map[seats.ID]*payments.Standing
	answers map[string]payments.Standing // by key
	calls   map[string]int               // by what was asked
	next    payments.Stand               // how the next payment stands at once
	wrong   int64                        // is added to amounts
	card    string                       // names the card of whatever is paid next
	foreign string                       // the currency of whatever is paid next, if it is not the order's
	down    error                        // of every call
	lost    error                        // of the next call, after it was done
	stuck   string                       // what it does not answer
	stingy  bool                         // it refuses refunds
	deaf    bool                         // it refuses to void
	then    func(what string)            // happens after it answered, before its answer arrives
}

func newBank() *bank {
	return &bank{stands: map[seats.ID]*payments.Standing{}, answers: map[string]payments.Standing{}, calls: map[string]int{}, next: payments.Authorized}
}

var errDown = errors.New("the bank does not answer")

func (b *bank) do(what string, c payments.Charge, act func(s *payments.Standing)) (payments.Standing, error) {
	s, err := b.answer(what, c, act)
	if b.then != nil {
		b.then(what)
	}
	return s, err
}

func (b *bank) answer(what string, c payments.Charge, act func(s *payments.Standing)) (payments.Standing, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls[what]++
	if b.down != nil || what == b.stuck {
		return payments.Standing{}, errDown
	}
	s, there := b.stands[c.Payment]
	if !there {
		s = &payments.Standing{Stand: b.next, Reference: "bank-" + c.Payment.String(), Page: "/bank", Card: b.card, Amount: c.Amount + b.wrong, Currency: c.Currency}
		b.stands[c.Payment], s.Currency = s, cmp.Or(b.foreign, s.Currency)
		if s.Stand == payments.Captured {
			s.Captured = s.Amount
		}
	}
	if _, again := b.answers[c.Key]; !again || c.Key == "" || what == "refund" && b.answers[c.Key].Refunded == 0 {
		act(s)
		b.answers[c.Key] = *s
	}
	err := b.lost
	b.lost = nil
	return *s, err
}

func (b *bank) Authorize(_ context.Context, c payments.Charge) (payments.Standing, error) {
	return b.do("authorize", c, func(*payments.Standing) {})
}

func (b *bank) Lookup(_ context.Context, c payments.Charge) (payments.Standing, error) {
	c.Key = ""
	return b.do("lookup", c, func(*payments.Standing) {})
}

func (b *bank) Capture(_ context.Context, c payments.Charge) (payments.Standing, error) {
	return b.do("capture", c, func(s *payments.Standing) {
		if s.Stand == payments.Authorized {
			s.Stand, s.Captured = payments.Captured, c.Amount
		}
	})
}

func (b *bank) Void(_ context.Context, c payments.Charge) (payments.Standing, error) {
	return b.do("void", c, func(s *payments.Standing) {
		if !b.deaf && (s.Stand == payments.Authorized || s.Stand == payments.Pending) {
			s.Stand = payments.Voided
		}
	})
}

func (b *bank) Refund(_ context.Context, c payments.Charge) (payments.Standing, error) {
	return b.do("refund", c, func(s *payments.Standing) {
		if !b.stingy && s.Refunded+c.Refund <= s.Captured {
			s.Refunded += c.Refund
		}
	})
}

// moves is something that happens at the bank by itself.
func (b *bank) moves(payment seats.ID, to payments.Stand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stands[payment]
	if s.Stand = to; to == payments.Captured {
		s.Captured = s.Amount
	}
}

func (b *bank) set(change func(*bank)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

// shop is a fixture that takes cards at a bank.
type shop struct {
	*fixture
	bank *bank
}

func openShop(t testing.TB, e events.Settings) *shop {
	t.Helper()
	e.PaidAhead = true
	if e.Fees == (seats.Fees{}) {
		e.Fees = someFees
	}
	h := &shop{fixture: open(t, "theatre", e), bank: newBank()}
	h.reckon(t)
	return h
}

// reckon has a node do the background work.
func (h *shop) reckon(t testing.TB) {
	t.Helper()
	h.orders.Payments.Accept(payments.Card, seatstest.Watched(t, h.db, h.bank))
	seatstest.Run(t, h.db, h.orders.Jobs()...)
}

// claims takes the best seats and fills in the form to pay for them.
func (h *shop) claims(t testing.TB, who seats.ID, n int) orders.Form {
	t.Helper()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: n, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	return orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann Ørsted", Email: "ann@example.org", Method: payments.Card, Verified: "ann@example.org"}
}

func (h *shop) pays(t testing.TB, who seats.ID, f orders.Form) payments.Payment {
	t.Helper()
	p, err := h.orders.Pay(t.Context(), h.sale, who, f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// until waits for a payment's state.
func (h *shop) until(t testing.TB, code, state string) payments.Payment {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		p, err := h.orders.Payments.Find(t.Context(), code)
		if err != nil {
			t.Fatal(err)
		}
		if p.State == state {
			return p
		}
		select {
		case <-deadline:
			t.Fatalf("the payment is %+v, want it %s", p, state)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// webhook records an event of a payment, as a webhook does.
func (h *shop) webhook(t testing.TB, p payments.Payment, event string) {
	t.Helper()
	if err := h.orders.Payments.Record(t.Context(), payments.WebhookEvent{Method: payments.Card, Event: event, Payment: p.ID, Kind: "test"}); err != nil {
		t.Fatal(err)
	}
}

// notesCaptures waits until sold payments are captured, and the books have what the bank captured: Pay answers before.
func (h *shop) notesCaptures(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var paid []seats.ID
		h.bank.set(func(b *bank) {
			for id, s := range b.stands {
				if s.Captured > 0 || s.Stand == payments.Authorized {
					paid = append(paid, id)
				}
			}
		})
		var coming int
		if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM payment WHERE id = ANY($1) AND state = 'sold'`, paid).Scan(&coming); err != nil {
			t.Fatal(err)
		}
		if coming == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d captures of the bank are not in the books", coming)
		}
	}
}

// wantMoney holds the books against the bank's: each captured cent is in exactly one of a confirmed order and a refund.
func (h *shop) wantMoney(t testing.TB) {
	t.Helper()
	h.notesCaptures(t)
	h.bank.mu.Lock()
	defer h.bank.mu.Unlock()
	for id, s := range h.bank.stands {
		var paid, back, done int64
		err := h.db.QueryRow(t.Context(), `
			SELECT coalesce((SELECT CASE o.state WHEN 'confirmed' THEN paid ELSE kept END FROM orders o WHERE o.id = p.order_id), 0),
			       coalesce((SELECT sum(amount) FROM refund WHERE payment_id = p.id), 0)::bigint,
			       coalesce((SELECT sum(amount) FROM refund WHERE payment_id = p.id AND done_at IS NOT NULL), 0)::bigint
			  FROM payment p WHERE id = $1`, id).Scan(&paid, &back, &done)
		if err != nil {
			t.Fatal(err)
		}
		if s.Captured != paid+back || s.Refunded != done {
			t.Errorf("the bank captured %d and gave back %d; an order has %d, refunds are %d, of which %d done", s.Captured, s.Refunded, paid, back, done)
		}
		if s.Stand == payments.Authorized {
			t.Errorf("the bank still keeps %d without an order", s.Amount)
		}
	}
	h.wantBooks(t)
}
