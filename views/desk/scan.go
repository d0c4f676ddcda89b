package desk

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// DoorPage is for those who let people in.
type DoorPage struct {
	views.Page
	shop.Sale
	orders.Device
	Reentry bool   // people are scanned out, too
	Out     bool   // the last scan was of a person who left
	Address string // path of this page
	EventID int64
	Keys    []orders.PublicKey
	Verdict *orders.Verdict // of the last code; nil for none
	Code    string          // that was looked at
	Place   string
}

func (p DoorPage) facts() templ.Attributes {
	keys, _ := json.Marshal(p.Keys) // numbers and bytes always marshal
	facts := templ.Attributes{
		"data-slug": p.Event.Slug, "data-door": p.Address,
		"data-event": strconv.FormatInt(p.EventID, 10), "data-keys": string(keys),
	}
	if p.Device.Name != "" {
		facts["data-device"] = p.Device.Name
	}
	if p.Event.RotatingCodes {
		facts["data-rotates"] = ""
	}
	if p.Reentry {
		facts["data-reentry"] = ""
	}
	return facts
}

// standsAt names the device and its gate; empty if it has neither.
func (p DoorPage) standsAt(ctx context.Context) string {
	words := p.Device.Name
	if p.Device.Gate != "" {
		words = strings.TrimPrefix(words+" · "+text.T(ctx, "Gate %s", p.Device.Gate), " · ")
	}
	return words
}

// state is how a verdict looks: good, bad, or a question.
func (p DoorPage) state() string {
	if p.Verdict == nil {
		return "idle"
	}
	return p.Verdict.Word
}

// VerdictWords is a verdict as the people at the door read it.
func VerdictWords(ctx context.Context, e seats.Event, v orders.Verdict) string {
	switch v.Word {
	case orders.ScanIn:
		if words := shop.TypeWords(ctx, v.Ticket); words != "" {
			return text.T(ctx, "Let them in. %s.", words)
		}
		return text.T(ctx, "Let them in.")
	case orders.ScanAgain:
		at := text.Time(ctx, e.Local(v.At), "2 January, 15:04:05")
		if v.By != "" {
			return text.T(ctx, "This ticket was already used on %s by %s.", at, v.By)
		}
		if v.Place != "" {
			return text.T(ctx, "This ticket was already used on %s at %s.", at, v.Place)
		}
		return text.T(ctx, "This ticket was already used on %s.", at)
	case orders.ScanOut:
		return text.T(ctx, "Let them out.")
	case orders.ScanOutside:
		return text.T(ctx, "Let them out. This ticket was not scanned in before.")
	case orders.ScanGate:
		return text.T(ctx, "Gate %s, not here.", strings.Join(v.Gates, " / "))
	case orders.ScanRevoked:
		if v.Ticket.Replaced {
			return text.T(ctx, "This ticket was replaced by a newer one.")
		}
		return text.T(ctx, "This ticket was cancelled.")
	case orders.ScanStill:
		return text.T(ctx, "This is a picture or a printout of a ticket. Ask to see the ticket on its page.")
	case orders.ScanSelling:
		return text.T(ctx, "This ticket is offered back, and another person is about to buy the seat. Scan it again in a few minutes, or send them to the box office.")
	case orders.ScanForeign:
		if v.Other != nil {
			return text.T(ctx, "This ticket is for another event: %s, %s.", v.Other.Name, text.Time(ctx, e.Local(v.Other.StartsAt), "2 January, 15:04"))
		}
		return text.T(ctx, "This ticket is for another event.")
	case orders.ScanWhich:
		if len(v.Choices) == 0 {
			return text.T(ctx, "This order has no valid ticket: its tickets were cancelled, or sent to another person.")
		}
		return text.T(ctx, "This is an order. Which of its tickets?")
	}
	return text.T(ctx, "This is not one of our tickets.")
}
