package bookings_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

// asked takes an option of the seats 10, 11 and 12 with a deposit.
func (h *fixture) asked(t *testing.T, terms bookings.DepositTerms) bookings.Booking {
	t.Helper()
	if terms.Due.IsZero() {
		terms.Due = h.until.AddDate(0, 0, -7)
	}
	return h.take(t, bookings.Request{Seats: []int{10, 11, 12}, Deposit: &terms})
}

func (h *fixture) payDeposit(t *testing.T, id seats.ID) {
	t.Helper()
	if err := h.bookings.PayDeposit(t.Context(), h.ann, key(), h.sale, id, bookings.DepositPayment{Method: payments.Invoice}); err != nil {
		t.Fatal(err)
	}
}

// moved is what the list of money of the event comes to.
func (h *fixture) moved(t *testing.T) (sum, deposits int64) {
	t.Helper()
	if err := h.orders.Payments.Movements(t.Context(), h.sale.Event.ID, func(m payments.Movement) error {
		sum += m.Amount
		if m.Kind == "deposit" {
			deposits += m.Amount
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return sum, deposits
}

// refuses fails unless an error is a refusal with these words.
func refuses(t *testing.T, err error, words string) {
	t.Helper()
	var refused *seats.Conflict
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, want %q", err, words)
	}
}

func TestDeposit_IsTakenOffItsOrder(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.asked(t, bookings.DepositTerms{Percent: 20_00})
	_, cost, err := k.Quote(h.sale)
	if err != nil || k.Deposit == nil || k.Deposit.Amount != (cost.Total+2)/5 || k.Deposit.Paid() {
		t.Fatalf("the deposit is %+v of %d, %v", k.Deposit, cost.Total, err)
	}
	other := k.Deposit.Amount + 1
	refuses(t, h.bookings.PayDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositPayment{Method: payments.Cash, Shown: &other}), "not what the page showed")
	again := key()
	for range 2 {
		if err := h.bookings.PayDeposit(t.Context(), h.ann, again, h.sale, k.ID, bookings.DepositPayment{Method: payments.Invoice, Shown: &k.Deposit.Amount}); err != nil {
			t.Fatal(err)
		}
	}
	refuses(t, h.bookings.PayDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositPayment{Method: payments.Cash}), "noted as paid before")
	if n := h.count(t, "mail WHERE kind = 'option' AND about = $1", k.ID.String()); n != 2 {
		t.Errorf("%d mails, want one of the option and one of its deposit", n)
	}
	h.sound(t)
	o, err := h.orders.Find(t.Context(), h.confirm(t, k.ID))
	if err != nil || o.Paid != k.Deposit.Amount || o.Due() != cost.Total-k.Deposit.Amount || o.DueAt == nil || o.Back != 0 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	if k = h.find(t, k.ID); k.Deposit.Outcome != bookings.InOrder || k.Due != o.Due() {
		t.Errorf("the booking is %+v, its deposit %+v", k, k.Deposit)
	}
	refuses(t, h.bookings.EndDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositEnd{Outcome: bookings.Retained}), "decided before")
	h.sound(t)
	if amount, _, err := h.orders.MarkPaid(t.Context(), k.Order, nil); err != nil || amount != cost.Total-k.Deposit.Amount {
		t.Errorf("the rest is %d, %v", amount, err)
	}
	if sum, deposits := h.moved(t); sum != cost.Total || deposits != k.Deposit.Amount {
		t.Errorf("%d came, %d of it as deposits", sum, deposits)
	}
	h.sound(t)
}

func TestDeposit_BeyondThePriceIsPaidOutByHand(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.asked(t, bookings.DepositTerms{Percent: 100_00})
	h.payDeposit(t, k.ID)
	if err := h.bookings.Reduce(t.Context(), h.ann, key(), h.sale, k.ID, []int{12}, 0); err != nil {
		t.Fatal(err)
	}
	o, err := h.orders.Find(t.Context(), h.confirm(t, k.ID))
	if err != nil || o.Due() != 0 || o.Paid != o.Total || o.DueAt != nil || o.ByHand != k.Deposit.Amount-o.Total {
		t.Errorf("the order is %+v, %v", o, err)
	}
	h.sound(t)
	k = h.asked20(t)
	if err := h.bookings.Reduce(t.Context(), h.ann, key(), h.sale, k.ID, []int{21, 22}, 0); err != nil {
		t.Fatal(err)
	}
	k = h.find(t, k.ID)
	if _, cost, err := k.Quote(h.sale); err != nil || k.Deposit.Amount != cost.Total {
		t.Errorf("the group is asked for %d of %d, %v", k.Deposit.Amount, cost.Total, err)
	}
	free := int64(0)
	h.payDeposit(t, k.ID)
	if err := h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until, Prices: []bookings.Price{{Type: h.sale.Prices.Types[0].Key, Each: &free}}}); err != nil {
		t.Fatal(err)
	}
	_, err = h.bookings.Confirm(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Confirming{Due: h.until})
	refuses(t, err, "cost nothing now")
}

func TestDeposit_OfAnOverdueOrderIsRetainedOnceItIsNotRefundable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		refundable *time.Time
		kept       int64
	}{
		{"the team may keep it", nil, 1000},
		{"refundable before", new(time.Now().Add(-24 * time.Hour)), 1000},
		{"refundable still", new(time.Now().Add(24 * time.Hour)), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			k := h.asked(t, bookings.DepositTerms{Amount: 1000, Refundable: c.refundable})
			h.payDeposit(t, k.ID)
			code := h.confirm(t, k.ID)
			h.exec(t, `UPDATE orders SET due_at = clock_timestamp() - interval '1 second'`)
			seatstest.Run(t, h.db, h.orders.Jobs()...)
			var o orders.Order
			for until := time.Now().Add(20 * time.Second); o.State != orders.Cancelled || o.DueAt != nil; {
				var err error
				if o, err = h.orders.Find(t.Context(), code); err != nil || time.Now().After(until) {
					t.Fatalf("the order is %s, %v", o.State, err)
				}
				time.Sleep(10 * time.Millisecond)
			}
			if o.Paid != c.kept || o.Kept != c.kept || o.ByHand != 1000-c.kept {
				t.Errorf("%d of the deposit stays, %d goes back by hand, want %d", o.Paid, o.ByHand, c.kept)
			}
			h.sound(t)
		})
	}
}

// asked20 takes an option of the seats 20, 21 and 22 with all of their price as the deposit.
func (h *fixture) asked20(t *testing.T) bookings.Booking {
	t.Helper()
	return h.take(t, bookings.Request{Seats: []int{20, 21, 22}, Deposit: &bookings.DepositTerms{Percent: 100_00, Due: h.until}})
}

func TestDeposit_IsPaidBackOrRetainedByItsRule(t *testing.T) {
	t.Parallel()
	h := open(t)
	past, future := time.Now().Add(-time.Hour), h.until
	end := func(id seats.ID, outcome, back string) error {
		return h.bookings.EndDeposit(t.Context(), h.ann, key(), h.sale, id, bookings.DepositEnd{Outcome: outcome, Back: back})
	}
	k := h.asked(t, bookings.DepositTerms{Amount: 1000, Refundable: &future})
	refuses(t, end(k.ID, bookings.Refunded, payments.Cash), "No deposit of this group came")
	h.payDeposit(t, k.ID)
	refuses(t, end(k.ID, bookings.Refunded, payments.Cash), "still has its option")
	if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
		t.Fatal(err)
	}
	refuses(t, end(k.ID, bookings.Retained, ""), "refundable when the booking ended")
	var invalid *seats.ValidationError
	if err := end(k.ID, bookings.Refunded, payments.Terminal); !errors.As(err, &invalid) {
		t.Errorf("paid back to a card: %v", err)
	}
	if err := end(k.ID, bookings.Refunded, payments.Cash); err != nil {
		t.Fatal(err)
	}
	refuses(t, end(k.ID, bookings.Refunded, payments.Cash), "decided before")
	h.sound(t)

	k = h.asked(t, bookings.DepositTerms{Amount: 1000, Refundable: &past})
	h.payDeposit(t, k.ID)
	h.exec(t, `UPDATE block SET ends_at = clock_timestamp() WHERE ended_at IS NULL`)
	if err := end(k.ID, bookings.Retained, ""); err != nil {
		t.Fatal(err)
	}
	if k = h.find(t, k.ID); k.Deposit.Outcome != bookings.Retained || k.Deposit.EndedAt == nil {
		t.Errorf("the deposit is %+v", k.Deposit)
	}
	if _, err := h.office.EndBlock(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	h.sound(t)

	k = h.asked(t, bookings.DepositTerms{Amount: 1000}) // it comes after the option ended
	if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
		t.Fatal(err)
	}
	h.payDeposit(t, k.ID)
	refuses(t, end(k.ID, bookings.Retained, ""), "refundable when the booking ended")
	if err := end(k.ID, bookings.Refunded, payments.Invoice); err != nil {
		t.Fatal(err)
	}
	if sum, deposits := h.moved(t); sum != 1000 || deposits != 1000 {
		t.Errorf("%d came and stayed, %d of it as deposits", sum, deposits)
	}
	h.sound(t)
}

func TestDeposit_OfAnEventThatWasCancelledIsNotRetained(t *testing.T) {
	t.Parallel()
	h := open(t)
	lasts := h.asked20(t)
	h.payDeposit(t, lasts.ID)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	h.payDeposit(t, k.ID)
	if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE event SET status = 'cancelled'`)
	cancelled := *h.sale // as another node reads it
	cancelled.Event.Status = seats.Cancelled
	for _, id := range []seats.ID{k.ID, lasts.ID} {
		if list := h.owed(t); !slices.Contains(list, id.String()) {
			t.Errorf("what is owed are %v", list)
		}
		refuses(t, h.bookings.EndDeposit(t.Context(), h.ann, key(), &cancelled, id, bookings.DepositEnd{Outcome: bookings.Retained}), "Pay it back")
		if err := h.bookings.EndDeposit(t.Context(), h.ann, key(), &cancelled, id, bookings.DepositEnd{Outcome: bookings.Refunded, Back: payments.Cash}); err != nil {
			t.Error(err)
		}
	}
	if list := h.owed(t); len(list) != 0 {
		t.Errorf("paid back, what is owed are %v", list)
	}
	h.sound(t)
}

// owed are the bookings with a deposit that is an alert.
func (h *fixture) owed(t *testing.T) (list []string) {
	t.Helper()
	all, err := h.orders.Payments.Alerts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Kind == payments.AlertDeposit {
			list = append(list, strings.TrimPrefix(a.Key, "deposit:"))
		}
	}
	return list
}

// A node of an earlier version confirms a booking and leaves its deposit.
func TestDeposit_LeftByAnEarlierVersionIsPaidBack(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	code := h.confirm(t, k.ID)
	h.exec(t, `UPDATE deposit SET paid_at = clock_timestamp() - interval '1 hour', method = 'cash', rates = '[{"rate": 0, "amount": 1000, "tax": 0}]'`)
	if k = h.find(t, k.ID); !k.Owed(h.sale.Event) || !slices.Contains(h.owed(t), k.ID.String()) {
		t.Errorf("the booking is %+v, its deposit %+v", k, k.Deposit)
	}
	refuses(t, h.bookings.EndDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositEnd{Outcome: bookings.Retained}), "confirmed without this deposit")
	if err := h.bookings.EndDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositEnd{Outcome: bookings.Refunded, Back: payments.Cash}); err != nil {
		t.Fatal(err)
	}
	if o, err := h.orders.Find(t.Context(), code); err != nil || o.Paid != 0 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	h.sound(t)
}

func TestDeposit_StandsAsItWasShownOnceItIsPaid(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	change := func(terms *bookings.DepositTerms) error {
		return h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until, Deposit: terms, Withdraw: terms == nil})
	}
	link := k.Deposit.Code
	for i, terms := range []*bookings.DepositTerms{{Amount: 2000, Due: h.until}, {Amount: 2000, Due: h.until}, {Amount: 2000, Due: h.until, Refundable: &h.until}} {
		if err := change(terms); err != nil {
			t.Fatal(err)
		}
		if n := h.count(t, "mail WHERE kind = 'option'"); n != []int{2, 2, 3}[i] {
			t.Errorf("%d mails after %+v", n, terms)
		}
	}
	if k = h.find(t, k.ID); k.Deposit.Amount != 2000 || k.Deposit.Code != link || k.Deposit.Refundable == nil {
		t.Errorf("the deposit is %+v", k.Deposit)
	}
	var invalid *seats.ValidationError
	for what, terms := range map[string]bookings.DepositTerms{
		"more than the seats cost": {Amount: 1 << 30, Due: h.until}, "nothing": {Due: h.until}, "after the option": {Amount: 1, Due: h.until.Add(time.Hour)}, "no date": {Amount: 1},
		"refundable after the event": {Amount: 1, Due: h.until, Refundable: new(h.sale.Event.StartsAt.Add(time.Hour))},
	} {
		if err := change(&terms); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until}); err != nil || h.find(t, k.ID).Deposit.Amount != 2000 {
		t.Errorf("left as it is: %v", err)
	}
	if err := h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until.AddDate(0, 0, -20)}); !errors.As(err, &invalid) {
		t.Errorf("the option ends before its deposit is due: %v", err)
	}
	before := h.count(t, "mail WHERE kind = 'option'")
	if err := change(nil); err != nil || h.find(t, k.ID).Deposit != nil {
		t.Errorf("withdrawn: %v", err)
	}
	if n := h.count(t, "mail WHERE kind = 'option'"); n != before+1 {
		t.Errorf("%d mails after %d, though the deposit was withdrawn", n, before)
	}
	refuses(t, h.bookings.PayDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositPayment{Method: payments.Cash}), "not asked for a deposit")
	if _, found, err := h.bookings.ByDeposit(t.Context(), link); err != nil || !found.Deposit.Withdrawn {
		t.Errorf("the link of a deposit that was withdrawn: %+v, %v", found.Deposit, err)
	}
	if err := change(&bookings.DepositTerms{Amount: 1000, Due: h.until}); err != nil {
		t.Fatal(err)
	}
	h.payDeposit(t, k.ID)
	refuses(t, change(&bookings.DepositTerms{Amount: 1000, Due: h.until, Refundable: &h.until}), "stay as they are")
	for _, terms := range []*bookings.DepositTerms{nil, {Amount: 1000, Due: h.until}} {
		if err := change(terms); err != nil || !h.find(t, k.ID).Deposit.Paid() {
			t.Errorf("the rest of the booking does not change: %v", err)
		}
	}
	for _, sql := range []string{`UPDATE deposit SET amount = 1`, `DELETE FROM deposit`, `UPDATE deposit SET refundable_until = '2040-01-01'`} {
		if _, err := h.db.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "never changed") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Payment, confirmation and cancellation of many bookings at once: what was paid is in one place.
func TestDeposit_IsInOnePlaceHoweverItIsRaced(t *testing.T) {
	t.Parallel()
	h := open(t)
	other := h.node()
	for i := range 6 {
		first := 100 + 10*i
		k := h.take(t, bookings.Request{Seats: []int{first, first + 1}, Deposit: &bookings.DepositTerms{Amount: 500, Due: h.until}})
		var all sync.WaitGroup
		for j, node := range []*bookings.Bookings{h.bookings, other, h.bookings, other} {
			all.Go(func() {
				ctx, err := context.Background(), error(nil)
				switch j {
				case 0, 1:
					err = node.PayDeposit(ctx, h.ann, key(), h.sale, k.ID, bookings.DepositPayment{Method: payments.Cash})
				case 2:
					_, err = node.Confirm(ctx, h.ann, key(), h.sale, k.ID, bookings.Confirming{Due: h.until})
				case 3:
					err = node.Cancel(ctx, h.ann, key(), h.sale, k.ID)
				}
				var refused *seats.Conflict
				if err != nil && !errors.As(err, &refused) {
					t.Errorf("%d: %v", j, err)
				}
			})
		}
		all.Wait()
	}
	h.sound(t)
}

// The tax of a deposit follows the price of the option.
func TestDeposit_OfAnOptionWithoutAPriceIsNotNoted(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	h.exec(t, `UPDATE booking SET prices = '[{"type": "none", "count": 1}]'`)
	pay := func() error {
		return h.bookings.PayDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositPayment{Method: payments.Cash})
	}
	refuses(t, pay(), "Change its prices first")
	if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
		t.Fatal(err)
	}
	if err := pay(); err != nil { // it is to be paid back
		t.Error(err)
	}
	h.sound(t)
}

func TestDeposit_IsFoundByItsLink(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	event, found, err := h.bookings.ByDeposit(t.Context(), k.Deposit.Code)
	if err != nil || event != "evening" || found.ID != k.ID || found.Deposit.Amount != 1000 {
		t.Errorf("%s %+v, %v", event, found, err)
	}
	if _, _, err := h.bookings.ByDeposit(t.Context(), "none"); !errors.Is(err, bookings.ErrNone) {
		t.Errorf("a link of none: %v", err)
	}
	test := *h.sale
	test.Event.TestOf = 1
	var invalid *seats.ValidationError
	if _, err := h.bookings.Take(t.Context(), h.ann, key(), &test, bookings.Request{Contact: k.Contact, Seats: []int{50}, Until: h.until, Deposit: &bookings.DepositTerms{Amount: 1, Due: h.until}}); !errors.As(err, &invalid) {
		t.Errorf("a test sale asks for a deposit: %v", err)
	}
}

func TestDeposit_RemindsItsContactOnceBeforeItIsDue(t *testing.T) {
	t.Parallel()
	h := open(t)
	reminders := func(k bookings.Booking) int {
		t.Helper()
		for range 2 {
			seatstest.Do(t.Context(), t, h.db, h.bookings.Job())
		}
		return h.count(t, "mail WHERE kind = 'option' AND email <> '' AND about = $1", k.ID.String()) - 1 // one is of the option
	}
	soon := `UPDATE deposit SET remind_at = clock_timestamp() WHERE remind_at IS NOT NULL`

	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	if n := reminders(k); n != 0 || k.Deposit.Reminded {
		t.Errorf("%d reminders before their time", n)
	}
	h.exec(t, soon)
	if n := reminders(k); n != 1 || !h.find(t, k.ID).Deposit.Reminded {
		t.Errorf("%d reminders of a deposit that is due soon", n)
	}

	// Other terms have a reminder of their own, beside the email that says them.
	later := bookings.DepositTerms{Amount: 900, Due: h.until.AddDate(0, 0, -6)}
	if err := h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until, Deposit: &later}); err != nil {
		t.Fatal(err)
	}
	if n := reminders(k); n != 2 || h.find(t, k.ID).Deposit.Reminded {
		t.Errorf("%d emails after other terms", n)
	}
	h.exec(t, soon)
	if n := reminders(k); n != 3 {
		t.Errorf("%d emails, want a reminder of the other terms", n)
	}
	h.payDeposit(t, k.ID)

	for name, ends := range map[string]func(t *testing.T, k bookings.Booking){
		"paid": func(t *testing.T, k bookings.Booking) { h.payDeposit(t, k.ID) },
		"withdrawn": func(t *testing.T, k bookings.Booking) {
			if err := h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until, Withdraw: true}); err != nil {
				t.Fatal(err)
			}
		},
		"overdue": func(t *testing.T, k bookings.Booking) {
			h.exec(t, `UPDATE deposit SET due_at = clock_timestamp() WHERE paid_at IS NULL`)
		},
		"cancelled": func(t *testing.T, k bookings.Booking) {
			if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
				t.Fatal(err)
			}
		},
	} {
		k := h.take(t, bookings.Request{Seats: []int{20}, Deposit: &bookings.DepositTerms{Amount: 100, Due: h.until.AddDate(0, 0, -7)}})
		ends(t, k)
		before := h.count(t, "mail WHERE about = $1", k.ID.String())
		h.exec(t, soon)
		reminders(k)
		if n := h.count(t, "mail WHERE about = $1", k.ID.String()); n != before {
			t.Errorf("%s: %d reminders", name, n-before)
		}
		if name != "cancelled" {
			if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestDeposit_DueAtOnceHasNoReminder(t *testing.T) {
	t.Parallel()
	h := open(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000, Due: time.Now().Add(48 * time.Hour)})
	if n := h.count(t, "deposit WHERE booking_id = $1 AND remind_at IS NOT NULL", k.ID); n != 0 {
		t.Error("a deposit that is due in two days has a reminder")
	}
}
