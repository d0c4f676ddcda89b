package desk

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
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
func (p Live) needs() (fresh, seen []need) {
	all := p.ofRoom(nil)
	for _, c := range p.Live.Alerts {
		all = append(all, p.need(c))
	}
	for _, n := range p.ofSections(all) {
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
func (p Live) needsCut() string {
	if !p.Live.MoreAlerts {
		return ""
	}
	return fmt.Sprintf("These are the latest %d of each kind, and there are more: the command “usher attention” lists all of them.", sales.MostAlerts)
}

// need puts an alert into words.
func (p Live) need(c sales.Alert) need {
	n := need{Key: c.Key, Order: c.Order, Text: c.Why}
	switch c.Kind {
	case payments.AlertPayout:
		n.Title = "Pay out " + p.money(c.Amount)
	case sales.OfHook:
		n.Title = "A webhook is not taken"
	case payments.AlertStep:
		n.Title = "A payment of " + p.money(c.Amount) + " is stuck"
	case sales.OfFailing:
		n.Title = "Payments fail: " + shareOf(c.Rate)
		n.Text = fmt.Sprintf("%d of the last %s came to nothing. Look at the provider; pausing the waiting room keeps everybody's place.", c.Rate.Some, views.Counted(c.Rate.Of, "payment"))
	case sales.OfExpired:
		n.Title = "Many holds expire: " + shareOf(c.Rate)
		n.Text = "Before it was " + shareOf(c.Before) + ". Perhaps the checkout takes longer than the hold."
	default:
		n.Title = "A payment of " + p.money(c.Amount) + " needs a look"
	}
	return n
}

// ofRoom adds what the waiting room needs.
func (p Live) ofRoom(list []need) []need {
	switch {
	case p.Room == nil:
	case p.Room.Phase == waitingroom.PhasePaused:
		text := "No visitor is let in until it goes on."
		if p.Room.Note != "" {
			text = "Everybody reads: “" + p.Room.Note + "”"
		}
		list = append(list, need{Key: fmt.Sprintf("paused:%d", p.Room.Version), Title: "The waiting room is paused", Text: text})
	case p.Shown != nil && p.Shown.Away:
		list = append(list, need{Key: "away", Title: "The waiting room cannot reach the database", Text: "No visitor is let in meanwhile. The figures are the last known ones."})
	}
	return list
}

// ofSections adds which sections are sold out while others are not.
func (p Live) ofSections(list []need) []need {
	var out []string
	for i, s := range p.Plan.Sections {
		if p.soldOut(s) {
			out = append(out, p.Plan.Sections[i].Name)
		}
	}
	if len(out) == 0 || len(out) == len(p.Plan.Sections) {
		return list
	}
	n := need{Key: fmt.Sprintf("soldout:%d", len(out)), Title: "Sold out: " + out[0], Text: views.Counted(p.Live.Free, "seat") + " elsewhere are free."}
	if len(out) > 1 {
		n.Title = views.Counted(len(out), "section") + " are sold out"
		n.Text = strings.Join(out[:min(len(out), 12)], ", ") + ". " + n.Text
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
