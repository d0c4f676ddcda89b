package payments_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
)

// typed is a shop where buyers change types of tickets.
type typed struct{ *shop }

// openTyped opens it with types in category A: one that costs more, one that costs less, and some with a rule.
func openTyped(t testing.TB, e events.Settings) typed {
	t.Helper()
	p, _ := plan.Named("theatre")
	standard := 0
	list := seats.Prices{Types: []seats.TicketType{
		{Key: "standard", Name: "Standard", SoldTo: seats.SoldToEveryone},
		{Key: "premium", Name: "Premium", SoldTo: seats.SoldToEveryone, Position: 1},
		{Key: "youth", Name: "Youth", SoldTo: seats.SoldToEveryone, Position: 2},
		{Key: "student", Name: "Student", SoldTo: seats.SoldToEveryone, Position: 3, Most: 1, Proof: "student card"},
		{Key: "child", Name: "Child", SoldTo: seats.SoldToEveryone, Position: 4, With: seats.With{Type: &standard}},
		{Key: "member", Name: "Member", SoldTo: seats.SoldWithCode, Position: 5},
		{Key: "gift", Name: "Gift", SoldTo: seats.SoldToEveryone, Position: 6},
	}}
	for i, c := range p.Categories {
		list.Amounts = append(list.Amounts, seats.Amount{Category: i, Amount: c.Price})
	}
	for kind, amount := range map[int]int64{1: 9900, 2: 2000, 3: 2500, 4: 1000, 5: 100, 6: 0} {
		list.Amounts = append(list.Amounts, seats.Amount{Type: kind, Amount: amount})
	}
	policy := seats.DefaultPolicy
	policy.ChangingTypes, policy.TypesUntil = true, time.Hour
	e.Prices, e.Policy = &list, &policy
	return typed{openShop(t, e)}
}

// bought is an order of so many standard tickets that is paid.
func (h typed) bought(t testing.TB, n int) orders.Order {
	t.Helper()
	order := h.buys(t, n)
	h.until(t, order.Code, "captured")
	return h.again(t, order)
}

func (h typed) untilNothingIsOnItsWay(t testing.TB) {
	t.Helper()
	(&run{shop: h.shop}).untilNothingIsOnItsWay(t)
}

func (h typed) wantBank(t testing.TB, keeps int64) {
	t.Helper()
	(&run{shop: h.shop}).wantBank(t, keeps)
}

// typesOf is a form that gives tickets of an order types, from the first one on.
func typesOf(o orders.Order, keys ...string) orders.TypesForm {
	f := orders.TypesForm{Key: "k", Types: map[seats.ID]string{}, Method: payments.Card}
	for i, key := range keys {
		if key != "" {
			f.Types[o.Tickets[i].ID] = key
		}
	}
	return f
}

// changes has a buyer change types, and returns the order of the new tickets.
func (h typed) changes(t testing.TB, order orders.Order, f orders.TypesForm) orders.Order {
	t.Helper()
	code, paid, err := h.orders.ChangeTypes(t.Context(), h.sale, order, f)
	if err != nil {
		t.Fatal(err)
	}
	if paid != nil {
		code = paid.Code
		h.until(t, code, "captured")
	}
	h.untilNothingIsOnItsWay(t)
	return h.again(t, orders.Order{Code: code})
}

func TestTypes_MoneyIsRightToTheCent(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"premium"}, {"youth"}, {"premium", "youth"}, {"youth", "youth", "premium"}, {"gift"}, {"gift", "gift", "gift"}} {
		h := openTyped(t, events.Settings{})
		order := h.bought(t, 3)
		before := map[int]string{}
		for _, ticket := range order.Tickets {
			before[ticket.Idx] = ticket.Code
		}
		q, err := h.orders.QuoteTypes(h.sale, order, typesOf(order, keys...).Types)
		if err != nil {
			t.Fatal(err)
		}
		f := typesOf(order, keys...)
		f.Difference = &q.Difference
		fresh := h.changes(t, order, f)
		rest := h.again(t, order)
		var old, left int64
		for i, ticket := range order.Tickets {
			if i < len(keys) {
				old += costOf(ticket)
			} else {
				left += costOf(ticket)
			}
		}
		if fresh.Paid != fresh.Total || fresh.Total != old+q.Difference || fresh.Due() != 0 || len(fresh.Tickets) != len(keys) || fresh.Name != order.Name || fresh.Email != order.Email {
			t.Errorf("%v: the new order is %+v", keys, fresh)
		}
		if rest.Paid != left || rest.Back != max(0, -q.Difference) || rest.Due() != 0 || (left == 0) != (rest.State == orders.Cancelled) {
			t.Errorf("%v: the old order is %+v", keys, rest)
		}
		for i, ticket := range fresh.Tickets {
			if ticket.Idx != order.Tickets[i].Idx || h.sale.Prices.Types[ticket.TypeNumber()].Key != keys[i] || ticket.Code == before[ticket.Idx] {
				t.Errorf("%v: a new ticket is %+v", keys, ticket)
			}
		}
		h.wantBank(t, fresh.Total+left)

		for _, o := range []orders.Order{fresh, rest} { // all of it goes back, the way it came
			if len(o.Retypable()) == 0 {
				continue
			}
			if err := h.orders.Revoke(t.Context(), h.sale, o, false); err != nil {
				t.Fatal(err)
			}
		}
		h.untilNothingIsOnItsWay(t)
		h.wantBank(t, 0)
		if n := h.count(t, `refund WHERE by_hand`); n > 0 {
			t.Errorf("%v: %d refunds are by hand", keys, n)
		}
	}
}

func TestTypes_NothingChangesBeforeItIsPaid(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{SeatsPerHolder: 2})
	order := h.bought(t, 2)
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	_, paid, err := h.orders.ChangeTypes(t.Context(), h.sale, order, typesOf(order, "premium"))
	if err != nil || paid == nil {
		t.Fatal(paid, err)
	}
	h.wantBooks(t)
	if now := h.again(t, order); len(now.Retypable()) != 2 || now.Tickets[0].TypeNumber() != 0 || h.count(t, "exchange") != 0 {
		t.Errorf("before it is paid the order is %+v", now)
	}
	if v := h.scan(t, h.door(t), orders.Scan{Key: "a", Code: order.Tickets[1].Code}); v.Word != orders.ScanIn {
		t.Errorf("the door says %+v", v)
	}
	h.bank.moves(paid.ID, payments.Authorized)
	if err := h.orders.Payments.Ask(t.Context(), *paid); err != nil {
		t.Fatal(err)
	}
	h.until(t, paid.Code, "captured")
	h.untilNothingIsOnItsWay(t)
	if v := h.scan(t, h.door(t), orders.Scan{Key: "b", Code: order.Tickets[0].Code}); v.Word != orders.ScanRevoked {
		t.Errorf("the door says of the old ticket: %+v", v)
	}
	fresh := h.again(t, orders.Order{Code: paid.Code})
	if v := h.scan(t, h.door(t), orders.Scan{Key: "c", Code: fresh.Tickets[0].Code}); v.Word != orders.ScanIn || v.Ticket.Type != "Premium" {
		t.Errorf("the door says of the new ticket: %+v", v)
	}
	h.wantBank(t, fresh.Total+costOf(order.Tickets[1]))
}

func TestTypes_WithoutTheDifferenceOldTicketsHold(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{})
	order := h.bought(t, 2)
	f := typesOf(order, "premium")
	h.bank.set(func(b *bank) { b.next = payments.Declined })
	_, paid, err := h.orders.ChangeTypes(t.Context(), h.sale, order, f)
	if err != nil || paid == nil {
		t.Fatal(paid, err)
	}
	h.until(t, paid.Code, "closed")
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	_, paid, err = h.orders.ChangeTypes(t.Context(), h.sale, order, f) // the same form once more
	if err != nil || paid == nil || paid.Over() {
		t.Fatal(paid, err)
	}
	if v := h.scan(t, h.door(t), orders.Scan{Key: "a", Code: order.Tickets[0].Code}); v.Word != orders.ScanIn { // they go in while they pay
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

// A page that is left and opened anew has another key.
func TestTypes_OneDifferenceIsUnderWay(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{SeatsPerHolder: 4})
	order := h.bought(t, 2)
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	var begun []payments.Payment
	for i := range 6 {
		f := typesOf(order, "premium")
		f.Key = strconv.Itoa(i)
		_, paid, err := h.orders.ChangeTypes(t.Context(), h.sale, order, f)
		if err != nil || paid == nil {
			t.Fatal(paid, err)
		}
		begun = append(begun, *paid)
	}
	if n := h.count(t, `payment WHERE state = 'open'`); n != 1 {
		t.Errorf("%d differences are under way", n)
	}
	last := begun[len(begun)-1]
	h.bank.moves(last.ID, payments.Authorized)
	if err := h.orders.Payments.Ask(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	h.until(t, last.Code, "captured")
	h.untilNothingIsOnItsWay(t)
	h.wantBank(t, h.again(t, orders.Order{Code: last.Code}).Total+costOf(order.Tickets[1]))
	var racers sync.WaitGroup
	h.bank.set(func(b *bank) { b.next = payments.Authorized })
	order = h.bought(t, 2)
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	for i := range 16 {
		racers.Go(func() {
			f := typesOf(order, "premium")
			f.Key = strconv.Itoa(i)
			_, _, err := h.orders.ChangeTypes(t.Context(), h.sale, order, f)
			if refusal := (*seats.Conflict)(nil); err != nil && (!errors.As(err, &refusal) || refusal.Code != orders.CodeUnderWay) {
				t.Error(err)
			}
		})
	}
	racers.Wait()
	if n := h.count(t, `payment WHERE state = 'open'`); n > 1 {
		t.Errorf("%d differences that began at once are under way", n)
	}
	h.wantBooks(t)
}

// Names that change while a difference is paid are not lost.
func TestTypes_NameOfTheMeantimeStays(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{})
	order := h.bought(t, 1)
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	_, paid, err := h.orders.ChangeTypes(t.Context(), h.sale, order, typesOf(order, "premium"))
	if err != nil || paid == nil {
		t.Fatal(paid, err)
	}
	h.exec(t, `UPDATE ticket SET name = 'Bo'`)
	h.bank.moves(paid.ID, payments.Authorized)
	if err := h.orders.Payments.Ask(t.Context(), *paid); err != nil {
		t.Fatal(err)
	}
	h.until(t, paid.Code, "closed")
	h.untilNothingIsOnItsWay(t)
	if now := h.again(t, order).Tickets[0]; now.Revoked || now.Name != "Bo" {
		t.Errorf("the ticket is %+v", now)
	}
	h.wantBank(t, order.Total)
}

func TestTypes_ARepeatGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"premium", "youth"} {
		h := openTyped(t, events.Settings{})
		order := h.bought(t, 2)
		codes := map[string]bool{}
		for range 3 {
			codes[h.changes(t, h.again(t, order), typesOf(order, key)).Code] = true
		}
		if len(codes) != 1 || h.count(t, "orders") != 2 || h.count(t, "exchange") != 1 {
			t.Errorf("three equal forms made %v", codes)
		}
		_, _, err := h.orders.ChangeTypes(t.Context(), h.sale, order, typesOf(order, "", "gift")) // the same key
		wantRefusal(t, err, orders.CodeKey)
		h.wantBooks(t)
	}
}

func TestTypes_ManyEqualFormsAtOnceChangeOnce(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"premium", "youth"} {
		h := openTyped(t, events.Settings{})
		order := h.bought(t, 1)
		var wait sync.WaitGroup
		for range 16 {
			wait.Go(func() {
				code, paid, err := h.orders.ChangeTypes(t.Context(), h.sale, order, typesOf(order, key))
				if err != nil && code == "" && paid == nil { // it came while another one was at work
					wantRefusal(t, err, seats.CodeChanged)
				}
			})
		}
		wait.Wait()
		h.untilNothingIsOnItsWay(t)
		if n := h.count(t, "exchange"); n != 1 || h.count(t, "ticket WHERE revoked_at IS NULL") != 1 {
			t.Errorf("%s: 16 equal forms changed %d times", key, n)
		}
		h.wantBooks(t)
	}
}

func TestTypes_LimitOfATypeHoldsUnderARace(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{})
	order := h.bought(t, 4)
	var wait sync.WaitGroup
	for i := range order.Tickets {
		wait.Go(func() {
			f := orders.TypesForm{Key: seats.NewID().String(), Types: map[seats.ID]string{order.Tickets[i].ID: "student"}}
			_, _, _ = h.orders.ChangeTypes(t.Context(), h.sale, order, f)
		})
	}
	wait.Wait()
	h.untilNothingIsOnItsWay(t)
	var codes []string // of the orders that the tickets are in now
	if err := h.db.QueryRow(t.Context(), `SELECT array_agg(DISTINCT code) FROM orders WHERE state = 'confirmed'`).Scan(&codes); err != nil {
		t.Fatal(err)
	}
	for _, code := range codes { // one after the other
		for _, ticket := range h.again(t, orders.Order{Code: code}).Retypable() {
			f := orders.TypesForm{Key: seats.NewID().String(), Types: map[seats.ID]string{ticket.ID: "student"}}
			_, _, _ = h.orders.ChangeTypes(t.Context(), h.sale, h.again(t, orders.Order{Code: code}), f)
		}
	}
	h.untilNothingIsOnItsWay(t)
	if n := h.count(t, "ticket WHERE type = 3 AND revoked_at IS NULL"); n != 1 {
		t.Errorf("%d student tickets, of which an order has one at most", n)
	}
	if n := h.count(t, "ticket WHERE revoked_at IS NULL"); n != 4 {
		t.Errorf("%d tickets of four", n)
	}
	h.wantBooks(t)
}

func TestTypes_TicketsWithARuleStayTogether(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{SeatsPerHolder: 3})
	order := h.bought(t, 3)
	fresh := h.changes(t, order, typesOf(order, "child"))
	if len(fresh.Tickets) != 3 || h.again(t, order).State != orders.Cancelled {
		t.Fatalf("a child goes on with its adults: %+v", fresh)
	}
	for i, ticket := range fresh.Tickets[1:] {
		if costOf(ticket) != costOf(order.Tickets[i+1]) {
			t.Errorf("a ticket that keeps its type costs %d, and did %d", costOf(ticket), costOf(order.Tickets[i+1]))
		}
	}
	_, _, err := h.orders.ChangeTypes(t.Context(), h.sale, fresh, typesOf(fresh, "", "premium", "premium"))
	wantRefusal(t, err, "types")
	_, _, err = h.orders.ChangeTypes(t.Context(), h.sale, fresh, typesOf(fresh, "", "student", "student"))
	wantRefusal(t, err, "types")
	h.wantBank(t, fresh.Total)
}

func TestTypes_IsRefusedWithAReasonAndChangesNothing(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{SeatsPerHolder: 20})
	order := h.bought(t, 3)
	try := func(code string, order orders.Order, f orders.TypesForm) {
		t.Helper()
		f.Key = seats.NewID().String()
		_, _, err := h.orders.ChangeTypes(t.Context(), h.sale, order, f)
		wantRefusal(t, err, code)
	}
	f := typesOf(order, "youth")
	try(seats.CodeType, order, typesOf(order, "member"))
	wrong := int64(1)
	f.Difference = &wrong
	try(seats.CodePrice, order, f)
	f.Difference = nil
	for _, p := range []struct{ set, back, code string }{
		{`UPDATE event SET types_until = NULL`, `UPDATE event SET types_until = '1 hour'`, orders.CodePolicy},
		{`UPDATE event SET types_until = starts_at - clock_timestamp()`, `UPDATE event SET types_until = '1 hour'`, orders.CodePolicy},
		{`UPDATE orders SET post_to = '{"street":"Ring 1"}'`, `UPDATE orders SET post_to = NULL`, orders.CodePosted},
		{`UPDATE orders SET discount_code = 'TEN'`, `UPDATE orders SET discount_code = ''`, orders.CodeDiscount},
	} {
		h.exec(t, p.set)
		try(p.code, h.again(t, order), f)
		h.exec(t, p.back)
	}
	if err := h.orders.Offer(t.Context(), order, "o", order.Tickets[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	try(orders.CodeSent, h.again(t, order), f)
	if v := h.scan(t, h.door(t), orders.Scan{Key: "a", Code: order.Tickets[1].Code}); v.Word != orders.ScanIn {
		t.Fatalf("the door says %+v", v)
	}
	try(orders.CodeAdmitted, h.again(t, order), typesOf(order, "", "youth"))
	try(orders.CodeAdmitted, order, typesOf(order, "", "youth")) // with what a page knew before
	if _, _, err := h.orders.ChangeTypes(t.Context(), h.sale, order, typesOf(order, "", "", "standard")); err == nil {
		t.Error("a ticket gets the type that it has")
	}
	if n := h.count(t, `orders`) + h.count(t, `cancellation`) + h.count(t, `ticket WHERE leaving_until > clock_timestamp()`); n != 1 {
		t.Errorf("%d rows tell of refused changes", n-1)
	}
	h.wantBooks(t)
}

func TestTypes_OneOfChangeCancelAndScanWins(t *testing.T) {
	t.Parallel()
	for round := range 8 {
		h := openTyped(t, events.Settings{})
		order := h.bought(t, 1)
		door := h.door(t)
		var wait sync.WaitGroup
		var verdict orders.Verdict
		wait.Go(func() { _, _, _ = h.orders.ChangeTypes(t.Context(), h.sale, order, typesOf(order, "youth")) })
		if round%2 == 0 {
			wait.Go(func() { _ = h.orders.Cancel(t.Context(), h.sale, order, "c") })
		} else {
			wait.Go(func() {
				verdict, _ = h.orders.Scan(t.Context(), door, orders.Scan{Key: "s", Code: order.Tickets[0].Code})
			})
		}
		wait.Wait()
		h.untilNothingIsOnItsWay(t)
		changed, live := h.count(t, "exchange"), h.count(t, "ticket WHERE revoked_at IS NULL")
		switch {
		case round%2 == 0 && h.count(t, "cancellation") != 1:
			t.Errorf("%d changes among %d cancellations", changed, h.count(t, "cancellation"))
		case round%2 == 0 && live != changed:
			t.Errorf("%d tickets live after %d changes", live, changed)
		case round%2 == 1 && (live != 1 || (verdict.Word == orders.ScanIn) == (changed == 1)):
			t.Errorf("the door says %s, and there were %d changes", verdict.Word, changed)
		}
		h.wantBooks(t)
	}
}

func TestTypes_SeatsAreForNoOtherVisitorMeanwhile(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{})
	order := h.bought(t, 2)
	h.exec(t, `UPDATE event SET wait_list = true`)
	fresh := h.changes(t, order, typesOf(order, "youth", "premium"))
	for _, ticket := range fresh.Tickets {
		if state := h.sale.Snapshot().States[ticket.Idx].Shown(); state != seats.Sold {
			t.Errorf("seat %d is %s", ticket.Idx, state)
		}
	}
	if len(fresh.Exchanges) != 1 || fresh.Exchanges[0].Code != order.Code || fresh.Exchanges[0].Event != order.Event || !fresh.Exchanges[0].Came {
		t.Errorf("the new order came of %+v", fresh.Exchanges)
	}
	if n := h.count(t, `mail WHERE kind = 'exchanged'`); n != 1 || h.count(t, `mail WHERE kind = 'cancellation'`) != 0 {
		t.Errorf("%d mails tell of the change", n)
	}
	if choices := fresh.TypeChoices(h.sale, fresh.Tickets[0]); slices.ContainsFunc(choices, func(c orders.TypeChoice) bool { return c.Key == "member" || c.Key == "youth" }) || len(choices) != 5 {
		t.Errorf("a youth ticket may become %+v", choices)
	}
	h.wantBooks(t)
}

// A ticket that becomes another type is credited at its old price, and the order of the new one has an invoice.
func TestTypes_EachChangeHasACreditNoteAndAnInvoice(t *testing.T) {
	t.Parallel()
	h := openTyped(t, events.Settings{})
	if _, err := h.db.Exec(t.Context(), `INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, vat_id, exemption)
		VALUES (first_team(), 'Theatre Ltd', 'Main Street 1', '1010', 'Vienna', 'AT', 'ATU12345675', 'Small business')`); err != nil {
		t.Fatal(err)
	}
	order := h.bought(t, 2)
	price := order.Total / 2
	fresh := h.changes(t, order, typesOf(order, "premium"))
	for code, want := range map[string]string{
		order.Code: fmt.Sprintf("[invoice %d credit %d]", order.Total, price),
		fresh.Code: fmt.Sprintf("[invoice %d]", fresh.Total),
	} {
		list, err := invoices.New(h.db, nil).Of(t.Context(), code)
		if err != nil {
			t.Fatal(err)
		}
		var has []string
		for _, d := range list {
			has = append(has, fmt.Sprint(d.Kind, " ", d.Gross))
		}
		if got := fmt.Sprint(has); got != want {
			t.Errorf("an order has %s, want %s", got, want)
		}
	}
	h.wantBooks(t)
}
