package alerts

import (
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/payments"
)

// Kind is a group of alerts that a member chooses.
type Kind string

// The kinds.
const (
	Sold    Kind = "sold"    // an event or a price category sells out
	Money   Kind = "money"   // payments fail, or wait for a person
	Orders  Kind = "orders"  // orders are about to be cancelled unpaid, or their mail came back
	Stopped Kind = "stopped" // a sale or a waiting room is paused
	Setup   Kind = "setup"   // an event to come lacks something
	Blocks  Kind = "blocks"  // blocked seats go on sale within a day
	Hooks   Kind = "hooks"   // a webhook fails
)

// Kinds are all kinds, in the order in which a form lists them.
func Kinds() []Kind { return []Kind{Sold, Money, Orders, Stopped, Setup, Blocks, Hooks} }

// Kinds of needs that this package finds, besides those of package overview.
const (
	SoldOut = "sold-out" // no seat is available or held
	Few     = "few"      // a tenth of a price category is left at most; Why is its name
	Failing = "failing"  // many of the latest payments failed
	Block   = "block"    // a block ends within a day
)

// kindOf groups the kinds of needs.
var kindOf = map[string]Kind{
	SoldOut: Sold, Few: Sold,
	payments.AlertPayment: Money, payments.AlertStep: Money, payments.AlertPayout: Money, payments.AlertDeposit: Money, Failing: Money,
	overview.NeedUnpaid: Orders, overview.NeedMail: Orders,
	overview.NeedRoom: Stopped, overview.NeedPaused: Stopped,
	overview.NeedDraft: Setup, overview.NeedPrices: Setup, overview.NeedMethod: Setup, overview.NeedLink: Setup, overview.NeedLegal: Setup,
	Block: Blocks, overview.NeedHook: Hooks,
}

// needs are what a role has to be allowed to get a kind, as at the home of the desk.
var needs = map[Kind]organizers.Need{
	Sold: organizers.Look, Money: organizers.Look, Orders: organizers.Look, Stopped: organizers.Manage, Setup: organizers.Manage, Blocks: organizers.Manage, Hooks: organizers.Own,
}

// For lists the kinds that a role may choose from.
func For(r organizers.Role) (list []Kind) {
	for _, k := range Kinds() {
		if r.May(needs[k]) {
			list = append(list, k)
		}
	}
	return list
}
