// Package standin is a stand-in for Stripe over HTTP, with books of its own: it pays, answers late, twice and out of
// order, refuses, and goes down when it is told to. What a request may look like is checked by stripe-mock instead.
package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Secret is that of the stand-in's webhooks.
const Secret = "whsec_test"

// Fake is the stand-in.
type Fake struct {
	*httptest.Server

	mu       sync.Mutex
	sessions []*Session
	named    map[string]*Session // by the name of the session, and of its money
	answers  map[string][]byte   // by idempotency key
	breaks   string              // the end of a path: the next request there with a key is answered by an error, and so is each repeat of the key
	acts     bool                // that request does what it asks for all the same
	broken   map[string]bool     // keys with an error for an answer
	calls    map[string]int      // by method and the kind of path
	down     bool
	atOnce   bool
	refuses  string // code of the bank for cards that are charged while the customer is away; empty: they are good
	events   int

	transactions []*transaction
	payouts      []map[string]any
	readers      []*reader
}

// Session is a payment in the stand-in's books.
type Session struct {
	ID, Payment, Status, Intent string // Status of the page, Intent of the money
	Amount, Captured, Refunded  int64
	Currency                    string
	Captures                    int    // how often money was taken
	ByItself                    bool   // it was taken without being asked for
	Keeps                       bool   // it is a page where a card is given and nothing paid
	Customer                    string // the customer of the card that was given or charged; empty once it was deleted
	Says                        string // what the payer reads there
	Card                        string // fingerprint of the card that paid; empty: one of its own
	Refunds                     []map[string]any
	Method                      string // that paid; empty: a card
	Slow                        bool   // methods that take days are offered

	back [2]string // where a customer goes on who paid, and who did not

	balanced bool // its charge is in the balance
	returned int  // how many of its refunds are
}

// Start starts a stand-in. Close ends it.
func Start() *Fake {
	f := &Fake{named: map[string]*Session{}, answers: map[string][]byte{}, calls: map[string]int{}, broken: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/checkout/sessions", f.create)
	mux.HandleFunc("GET /v1/checkout/sessions/{id}", f.on(func(*Session, *http.Request) bool { return true }))
	mux.HandleFunc("POST /v1/checkout/sessions/{id}/expire", f.on(func(s *Session, _ *http.Request) bool {
		was := s.Status
		if was == "open" {
			s.Status = "expired"
		}
		return was == "open"
	}))
	mux.HandleFunc("POST /v1/payment_intents/{id}/capture", f.on(func(s *Session, _ *http.Request) bool {
		if s.Intent != "requires_capture" {
			return false
		}
		s.Intent, s.Captured, s.Captures = "succeeded", s.Amount, s.Captures+1
		return true
	}))
	mux.HandleFunc("POST /v1/payment_intents/{id}/cancel", f.on(func(s *Session, _ *http.Request) bool {
		was := s.Intent
		gives := was == "requires_capture" || was == "requires_payment_method" && s.Method != "" // a bank cannot be called back
		if gives {
			s.Intent = "canceled"
		}
		return gives
	}))
	mux.HandleFunc("POST /v1/payment_intents", f.charge)
	f.handleReaders(mux)
	mux.HandleFunc("GET /v1/payment_intents/{id}", func(w http.ResponseWriter, r *http.Request) {
		s := f.find(r.PathValue("id"))
		if s == nil {
			refuse(w, http.StatusNotFound, "invalid_request_error", "", "no such payment intent")
			return
		}
		_ = json.NewEncoder(w).Encode(s.intent())
	})
	mux.HandleFunc("DELETE /v1/customers/{id}", f.deleteCustomer)
	mux.HandleFunc("GET /pay/{id}", f.pay)
	mux.HandleFunc("POST /pay/{id}", f.pay)
	mux.HandleFunc("GET /v1/refunds", f.refunds)
	mux.HandleFunc("POST /v1/refunds", f.refund)
	mux.HandleFunc("GET /v1/payouts", f.listPayouts)
	mux.HandleFunc("GET /v1/balance_transactions", f.listTransactions)
	f.Server = httptest.NewServer(f.once(mux))
	return f
}

// once gives a repeated key its first answer.
func (f *Fake) once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if strings.HasPrefix(r.URL.Path, "/pay/") { // a browser
			next.ServeHTTP(w, r)
			return
		}
		f.calls[r.Method+" "+strings.TrimRight(r.URL.Path, "0123456789")]++
		key := r.Header.Get("Idempotency-Key")
		if f.down {
			http.Error(w, `{"error":{"type":"api_error","message":"down"}}`, http.StatusServiceUnavailable)
			return
		}
		if body, again := f.answers[key]; again && key != "" {
			_, _ = w.Write(body)
			return
		}
		breaks := key != "" && f.breaks != "" && strings.HasSuffix(r.URL.Path, f.breaks)
		if f.broken[key] || breaks && !f.acts {
			f.fails(w, key)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		if breaks {
			f.fails(w, key)
			return
		}
		if key != "" && answer.Code == http.StatusOK {
			f.answers[key] = answer.Body.Bytes()
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// fails answers a key by an error, now and from now on. The next one is answered again.
func (f *Fake) fails(w http.ResponseWriter, key string) {
	if !f.broken[key] {
		f.broken[key], f.breaks = true, ""
	}
	refuse(w, http.StatusInternalServerError, "api_error", "", "an error of ours")
}

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	amount, _ := strconv.ParseInt(r.FormValue("line_items[0][price_data][unit_amount]"), 10, 64)
	s := &Session{
		ID: fmt.Sprint("cs_test_", len(f.sessions)), Payment: r.FormValue("metadata[payment]"), Status: "open", Intent: "requires_payment_method",
		Keeps: r.FormValue("mode") == "setup", Says: r.FormValue("custom_text[submit][message]"),
		Slow:   !slices.Contains(excluded(r), "sepa_debit"),
		back:   [2]string{r.FormValue("success_url"), r.FormValue("cancel_url")},
		Amount: amount, Currency: r.FormValue("line_items[0][price_data][currency]"),
	}
	if s.Keeps == (r.FormValue("payment_method_options[card][capture_method]") == "manual") {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "this would take money of a card before its seats are sold")
		return
	}
	if r.Form.Has("customer_email") && r.FormValue("customer_email") == "" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "email_invalid", "Invalid email address: ")
		return
	}
	if f.atOnce {
		s.Status, s.Intent = "complete", "requires_capture"
	}
	f.add(s)
	f.say(w, s)
}

func (f *Fake) add(s *Session) {
	f.sessions = append(f.sessions, s)
	f.named[s.ID], f.named["pi_"+s.ID] = s, s
}

// on is a request about one session or its payment intent.
func (f *Fake) on(act func(*Session, *http.Request) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := f.find(r.PathValue("id"))
		if s == nil || !act(s, r) {
			refuse(w, http.StatusBadRequest, "invalid_request_error", "", "it stands otherwise")
			return
		}
		f.say(w, s)
	}
}

func (f *Fake) find(id string) *Session { return f.named[id] }

func (f *Fake) say(w http.ResponseWriter, s *Session) { _ = json.NewEncoder(w).Encode(f.object(s)) }

func (f *Fake) object(s *Session) map[string]any {
	o := map[string]any{
		"id": s.ID, "object": "checkout.session", "status": s.Status, "currency": s.Currency, "amount_total": s.Amount,
		"metadata": map[string]string{"payment": s.Payment},
	}
	if s.Status == "open" {
		o["url"] = f.URL + "/pay/" + s.ID
	}
	switch {
	case s.Status == "complete" && s.Keeps:
		o["mode"], o["customer"] = "setup", "cus_"+s.ID
		o["setup_intent"] = map[string]any{"id": "seti_" + s.ID, "object": "setup_intent", "status": "succeeded", "payment_method": "pm_" + s.ID}
	case s.Status == "complete":
		o["payment_intent"] = s.intent()
	}
	return o
}

// intent is the money of a session.
func (s *Session) intent() map[string]any {
	card := s.Card
	if card == "" {
		card = "card_" + s.ID + s.Customer
	}
	return map[string]any{
		"id": "pi_" + s.ID, "object": "payment_intent", "status": s.Intent, "amount": s.Amount, "amount_received": s.Captured, "currency": s.Currency,
		"amount_capturable": s.Amount - s.Captured, "latest_charge": map[string]any{
			"id": "ch_" + s.ID, "object": "charge", "amount_refunded": s.Refunded, "payment_method_details": s.details(card),
		},
		"metadata": map[string]string{"payment": s.Payment},
	}
}

// details are those of the method that paid.
func (s *Session) details(card string) map[string]any {
	if s.Method != "" {
		return map[string]any{"type": s.Method}
	}
	return map[string]any{"type": "card", "card": map[string]any{"fingerprint": card}}
}

// excluded are the methods that a page shall not offer.
func excluded(r *http.Request) (methods []string) {
	for i := 0; ; i++ {
		method := r.FormValue(fmt.Sprintf("excluded_payment_method_types[%d]", i))
		if method == "" {
			return methods
		}
		methods = append(methods, method)
	}
}

// refuse is an error as Stripe writes it.
func refuse(w http.ResponseWriter, status int, kind, code, words string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": kind, "code": code, "message": words}})
}

func (f *Fake) refunds(w http.ResponseWriter, r *http.Request) {
	s := f.find(r.FormValue("payment_intent"))
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "url": "/v1/refunds", "data": s.Refunds})
}

func (f *Fake) refund(w http.ResponseWriter, r *http.Request) {
	s := f.find(r.FormValue("payment_intent"))
	amount, _ := strconv.ParseInt(r.FormValue("amount"), 10, 64)
	if s.Refunded+amount > s.Captured {
		http.Error(w, `{"error":{"type":"invalid_request_error","message":"too much"}}`, http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(s.refund(amount, map[string]string{"key": r.FormValue("metadata[key]"), "payment": r.FormValue("metadata[payment]")}))
}

func (s *Session) refund(amount int64, metadata map[string]string) map[string]any {
	s.Refunded += amount
	refund := map[string]any{
		"id": fmt.Sprint("re_", s.ID, "_", len(s.Refunds)), "object": "refund", "amount": amount, "status": "succeeded", "payment_intent": "pi_" + s.ID, "metadata": metadata,
	}
	s.Refunds = append(s.Refunds, refund)
	return refund
}
