package stripe_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

func keeping() payments.CardRequest {
	id := seats.NewID()
	return payments.CardRequest{Key: id.String(), Mandate: id, Email: "ann@example.org", What: "This card may be charged once, for €50 at most.", Back: "http://localhost/waitlist/CODE"}
}

func TestACardIsKeptChargedWithoutItsHolderAndForgotten(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", "", fake.URL)
	k := keeping()
	page, err := s.StoreCard(t.Context(), k)
	if err != nil || page.Page == "" || page.Token != "" {
		t.Fatalf("a page to give a card on: %+v, %v", page, err)
	}
	if again, err := s.StoreCard(t.Context(), k); err != nil || again != page {
		t.Errorf("the same key got %+v, %v", again, err)
	}
	if said := fake.Sessions()[0].Says; said != k.What {
		t.Errorf("who gives a card there reads %q", said)
	}
	fake.Pays(page.Reference, false)
	kept, err := s.StoredCard(t.Context(), page.Reference)
	if err != nil || kept.Token == "" || kept.Page != "" {
		t.Fatalf("a card that was given: %+v, %v", kept, err)
	}
	c := charge(5000, "EUR")
	c.Token, c.Key = kept.Token, c.Payment.String()
	st, err := s.Authorize(t.Context(), c)
	if err != nil || st.Stand != payments.Authorized || st.Amount != 5000 || st.Currency != "EUR" || st.Page != "" {
		t.Fatalf("charged: %+v, %v", st, err)
	}
	if again, err := s.Authorize(t.Context(), c); err != nil || again.Reference != st.Reference || len(fake.Sessions()) != 2 {
		t.Errorf("the same key got %+v, %v: %d charges", again, err, len(fake.Sessions())-1)
	}
	c.Reference, c.Key = st.Reference, c.Key+"-next"
	for range 2 {
		if st, err = s.Capture(t.Context(), c); err != nil || st.Stand != payments.Captured || st.Captured != 5000 {
			t.Errorf("captured: %+v, %v", st, err)
		}
	}
	c.Refund, c.Key = 2000, c.Key+"-refund"
	if st, err = s.Refund(t.Context(), c); err != nil || st.Refunded != 2000 {
		t.Errorf("refunded: %+v, %v", st, err)
	}
	for range 2 {
		if err := s.DeleteCard(t.Context(), page.Reference); err != nil {
			t.Errorf("forgotten: %v", err)
		}
	}
	if owner := fake.Sessions()[0].Customer; owner != "" {
		t.Errorf("the card of %s is kept still", owner)
	}
	c = charge(5000, "EUR")
	c.Token = kept.Token
	if st, err := s.Authorize(t.Context(), c); err != nil || st.Stand != payments.Declined {
		t.Errorf("charged after that: %+v, %v", st, err)
	}
}

func TestCharge_CardThatNeedsConfirmationIsDeclinedWithAReason(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", "", fake.URL)
	page, err := s.StoreCard(t.Context(), keeping())
	if err != nil {
		t.Fatal(err)
	}
	fake.Pays(page.Reference, false)
	kept, err := s.StoredCard(t.Context(), page.Reference)
	if err != nil {
		t.Fatal(err)
	}
	for code, says := range map[string]string{"authentication_required": "wants the holder", "card_declined": "declined the card", "expired_card": "expired"} {
		fake.Refuses(code)
		c := charge(5000, "EUR")
		c.Token, c.Key = kept.Token, code
		if st, err := s.Authorize(t.Context(), c); err != nil || st.Stand != payments.Declined || st.Reference != "" || !strings.Contains(st.Reason, says) {
			t.Errorf("%s: %+v, %v", code, st, err)
		}
	}
	fake.Down(true)
	c := charge(5000, "EUR")
	c.Token = kept.Token
	if st, err := s.Authorize(t.Context(), c); err == nil {
		t.Errorf("a Stripe that is down is no answer, and was %+v", st)
	}
}

func TestAPageOnWhichNoCardWasGivenIsClosed(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", "", fake.URL)
	page, err := s.StoreCard(t.Context(), keeping())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.DeleteCard(t.Context(), page.Reference); err != nil {
			t.Error(err)
		}
	}
	if was := fake.Sessions()[0].Status; was != "expired" {
		t.Errorf("the page is %s", was)
	}
}
