package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Fee is what the stand-in keeps of each charge, in minor units.
const Fee = 55

// transaction is a change of the balance.
type transaction struct {
	kind, category string
	amount, fee    int64
	currency       string
	source         any
	payout         string // that it was paid out with; empty: it is still in the balance
}

// balance is the changes of the balance that no payout has, yet. Each money of a session is in it once.
func (f *Fake) balance() {
	for _, s := range f.sessions {
		if s.Captured > 0 && !s.balanced {
			s.balanced = true
			f.transactions = append(f.transactions, &transaction{kind: "charge", category: "charge", amount: s.Captured, fee: Fee, currency: s.Currency, source: map[string]any{
				"id": "ch_" + s.ID, "object": "charge", "amount": s.Captured, "amount_captured": s.Captured, "currency": s.Currency, "payment_intent": "pi_" + s.ID,
				"metadata": map[string]string{"payment": s.Payment},
			}})
		}
		for ; s.returned < len(s.Refunds); s.returned++ {
			refund := s.Refunds[s.returned]
			refund["currency"] = s.Currency
			f.transactions = append(f.transactions, &transaction{kind: "refund", category: "refund", amount: -refund["amount"].(int64), currency: s.Currency, source: refund})
		}
	}
}

// Adjusts changes the balance by money of nothing that was asked for here, such as a sale of another shop of the account ("charge"), a dispute
// about a session ("dispute"), or a fee ("fee").
func (f *Fake) Adjusts(category, currency, session string, amount int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.transactions)
	t := &transaction{kind: "adjustment", category: category, amount: amount, currency: currency}
	switch category {
	case "charge":
		t.kind, t.source = "charge", map[string]any{"id": fmt.Sprint("ch_foreign_", n), "object": "charge", "amount": amount, "amount_captured": amount, "currency": currency, "metadata": map[string]string{}}
	case "dispute":
		t.source = map[string]any{"id": fmt.Sprint("dp_", n), "object": "dispute", "payment_intent": "pi_" + session}
	case "fee":
		t.kind = "stripe_fee"
	}
	f.transactions = append(f.transactions, t)
}

// PaysOut pays the balance of a currency out, and returns the name of the payout.
func (f *Fake) PaysOut(currency string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.balance()
	id, sum := fmt.Sprint("po_", len(f.payouts)), int64(0)
	for _, t := range f.transactions {
		if t.payout == "" && t.currency == currency {
			t.payout = id
			sum += t.amount - t.fee
		}
	}
	now := time.Now()
	f.transactions = append(f.transactions, &transaction{kind: "payout", category: "payout", amount: -sum, currency: currency, source: map[string]any{"id": id, "object": "payout"}, payout: id})
	f.payouts = append(f.payouts, map[string]any{
		"id": id, "object": "payout", "amount": sum, "currency": currency, "status": "paid", "automatic": true, "reconciliation_status": "completed",
		"created": now.Unix(), "arrival_date": now.Truncate(24 * time.Hour).Unix(),
	})
	return id
}

// Says changes what the stand-in says of a payout, such as its status.
func (f *Fake) Says(payout, field string, value any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.payouts {
		if p["id"] == payout {
			p[field] = value
		}
	}
}

// PayoutEvent is the body of a webhook about a payout.
func (f *Fake) PayoutEvent(payout, kind string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events++
	body, _ := json.Marshal(map[string]any{ // maps of texts and numbers always marshal
		"id": fmt.Sprint("evt_", f.events), "object": "event", "type": kind, "data": map[string]any{"object": map[string]any{"id": payout, "object": "payout"}},
	})
	return body
}

func (f *Fake) listPayouts(w http.ResponseWriter, _ *http.Request) {
	list := slices.Clone(f.payouts)
	slices.Reverse(list)
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "url": "/v1/payouts", "data": list})
}

func (f *Fake) listTransactions(w http.ResponseWriter, r *http.Request) {
	list := []map[string]any{}
	for i, t := range f.transactions {
		if t.payout == r.FormValue("payout") {
			list = append(list, map[string]any{
				"id": fmt.Sprint("txn_", i), "object": "balance_transaction", "type": t.kind, "reporting_category": t.category, "amount": t.amount, "fee": t.fee, "net": t.amount - t.fee,
				"currency": t.currency, "created": time.Now().Unix(), "source": t.source,
			})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "url": "/v1/balance_transactions", "data": list})
}
