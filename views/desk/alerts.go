package desk

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats/alerts"
	"github.com/usherbox/usher/seats/text"
)

// AlertsPath is the address of the page on which a member chooses alerts.
const AlertsPath = "/desk/alerts"

// AlertsPage is what a member gets by email, and what there was to tell.
type AlertsPage struct {
	Frame
	Kinds  []alerts.Kind // that the member may choose from
	Chosen []alerts.Kind
	List   []alerts.Alert
}

func (p AlertsPage) chose(k alerts.Kind) bool { return slices.Contains(p.Chosen, k) }

// alertWords says what a kind of alerts is about.
func alertWords(ctx context.Context, k alerts.Kind) string {
	return map[alerts.Kind]string{
		alerts.Sold:    text.T(ctx, "An event is sold out, or a tenth of a price category is left"),
		alerts.Money:   text.T(ctx, "Many payments fail, or a payment, refund or dispute needs a person"),
		alerts.Orders:  text.T(ctx, "Unpaid orders are cancelled within a day, or emails to buyers came back"),
		alerts.Stopped: text.T(ctx, "A sale or a waiting room is paused"),
		alerts.Setup:   text.T(ctx, "An event starts soon and is a draft, or it lacks prices, a way to pay, a link or a legal text"),
		alerts.Blocks:  text.T(ctx, "Blocked seats go on sale within a day"),
		alerts.Hooks:   text.T(ctx, "A webhook fails"),
	}[k]
}
