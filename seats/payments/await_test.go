package payments_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments"
)

// slowly pays with a method that takes days.
func (h *shop) slowly(t testing.TB, who seats.ID) payments.Payment {
	t.Helper()
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	p := h.pays(t, who, h.claims(t, who, 2))
	h.bank.set(func(b *bank) { b.stands[p.ID].Stand, b.stands[p.ID].Wait = payments.Processing, 5*24*time.Hour })
	for deadline := time.Now().Add(time.Minute); !p.Awaited() && time.Now().Before(deadline); { // a node may be asking, too
		if err := h.orders.Payments.Ask(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		var err error
		if p, err = h.orders.Payments.Find(t.Context(), p.Code); err != nil {
			t.Fatal(err)
		}
	}
	if !p.Awaited() || time.Until(*p.AwaitedUntil).Round(time.Hour) != 120*time.Hour {
		t.Fatalf("the payment is %+v, want it awaited for five days", p)
	}
	return p
}

func TestAwait_SlowPaymentKeepsItsSeatsUntilTheMoneyComes(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	who := seats.NewID()
	p := h.slowly(t, who)
	h.claims(t, who, 1) // the visitor goes on
	if n := h.number(t, `SELECT count(*) FROM seat_state WHERE state = 3 AND expires_at > clock_timestamp() + interval '4 days'`); n != 2 {
		t.Errorf("%d seats are in payment for days, want two", n)
	}
	if n := h.number(t, `SELECT count(*) FROM seat_state WHERE state = 1 AND expires_at < clock_timestamp() + interval '1 hour'`); n != 1 {
		t.Errorf("%d seats are held by the usual clock, want one", n)
	}
	if _, err := h.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(p.Seats[0])}}); err == nil {
		t.Error("another visitor claimed a seat with money on its way")
	}
	if stopped, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil || !stopped.Awaited() {
		t.Errorf("stopped it is %+v, %v", stopped, err)
	}
	if _, err := h.sale.Release(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	h.wantBooks(t)
	h.bank.moves(p.ID, payments.Captured)
	for _, event := range []string{"came", "came", "came again"} {
		h.webhook(t, p, event)
	}
	p = h.until(t, p.Code, "captured")
	if o, err := h.orders.Find(t.Context(), p.Code); err != nil || o.Paid != p.Amount || len(o.Tickets) != 2 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	if n := h.count(t, "mail WHERE kind = 'confirmation'"); n != 1 {
		t.Errorf("%d mails confirm the order", n)
	}
	h.wantMoney(t)
}

// The money comes, and the webhook that says so, after the provider answered that it has not come, and before that answer is here.
func TestAwait_WebhookThatMeetsAnAnswerIsNotPutOff(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		h := openShop(t, events.Settings{})
		p := h.slowly(t, seats.NewID())
		if lost {
			h.exec(t, `UPDATE payment SET awaited_until = clock_timestamp()`)
		}
		var once sync.Once
		h.bank.set(func(b *bank) {
			b.then = func(what string) {
				if what != "void" && lost {
					return
				}
				once.Do(func() {
					h.bank.moves(p.ID, payments.Captured)
					h.webhook(t, p, "came")
					for deadline := time.Now().Add(10 * time.Second); h.count(t, "inbox WHERE event = 'came' AND done_at IS NULL") > 0 && time.Now().Before(deadline); {
						time.Sleep(time.Millisecond)
					}
				})
			}
		})
		h.webhook(t, p, "still nothing")
		h.until(t, p.Code, "captured")
		h.wantMoney(t)
	}
}

func TestAwait_FailedPaymentFreesItsSeatsAndSaysSo(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	p := h.slowly(t, seats.NewID())
	h.bank.set(func(b *bank) {
		b.stands[p.ID].Stand, b.stands[p.ID].Reason = payments.Declined, "the account is empty."
	})
	h.webhook(t, p, "bounced")
	p = h.until(t, p.Code, "closed")
	if !strings.Contains(p.Reason, "the account is empty") {
		t.Errorf("the reason is %q", p.Reason)
	}
	if n := h.number(t, `SELECT count(*) FROM seat_state WHERE state <> 0`); n != 0 {
		t.Errorf("%d seats are not free", n)
	}
	if n := h.count(t, "mail WHERE kind = 'lost'"); n != 1 {
		t.Errorf("%d mails say that it failed", n)
	}
	h.wantMoney(t)
}

func TestAwait_MoneyAfterItsTimeBuysTheSameSeatsOrGoesBack(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		h := openShop(t, events.Settings{})
		p := h.slowly(t, seats.NewID())
		h.exec(t, `UPDATE payment SET awaited_until = clock_timestamp()`)
		h.exec(t, `
			WITH h AS (UPDATE hold SET expires_at = clock_timestamp() WHERE holder = $1 RETURNING holder, expires_at)
			UPDATE seat_state s SET expires_at = h.expires_at FROM h WHERE s.holder = h.holder`, p.ID) // at once: the node ends holds, too
		h.webhook(t, p, "still nothing")
		h.until(t, p.Code, "lost")
		if taken {
			if _, err := h.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(p.Seats[0])}}); err != nil {
				t.Fatalf("a seat without its money: %v", err)
			}
		}
		h.bank.moves(p.ID, payments.Captured)
		h.webhook(t, p, "late")
		if taken {
			h.untilRefunded(t, p)
		} else {
			h.until(t, p.Code, "captured")
		}
		h.wantMoney(t)
	}
}
