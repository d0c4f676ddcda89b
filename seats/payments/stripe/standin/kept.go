package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Refuses is what banks say from now on of cards that are charged while the customer is away, such as "card_declined" or
// "authentication_required"; nothing, and they are good.
func (f *Fake) Refuses(code string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuses = code
}

// charge takes money of a card that is kept, if its holder need not be there.
func (f *Fake) charge(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("payment_method_types[0]") == cardPresent {
		f.intentForReader(w, r)
		return
	}
	customer, card := r.FormValue("customer"), r.FormValue("payment_method")
	amount, _ := strconv.ParseInt(r.FormValue("amount"), 10, 64)
	owner := f.find(strings.TrimPrefix(customer, "cus_"))
	switch {
	case owner == nil || owner.Customer != customer || card != "pm_"+owner.ID:
		refuse(w, http.StatusBadRequest, "invalid_request_error", "resource_missing", "no such customer has such a card")
		return
	case r.FormValue("off_session") != "true" || r.FormValue("confirm") != "true" || r.FormValue("capture_method") != "manual":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "this would ask a buyer who is away, or take money at once")
		return
	case f.refuses != "":
		refuse(w, http.StatusPaymentRequired, "card_error", f.refuses, "the bank says no")
		return
	}
	s := &Session{
		ID: fmt.Sprint("alone_", len(f.sessions)), Payment: r.FormValue("metadata[payment]"), Status: "complete", Intent: "requires_capture",
		Amount: amount, Currency: r.FormValue("currency"), Customer: customer,
	}
	f.add(s)
	_ = json.NewEncoder(w).Encode(s.intent())
}

// deleteCustomer deletes the card with its customer.
func (f *Fake) deleteCustomer(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	owner := f.find(strings.TrimPrefix(id, "cus_"))
	if owner == nil || owner.Customer != id {
		refuse(w, http.StatusNotFound, "invalid_request_error", "resource_missing", "no such customer")
		return
	}
	owner.Customer = ""
	_ = json.NewEncoder(w).Encode(map[string]any{"id": id, "object": "customer", "deleted": true})
}
