package desk

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/webhooks"
	"github.com/usherbox/usher/views"
)

// HooksPath is the address of a team's webhooks.
const HooksPath = "/desk/hooks"

// HookPath is the address of one webhook.
func HookPath(id int64) string { return HooksPath + "/" + views.Decimal(id) }

// HooksPage is the webhooks of a team.
type HooksPage struct {
	Frame
	List []webhooks.Webhook

	URL      string // as it was typed into a form that could not be taken
	Kinds    []webhooks.Kind
	Mistakes organizers.Mistakes
}

// typed is what stands in the form.
func (p HooksPage) typed() webhooks.Webhook {
	if p.Mistakes == nil {
		return webhooks.Webhook{Kinds: webhooks.Kinds()}
	}
	return webhooks.Webhook{URL: p.URL, Kinds: p.Kinds}
}

// HookPage is one webhook and what was told to it.
type HookPage struct {
	Frame
	Hook       webhooks.Webhook
	Deliveries []webhooks.Delivery
	More       bool

	Secret   string           // that was just made; no other page has it
	Typed    webhooks.Webhook // what stands in the form
	Mistakes organizers.Mistakes
}

// Older is the address of what was told before.
func (p HookPage) Older() string {
	last := p.Deliveries[len(p.Deliveries)-1].At.UTC().Format(time.RFC3339Nano)
	return HookPath(p.Hook.ID) + "?" + url.Values{"before": {last}}.Encode()
}

// kindWords says what a hook is told of.
func kindWords(k webhooks.Kind) string {
	switch k {
	case webhooks.Confirmed:
		return "an order is placed"
	case webhooks.Paid:
		return "money came for an order"
	case webhooks.Cancelled:
		return "tickets of an order are cancelled"
	case webhooks.Refunded:
		return "money went back"
	case webhooks.Moved:
		return "a ticket moves to another seat"
	case webhooks.Scanned:
		return "a visitor comes in"
	}
	return "a test"
}

func toldOf(h webhooks.Webhook, k webhooks.Kind) bool { return slices.Contains(h.Kinds, k) }

// hookState says how a hook is.
func hookState(h webhooks.Webhook) string {
	switch {
	case h.OffAt != nil && h.OffWhy == "":
		return "Off since " + moment(*h.OffAt) + "."
	case h.OffAt != nil:
		return "Switched off on " + moment(*h.OffAt) + ". " + h.OffWhy
	case h.FailingSince != nil:
		return "No good answer since " + moment(*h.FailingSince) + "."
	}
	return "On."
}

// waitingWords says what was not taken yet.
func waitingWords(h webhooks.Webhook) string {
	switch {
	case h.Waiting == 0:
		return ""
	case h.Waiting >= 100:
		return "A hundred or more deliveries wait."
	}
	return views.Number(h.Waiting) + " not delivered yet."
}

// answerWords says what became of one try.
func answerWords(a webhooks.Answer) string {
	took := fmt.Sprintf("Answered %d, after %d ms", a.Status, a.Took)
	switch {
	case a.Status == 0:
		return a.Why
	case a.Why == "":
		return took + "."
	}
	return took + ": not taken."
}

// told is what a delivery says, as people read it.
func told(n webhooks.Delivery) string {
	var data map[string]any
	if json.Unmarshal(n.Data, &data) != nil {
		return string(n.Data)
	}
	if message, is := data["message"].(string); is {
		return message
	}
	var words []string
	for _, name := range []string{"event", "order", "ticket", "to", "place", "tickets", "method", "amount", "back", "paid", "total", "currency"} {
		switch v := data[name].(type) {
		case nil:
		case []any:
			words = append(words, fmt.Sprintf("%s %d", name, len(v)))
		case float64:
			words = append(words, fmt.Sprintf("%s %.0f", name, v))
		default:
			words = append(words, fmt.Sprintf("%s %v", name, v))
		}
	}
	return strings.Join(words, ", ")
}
