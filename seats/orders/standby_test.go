package orders_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestPlace_ARepeatIsAnsweredOnceAFailoverKeepsTheOrder(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	h := openOn(t, db, "conference", events.Settings{AsksBirth: true})
	who := seats.NewID()
	form := h.form(t, who, 1)
	code, err := h.orders.Place(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	standby.Stall(t)
	answer := make(chan error, 1)
	again := ""
	go func() {
		var err error
		again, err = h.orders.First(t.Context(), who, form)
		answer <- err
	}()
	standby.AwaitCommit(t, answer)
	standby.Follow(t)
	if err := <-answer; err != nil || again != code {
		t.Errorf("the repeat got %q, %v, want %q", again, err, code)
	}
}

func TestPay_ARepeatIsAnsweredOnceAFailoverKeepsThePayment(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	h := openOn(t, db, "conference", events.Settings{})
	who := seats.NewID()
	form := h.form(t, who, 1)
	form.Verified = "" // so the order waits for its email to be confirmed
	p, err := h.orders.Pay(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	standby.Stall(t)
	answer := make(chan error, 1)
	var again payments.Payment
	go func() {
		var err error
		again, err = h.orders.Pay(t.Context(), h.sale, who, form)
		answer <- err
	}()
	standby.AwaitCommit(t, answer)
	standby.Follow(t)
	if err := <-answer; err != nil || again.Code != p.Code {
		t.Errorf("the repeat got %q, %v, want %q", again.Code, err, p.Code)
	}
}
