package payments_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
)

// run is a shop with a series of two performances: the one of the shop, and one in which all seats cost something else.
type run struct {
	*shop
	other *seats.Sale
}

func openRun(t testing.TB, e events.Settings, dearer int64) *run {
	t.Helper()
	if e.Policy == nil {
		policy := seats.DefaultPolicy
		policy.Exchanging, policy.ExchangeUntil, policy.ExchangeFee = true, 24*time.Hour, 200
		e.Policy = &policy
	}
	h := &run{shop: openShop(t, e)}
	p, _ := plan.Named("theatre")
	p.Categories = slices.Clone(p.Categories)
	for i := range p.Categories {
		p.Categories[i].Price = max(0, p.Categories[i].Price+dearer)
	}
	e.Name, e.Slug, e.StartsAt, e.PaidAhead = "Evening", "evening-2", time.Date(2030, 5, 2, 19, 0, 0, 0, time.UTC), true
	if e.Fees == (seats.Fees{}) {
		e.Fees = someFees
	}
	if _, err := events.Create(t.Context(), h.db, e, p); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `INSERT INTO series (team_id, slug, lead_id) SELECT team_id, 'run', id FROM event WHERE slug = 'evening'`)
	for _, slug := range []string{"evening", "evening-2"} {
		if _, err := h.office.ChangeEvent(t.Context(), slug, nil, func(tx pgx.Tx, e seats.Event) (bool, error) { return true, events.Join(t.Context(), tx, e.ID, 1) }); err != nil {
			t.Fatal(err)
		}
	}
	h.sale, h.other = h.at(t, "evening"), h.at(t, "evening-2")
	return h
}

func (h *run) at(t testing.TB, slug string) *seats.Sale {
	t.Helper()
	s, err := h.office.Sale(t.Context(), slug)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holds has a visitor hold seats and returns the form to exchange tickets for them.
func (h *run) holds(t testing.TB, s *seats.Sale, who seats.ID, n int, tickets ...seats.ID) orders.ExchangeForm {
	t.Helper()
	hold, err := s.Claim(t.Context(), who, "", seats.ClaimRequest{Best: n, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	return orders.ExchangeForm{Hold: hold.ID, Seats: hold.Seats, Tickets: tickets, Method: payments.Card}
}

// exchanges has the attendee of an order exchange tickets, and returns the new order.
func (h *run) exchanges(t testing.TB, to *seats.Sale, order orders.Order, n int, tickets ...seats.ID) orders.Order {
	t.Helper()
	who := seats.NewID()
	code, paid, err := h.orders.Exchange(t.Context(), to, who, order, h.holds(t, to, who, n, tickets...))
	if err != nil {
		t.Fatal(err)
	}
	if paid != nil {
		h.until(t, paid.Code, "captured")
		code = paid.Code
	}
	return h.again(t, orders.Order{Code: code})
}

// wantBank holds what the bank keeps against what orders and refunds say.
func (h *run) wantBank(t testing.TB, keeps int64) {
	t.Helper()
	h.bank.mu.Lock()
	var kept int64
	for _, s := range h.bank.stands {
		kept += s.Captured - s.Refunded
	}
	h.bank.mu.Unlock()
	if paid := h.number(t, `SELECT sum(paid) FROM orders`); kept != keeps || int64(paid) != keeps {
		t.Errorf("the bank keeps %d and orders have %d, want %d", kept, paid, keeps)
	}
	h.wantBooks(t)
}

func (h *run) untilNothingIsOnItsWay(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); h.count(t, `intention WHERE done_at IS NULL`) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("money is still on its way")
		}
	}
}

func TestExchange_TicketsKeepTheirNames(t *testing.T) {
	t.Parallel()
	for _, dearer := range []int64{0, 1234} {
		h := openRun(t, events.Settings{}, dearer)
		order := h.buys(t, 3)
		h.until(t, order.Code, "captured")
		if _, err := h.db.Exec(t.Context(), `UPDATE ticket SET name = 'Guest ' || idx WHERE idx <> $1`, order.Tickets[2].Idx); err != nil {
			t.Fatal(err)
		}
		order = h.again(t, order)
		fresh := h.exchanges(t, h.other, order, 2, order.Tickets[1].ID, order.Tickets[2].ID)
		names := []string{fresh.NameOn(fresh.Tickets[0]), fresh.NameOn(fresh.Tickets[1])}
		if !slices.Contains(names, order.Tickets[1].Name) || !slices.Contains(names, order.Name) || order.Tickets[1].Name == "" {
			t.Errorf("%d more to pay: the new tickets are of %q", dearer, names)
		}
	}
}

func TestExchange_MoneyIsRightToTheCent(t *testing.T) {
	t.Parallel()
	for _, dearer := range []int64{0, -1234, 1234} {
		h := openRun(t, events.Settings{}, dearer)
		order := h.buys(t, 3)
		h.until(t, order.Code, "captured")
		order = h.again(t, order)
		old := order.Tickets[:2]
		fresh := h.exchanges(t, h.other, order, 2, old[0].ID, old[1].ID)
		h.untilNothingIsOnItsWay(t)
		rest := h.again(t, order)
		worth := costOf(old[0]) + costOf(old[1]) - 400
		if fresh.Paid != fresh.Total || fresh.Due() != 0 || fresh.Event != "evening-2" || fresh.Name != order.Name || fresh.Email != order.Email || len(fresh.Tickets) != 2 {
			t.Errorf("%d: the new order is %+v", dearer, fresh)
		}
		if back := max(0, worth-fresh.Total); rest.Paid != costOf(order.Tickets[2])+400 || rest.Back != back || rest.Kept != 400 || rest.Due() != 0 {
			t.Errorf("%d: the old order is %+v, want %d back", dearer, rest, back)
		}
		h.wantBank(t, fresh.Total+costOf(order.Tickets[2])+400)

		again := h.exchanges(t, h.sale, fresh, 1, fresh.Tickets[0].ID) // and one of them back
		h.untilNothingIsOnItsWay(t)
		h.wantBooks(t)
		for _, o := range []orders.Order{again, fresh, rest} { // all of it goes back, the way it came
			if err := h.orders.Revoke(t.Context(), h.at(t, o.Event), h.again(t, o), false); err != nil {
				t.Fatal(err)
			}
		}
		h.untilNothingIsOnItsWay(t)
		h.wantBank(t, 600) // the fees of three exchanges
		if n := h.count(t, `refund WHERE by_hand`); n > 0 {
			t.Errorf("%d refunds are by hand", n)
		}
		if n := h.count(t, `mail WHERE kind = 'exchanged'`); n != 2 || h.count(t, `mail WHERE kind = 'cancellation'`) != 3 {
			t.Errorf("%d mails tell of exchanges", n)
		}
	}
}

func TestExchange_OldTicketsOpenNoDoorAndNewOnesDo(t *testing.T) {
	t.Parallel()
	h := openRun(t, events.Settings{}, 0)
	order := h.buys(t, 2)
	h.until(t, order.Code, "captured")
	order = h.again(t, order)
	codes := []string{order.Tickets[0].Code, order.Tickets[1].Code}
	fresh := h.exchanges(t, h.other, order, 2)
	if old := h.again(t, order); old.State != orders.Cancelled || len(old.Exchanges) != 1 || old.Exchanges[0].Code != fresh.Code || old.Exchanges[0].Came {
		t.Errorf("the old order is %+v", old)
	}
	if len(fresh.Exchanges) != 1 || fresh.Exchanges[0].Code != order.Code || !fresh.Exchanges[0].Came {
		t.Errorf("the new order is %+v", fresh)
	}
	for _, code := range codes {
		if ticket, _, err := h.orders.Check(t.Context(), code); err != nil || !ticket.Revoked {
			t.Errorf("an old code gives %+v, %v", ticket, err)
		}
		if v := h.scan(t, h.door(t), orders.Scan{Key: seats.NewID().String(), Code: code}); v.Word == orders.ScanIn {
			t.Errorf("the door lets an old ticket in: %+v", v)
		}
	}
	for _, ticket := range fresh.Tickets {
		if found, event, err := h.orders.Check(t.Context(), ticket.Code); err != nil || found.Revoked || event != "evening-2" {
			t.Errorf("a new code gives %+v of %s, %v", found, event, err)
		}
	}
	if c := h.sale.Snapshot().Counts; c.Sold[0] != 0 {
		t.Errorf("the old seats: %+v", c)
	}
	h.wantBooks(t)
}

func TestExchange_IsRefusedWithAReasonAndChangesNothing(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.Exchanging, policy.ExchangeUntil = true, 24*time.Hour
	h := openRun(t, events.Settings{SeatsPerHolder: 10, Policy: &policy}, 0)
	order := h.buys(t, 3)
	h.until(t, order.Code, "captured")
	order = h.again(t, order)
	who := seats.NewID()
	f := h.holds(t, h.other, who, 2)
	try := func(code string, order orders.Order, f orders.ExchangeForm) {
		t.Helper()
		_, _, err := h.orders.Exchange(t.Context(), h.other, who, order, f)
		wantRefusal(t, err, code)
	}
	try(seats.CodeChanged, order, f) // two seats for three tickets
	two := f
	two.Tickets = []seats.ID{order.Tickets[0].ID, order.Tickets[1].ID}
	wrong := int64(1)
	two.Difference = &wrong
	try(seats.CodePrice, order, two)
	two.Difference = nil
	if _, _, err := h.orders.Exchange(t.Context(), h.sale, who, order, two); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("for its own performance: %v", err)
	}
	h.exec(t, `UPDATE event SET exchange_until = NULL`)
	try(orders.CodePolicy, h.again(t, order), two)
	h.exec(t, `UPDATE event SET exchange_until = starts_at - clock_timestamp() - interval '1 minute'`)
	if refusal := h.again(t, order).RefuseExchange(); refusal != nil {
		t.Errorf("a minute before the end of the policy: %v", refusal)
	}
	h.exec(t, `UPDATE event SET exchange_until = starts_at - clock_timestamp()`)
	try(orders.CodePolicy, h.again(t, order), two)
	h.exec(t, `UPDATE event SET exchange_until = '1 day'`)
	if v := h.scan(t, h.door(t), orders.Scan{Key: seats.NewID().String(), Code: order.Tickets[0].Code}); v.Word != orders.ScanIn {
		t.Fatalf("the door says %+v", v)
	}
	try(orders.CodeAdmitted, h.again(t, order), two)
	try(orders.CodeAdmitted, order, two) // with what a page knew before
	h.exec(t, `UPDATE orders SET discount_code = 'TEN'`)
	try(orders.CodeDiscount, h.again(t, order), two)
	if n := h.count(t, `orders`) + h.count(t, `cancellation`) + h.count(t, `ticket WHERE leaving_until > clock_timestamp()`); n != 1 {
		t.Errorf("%d rows tell of refused exchanges", n-1)
	}
}

func TestExchange_ARepeatGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	for _, dearer := range []int64{-200, 500} {
		h := openRun(t, events.Settings{}, dearer)
		order := h.buys(t, 2)
		h.until(t, order.Code, "captured")
		order = h.again(t, order)
		who := seats.NewID()
		f := h.holds(t, h.other, who, 2)
		codes := map[string]bool{}
		for range 3 {
			code, paid, err := h.orders.Exchange(t.Context(), h.other, who, h.again(t, order), f)
			if err != nil {
				t.Fatal(err)
			}
			if paid != nil {
				code = paid.Code
				h.until(t, code, "captured")
			}
			codes[code] = true
		}
		if len(codes) != 1 || h.count(t, "orders") != 2 || h.count(t, "exchange") != 1 {
			t.Errorf("three equal forms made %v", codes)
		}
		h.wantBooks(t)
	}
}

func TestExchange_IsToldToWebhooksOnce(t *testing.T) {
	t.Parallel()
	h := openRun(t, events.Settings{}, 0)
	if _, err := h.db.Exec(t.Context(), `INSERT INTO hook (team_id, url, kinds) SELECT DISTINCT team_id, 'http://example.org/told', '{order.exchanged}'::text[] FROM event`); err != nil {
		t.Fatal(err)
	}
	order := h.buys(t, 2)
	h.until(t, order.Code, "captured")
	order = h.again(t, order)
	fresh := h.exchanges(t, h.other, order, 1, order.Tickets[0].ID)
	var told []struct {
		Event, Order, Currency string
		ToEvent                string `json:"to_event"`
		ToOrder                string `json:"to_order"`
		Amount                 int64
		Tickets                []string
	}
	if err := h.db.QueryRow(t.Context(), `SELECT jsonb_agg(data) FROM notice WHERE kind = 'order.exchanged'`).Scan(&told); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].Event != "evening" || told[0].Order != order.Code || told[0].ToEvent != fresh.Event || told[0].ToOrder != fresh.Code || told[0].Amount != costOf(order.Tickets[0])-200 || !slices.Equal(told[0].Tickets, []string{order.Tickets[0].ID.String()}) {
		t.Errorf("webhooks are told %+v", told)
	}
}

func TestExchange_WithoutTheDifferenceOldTicketsHold(t *testing.T) {
	t.Parallel()
	h := openRun(t, events.Settings{}, 1000)
	order := h.buys(t, 2)
	h.until(t, order.Code, "captured")
	order = h.again(t, order)
	h.bank.set(func(b *bank) { b.next = payments.Declined })
	who := seats.NewID()
	f := h.holds(t, h.other, who, 2)
	_, paid, err := h.orders.Exchange(t.Context(), h.other, who, order, f)
	if err != nil || paid == nil {
		t.Fatal(paid, err)
	}
	h.until(t, paid.Code, "closed")
	if now := h.again(t, order); now.Paid != order.Total || len(now.Exchangeable()) != 2 {
		t.Errorf("the old order is %+v", now)
	}
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	_, paid, err = h.orders.Exchange(t.Context(), h.other, who, order, f)
	if err != nil || paid == nil {
		t.Fatal(paid, err)
	}
	if v := h.scan(t, h.door(t), orders.Scan{Key: seats.NewID().String(), Code: order.Tickets[0].Code}); v.Word != orders.ScanIn { // they go in while they pay
		t.Fatalf("the door says %+v", v)
	}
	h.bank.moves(paid.ID, payments.Authorized)
	if err := h.orders.Payments.Ask(t.Context(), *paid); err != nil {
		t.Fatal(err)
	}
	h.until(t, paid.Code, "closed")
	h.untilNothingIsOnItsWay(t)
	if now := h.again(t, order); now.Paid != order.Total || now.Tickets[0].In == nil || now.Tickets[1].Revoked {
		t.Errorf("the old order is %+v", now)
	}
	h.wantBank(t, order.Total)
}

func TestExchange_TheWaitlistGetsTheOldSeats(t *testing.T) {
	t.Parallel()
	h := openRun(t, events.Settings{}, 0)
	order := h.buys(t, 2)
	h.until(t, order.Code, "captured")
	order = h.again(t, order)
	h.exec(t, `UPDATE event SET wait_list = true WHERE slug = 'evening'`)
	h.exchanges(t, h.other, order, 2)
	for _, ticket := range order.Tickets {
		if state := h.sale.Snapshot().States[ticket.Idx].Shown(); state == seats.Free {
			t.Errorf("seat %d is free for any visitor while an entry waits", ticket.Idx)
		}
	}
}

func TestExchange_AtTheDeskKnowsNoPolicy(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.ExchangeFee = 300
	h := openRun(t, events.Settings{Policy: &policy}, 700)
	order := h.buys(t, 2)
	h.until(t, order.Code, "captured")
	order = h.again(t, order)
	f := orders.ExchangeForm{Key: "k", Tickets: []seats.ID{order.Tickets[0].ID}, Seats: []int{order.Tickets[0].Idx}, Method: payments.Cash}
	q, err := h.orders.QuoteAtDesk(t.Context(), h.other, order, f)
	if err != nil || q.Fee != 300 || q.Worth != costOf(order.Tickets[0])-300 {
		t.Fatalf("%+v, %v", q, err)
	}
	f.NoFee = true
	if q, err = h.orders.QuoteAtDesk(t.Context(), h.other, order, f); err != nil || q.Fee != 0 || q.Difference != q.Total-costOf(order.Tickets[0]) {
		t.Fatalf("%+v, %v", q, err)
	}
	f.Difference = &q.Difference
	var codes [2]string
	for i := range codes {
		if codes[i], err = h.orders.ExchangeAtDesk(t.Context(), h.other, h.again(t, order), f, nil); err != nil {
			t.Fatal(err)
		}
	}
	fresh := h.again(t, orders.Order{Code: codes[0]})
	if codes[0] != codes[1] || fresh.Due() != 0 || fresh.Paid != fresh.Total || fresh.Method != payments.Cash || h.number(t, `SELECT sum(received) FROM orders`) != int(q.Difference) {
		t.Errorf("%v: %+v", codes, fresh)
	}
	h.wantBooks(t)
	if err := h.orders.Revoke(t.Context(), h.other, fresh, false); err != nil { // the card gets its part, and the rest is paid out
		t.Fatal(err)
	}
	h.untilNothingIsOnItsWay(t)
	if n := h.number(t, `SELECT sum(amount) FROM refund WHERE by_hand`); n != int(q.Difference) || h.count(t, "refund") != 2 {
		t.Errorf("%d goes back by hand, want %d", n, q.Difference)
	}
	h.wantBooks(t)
}

// Why tickets were given away stands at the order that they were exchanged for, if that is free, too.
func TestExchange_FreeTicketsKeepTheirReason(t *testing.T) {
	t.Parallel()
	h := openRun(t, events.Settings{Fees: seats.Fees{Percent: 100}}, -1_000_000) // the other performance is free
	code, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "k", Seats: []int{0, 1}, Method: payments.Free, Reason: "For the press"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	order := h.again(t, orders.Order{Code: code})
	f := orders.ExchangeForm{Key: "x", Tickets: []seats.ID{order.Tickets[0].ID}, Seats: []int{order.Tickets[0].Idx}}
	if code, err = h.orders.ExchangeAtDesk(t.Context(), h.other, order, f, nil); err != nil {
		t.Fatal(err)
	}
	if fresh := h.again(t, orders.Order{Code: code}); fresh.Reason != "For the press" || fresh.Method != payments.Free {
		t.Errorf("it is exchanged for an order of the method %q with the reason %q", fresh.Method, fresh.Reason)
	}
	order = h.again(t, orders.Order{Code: code})
	back := orders.ExchangeForm{Key: "y", Tickets: []seats.ID{order.Tickets[0].ID}, Seats: []int{5}, Method: payments.Cash}
	if code, err = h.orders.ExchangeAtDesk(t.Context(), h.sale, order, back, nil); err != nil {
		t.Fatal(err)
	}
	if fresh := h.again(t, orders.Order{Code: code}); fresh.Reason != "" || fresh.Method != payments.Cash {
		t.Errorf("for money, it has the method %q and the reason %q", fresh.Method, fresh.Reason)
	}
	h.wantBooks(t)
}

func TestExchange_OrderThatAGiftCardPaidInPartIsRefused(t *testing.T) {
	t.Parallel()
	h := openRun(t, events.Settings{}, 700)
	code, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "k", Seats: []int{0}, Method: payments.Cash}, nil)
	if err != nil {
		t.Fatal(err)
	}
	order := h.again(t, orders.Order{Code: code})
	f := orders.ExchangeForm{Key: "x", Tickets: []seats.ID{order.Tickets[0].ID}, Seats: []int{0}, Method: payments.Cash, NoFee: true}
	if _, err := h.orders.QuoteAtDesk(t.Context(), h.other, order, f); err != nil {
		t.Errorf("paid in cash: %v", err)
	}
	order.ByCard = order.Total - 1
	var refusal *seats.Conflict
	if _, err := h.orders.QuoteAtDesk(t.Context(), h.other, order, f); !errors.As(err, &refusal) || refusal.Code != orders.CodePaid {
		t.Errorf("paid by gift card in part: %v", err)
	}
}

// Attendees exchange tickets of two performances for each other's, over and over: nothing is sold twice, and none waits for another.
func TestExchange_CrowdHasNoDeadlocks(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.Exchanging = true
	h := openRun(t, events.Settings{SeatsPerHolder: 4, Policy: &policy}, 100) // one way costs money, the other way gives it back
	const people, rounds = 64, 3
	var wait sync.WaitGroup
	var done, lost atomic.Int64
	for i := range people {
		wait.Go(func() {
			from, to := h.sale, h.other
			if i%2 == 1 {
				from, to = to, from
			}
			who := seats.NewID()
			claim := func(s *seats.Sale) (seats.Hold, error) {
				return s.Claim(t.Context(), who, fmt.Sprint(seats.NewID()), seats.ClaimRequest{Best: 1, Category: "A"})
			}
			hold, err := claim(from)
			if err != nil {
				t.Error(err)
				return
			}
			email := fmt.Sprintf("p%d@example.org", i)
			p, err := h.orders.Pay(t.Context(), from, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Method: payments.Card, Verified: email})
			if err != nil {
				t.Error(err)
				return
			}
			h.until(t, p.Code, "captured")
			code := p.Code
			for range rounds {
				order, err := h.orders.Find(t.Context(), code)
				if err != nil {
					t.Error(err)
					return
				}
				who = seats.NewID()
				hold, err := claim(to)
				if err != nil {
					lost.Add(1) // others hold them all
					continue
				}
				next, paid, err := h.orders.Exchange(t.Context(), to, who, order, orders.ExchangeForm{Hold: hold.ID, Seats: hold.Seats, Method: payments.Card})
				if err == nil && paid != nil {
					h.until(t, paid.Code, "captured")
					next = paid.Code
				}
				if err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
				code, from, to = next, to, from
			}
		})
	}
	wait.Wait()
	if n := h.office.Deadlocks(); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
	if done.Load()+lost.Load() != people*rounds || done.Load() == 0 {
		t.Errorf("%d exchanges, %d found no seat", done.Load(), lost.Load())
	}
	h.wantBooks(t)
}
