package subscriptions_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/subscriptions"
)

func TestSubscription_SplitsItsPriceToTheCent(t *testing.T) {
	t.Parallel()
	n := open(t, 7, events.Settings{})
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_01)})
	for _, c := range h.First.Plan.Categories {
		if price, sold := h.Price(c.Key); !sold || price != 100_01 {
			t.Errorf("category %s costs %d in all performances, want 10001", c.Key, price)
		}
	}
	for _, weights := range [][]int64{{1, 2, 3}, {0, 0}, {5}, {7, 0, 7, 1}} {
		var sum int64
		for _, part := range pricing.Split(1000, weights) {
			sum += part
		}
		if sum != 1000 {
			t.Errorf("1000 split by %v is %d", weights, sum)
		}
	}
}

func TestSubscription_IsDefinedOnceForAKey(t *testing.T) {
	t.Parallel()
	n := open(t, 2, events.Settings{})
	f := subscriptions.Form{Name: "Season", Events: n.slugs, Prices: n.prices(t, 100_00)}
	slug, err := n.Define(t.Context(), n.ann, f, "once")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := n.Define(t.Context(), n.ann, f, "once"); err != nil || again != slug {
		t.Errorf("a repeat gets %q: %v, want %q", again, err, slug)
	}
	f.Prices = n.prices(t, 200_00)
	if _, err := n.Define(t.Context(), n.ann, f, "once"); !errors.Is(err, idempotency.ErrOtherKey) {
		t.Errorf("other content with the key gets %v", err)
	}
	if made := n.number(t, `SELECT count(*) FROM subscription`); made != 1 {
		t.Errorf("there are %d subscriptions, want 1", made)
	}
}

func TestSubscription_IsOrderedInAllPerformances(t *testing.T) {
	t.Parallel()
	n := open(t, 3, events.Settings{})
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00)})
	ann := seats.NewID()
	b, err := n.Choose(t.Context(), h, ann, []int{4, 5})
	if err != nil {
		t.Fatal(err)
	}
	if b, err = n.Choose(t.Context(), h, ann, []int{5, 6}); err != nil || !slices.Equal(b.Seats, []int{5, 6}) {
		t.Fatalf("Ann holds %v: %v, want seats 5 and 6", b.Seats, err)
	}
	total := b.Total
	if total != 200_00 {
		t.Errorf("two seats cost %d, want 20000", total)
	}
	code, err := n.Order(t.Context(), h, ann, b, form(payments.Door))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := n.Order(t.Context(), h, ann, b, form(payments.Door)); err != nil || again != code {
		t.Errorf("the same form again made %q: %v, want %q", again, err, code)
	}
	if sum := n.number(t, `SELECT sum(total) FROM orders`); sum != total {
		t.Errorf("the orders cost %d together, want %d", sum, total)
	}
	if tickets := n.number(t, `SELECT count(*) FROM ticket`); tickets != 6 {
		t.Errorf("there are %d tickets, want 6", tickets)
	}
	if mails := n.number(t, `SELECT count(*) FROM mail`); mails != 1 {
		t.Errorf("%d mails, want one for all orders", mails)
	}
	if states := h.States(); states[4] != seats.Free || states[5] != seats.Sold {
		t.Errorf("seats 4 and 5 are %v and %v", states[4], states[5])
	}
	n.wantBooks(t)
	n.wantBroken(t, "U1", `DELETE FROM subscriber_order WHERE event_id = (SELECT max(event_id) FROM subscriber_order)`)
	n.wantBroken(t, "U2", `UPDATE subscription SET sold = sold + 1`)
}

// One payment is for all orders. Each of them is refunded for itself.
func TestRecipients_AreThoseWithAValidTicketOfTheSeason(t *testing.T) {
	t.Parallel()
	n := open(t, 2, events.Settings{})
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00)})
	for i, email := range []string{"ann@example.org", "bob@example.org", "Ann@Example.org"} {
		who, f := seats.NewID(), form(payments.Door)
		b, err := n.Choose(t.Context(), h, who, []int{4 * i, 4*i + 1})
		if err != nil {
			t.Fatal(err)
		}
		f.Email, f.Verified = email, email
		if _, err := n.Order(t.Context(), h, who, b, f); err != nil {
			t.Fatal(err)
		}
	}
	list, err := n.Recipients(t.Context(), n.ann, h.Slug)
	if err != nil || !slices.Equal(list, []string{"ann@example.org", "bob@example.org"}) {
		t.Errorf("the recipients are %q, %v", list, err)
	}
	if _, err := n.db.Exec(t.Context(), `UPDATE ticket SET revoked_at = clock_timestamp() FROM orders o WHERE o.id = order_id AND o.email = 'bob@example.org'`); err != nil {
		t.Fatal(err)
	}
	if list, err = n.Recipients(t.Context(), n.ann, h.Slug); err != nil || !slices.Equal(list, []string{"ann@example.org"}) {
		t.Errorf("after Bob cancelled: %q, %v", list, err)
	}
	other := organizers.Member{Team: 2, Name: "Eve", Role: organizers.Owner}
	if list, err := n.Recipients(t.Context(), other, h.Slug); !errors.Is(err, subscriptions.ErrNoSubscription) {
		t.Errorf("another team gets %q, %v", list, err)
	}
}

func TestSubscription_IsPaidOnce(t *testing.T) {
	t.Parallel()
	n := open(t, 3, events.Settings{Demo: true})
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00)})
	ann := seats.NewID()
	b, err := n.Choose(t.Context(), h, ann, []int{4, 5})
	if err != nil {
		t.Fatal(err)
	}
	p, err := n.Pay(t.Context(), h, ann, b, form(payments.Demo))
	if err != nil {
		t.Fatal(err)
	}
	if p.Amount != b.Total || p.Done() {
		t.Fatalf("the payment is of %d and %s, want %d and open", p.Amount, p.State, b.Total)
	}
	n.wantBooks(t)
	if again, err := n.Pay(t.Context(), h, ann, b, form(payments.Demo)); err != nil || again.ID != p.ID {
		t.Errorf("the same form again began payment %s: %v, want %s", again.ID, err, p.ID)
	}
	n.pays(t, p, "pay")
	if paid := n.number(t, `SELECT sum(paid) FROM orders`); paid != b.Total {
		t.Errorf("the orders have %d, want %d", paid, b.Total)
	}
	n.wantBooks(t)

	code := n.codes(t)[1]
	order, err := n.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	sale, err := n.inventory.Sale(t.Context(), order.Event)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.orders.Cancel(t.Context(), sale, order, "k1"); err != nil {
		t.Fatal(err)
	}
	if err := n.orders.Payments.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	n.wantBooks(t)
	if back := n.number(t, `SELECT sum(amount) FROM refund WHERE done_at IS NOT NULL`); back != order.Total {
		t.Errorf("%d went back, want %d", back, order.Total)
	}
	var moved []payments.Movement
	err = n.orders.Payments.Movements(t.Context(), sale.Event.ID, func(m payments.Movement) error { moved = append(moved, m); return nil })
	if err != nil || len(moved) != 2 || moved[0].Amount != order.Total || moved[1].Amount != -order.Total {
		t.Errorf("the money of the second performance is %v: %v, want its share, and that it went back", moved, err)
	}

	codes := n.codes(t) // as after an exchange of a ticket of the last performance
	n.number(t, `WITH x AS (INSERT INTO carried SELECT a.id, b.id, 1 FROM orders a, orders b WHERE a.code = $1 AND b.code = $2) SELECT 1`, codes[0], codes[2])
	if order, err = n.orders.Find(t.Context(), codes[0]); err != nil || order.PaidOutside() {
		t.Errorf("money of a share of a payment was paid outside: %v", err)
	}
}

func TestSubscription_PaymentThatFailsKeepsTheHolds(t *testing.T) {
	t.Parallel()
	n := open(t, 3, events.Settings{Demo: true})
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00)})
	ann := seats.NewID()
	b, err := n.Choose(t.Context(), h, ann, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	p, err := n.Pay(t.Context(), h, ann, b, form(payments.Demo))
	if err != nil {
		t.Fatal(err)
	}
	n.pays(t, p, "decline")
	if made := n.number(t, `SELECT count(*) FROM orders`); made != 0 {
		t.Errorf("%d orders of a payment that was declined", made)
	}
	if held, err := n.Basket(t.Context(), h, ann); err != nil || !slices.Equal(held.Seats, []int{4}) {
		t.Errorf("Ann holds %v: %v, want seat 4", held.Seats, err)
	}
	n.wantBooks(t)
}

// 64 people want overlapping seats of 8 performances.
func TestSubscription_IsAllOrNothingAmongMany(t *testing.T) {
	t.Parallel()
	n := open(t, 8, events.Settings{SeatsPerHolder: 4})
	places := 60
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00), Places: &places})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			if err := n.buys(t, h, fmt.Sprintf("p%d@example.org", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if deadlocks := n.inventory.Deadlocks(); deadlocks != 0 {
		t.Errorf("%d deadlocks, want none", deadlocks)
	}
	subscribers, tickets := n.number(t, `SELECT sum(seats) FROM subscriber`), n.number(t, `SELECT count(*) FROM ticket`)
	if subscribers == 0 || tickets != 8*subscribers {
		t.Errorf("subscribers have %d seats, and there are %d tickets in 8 performances", subscribers, tickets)
	}
	n.wantBooks(t)
}

// buys has a visitor try for pairs of the first rows until they have one, and order it. Others may be faster.
func (n *season) buys(t *testing.T, h *subscriptions.House, email string) error {
	t.Helper()
	who := seats.NewID()
	var refusal *seats.Conflict
	for range 6 {
		first := rand.IntN(40)
		b, err := n.Choose(t.Context(), h, who, []int{first, first + 1, first + 2}[:2+rand.IntN(2)])
		if errors.As(err, &refusal) {
			continue
		}
		if err != nil {
			return err
		}
		f := form(payments.Door)
		f.Email, f.Verified = email, email
		_, err = n.Order(t.Context(), h, who, b, f)
		if errors.As(err, &refusal) || errors.Is(err, orders.ErrUnpaid) {
			return nil
		}
		return err
	}
	return nil
}
