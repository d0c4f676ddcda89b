package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
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
		return webhooks.Webhook{Kinds: slices.DeleteFunc(webhooks.Kinds(), func(k webhooks.Kind) bool { return k == webhooks.HoldExpired })} // there may be thousands
	}
	return webhooks.Webhook{URL: p.URL, Kinds: p.Kinds}
}

// HookPage is one webhook and what was told to it.
type HookPage struct {
	Frame
	Hook       webhooks.Webhook
	Deliveries []webhooks.Delivery
	Next       string // cursor of the next page; empty: there is none

	Secret   string           // that was just made; no other page has it
	Typed    webhooks.Webhook // what stands in the form
	Mistakes organizers.Mistakes
}

// Older is the address of what was told before.
func (p HookPage) Older() string {
	return HookPath(p.Hook.ID) + "?" + url.Values{"cursor": {p.Next}}.Encode()
}

// kindWords says what a hook is told of.
func kindWords(ctx context.Context, k webhooks.Kind) string {
	switch k {
	case webhooks.Confirmed:
		return text.T(ctx, "an order is placed")
	case webhooks.Paid:
		return text.T(ctx, "an order is paid")
	case webhooks.Cancelled:
		return text.T(ctx, "tickets of an order are cancelled")
	case webhooks.Refunded:
		return text.T(ctx, "money went back")
	case webhooks.Exchanged:
		return text.T(ctx, "tickets are exchanged for another date or type")
	case webhooks.Moved:
		return text.T(ctx, "a ticket moves to another seat")
	case webhooks.Scanned:
		return text.T(ctx, "a visitor comes in")
	case webhooks.Offered:
		return text.T(ctx, "a ticket is offered to a friend")
	case webhooks.Accepted:
		return text.T(ctx, "a friend accepts a ticket")
	case webhooks.Withdrawn:
		return text.T(ctx, "an offered ticket is taken back")
	case webhooks.HoldExpired:
		return text.T(ctx, "a hold expires")
	}
	return otherWords(ctx, k)
}

func otherWords(ctx context.Context, k webhooks.Kind) string {
	switch k {
	case webhooks.EventCreated:
		return text.T(ctx, "an event is created")
	case webhooks.EventChanged:
		return text.T(ctx, "the name, venue, time or status of an event changes")
	case webhooks.PerformanceAdded:
		return text.T(ctx, "a series gets a performance")
	case webhooks.WaitJoined:
		return text.T(ctx, "someone joins a waiting list")
	case webhooks.WaitOffered:
		return text.T(ctx, "a waiting list offers seats")
	case webhooks.WaitMissed:
		return text.T(ctx, "an offer of a waiting list is not answered")
	case webhooks.WaitLeft:
		return text.T(ctx, "someone leaves a waiting list, with tickets or without")
	case webhooks.RoomChanged:
		return text.T(ctx, "a waiting room opens, pauses or ends")
	case webhooks.PayoutCreated:
		return text.T(ctx, "the card provider makes a payout")
	case webhooks.PayoutChanged:
		return text.T(ctx, "the status of a payout changes")
	case webhooks.Alert:
		return text.T(ctx, "something needs attention")
	}
	return text.T(ctx, "a test")
}

// kindGroup is kinds of one subject.
type kindGroup struct {
	name  string
	kinds []webhooks.Kind
}

// kindGroups are the kinds that a hook chooses from, by subject.
func kindGroups(ctx context.Context) []kindGroup {
	return []kindGroup{
		{text.T(ctx, "Orders"), []webhooks.Kind{webhooks.Confirmed, webhooks.Paid, webhooks.Cancelled, webhooks.Refunded, webhooks.Exchanged}},
		{text.T(ctx, "Tickets"), []webhooks.Kind{webhooks.Moved, webhooks.Scanned, webhooks.Offered, webhooks.Accepted, webhooks.Withdrawn}},
		{text.T(ctx, "Events"), []webhooks.Kind{webhooks.EventCreated, webhooks.EventChanged, webhooks.PerformanceAdded}},
		{text.T(ctx, "Sale"), []webhooks.Kind{webhooks.HoldExpired, webhooks.RoomChanged, webhooks.WaitJoined, webhooks.WaitOffered, webhooks.WaitMissed, webhooks.WaitLeft}},
		{text.T(ctx, "Payouts"), []webhooks.Kind{webhooks.PayoutCreated, webhooks.PayoutChanged}},
		{text.T(ctx, "Alerts"), []webhooks.Kind{webhooks.Alert}},
	}
}

func toldOf(h webhooks.Webhook, k webhooks.Kind) bool { return slices.Contains(h.Kinds, k) }

// hookState says how a hook is.
func hookState(ctx context.Context, h webhooks.Webhook) string {
	switch {
	case h.OffAt != nil && h.OffWhy == "":
		return text.T(ctx, "Off since %s.", momentIn(ctx, *h.OffAt))
	case h.OffAt != nil:
		return text.T(ctx, "Switched off on %s.", momentIn(ctx, *h.OffAt)) + " " + text.T(ctx, h.OffWhy)
	case h.FailingSince != nil:
		return text.T(ctx, "No successful response since %s.", momentIn(ctx, *h.FailingSince))
	}
	return text.T(ctx, "On.")
}

// waitingWords says what was not taken yet.
func waitingWords(ctx context.Context, h webhooks.Webhook) string {
	switch {
	case h.Waiting == 0:
		return ""
	case h.Waiting >= 100:
		return text.T(ctx, "A hundred or more deliveries wait.")
	}
	return text.T(ctx, "%d not delivered yet.", h.Waiting)
}

// answerWords says what became of one try.
func answerWords(ctx context.Context, a webhooks.Answer) string {
	switch {
	case a.Status == 0:
		return a.Reason(ctx)
	case a.Why == "":
		return text.T(ctx, "Answered %s, after %d ms.", strconv.Itoa(a.Status), a.Took)
	}
	return text.T(ctx, "Answered %s, after %d ms: not taken.", strconv.Itoa(a.Status), a.Took)
}

// told is what a delivery says, as people read it.
func told(ctx context.Context, n webhooks.Delivery) string {
	var data map[string]any
	if json.Unmarshal(n.Data, &data) != nil {
		return string(n.Data)
	}
	if message, is := data["message"].(string); is {
		return text.T(ctx, message)
	}
	var words []string
	for _, name := range []string{"event", "series", "room", "alert", "order", "ticket", "to", "place", "tickets", "hold", "seats", "entry", "quantity", "payout", "phase", "state", "status", "changed", "method", "amount", "back", "paid", "total", "currency"} {
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
