package standin

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"
)

// Pays pays on the page of a session: the money is kept. With captured, it is taken at once, as with
// methods that cannot keep it.
func (f *Fake) Pays(id string, captured bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(id)
	s.pays()
	if captured {
		s.Intent, s.Captured, s.Captures, s.ByItself = "succeeded", s.Amount, 1, true
	}
}

// Debits pays on the page of a session by a SEPA debit, which takes days.
func (f *Fake) Debits(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(id)
	s.Status, s.Intent, s.Method = "complete", "processing", "sepa_debit"
}

// Settles has a debit arrive, or bounce.
func (f *Fake) Settles(id string, arrives bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.find(id); arrives {
		s.Intent, s.Captured, s.Captures, s.ByItself = "succeeded", s.Amount, 1, true
	} else {
		s.Intent = "requires_payment_method"
	}
}

// Exchanges makes the money of a session one of another currency.
func (f *Fake) Exchanges(id, currency string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.find(id).Currency = currency
}

// pays completes a page: the money is kept, or the card.
func (s *Session) pays() {
	s.Status, s.Intent = "complete", "requires_capture"
	if s.Keeps {
		s.Intent, s.Customer = "", "cus_"+s.ID
	}
}

// PaidAtOnce makes pages that are paid before anybody saw them, as with a card that is known.
func (f *Fake) PaidAtOnce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.atOnce = true
}

// Down makes every request fail, or no more.
func (f *Fake) Down(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

// Breaks answers the next request with a key to a path with this end by an error of Stripe's own, and each repeat of its key: Stripe
// stores such an answer as any other. acts says that what was asked for is done all the same.
func (f *Fake) Breaks(path string, acts bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.breaks, f.acts = path, acts
}

// GivesBack gives money back at Stripe's own page, without a request from here.
func (f *Fake) GivesBack(id string, amount int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.find(id).refund(amount, map[string]string{})
}

// Fails is a bank that does not take the latest refund of a session after all.
func (f *Fake) Fails(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(id)
	latest := s.Refunds[len(s.Refunds)-1]
	latest["status"], latest["failure_reason"] = "failed", "expired_or_canceled_card"
	s.Refunded -= latest["amount"].(int64)
}

// Sessions are the books, as they stand.
func (f *Fake) Sessions() (list []Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		list = append(list, *s)
	}
	return list
}

// about is what a webhook of a kind is about: a session, its charge, or its latest refund.
func (f *Fake) about(s *Session, kind string) map[string]any {
	switch {
	case strings.HasPrefix(kind, "charge."):
		return map[string]any{"id": "ch_" + s.ID, "object": "charge", "payment_intent": "pi_" + s.ID, "amount_refunded": s.Refunded, "metadata": map[string]string{"payment": s.Payment}}
	case strings.HasPrefix(kind, "refund."):
		return s.Refunds[len(s.Refunds)-1]
	}
	return f.object(s)
}

// Event is the body of a webhook about a session, with a name of its own.
func (f *Fake) Event(id, kind string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events++
	body, _ := json.Marshal(map[string]any{ // maps of texts and numbers always marshal
		"id": fmt.Sprint("evt_", f.events), "object": "event", "type": kind, "data": map[string]any{"object": f.about(f.find(id), kind)},
	})
	return body
}

// Sign is the signature of a webhook's body.
func Sign(body []byte, secret string, at time.Time) string {
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(api.ComputeSignature(at, body, secret)))
}

// Deliver sends a webhook and returns the status of the answer; 0 if there was none.
func Deliver(ctx context.Context, client *http.Client, to string, body []byte) int {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0 // the customer is away
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Stripe-Signature", Sign(body, Secret, time.Now()))
	answer, err := client.Do(r)
	if err != nil {
		return 0 // it died before it answered
	}
	_ = answer.Body.Close() // only its status counts
	return answer.StatusCode
}
