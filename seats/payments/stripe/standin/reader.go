package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// A reader shows one payment at a time, and charges the card that is presented.
type reader struct {
	id, label, status string
	intent            *Session // its latest action is about it; nil: none
	action            string   // its state: in_progress, succeeded, failed
	why               string   // code of the failure
	reads             bool     // a card is in it, and is being asked for
	team              string   // its metadata
	tips              bool     // it asks for a tip first
	lit               int      // how often it showed a payment
}

// Declined is the number of a test card that banks decline.
const Declined = "4000000000000002"

// AddReader registers a card reader, which is online, and returns its name.
func (f *Fake) AddReader(label string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &reader{id: fmt.Sprint("tmr_test_", len(f.readers)), label: label, status: "online"}
	f.readers = append(f.readers, r)
	return r.id
}

// Assigns writes a team into the metadata of a reader.
func (f *Fake) Assigns(id, team string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readerOf(id).team = team
}

// Unplugs takes a reader offline.
func (f *Fake) Unplugs(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readerOf(id).status = "offline"
}

// Resets has a reader forget its payment, as when another program uses it.
func (f *Fake) Resets(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.readerOf(id)
	r.intent, r.action = nil, ""
}

// Leaves is a customer who presses Cancel at a reader.
func (f *Fake) Leaves(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.readerOf(id)
	r.action, r.why = "failed", "customer_canceled"
}

// Inserts puts a card into a reader: from now on its payment cannot be cancelled, until Presents says how it ends.
func (f *Fake) Inserts(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.readerOf(id)
	r.reads, r.intent.Intent = true, "processing"
}

// Presents presents a card of a number to a reader. It reports false if the reader shows no payment.
func (f *Fake) Presents(id, number string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readerOf(id).present(number)
}

func (r *reader) present(number string) bool {
	if r.action != "in_progress" {
		return false
	}
	r.reads = false
	if number == Declined {
		r.action, r.why, r.intent.Intent = "failed", "card_declined", "requires_payment_method"
		return true
	}
	s := r.intent
	if r.tips {
		s.Amount += 100
	}
	r.action, s.Intent, s.Captured, s.Captures = "succeeded", "succeeded", s.Amount, s.Captures+1
	return true
}

// Shows is the amount that a reader shows; 0: it shows none.
func (f *Fake) Shows(id string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.readerOf(id); r.action == "in_progress" {
		return r.intent.Amount
	}
	return 0
}

// Lit is how often a reader showed a payment.
func (f *Fake) Lit(id string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readerOf(id).lit
}

// ReaderEvent is the body of a webhook about a reader's latest action.
func (f *Fake) ReaderEvent(id, kind string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events++
	body, _ := json.Marshal(map[string]any{ // maps of texts and numbers always marshal
		"id": fmt.Sprint("evt_", f.events), "object": "event", "type": kind, "data": map[string]any{"object": f.readerOf(id).object()},
	})
	return body
}

func (f *Fake) readerOf(id string) *reader {
	for _, r := range f.readers {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (r *reader) object() map[string]any {
	o := map[string]any{"id": r.id, "object": "terminal.reader", "label": r.label, "status": r.status, "device_type": "simulated_wisepos_e", "metadata": map[string]string{"team": r.team}}
	if r.intent != nil {
		o["action"] = map[string]any{
			"type": "process_payment_intent", "status": r.action, "failure_code": r.why,
			"process_payment_intent": map[string]any{"payment_intent": "pi_" + r.intent.ID},
		}
	}
	return o
}

// handleReaders answers what is asked about readers.
func (f *Fake) handleReaders(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/terminal/readers", func(w http.ResponseWriter, _ *http.Request) {
		list := []any{}
		for _, r := range f.readers {
			list = append(list, r.object())
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "url": "/v1/terminal/readers", "data": list})
	})
	on := func(act func(w http.ResponseWriter, r *reader, q *http.Request) bool) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) {
			r := f.readerOf(q.PathValue("id"))
			if r == nil {
				refuse(w, http.StatusNotFound, "invalid_request_error", "resource_missing", "no such reader")
				return
			}
			if act(w, r, q) {
				_ = json.NewEncoder(w).Encode(r.object())
			}
		}
	}
	mux.HandleFunc("GET /v1/terminal/readers/{id}", on(func(http.ResponseWriter, *reader, *http.Request) bool { return true }))
	mux.HandleFunc("POST /v1/terminal/readers/{id}/process_payment_intent", on(f.process))
	mux.HandleFunc("POST /v1/terminal/readers/{id}/cancel_action", on(func(w http.ResponseWriter, r *reader, _ *http.Request) bool {
		switch {
		case r.status != "online":
			refuse(w, http.StatusBadRequest, "invalid_request_error", "terminal_reader_offline", "it is offline")
			return false
		case r.reads:
			refuse(w, http.StatusBadRequest, "invalid_request_error", "terminal_reader_busy", "a card is being read")
			return false
		}
		r.intent, r.action = nil, ""
		return true
	}))
	mux.HandleFunc("POST /v1/test_helpers/terminal/readers/{id}/present_payment_method", on(func(w http.ResponseWriter, r *reader, q *http.Request) bool {
		if !r.present(q.FormValue("card_present[number]")) {
			refuse(w, http.StatusBadRequest, "invalid_request_error", "", "it shows no payment")
			return false
		}
		return true
	}))
}

func (f *Fake) process(w http.ResponseWriter, r *reader, q *http.Request) bool {
	s := f.find(q.FormValue("payment_intent"))
	switch {
	case r.status != "online":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "terminal_reader_offline", "it is offline")
	case r.action == "in_progress":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "terminal_reader_busy", "it shows another payment")
	case s == nil || s.Method != cardPresent || s.Intent != "requires_payment_method":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "this intent is not for a reader")
	default:
		r.lit++
		r.intent, r.action, r.why, r.tips = s, "in_progress", "", q.FormValue("process_config[skip_tipping]") != "true"
		return true
	}
	return false
}

const cardPresent = "card_present"

// intentForReader makes an intent that a reader may charge; it takes the money at once.
func (f *Fake) intentForReader(w http.ResponseWriter, q *http.Request) {
	if q.FormValue("capture_method") != "automatic" || q.FormValue("confirm") != "" || q.Header.Get("Idempotency-Key") == "" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "a reader confirms it, and takes the money at once")
		return
	}
	amount, _ := strconv.ParseInt(q.FormValue("amount"), 10, 64)
	s := &Session{
		ID: fmt.Sprint("reader_", len(f.sessions)), Payment: q.FormValue("metadata[payment]"), Status: "complete", Intent: "requires_payment_method",
		Amount: amount, Currency: q.FormValue("currency"), Method: cardPresent,
	}
	f.add(s)
	_ = json.NewEncoder(w).Encode(s.intent())
}
