package payments_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

// openShopWithCredit returns a shop that takes credit, too, of which ann has 2000.
func openShopWithCredit(t testing.TB) (*shop, *credit.Ledger) {
	t.Helper()
	h := openShop(t, events.Settings{SeatsPerHolder: 50})
	ledger := credit.New(h.db)
	h.orders.Payments.Accept(payments.Credit, seatstest.Watched(t, h.db, credit.Payments{Ledger: ledger}))
	if err := ledger.Grant(t.Context(), "gift", "ann@example.org", credit.Amount{Minor: 2000, Currency: "EUR"}, seats.ID{}); err != nil {
		t.Fatal(err)
	}
	return h, ledger
}

// partly is a form that pays so much of its total with ann's credit.
func (h *shop) partly(t testing.TB, who seats.ID, of int64) orders.Form {
	t.Helper()
	f := h.claims(t, who, 2)
	f.Account, f.Credit = "ann@example.org", of
	return f
}

func wantBalance(t *testing.T, l *credit.Ledger, want int64) {
	t.Helper()
	if has, err := l.Balance(t.Context(), "ann@example.org", "EUR"); err != nil || has != want {
		t.Errorf("ann has %d, %v, want %d", has, err, want)
	}
}

// wantParts holds the bank and the credit against the books.
func (h *shop) wantParts(t *testing.T, p payments.Payment, card, creditTaken int64) {
	t.Helper()
	h.bank.mu.Lock()
	s := *h.bank.stands[p.ID]
	h.bank.mu.Unlock()
	if got := s.Captured - s.Refunded; got != card {
		t.Errorf("the bank keeps %d, want %d", got, card)
	}
	taken := h.number(t, `SELECT coalesce(sum(captured - refunded), 0) FROM credit_hold`)
	if int64(taken) != creditTaken {
		t.Errorf("credit paid %d, want %d", taken, creditTaken)
	}
	h.wantBooks(t)
}

func TestParts_CreditIsCapturedWithTheRestAndRefundedAfterIt(t *testing.T) {
	t.Parallel()
	h, ledger := openShopWithCredit(t)
	who := seats.NewID()
	p := h.pays(t, who, h.partly(t, who, 1500))
	p = h.until(t, p.Code, "captured")
	wantBalance(t, ledger, 500)
	h.wantParts(t, p, p.Amount-1500, 1500)
	o, err := h.orders.Find(t.Context(), p.Code)
	if err != nil || o.Paid != p.Amount {
		t.Fatalf("the order has %d of %d, %v", o.Paid, p.Amount, err)
	}
	if err := h.orders.Revoke(t.Context(), h.sale, o, false, o.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	h.refunded(t, p, 1)
	half := h.again(t, o)
	h.wantParts(t, p, half.Paid-1500, 1500)
	if err := h.orders.Revoke(t.Context(), h.sale, half, false); err != nil {
		t.Fatal(err)
	}
	h.refunded(t, p, 2)
	wantBalance(t, ledger, 2000)
	h.wantParts(t, p, 0, 0)
}

// refunded waits for so many refunds of a payment.
func (h *shop) refunded(t *testing.T, p payments.Payment, n int) {
	t.Helper()
	for range 3000 {
		if h.number(t, `SELECT count(*) FROM refund WHERE done_at IS NOT NULL AND payment_id = '`+p.ID.String()+`'`) == n {
			return
		}
		if err := seats.Sleep(t.Context(), 10_000_000); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("fewer than %d refunds were made", n)
}

func TestParts_CreditIsReleasedWhenTheRestFails(t *testing.T) {
	t.Parallel()
	h, ledger := openShopWithCredit(t)
	h.bank.set(func(b *bank) { b.next = payments.Declined })
	who := seats.NewID()
	p := h.pays(t, who, h.partly(t, who, 1500))
	h.until(t, p.Code, "closed")
	wantBalance(t, ledger, 2000)
	h.wantParts(t, p, 0, 0)
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	other := seats.NewID()
	p = h.pays(t, other, h.partly(t, other, 1500))
	wantBalance(t, ledger, 500)
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	}
	h.until(t, p.Code, "closed")
	wantBalance(t, ledger, 2000)
	h.wantParts(t, p, 0, 0)
}

func TestParts_MoneyAtOnceTakesTheCreditAtOnceAndGoesBackWithIt(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		h, ledger := openShopWithCredit(t)
		h.bank.set(func(b *bank) { b.next = payments.Pending })
		who := seats.NewID()
		p := h.pays(t, who, h.partly(t, who, 1500))
		h.bank.moves(p.ID, payments.Captured)
		if stopped {
			if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil {
				t.Fatal(err)
			}
			h.refunded(t, p, 1)
			wantBalance(t, ledger, 2000)
			h.wantParts(t, p, 0, 0)
			continue
		}
		h.webhook(t, p, "paid")
		p = h.until(t, p.Code, "captured")
		wantBalance(t, ledger, 500)
		h.wantParts(t, p, p.Amount-1500, 1500)
	}
}

func TestParts_TooLittleCreditTakesNothing(t *testing.T) {
	t.Parallel()
	h, ledger := openShopWithCredit(t)
	who := seats.NewID()
	p := h.pays(t, who, h.partly(t, who, 2500))
	h.until(t, p.Code, "closed")
	wantBalance(t, ledger, 2000)
	h.bank.mu.Lock()
	if len(h.bank.stands) != 0 {
		t.Errorf("the bank was asked for %+v", h.bank.stands)
	}
	h.bank.mu.Unlock()
	h.wantBooks(t)
	for _, of := range []int64{-1, 1 << 40} {
		who := seats.NewID()
		if _, err := h.orders.Pay(t.Context(), h.sale, who, h.partly(t, who, of)); err == nil {
			t.Errorf("a part of %d was accepted", of)
		}
	}
}

// paidPartly is an order that ann's credit pays so much of, and the bank the rest.
func (h *shop) paidPartly(t *testing.T, of int64) (payments.Payment, orders.Order) {
	t.Helper()
	who := seats.NewID()
	p := h.until(t, h.pays(t, who, h.partly(t, who, of)).Code, "captured")
	return p, h.again(t, orders.Order{Code: p.Code})
}

func TestParts_RefundIsTriedAgainUntilBothPartsAreBack(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(*bank){
		"it refuses": func(b *bank) { b.stingy = true }, "it is down": func(b *bank) { b.stuck = "refund" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, ledger := openShopWithCredit(t)
			p, o := h.paidPartly(t, 1500)
			h.bank.set(fails)
			if err := h.orders.Revoke(t.Context(), h.sale, o, false); err != nil {
				t.Fatal(err)
			}
			if now := h.again(t, o); now.State != orders.Cancelled || now.Back != o.Total || now.OnItsWay != o.Total {
				t.Errorf("meanwhile the order is %+v", now)
			}
			h.bank.set(func(b *bank) { b.stingy, b.stuck, b.lost = false, "", errDown }) // and the first answer is lost
			h.nudge(t, o)
			h.untilBack(t, o, o.Total)
			wantBalance(t, ledger, 2000)
			h.wantParts(t, p, 0, 0)
		})
	}
}

func TestParts_RefundThatFailsLaterIsPaidOutWithoutWhatCreditGaveBack(t *testing.T) {
	t.Parallel()
	h, ledger := openShopWithCredit(t)
	p, o := h.paidPartly(t, 1500)
	if err := h.orders.Revoke(t.Context(), h.sale, o, false); err != nil {
		t.Fatal(err)
	}
	h.untilBack(t, o, o.Total)
	key := fmt.Sprintf("usher-refund-%d", h.number(t, `SELECT id FROM intention WHERE step = 'refund'`))
	h.bank.set(func(b *bank) {
		b.stands[p.ID].Refunded, b.stands[p.ID].Failed = 0, []payments.Failure{{Key: key, Reason: "expired card"}}
	})
	h.webhook(t, p, "failed")
	now := h.again(t, o)
	for end := time.Now().Add(time.Minute); now.ByHand == 0 && time.Now().Before(end); now = h.again(t, o) {
		time.Sleep(10 * time.Millisecond)
	}
	if now.Back != o.Total || now.ByHand != o.Total-1500 || now.OnItsWay != o.Total-1500 {
		t.Errorf("the order is %+v, want %d by hand", now, o.Total-1500)
	}
	wantBalance(t, ledger, 2000)
	h.wantBooks(t)
	if list, err := h.orders.Payments.Alerts(t.Context()); err != nil || len(list) != 1 || list[0].Amount != o.Total-1500 {
		t.Errorf("attention is asked for %+v, %v", list, err)
	}
	if amount, _, err := h.orders.Payments.PaidOut(t.Context(), o.Code, nil); err != nil || amount != o.Total-1500 {
		t.Errorf("%d is paid out, %v", amount, err)
	}
	h.wantBooks(t)
}
