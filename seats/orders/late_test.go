package orders_test

import (
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
)

func TestWhatTheProviderStillKeepsIsVoidedUntilItDoesNot(t *testing.T) {
	t.Parallel()
	h := openTill(t, seats.NewEvent{})
	h.bank.set(func(b *bank) { b.next, b.deaf = orders.Pending, true })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	h.bank.moves(p.ID, orders.Authorized)
	if _, err := h.orders.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	h.until(t, p.Code, "lost")
	if n := h.count(t, "intention WHERE step = 'void' AND done_at IS NULL"); n != 1 {
		t.Errorf("the provider keeps the money, and %d voids are meant", n)
	}
	h.bank.set(func(b *bank) { b.deaf, b.answers = false, map[string]orders.Standing{} })
	if err := h.orders.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.until(t, p.Code, "closed")
	h.wantMoney(t)
}

// tells has something happen at the bank after the next call of a kind was answered, and tells of it before that answer
// arrives here.
func (h *till) tells(t testing.TB, p orders.Payment, what string, happens func(*bank)) {
	t.Helper()
	var once sync.Once
	h.bank.set(func(b *bank) {
		b.then = func(call string) {
			if call != what {
				return
			}
			once.Do(func() {
				h.bank.set(happens)
				h.news(t, p, "meanwhile")
				h.orders.ReadInbox(t)
			})
		}
	})
}

func TestNewsThatComeWhileAnOlderAnswerIsOnItsWayAreNotForgotten(t *testing.T) {
	t.Parallel()
	t.Run("of a payment that is voided", func(t *testing.T) {
		t.Parallel()
		h := openTill(t, seats.NewEvent{})
		h.bank.set(func(b *bank) { b.next = orders.Pending })
		who := seats.NewID()
		p := h.pays(t, who, h.claims(t, who, 1))
		h.tells(t, p, "void", func(b *bank) { b.stands[p.ID].Stand, b.stands[p.ID].Captured = orders.Captured, p.Amount })
		if _, err := h.orders.Stop(t.Context(), p.Code); err != nil {
			t.Fatal(err)
		}
		h.untilRefunded(t, p)
		h.wantMoney(t)
	})
	t.Run("of money that somebody looks at", func(t *testing.T) {
		t.Parallel()
		h := openTill(t, seats.NewEvent{})
		who := seats.NewID()
		p := h.pays(t, who, h.claims(t, who, 1))
		h.tells(t, p, "lookup", func(b *bank) { b.stands[p.ID].Elsewhere, b.stands[p.ID].Refunded = 100, 100 })
		h.news(t, p, "first")
		for deadline := time.Now().Add(20 * time.Second); h.count(t, "refund WHERE elsewhere") == 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("what was given back at the provider is not in the books")
			}
		}
		h.wantMoney(t)
	})
}
