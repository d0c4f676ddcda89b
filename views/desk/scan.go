package desk

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// DoorPage is for those who let people in.
type DoorPage struct {
	views.Page
	shop.Sale
	Address string // path of this page
	EventID int64
	Keys    []orders.PublicKey
	Verdict *orders.Verdict // of the last code; nil for none
	Code    string          // that was looked at
	Place   string
}

func (p DoorPage) facts() templ.Attributes {
	keys, _ := json.Marshal(p.Keys) // numbers and bytes always marshal
	return templ.Attributes{
		"data-slug": p.Event.Slug, "data-door": p.Address,
		"data-event": strconv.FormatInt(p.EventID, 10), "data-keys": string(keys),
	}
}

// state is how a verdict looks: good, bad, or a question.
func (p DoorPage) state() string {
	if p.Verdict == nil {
		return "idle"
	}
	return p.Verdict.Word
}

// VerdictWords is a verdict as the people at the door read it.
func VerdictWords(e seats.Event, v orders.Verdict) string {
	switch v.Word {
	case orders.ScanIn:
		if words := v.Ticket.TypeWords(); words != "" {
			return "Let them in. " + words + "."
		}
		return "Let them in."
	case orders.ScanAgain:
		at := ""
		if v.Place != "" {
			at = " at " + v.Place
		}
		return fmt.Sprintf("This ticket was already used on %s%s.", e.Local(v.At).Format("2 January, 15:04:05"), at)
	case orders.ScanRevoked:
		return "This ticket was cancelled."
	case orders.ScanForeign:
		return "This ticket is for another event."
	case orders.ScanWhich:
		if len(v.Choices) == 0 {
			return "This order was cancelled."
		}
		return "This is an order. Which of its tickets?"
	}
	return "This is no ticket of ours."
}
