package payments_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments"
)

func TestVoid_RepeatsUntilTheProviderKeepsNothing(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.set(func(b *bank) { b.next, b.deaf = payments.Pending, true })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	h.bank.moves(p.ID, payments.Authorized)
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	h.until(t, p.Code, "lost")
	if n := h.count(t, "intention WHERE step = 'void' AND done_at IS NULL"); n != 1 {
		t.Errorf("the provider keeps the money, and %d voids are meant", n)
	}
	h.bank.set(func(b *bank) { b.deaf, b.answers = false, map[string]payments.Standing{} })
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.until(t, p.Code, "closed")
	h.wantMoney(t)
}

// tells has something happen at the bank after the next call of a kind was answered, and tells of it before that answer
// arrives here.
func (h *shop) tells(t testing.TB, p payments.Payment, what string, happens func(*bank)) {
	t.Helper()
	var once sync.Once
	h.bank.set(func(b *bank) {
		b.then = func(call string) {
			if call != what {
				return
			}
			once.Do(func() {
				h.bank.set(happens)
				h.orders.Payments.AskAgain(t, p)
			})
		}
	})
}

func TestNewsThatComeWhileAnOlderAnswerIsOnItsWayAreNotForgotten(t *testing.T) {
	t.Parallel()
	t.Run("of a payment that is voided", func(t *testing.T) {
		t.Parallel()
		h := openShop(t, events.Settings{})
		h.bank.set(func(b *bank) { b.next = payments.Pending })
		who := seats.NewID()
		p := h.pays(t, who, h.claims(t, who, 1))
		h.tells(t, p, "void", func(b *bank) { b.stands[p.ID].Stand, b.stands[p.ID].Captured = payments.Captured, p.Amount })
		if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
			t.Fatal(err)
		}
		h.orders.Payments.Wake()
		h.untilRefunded(t, p)
		h.wantMoney(t)
	})
	t.Run("of money that needs attention", func(t *testing.T) {
		t.Parallel()
		h := openShop(t, events.Settings{})
		who := seats.NewID()
		p := h.pays(t, who, h.claims(t, who, 1))
		h.tells(t, p, "lookup", func(b *bank) { b.stands[p.ID].Elsewhere, b.stands[p.ID].Refunded = 100, 100 })
		h.webhook(t, p, "first")
		for deadline := time.Now().Add(time.Minute); h.count(t, "refund WHERE elsewhere") == 0; time.Sleep(10 * time.Millisecond) {
			h.orders.Payments.Wake()
			if time.Now().After(deadline) {
				t.Fatal("what was given back at the provider is not in the books")
			}
		}
		h.wantMoney(t)
	})
}

// A node that stands still for long has the answer to an old try when another node has tried again since.
func TestVoid_AnOldAnswerDoesNotEndALaterTry(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	var told atomic.Bool
	h.bank.set(func(b *bank) {
		b.then = func(call string) {
			if call != "void" || told.Swap(true) {
				return
			}
			h.bank.moves(p.ID, payments.Authorized) // the answer is that nothing is kept; then they pay after all
			h.bank.set(func(b *bank) { b.down = errDown })
			if _, err := h.db.Exec(t.Context(), `UPDATE intention SET tried_at = tried_at - interval '1 minute'`); err != nil {
				t.Error(err)
			}
			if err := h.orders.Payments.Ask(t.Context(), p); err != nil { // another node tries, and has no answer
				t.Error(err)
			}
		}
	})
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	if n := h.count(t, "intention WHERE step = 'void' AND done_at IS NULL"); n != 1 {
		t.Errorf("the provider keeps the money, and %d voids are meant", n)
	}
	h.bank.set(func(b *bank) { b.down, b.answers = nil, map[string]payments.Standing{} })
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); h.count(t, "intention WHERE done_at IS NULL") > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a step is meant for ever")
		}
	}
	h.wantMoney(t)
}

// Who changes a payment locks it before its steps. A webhook that locked the steps first could wait for a transaction that waits for
// them.
func TestNews_LockThePaymentBeforeItsSteps(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // it is over, if all went well
	if _, err := tx.Exec(t.Context(), `SELECT FROM payment WHERE id = $1 FOR NO KEY UPDATE`, p.ID); err != nil {
		t.Fatal(err)
	}
	h.webhook(t, p, "now")
	for deadline := time.Now().Add(time.Minute); h.count(t, "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no transaction waits for the payment's lock")
		}
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM intention WHERE payment_id = $1 FOR NO KEY UPDATE NOWAIT`, p.ID); err != nil {
		t.Errorf("the events wait for the payment and have its steps: %v", err)
	}
}

// An answer that says the money is promised may arrive after the payment was stopped. It sells nothing: a sale that fails
// there fails with all commands of its batch.
func TestStop_AnAnswerOnItsWayDoesNotReviveThePayment(t *testing.T) {
	t.Parallel()
	for _, stuck := range []string{"", "void"} {
		h := openShop(t, events.Settings{SeatsPerHolder: 2})
		h.bank.set(func(b *bank) { b.next = payments.Pending })
		who := seats.NewID()
		form := h.claims(t, who, 1)
		p := h.pays(t, who, form)
		h.bank.moves(p.ID, payments.Authorized)
		var once sync.Once
		stopped := make(chan struct{})
		h.bank.set(func(b *bank) {
			b.then = func(call string) {
				if call != "lookup" {
					return
				}
				once.Do(func() {
					defer close(stopped)
					h.bank.set(func(b *bank) { b.stuck = stuck })
					if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
						t.Error(err)
					}
				})
			}
		})
		if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
			t.Errorf("the answer that came late: %v", err)
		}
		<-stopped // the background work may have been the one to ask
		h.bank.set(func(b *bank) { b.stuck = "" })
		if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
			t.Error(err)
		}
		h.until(t, p.Code, "closed")
		h.bank.set(func(b *bank) { b.next, b.then = payments.Authorized, nil })
		again := h.pays(t, who, form)
		if !again.Done() {
			t.Errorf("the same seats are paid for again: %+v", again)
		}
		h.until(t, again.Code, "captured") // another node may do it
		if n := h.count(t, "orders"); n != 1 {
			t.Errorf("there are %d orders, want one", n)
		}
		h.wantMoney(t)
	}
}

// Stop reads an open payment that is authorized a moment later: its seats are being sold, and it stays.
func TestStop_IsTooLateOnceTheMoneyIsPromised(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // it is over, if all went well
	if _, err := tx.Exec(t.Context(), `UPDATE payment SET state = 'authorized' WHERE id = $1`, p.ID); err != nil {
		t.Fatal(err)
	}
	var stopping sync.WaitGroup
	stopping.Go(func() {
		if p, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil || p.Over() {
			t.Errorf("stopped too late, the payment is %+v, %v", p, err)
		}
	})
	for deadline := time.Now().Add(time.Minute); h.count(t, "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no transaction waits for the payment")
		}
	}
	h.bank.moves(p.ID, payments.Authorized)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopping.Wait()
	h.until(t, p.Code, "captured")
	h.wantMoney(t)
}

// A node learns that the money was taken, and is about to sell the seats, while the attendee stops the payment.
func TestStop_WhileTheSeatsAreSoldRefundsNothing(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	h.bank.set(func(b *bank) { b.stands[p.ID].Stand, b.stands[p.ID].Captured = payments.Captured, p.Amount })
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), `UPDATE payment SET state = 'authorized', captured = amount WHERE id = $1`, p.ID); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() {
		_, err := h.orders.Payments.Stop(t.Context(), p.Code)
		stopped <- err
	}()
	for deadline := time.Now().Add(time.Minute); h.count(t, "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the stop does not wait for the node that sells")
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
		t.Error(err)
	}
	h.until(t, p.Code, "captured")
	if n := h.count(t, "refund"); n != 0 {
		t.Errorf("%d refunds of an order that stands", n)
	}
	h.wantMoney(t)
}

// A node learns of money of a payment that it read before it was stopped.
func TestLate_MoneyOfAPaymentThatWasStoppedMeanwhileSellsNothing(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1))
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	p = h.until(t, p.Code, "closed")
	p.Reason = "Your time for paying is over. Nothing was charged."
	h.bank.set(func(b *bank) { b.stands[p.ID].Stand, b.stands[p.ID].Captured = payments.Captured, p.Amount })
	h.orders.Payments.Late(t, p)
	if n := h.count(t, "orders"); n != 0 {
		t.Errorf("%d orders of a payment that was stopped", n)
	}
	h.webhook(t, p, "late")
	h.untilRefunded(t, p)
	h.wantMoney(t)
}
