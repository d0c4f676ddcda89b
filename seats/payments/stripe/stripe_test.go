package stripe_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

func charge(amount int64, currency string) payments.Charge {
	return payments.Charge{
		Key: "key", Payment: seats.NewID(), Amount: amount, Currency: currency, Name: "Ann", Email: "ann@example.org", What: "The Seagull, 2 tickets",
		Back: "http://localhost/payments/CODE",
	}
}

func TestRequestsAreAsStripeDescribesThem(t *testing.T) {
	t.Parallel()
	real, err := url.Parse(stripetest.Mock(t, "../../../tools/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var asked sync.Map // method and path of each request
	proxy := httputil.NewSingleHostReverseProxy(real)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method+" "+r.URL.Path, true)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	at := server.URL
	s := stripe.New("sk_test_123", stripetest.Secret, at)
	c := charge(5000, "EUR")
	st, err := s.Authorize(t.Context(), c)
	if err != nil || st.Reference == "" || st.Stand == payments.Declined {
		t.Fatalf("a page to pay on: %+v, %v", st, err)
	}
	c.Reference, c.Refund = st.Reference, 100
	for name, call := range map[string]func(context.Context, payments.Charge) (payments.Standing, error){"lookup": s.Lookup, "capture": s.Capture, "void": s.Void, "refund": s.Refund} {
		if _, err := call(t.Context(), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	k := keeping()
	page, err := s.StoreCard(t.Context(), k)
	if err != nil {
		t.Errorf("keep: %v", err)
	}
	if _, err := s.StoredCard(t.Context(), page.Reference); err != nil {
		t.Errorf("kept: %v", err)
	}
	if err := s.DeleteCard(t.Context(), page.Reference); err != nil {
		t.Errorf("forget: %v", err)
	}
	alone := charge(5000, "EUR")
	alone.Token = "cus_1/pm_1"
	if _, err := s.Authorize(t.Context(), alone); err != nil {
		t.Errorf("charge a card that is kept: %v", err)
	}
	if list, err := s.Readers(t.Context(), 0); err != nil || len(list) == 0 {
		t.Errorf("readers: %+v, %v", list, err)
	}
	reader := charge(5000, "EUR")
	reader.Reader = "tmr_1"
	if st, err = s.Authorize(t.Context(), reader); err != nil {
		t.Errorf("hand a payment over to a reader: %v", err)
	}
	reader.Reference = st.Reference
	if _, err := s.Void(t.Context(), reader); err != nil {
		t.Errorf("cancel it there: %v", err)
	}
	for p, err := range s.Payouts(t.Context(), time.Unix(1e9, 0)) {
		if err != nil || p.ID == "" {
			t.Errorf("payouts: %+v, %v", p, err)
		}
		break // stripe-mock has more pages of the same without end
	}
	for l, err := range s.Lines(t.Context(), "po_1") {
		if err != nil || l.ID == "" {
			t.Errorf("lines: %+v, %v", l, err)
		}
		break
	}
	for _, want := range []string{"GET /v1/payouts", "GET /v1/balance_transactions", "GET /v1/refunds", "POST /v1/refunds", "POST /v1/payment_intents", "GET /v1/terminal/readers", "POST /v1/terminal/readers/tmr_1/process_payment_intent", "GET /v1/terminal/readers/tmr_1"} {
		if _, was := asked.Load(want); !was {
			t.Errorf("%s was not asked for", want)
		}
	}
	wrong, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/v1/checkout/sessions", strings.NewReader("mode=barter"))
	if err != nil {
		t.Fatal(err)
	}
	wrong.Header.Set("Authorization", "Bearer sk_test_123")
	wrong.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(wrong)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close() // only its status counts
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a mode that is none got %d: stripe-mock checks nothing", answer.StatusCode)
	}
}

func TestAPaymentOnTheHostedPageIsCapturedOnceOrVoidedOrRefunded(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", stripetest.Secret, fake.URL)
	want := func(what string, got payments.Standing, err error, stand payments.Stand, captured, refunded int64) {
		t.Helper()
		if err != nil || got.Stand != stand || got.Captured != captured || got.Refunded != refunded || got.Amount != 5000 || got.Currency != "EUR" {
			t.Errorf("%s: %+v, %v; want %s, %d captured, %d refunded", what, got, err, stand, captured, refunded)
		}
	}
	begin := func() payments.Charge {
		c := charge(5000, "EUR")
		c.Key = c.Payment.String()
		st, err := s.Authorize(t.Context(), c)
		want("begun", st, err, payments.Pending, 0, 0)
		again, err := s.Authorize(t.Context(), c)
		if err != nil || again.Reference != st.Reference || again.Page == "" {
			t.Errorf("the same key got %+v, %v", again, err)
		}
		c.Reference, c.Key = st.Reference, c.Key+"-next"
		return c
	}
	c := begin()
	fake.Pays(c.Reference, false)
	for range 2 {
		st, err := s.Capture(t.Context(), c)
		want("captured", st, err, payments.Captured, 5000, 0)
	}
	c.Refund, c.Key = 2000, c.Key+"-refund"
	for range 2 {
		st, err := s.Refund(t.Context(), c)
		want("refunded", st, err, payments.Captured, 5000, 2000)
	}
	c.Refund, c.Key = 3000, c.Key+"-rest"
	st, err := s.Refund(t.Context(), c)
	want("the rest refunded", st, err, payments.Captured, 5000, 5000)
	c.Refund, c.Key = 1, c.Key+"-more"
	st, err = s.Refund(t.Context(), c)
	want("more than that", st, err, payments.Captured, 5000, 5000)
	c = begin()
	st, err = s.Void(t.Context(), c)
	want("closed before it was paid", st, err, payments.Voided, 0, 0)
	c = begin()
	fake.Pays(c.Reference, false)
	st, err = s.Void(t.Context(), c)
	want("given back", st, err, payments.Voided, 0, 0)
	c = begin()
	fake.Pays(c.Reference, true)
	st, err = s.Void(t.Context(), c)
	want("too late to void", st, err, payments.Captured, 5000, 0)
	fake.Down(true)
	if _, err := s.Lookup(t.Context(), c); err == nil {
		t.Error("a Stripe that is down is no answer, and was one")
	}
}

func TestAWebhookIsBelievedOnlyAsItWasSigned(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", "whsec_old,"+stripetest.Secret, fake.URL)
	c := charge(5000, "EUR")
	st, err := s.Authorize(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	body := fake.Event(st.Reference, "checkout.session.completed")
	now := time.Now()
	if webhook, err := s.ReadWebhook(t.Context(), body, stripetest.Sign(body, stripetest.Secret, now)); err != nil || webhook.Payment != c.Payment || webhook.Event == "" || webhook.Method != payments.Card {
		t.Errorf("a right one is %+v, %v", webhook, err)
	}
	if _, err := s.ReadWebhook(t.Context(), body, stripetest.Sign(body, "whsec_old", now)); err != nil {
		t.Errorf("the secret before: %v", err)
	}
	changed := append([]byte(nil), body...)
	changed[len(changed)/2] ^= 1
	for what, forged := range map[string]struct {
		body      []byte
		signature string
	}{
		"no signature":   {body, ""},
		"another secret": {body, stripetest.Sign(body, "whsec_other", now)},
		"too old":        {body, stripetest.Sign(body, stripetest.Secret, now.Add(-6*time.Minute))},
		"of the future":  {body, stripetest.Sign(body, stripetest.Secret, now.Add(6*time.Minute))},
		"another body":   {changed, stripetest.Sign(body, stripetest.Secret, now)},
		"nothing":        {nil, stripetest.Sign(nil, stripetest.Secret, now)},
	} {
		if webhook, err := s.ReadWebhook(t.Context(), forged.body, forged.signature); err == nil {
			t.Errorf("%s: %+v was believed", what, webhook)
		}
	}
}

func TestAmountsAreCountedAsStripeDoes(t *testing.T) {
	t.Parallel()
	fake := stripetest.New(t)
	s := stripe.New("sk_test_123", "", fake.URL)
	for currency, amounts := range map[string][2]int64{"EUR": {1250, 1250}, "JPY": {3000, 3000}, "ISK": {500, 50000}, "KWD": {1250, 1250}, "MGA": {50000, 500}} {
		c := charge(amounts[0], currency)
		c.Key = currency
		st, err := s.Authorize(t.Context(), c)
		all := fake.Sessions()
		if err != nil || st.Amount != amounts[0] || st.Currency != currency || all[len(all)-1].Amount != amounts[1] {
			t.Errorf("%d %s: %+v, %v; Stripe has %d, want %d", amounts[0], currency, st, err, all[len(all)-1].Amount, amounts[1])
		}
	}
	if st, err := s.Authorize(t.Context(), charge(1251, "KWD")); err != nil || st.Stand != payments.Declined {
		t.Errorf("an amount Stripe cannot say: %+v, %v", st, err)
	}
}
