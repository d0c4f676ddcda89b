package stripe_test

import (
	"testing"

	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

// atReader is a charge at a card reader.
func atReader(key, reader string) payments.Charge {
	c := charge(5000, "EUR")
	c.Key, c.Reader, c.Email = key, reader, ""
	return c
}

func TestReader_ChargesOnceHoweverOftenItIsAsked(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
	c := atReader("a", fake.AddReader("Front desk"))
	for range 2 { // the first answer is lost
		st, err := s.Authorize(t.Context(), c)
		if err != nil || st.Stand != payments.Pending || st.Reference == "" || st.Amount != 5000 {
			t.Fatalf("it is %+v, %v", st, err)
		}
		c.Reference = st.Reference
	}
	fake.Presents(c.Reader, "4242424242424242")
	c.Reference = ""
	st, err := s.Authorize(t.Context(), c) // all answers were lost
	if err != nil || st.Stand != payments.Captured || st.Captured != 5000 || len(fake.Sessions()) != 1 {
		t.Errorf("it is %+v, %v, of %d intents", st, err, len(fake.Sessions()))
	}
	c.Reference = st.Reference
	if st, err = s.Void(t.Context(), c); err != nil || st.Stand != payments.Captured {
		t.Errorf("too late to void, it is %+v, %v", st, err)
	}
	c.Key, c.Refund = "r", 2000
	for range 2 {
		if st, err = s.Refund(t.Context(), c); err != nil || st.Refunded != 2000 {
			t.Errorf("it gave %+v back, %v", st, err)
		}
	}
}

func TestReader_OfAnotherPaymentIsLeftAlone(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
	reader := fake.AddReader("Front desk")
	first, second := atReader("a", reader), atReader("b", reader)
	st, err := s.Authorize(t.Context(), first)
	if err != nil || st.Stand != payments.Pending {
		t.Fatalf("it is %+v, %v", st, err)
	}
	first.Reference = st.Reference
	if st, err = s.Authorize(t.Context(), second); err != nil || st.Stand != payments.Declined || st.Reason != "the card reader is busy." {
		t.Errorf("the second is %+v, %v", st, err)
	}
	if all := fake.Sessions(); all[1].Intent != "canceled" || fake.Shows(reader) != 5000 {
		t.Errorf("the second intent is %s, and the reader shows %d", all[1].Intent, fake.Shows(reader))
	}
	for range 2 {
		if st, err = s.Void(t.Context(), first); err != nil || st.Stand != payments.Voided {
			t.Errorf("cancelled, the first is %+v, %v", st, err)
		}
	}
	if fake.Shows(reader) != 0 || fake.Presents(reader, "4242424242424242") {
		t.Error("the reader still takes a card")
	}
}

func TestReader_ThatReadsACardIsNotCancelled(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
	c := atReader("a", fake.AddReader("Front desk"))
	st, err := s.Authorize(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Reference = st.Reference
	fake.Inserts(c.Reader)
	if st, err = s.Void(t.Context(), c); err != nil || st.Stand != payments.Pending {
		t.Errorf("it is %+v, %v; want it under way", st, err)
	}
	fake.Presents(c.Reader, "4242424242424242")
	if st, err = s.Void(t.Context(), c); err != nil || st.Stand != payments.Captured {
		t.Errorf("it is %+v, %v; want it captured", st, err)
	}
}

// Stripe repeats an error of its own for the key of a call for a day.
func TestReader_AnErrorThatStripeRepeatsBlocksNoReader(t *testing.T) {
	t.Parallel()
	for _, shown := range []bool{false, true} {
		fake := stripetest.New(t)
		s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
		c := atReader("a", fake.AddReader("Front desk"))
		fake.Breaks("/process_payment_intent", shown)
		st, err := s.Authorize(t.Context(), c)
		if err != nil || st.Stand != payments.Pending || st.Reference == "" || st.Amount != 5000 || st.Currency != "EUR" {
			t.Fatalf("shown %t: it is %+v, %v", shown, st, err)
		}
		if again, err := s.Authorize(t.Context(), c); err != nil || again.Stand != payments.Pending || again.Reference != st.Reference {
			t.Errorf("shown %t: a repeat is %+v, %v", shown, again, err)
		}
		c.Reference = st.Reference
		want := payments.Declined
		if shown {
			want = payments.Captured
			fake.Presents(c.Reader, "4242424242424242")
		}
		if st, err = s.Lookup(t.Context(), c); err != nil || st.Stand != want {
			t.Errorf("shown %t: it is %+v, %v; want it %s", shown, st, err, want)
		}
		if left := fake.Shows(c.Reader); left != 0 {
			t.Errorf("shown %t: the reader shows %d", shown, left)
		}
	}
}

func TestReader_ThatIsOfflineChargesNothingOfACancelledSale(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
	c := atReader("a", fake.AddReader("Front desk"))
	st, err := s.Authorize(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Reference = st.Reference
	fake.Unplugs(c.Reader)
	if st, err = s.Void(t.Context(), c); err != nil || st.Stand != payments.Voided || fake.Sessions()[0].Intent != "canceled" {
		t.Errorf("it is %+v, %v, and the intent %s", st, err, fake.Sessions()[0].Intent)
	}
}

func TestReader_IsNotLitByASaleThatIsCancelled(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
	c := atReader("a", fake.AddReader("Front desk"))
	for range 2 {
		if st, err := s.Void(t.Context(), c); err != nil || st.Stand != payments.Voided || st.Reference == "" {
			t.Errorf("it is %+v, %v", st, err)
		}
	}
	if n := fake.Lit(c.Reader); n != 0 || len(fake.Sessions()) != 1 {
		t.Errorf("the reader showed it %d times, of %d intents", n, len(fake.Sessions()))
	}

	// The reader shows it, and the answer is lost.
	c.Key = "b"
	if _, err := s.Authorize(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Void(t.Context(), c); err != nil || st.Stand != payments.Voided || fake.Shows(c.Reader) != 0 {
		t.Errorf("it is %+v, %v, and the reader shows %d", st, err, fake.Shows(c.Reader))
	}
}
