package desk

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
)

// need is one thing that needs attention, in words.
type need struct {
	Key   string
	Title string
	Text  string
	Order string // code; empty if it is about none
	Seen  *sales.Seen
}

// needs are what needs attention: unseen ones first.
func (p Live) needs(ctx context.Context) (fresh, seen []need) {
	all := p.ofRoom(ctx, nil)
	for _, c := range p.Live.Alerts {
		all = append(all, p.need(ctx, c))
	}
	for _, n := range p.ofSections(ctx, all) {
		if s, known := p.Live.Seen[n.Key]; known {
			n.Seen = &s
			seen = append(seen, n)
			continue
		}
		fresh = append(fresh, n)
	}
	return fresh, seen
}

// needsCut says that more needs attention than is shown; empty if not.
func (p Live) needsCut(ctx context.Context) string {
	if !p.Live.MoreAlerts {
		return ""
	}
	return text.T(ctx, "These are the latest %d of each kind, and there are more: the command “usher attention” lists all of them.", sales.MostAlerts)
}

// need puts an alert into words.
func (p Live) need(ctx context.Context, c sales.Alert) need {
	n := need{Key: c.Key, Order: c.Order, Text: c.Reason(ctx)}
	switch c.Kind {
	case payments.AlertPayout:
		n.Title = text.T(ctx, "Pay out %s", p.money(ctx, c.Amount))
	case payments.AlertDeposit:
		n.Title = text.T(ctx, "Decide about a deposit of %s", p.money(ctx, c.Amount))
	case sales.OfHook:
		n.Title = text.T(ctx, "A webhook fails")
	case payments.AlertStep:
		n.Title = text.T(ctx, "A payment of %s is stuck", p.money(ctx, c.Amount))
	case sales.OfFailing:
		n.Title = text.T(ctx, "Payments fail: %s", shareOf(ctx, c.Rate))
		n.Text = text.T(ctx, "%d of the last %s came to nothing. Look at the provider; pausing the waiting room keeps everybody's place.", c.Rate.Some, text.Some(c.Rate.Of, "%d payment", "%d payments"))
	case sales.OfExpired:
		n.Title = text.T(ctx, "Many holds expire: %s", shareOf(ctx, c.Rate))
		n.Text = text.T(ctx, "Before it was %s. Perhaps the checkout takes longer than the hold.", shareOf(ctx, c.Before))
	default:
		n.Title = text.T(ctx, "A payment of %s needs a look", p.money(ctx, c.Amount))
	}
	return n
}

// ofRoom adds what the waiting room needs.
func (p Live) ofRoom(ctx context.Context, list []need) []need {
	switch {
	case p.Room == nil:
	case p.Room.Phase == waitingroom.PhasePaused:
		said := text.T(ctx, "No visitor is let in until it goes on.")
		if p.Room.Note != "" {
			said = text.T(ctx, "Everybody reads: “%s”", p.Room.Note)
		}
		list = append(list, need{Key: fmt.Sprintf("paused:%d", p.Room.Version), Title: text.T(ctx, "The waiting room is paused"), Text: said})
	case p.Shown != nil && p.Shown.Away:
		list = append(list, need{Key: "away", Title: text.T(ctx, "The waiting room cannot reach the database"), Text: text.T(ctx, "No visitor is let in meanwhile. The figures are the last known ones.")})
	}
	return list
}

// ofSections adds which sections are sold out while others are not.
func (p Live) ofSections(ctx context.Context, list []need) []need {
	var out []string
	for i, s := range p.Plan.Sections {
		if p.soldOut(s) {
			out = append(out, p.Plan.Sections[i].Name)
		}
	}
	if len(out) == 0 || len(out) == len(p.Plan.Sections) {
		return list
	}
	n := need{Key: fmt.Sprintf("soldout:%d", len(out)), Title: text.T(ctx, "Sold out: %s", out[0]), Text: text.N(ctx, "%d seat elsewhere is available.", "%d seats elsewhere are available.", p.Live.Free)}
	if len(out) > 1 {
		n.Title = text.N(ctx, "%d section is sold out", "%d sections are sold out", len(out))
		n.Text = strings.Join(out[:min(len(out), 12)], text.T(ctx, ", ")) + ". " + n.Text
	}
	return append(list, n)
}

func (p Live) soldOut(s seats.Section) bool {
	sold := 0
	for _, state := range p.Map.States[s.First : s.First+s.Count] {
		switch state {
		case seats.Free, seats.Held:
			return false
		case seats.Sold:
			sold++
		}
	}
	return sold > 0
}

// seenKey is the key of the form that marks a need as seen. It is the same each time, as a live
// desk draws nothing anew that is as it was.
func seenKey(n need) string { return fmt.Sprintf("seen-%x", sha256.Sum256([]byte(n.Key))) }
