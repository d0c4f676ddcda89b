package invoices

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/usherbox/usher/seats/outbound"
)

// VIES asks the register of the EU whether a business has a VAT ID. It is of the European Commission; answers are
// {"isValid": true, "userError": "VALID"}. The register of a country is often away, so no order depends on an answer.
type VIES struct {
	Address string // such as https://ec.europa.eu/taxation_customs/vies/rest-api; empty: nothing is asked

	lock  sync.Mutex
	known map[string]registered // by VAT ID
}

type registered struct {
	yes bool
	at  time.Time
}

const (
	viesWait  = 3 * time.Second // a checkout waits this long at most
	viesKept  = time.Hour
	viesKnown = 10_000 // answers kept
)

// Registered reports whether a business has a VAT ID in its short form. Without an answer it is an error.
func (v *VIES) Registered(ctx context.Context, id string) (bool, error) {
	v.lock.Lock()
	was, found := v.known[id]
	v.lock.Unlock()
	if found && time.Since(was.at) < viesKept {
		return was.yes, nil
	}
	yes, err := v.ask(ctx, id)
	if err != nil {
		return false, fmt.Errorf("vies: %w", err)
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	if v.known == nil || len(v.known) >= viesKnown {
		v.known = map[string]registered{}
	}
	v.known[id] = registered{yes, time.Now()}
	return yes, nil
}

func (v *VIES) ask(ctx context.Context, id string) (bool, error) {
	ctx, end := context.WithTimeout(ctx, viesWait)
	defer end()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(v.Address, "/")+"/ms/"+id[:2]+"/vat/"+id[2:], nil)
	if err != nil {
		return false, err
	}
	a, err := outbound.Client.Do(r)
	if err != nil {
		return false, err
	}
	defer func() { _ = a.Body.Close() }()
	var answer struct {
		Valid *bool  `json:"isValid"`
		Says  string `json:"userError"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, a.Body, 64<<10)).Decode(&answer); err != nil {
		return false, fmt.Errorf("status %d: %w", a.StatusCode, err)
	}
	if answer.Valid == nil || !*answer.Valid && answer.Says != "INVALID" {
		return false, fmt.Errorf("status %d, %q", a.StatusCode, answer.Says)
	}
	return *answer.Valid, nil
}
