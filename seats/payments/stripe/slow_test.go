package stripe_test

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

func TestStripe_DelayedMethodIsProcessingThenPaidOrDeclined(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	fake.JudgedBy(t, stripetest.Mock(t, "../../../tools/go.mod"))
	s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
	for _, arrives := range []bool{true, false} {
		c := charge(5000, "EUR")
		c.Key, c.Slow = c.Payment.String(), true
		st, err := s.Authorize(t.Context(), c)
		if err != nil || st.Stand != payments.Pending {
			t.Fatalf("begun: %+v, %v", st, err)
		}
		c.Reference, c.Key = st.Reference, c.Key+"-next"
		fake.Debits(c.Reference)
		for _, call := range []func() (payments.Standing, error){
			func() (payments.Standing, error) { return s.Lookup(t.Context(), c) },
			func() (payments.Standing, error) { return s.Void(t.Context(), c) }, // a bank cannot be called back
		} {
			if st, err := call(); err != nil || st.Stand != payments.Processing || st.Wait != 14*24*time.Hour || st.Amount != 5000 || st.Captured != 0 || st.Page != "" {
				t.Errorf("while the bank works on it: %+v, %v", st, err)
			}
		}
		fake.Settles(c.Reference, arrives)
		st, err = s.Lookup(t.Context(), c)
		switch {
		case err != nil:
			t.Error(err)
		case arrives && (st.Stand != payments.Captured || st.Captured != 5000):
			t.Errorf("it arrived: %+v", st)
		case !arrives && (st.Stand != payments.Declined || st.Reason == ""):
			t.Errorf("it bounced: %+v", st)
		}
	}
	if fake.Judged() == 0 {
		t.Error("stripe-mock judged nothing")
	}
}

func TestStripe_DelayedMethodsAreNotOfferedShortlyBeforeAnEvent(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	fake.JudgedBy(t, stripetest.Mock(t, "../../../tools/go.mod"))
	s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
	for _, slow := range []bool{true, false} {
		c := charge(5000, "EUR")
		c.Key, c.Slow = c.Payment.String(), slow
		if _, err := s.Authorize(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		all := fake.Sessions()
		if got := all[len(all)-1].Slow; got != slow {
			t.Errorf("a page offers delayed methods: %t, want %t", got, slow)
		}
	}
}
