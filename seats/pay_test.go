package seats_test

import (
	"errors"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// pays begins a payment for a visitor's whole hold.
func (b *bench) pays(t *testing.T, who seats.ID, h seats.Hold) seats.Hold {
	t.Helper()
	h, err := b.sale.Pay(t.Context(), seats.Purchase{Holder: who, Order: seats.NewID(), Hold: h.ID, Seats: h.Seats})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAPaymentKeepsItsSeatsForATimeOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{HoldLength: time.Minute, PaymentLength: time.Hour}, hall(1, 1))
	who := seats.NewID()
	held := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}})
	paying := b.pays(t, who, held)
	if left := paying.ExpiresAt.Sub(paying.Now); left < 59*time.Minute || paying.ExtensionsLeft != held.ExtensionsLeft-1 {
		t.Errorf("%s and %d extensions are left, want an hour and one less than %d", left, paying.ExtensionsLeft, held.ExtensionsLeft)
	}
	_, err := b.sale.Release(t.Context(), who, 0)
	wantRefusal(t, err, seats.CodePaying)
	if h, err := b.sale.Release(t.Context(), who); err != nil || len(h.Seats) != 2 {
		t.Errorf("letting go of everything left %+v, %v; want what is being paid for", h, err)
	}
	_, err = b.sale.Sell(t.Context(), seats.Purchase{Holder: who, Order: seats.NewID(), Hold: held.ID, Seats: held.Seats})
	wantRefusal(t, err, seats.CodePaying)
	_, err = b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	wantRefusal(t, err, seats.CodeTaken)
	b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/3"}})
	wantBooks(t, b)
	if _, err = b.sale.Sell(t.Context(), seats.Purchase{Holder: who, Order: seats.NewID(), Seats: held.Seats, Late: true}); err != nil {
		t.Fatal(err)
	}
	if h, err := b.sale.Hold(t.Context(), who); err != nil || len(h.Seats) != 1 || h.Seats[0] != 2 {
		t.Errorf("after the sale of two, the hold is %+v, %v; want the third seat", h, err)
	}
	wantBooks(t, b)
}

func TestAPaymentThatStopsLeavesAHold(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	who := seats.NewID()
	held := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	b.pays(t, who, held)
	if err := b.sale.StopPaying(t.Context(), who, held.Seats); err != nil {
		t.Fatal(err)
	}
	wantBooks(t, b)
	if h, err := b.sale.Release(t.Context(), who); err != nil || len(h.Seats) != 0 {
		t.Errorf("letting go left %+v, %v", h, err)
	}
}

// expiredWhilePaying is a visitor with an expired time for paying.
func expiredWhilePaying(t *testing.T, e events.Settings) (*bench, seats.ID, seats.Purchase) {
	e.HoldLength, e.PaymentLength = 3*time.Second, time.Second
	b := newBench(t, e, hall(1, 1))
	who := seats.NewID()
	moved := changes(b)
	held := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}})
	b.pays(t, who, held)
	for b.sale.Snapshot().States[0] != seats.Free {
		<-moved
	}
	wantBooks(t, b)
	return b, who, seats.Purchase{Holder: who, Order: seats.NewID(), Seats: held.Seats, Late: true}
}

func TestSell_SeatsThatExpiredInPaymentAreSoldIfAvailable(t *testing.T) {
	t.Parallel()
	for name, strict := range map[string]bool{"lapsed": false, "free again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, deal := expiredWhilePaying(t, events.Settings{Strict: strict})
			if _, err := b.sale.Sell(t.Context(), deal); err != nil {
				t.Error(err)
			}
			again := deal
			again.Order = seats.NewID()
			_, err := b.sale.Sell(t.Context(), again)
			wantRefusal(t, err, seats.CodeTaken)
			wantBooks(t, b)
		})
	}
}

func TestPay_ExpiredSeatsOfOthersStayTheirs(t *testing.T) {
	t.Parallel()
	b, _, deal := expiredWhilePaying(t, events.Settings{})
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/2"}})
	_, err := b.sale.Sell(t.Context(), deal)
	r := wantRefusal(t, err, seats.CodeTaken)
	if len(r.Seats) != 1 || r.Seats[0] != 1 || len(r.Nearest) != 1 || r.Nearest[0] == 1 {
		t.Errorf("refused for %v, nearest %v; want the one seat that was taken and a free one near it", r.Seats, r.Nearest)
	}
	if sold := b.sale.Snapshot().Counts.Sold[0]; sold != 0 {
		t.Errorf("%d seats were sold, want none: all or nothing", sold)
	}
	wantBooks(t, b)
}

func TestPay_RepeatedPaymentsDoNotExtendAHold(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{Extensions: 2}, hall(1, 1))
	who := seats.NewID()
	h := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	for range 2 {
		h = b.pays(t, who, h)
	}
	if last := b.pays(t, who, h); !last.ExpiresAt.Equal(h.ExpiresAt) {
		t.Errorf("a third payment moved the end from %s to %s", h.ExpiresAt, last.ExpiresAt)
	}
	if _, err := b.sale.Pay(t.Context(), seats.Purchase{Holder: seats.NewID(), Order: seats.NewID()}); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("a visitor without a hold got %v", err)
	}
	wantBooks(t, b)
}
