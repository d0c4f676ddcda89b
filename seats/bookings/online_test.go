package bookings_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/seatstest"
)

// account is the house's account at a stand-in for Stripe.
func (h *fixture) account(t *testing.T) (*stripetest.Fake, payments.Provider) {
	t.Helper()
	bank := stripetest.New(t)
	account := payments.Provider(stripe.New("sk_test_1", stripetest.Secret, bank.URL))
	h.orders.Payments.Accept(payments.Card, seatstest.Watched(t, h.db, account))
	return bank, account
}

// over are the bookings of another node, which reaches the provider through another one.
func (h *fixture) over(provider payments.Provider) *bookings.Bookings {
	node := *h
	node.orders = orders.New(h.db)
	node.orders.Open(h.office, "http://localhost")
	node.orders.Payments.Accept(payments.Card, provider)
	return node.node()
}

// begins begins to pay the deposit of a booking, and pays at the provider's page.
func (h *fixture) begins(t *testing.T, bank *stripetest.Fake, k bookings.Booking) bookings.Payment {
	t.Helper()
	if err := h.bookings.PayOnline(t.Context(), h.sale, k, k.Deposit.Amount); err != nil {
		t.Fatal(err)
	}
	p := h.asks(t, k.ID)
	if p.State != bookings.PaymentOpen || p.Page == "" {
		t.Fatalf("a payment that begins is %+v", p)
	}
	all := bank.Sessions()
	bank.Pays(all[len(all)-1].ID, false)
	return p
}

// asks asks the provider about the payment of a booking, and returns it.
func (h *fixture) asks(t *testing.T, booking seats.ID) bookings.Payment {
	t.Helper()
	p, err := h.bookings.LastPayment(t.Context(), booking)
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	asked, err := h.bookings.Ask(t.Context(), *p)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// works makes the calls that are due.
func (h *fixture) works(t *testing.T) {
	t.Helper()
	h.exec(t, `UPDATE deposit_payment SET next_try = clock_timestamp()`)
	seatstest.Do(t.Context(), t, h.db, h.bookings.OnlineJob())
}

// meeting lets some nodes meet before their first answer: each has read the payment as open.
type meeting struct {
	payments.Provider
	first *sync.Once
	all   *sync.WaitGroup
}

func (m meeting) Lookup(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	m.first.Do(func() { m.all.Done(); m.all.Wait() })
	return m.Provider.Lookup(ctx, c)
}

func TestPayOnline_IsTheDepositOnceWhicheverNodesLearnOfIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, account := h.account(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	p := h.begins(t, bank, k)
	var crowd, all sync.WaitGroup
	all.Add(4)
	for range 4 {
		node := h.over(meeting{account, &sync.Once{}, &all})
		crowd.Go(func() {
			if _, err := node.Ask(t.Context(), p); err != nil {
				t.Error(err)
			}
		})
	}
	crowd.Wait()
	for range 2 { // a webhook that comes twice
		if err := h.bookings.MakeDue(t.Context(), p.ID); err != nil {
			t.Error(err)
		}
		seatstest.Do(t.Context(), t, h.db, h.bookings.OnlineJob())
	}
	if k = h.find(t, k.ID); !k.Deposit.Open() || k.Deposit.Method != payments.Card {
		t.Errorf("the deposit is %+v", k.Deposit)
	}
	if n := h.count(t, "mail WHERE kind = 'option' AND about = $1", k.ID.String()); n != 2 {
		t.Errorf("%d mails, want one of the option and one of its deposit", n)
	}
	h.sound(t)
	o, err := h.orders.Find(t.Context(), h.confirm(t, k.ID))
	if err != nil || o.Paid != 1000 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	if _, deposits := h.moved(t); deposits != 1000 {
		t.Errorf("%d came as deposits", deposits)
	}
	for _, s := range bank.Sessions() {
		if s.Captured != 1000 || s.Refunded != 0 {
			t.Errorf("the provider has %+v", s)
		}
	}
	h.sound(t)
}

// noted notes a deposit by hand just before a payment is captured.
type noted struct {
	payments.Provider
	note func()
}

func (n noted) Capture(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	n.note()
	return n.Provider.Capture(ctx, c)
}

func TestPayOnline_GoesBackIfTheDepositWasPaidMeanwhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(t *testing.T, h *fixture, k bookings.Booking)
		paid bool
	}{
		{"by hand", func(t *testing.T, h *fixture, k bookings.Booking) { h.payDeposit(t, k.ID) }, true},
		{"the option was cancelled", func(t *testing.T, h *fixture, k bookings.Booking) {
			if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
				t.Error(err)
			}
		}, false},
		{"the booking was confirmed", func(t *testing.T, h *fixture, k bookings.Booking) { h.confirm(t, k.ID) }, false},
		{"the terms changed", func(t *testing.T, h *fixture, k bookings.Booking) {
			if err := h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until, Deposit: &bookings.DepositTerms{Amount: 900, Due: h.until}}); err != nil {
				t.Error(err)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			bank, account := h.account(t)
			k := h.asked(t, bookings.DepositTerms{Amount: 1000})
			p := h.begins(t, bank, k)
			if _, err := h.over(noted{account, func() { c.do(t, h, k) }}).Ask(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			h.sound(t)
			if sum, _ := h.moved(t); c.paid != (sum == 1000) || !c.paid && sum != 0 {
				t.Errorf("%d came and stayed", sum)
			}
			h.works(t)
			if last, err := h.bookings.LastPayment(t.Context(), k.ID); err != nil || last.State != bookings.PaymentRefunded {
				t.Errorf("the payment is %+v, %v", last, err)
			}
			if k = h.find(t, k.ID); k.Deposit.Paid() != c.paid {
				t.Errorf("the deposit is %+v", k.Deposit)
			}
			for _, s := range bank.Sessions() {
				if s.Captured != 1000 || s.Refunded != 1000 {
					t.Errorf("the provider has %+v", s)
				}
			}
			h.sound(t)
		})
	}
}

func TestPayOnline_IsNotTakenOnceTheDepositIsNotDue(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, _ := h.account(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	h.begins(t, bank, k)
	h.payDeposit(t, k.ID)
	if p := h.asks(t, k.ID); p.State != bookings.PaymentClosed {
		t.Errorf("the payment is %+v", p)
	}
	if s := bank.Sessions()[0]; s.Captured != 0 {
		t.Errorf("the provider has %+v", s)
	}
	refuses(t, h.bookings.PayOnline(t.Context(), h.sale, h.find(t, k.ID), 1000), "not to be paid any more")
	k = h.take(t, bookings.Request{Seats: []int{20}, Deposit: &bookings.DepositTerms{Amount: 500, Due: h.until}})
	refuses(t, h.bookings.PayOnline(t.Context(), h.sale, k, 400), "not what the page showed")
	h.begins(t, bank, k)
	for range 2 { // the form once more goes on with the payment that was begun
		if err := h.bookings.PayOnline(t.Context(), h.sale, k, 500); err != nil {
			t.Error(err)
		}
	}
	if n := len(bank.Sessions()); n != 2 {
		t.Errorf("the provider has %d payments, want 2", n)
	}
	h.sound(t)
}

// deaf loses the answer of the capture, as a node does that is killed then.
type deaf struct{ payments.Provider }

func (d deaf) Capture(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	_, err := d.Provider.Capture(ctx, c)
	return payments.Standing{}, errors.Join(errors.New("killed"), err)
}

func TestPayOnline_GoesOnAfterANodeIsKilledAndBackToTheCardOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, account := h.account(t)
	past := time.Now().Add(-time.Hour)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000, Refundable: &past})
	p := h.begins(t, bank, k)
	if p, err := h.over(deaf{account}).Ask(t.Context(), p); err != nil || p.State != bookings.PaymentOpen {
		t.Fatalf("after the node is killed the payment is %+v, %v", p, err)
	}
	if p := h.asks(t, k.ID); p.State != bookings.PaymentPaid {
		t.Fatalf("another node makes it %+v", p)
	}
	end := func(back string) error {
		return h.bookings.EndDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositEnd{Outcome: bookings.Refunded, Back: back})
	}
	refuses(t, end(payments.Card), "still has its option")
	if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
		t.Fatal(err)
	}
	refuses(t, end(payments.Demo), "was not paid by card online")
	if err := end(payments.Card); err != nil {
		t.Fatal(err)
	}
	refuses(t, end(payments.Card), "decided before")
	h.sound(t)
	for range 2 {
		h.works(t)
	}
	if s := bank.Sessions()[0]; s.Refunded != 1000 {
		t.Errorf("the provider has %+v", s)
	}
	if sum, _ := h.moved(t); sum != 0 {
		t.Errorf("%d came and stayed", sum)
	}
	h.sound(t)
}

// told returns what the alerts say about payments of deposits on their page.
func (h *fixture) told(t *testing.T) (list []string) {
	t.Helper()
	all, err := h.orders.Payments.Alerts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Kind == payments.AlertStep {
			list = append(list, a.Why)
		}
	}
	return list
}

// wantTold fails unless one alert has these words; none for empty ones.
func (h *fixture) wantTold(t *testing.T, words string) {
	t.Helper()
	if list := h.told(t); (len(list) == 1) != (words != "") || len(list) > 0 && !strings.Contains(list[0], words) {
		t.Errorf("the alerts are %q, want %q", list, words)
	}
}

// back is how the list of money of the event has what goes back.
func (h *fixture) back(t *testing.T) (state string) {
	t.Helper()
	if err := h.orders.Payments.Movements(t.Context(), h.sale.Event.ID, func(m payments.Movement) error {
		if m.Amount < 0 {
			state = m.State
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return state
}

// paidBack pays a deposit by card, and has it paid back to the card. It returns its payment, the provider's name of it, and a check of how it stands.
func (h *fixture) paidBack(t *testing.T, bank *stripetest.Fake) (bookings.Payment, string, func(what, state, movement string)) {
	t.Helper()
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	h.begins(t, bank, k)
	p := h.asks(t, k.ID)
	if err := h.bookings.Cancel(t.Context(), h.ann, key(), h.sale, k.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.bookings.EndDeposit(t.Context(), h.ann, key(), h.sale, k.ID, bookings.DepositEnd{Outcome: bookings.Refunded, Back: payments.Card}); err != nil {
		t.Fatal(err)
	}
	return p, bank.Sessions()[0].ID, func(what, state, movement string) {
		t.Helper()
		last, err := h.bookings.LastPayment(t.Context(), k.ID)
		if d := h.find(t, k.ID).Deposit; err != nil || last.State != state || h.back(t) != movement || d.GoesBack != (state == bookings.PaymentRefunding) {
			t.Errorf("%s, the payment is %+v, %v, its money is %s, the deposit %+v", what, last, err, h.back(t), d)
		}
		h.sound(t)
	}
}

func TestPayBack_IsDoneOnceTheProviderGaveAllOfIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, _ := h.account(t)
	_, session, wants := h.paidBack(t, bank)
	bank.GivesBack(session, 400) // by hand at the provider, which then refuses to give all of it back
	for range 4 {
		h.works(t)
	}
	h.wantTold(t, "")
	h.works(t)
	wants("refused", bookings.PaymentRefunding, "on its way")
	h.wantTold(t, "Tried to pay a deposit back 5 times: The card provider could not give it back: the card provider refused it.")
	bank.GivesBack(session, 600)
	h.works(t)
	wants("given back there", bookings.PaymentRefunded, "done")
	h.wantTold(t, "")
}

func TestPayBack_IsOnItsWayAgainAfterTheBankRefusedIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, _ := h.account(t)
	p, session, wants := h.paidBack(t, bank)
	tells := func() {
		t.Helper()
		if err := h.bookings.MakeDue(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
		seatstest.Do(t.Context(), t, h.db, h.bookings.OnlineJob())
	}
	h.works(t)
	wants("given back", bookings.PaymentRefunded, "done")
	tells()
	wants("looked at", bookings.PaymentRefunded, "done")
	bank.Fails(session)
	tells()
	wants("refused by the bank", bookings.PaymentRefunding, "on its way")
	for range 5 {
		h.works(t)
	}
	h.wantTold(t, "The card provider could not give it back: failed expired_or_canceled_card")
	bank.GivesBack(session, 1000)
	h.works(t)
	wants("given back anew", bookings.PaymentRefunded, "done")
	h.wantTold(t, "")
}

func TestPayOnline_TellsOfMoneyThatIsNotTheDeposit(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, _ := h.account(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	h.begins(t, bank, k)
	bank.Exchanges(bank.Sessions()[0].ID, "usd")
	h.works(t)
	h.wantTold(t, "")
	h.exec(t, `UPDATE deposit_payment SET created_at = created_at - interval '3 hours'`)
	h.works(t)
	h.wantTold(t, "Tried to take a deposit for more than two hours: the provider took 1000 USD, and not 1000 EUR")
}

func TestPayOnline_TellsOfAProviderThatIsNotSetUpAnyMore(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, _ := h.account(t)
	h.begins(t, bank, h.asked(t, bookings.DepositTerms{Amount: 1000}))
	h.orders.Payments.Accept(payments.Card, nil)
	h.exec(t, `UPDATE deposit_payment SET created_at = created_at - interval '3 hours'`)
	h.works(t)
	h.wantTold(t, payments.ErrNoProvider.Error())
}

func TestPayOnline_WorksWithoutAnEmailAddress(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, _ := h.account(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	h.exec(t, `UPDATE booking SET email = ''`)
	h.begins(t, bank, k)
	if p := h.asks(t, k.ID); p.State != bookings.PaymentPaid {
		t.Errorf("the payment is %+v", p)
	}
}

func TestPayOnline_EndsAPaymentOfAnotherAmountAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	bank, _ := h.account(t)
	k := h.asked(t, bookings.DepositTerms{Amount: 1000})
	if err := h.bookings.PayOnline(t.Context(), h.sale, k, 1000); err != nil {
		t.Fatal(err)
	}
	if n := h.count(t, `deposit_payment WHERE next_try >= created_at + interval '4 seconds'`); n != 1 {
		t.Error("the job calls the provider while the page does")
	}
	for range 3 {
		h.asks(t, k.ID)
	}
	if n := h.count(t, `deposit_payment WHERE tries = 0 AND reference <> ''`); n != 1 {
		t.Error("looks of the page are counted as tries")
	}
	if err := h.bookings.Change(t.Context(), h.ann, key(), h.sale, k.ID, bookings.Request{Contact: k.Contact, Until: h.until, Deposit: &bookings.DepositTerms{Amount: 900, Due: h.until}}); err != nil {
		t.Fatal(err)
	}
	k = h.find(t, k.ID)
	refuses(t, h.bookings.PayOnline(t.Context(), h.sale, k, 900), "just being ended")
	seatstest.Do(t.Context(), t, h.db, h.bookings.OnlineJob())
	if err := h.bookings.PayOnline(t.Context(), h.sale, k, 900); err != nil {
		t.Error(err)
	}
	if p := h.asks(t, k.ID); p.Amount != 900 || p.Page == "" {
		t.Errorf("the payment is %+v", p)
	}
	if s := bank.Sessions(); len(s) != 2 || s[0].Status != "expired" {
		t.Errorf("the provider has %+v", s)
	}
}
