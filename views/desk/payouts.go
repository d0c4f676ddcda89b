package desk

import (
	"context"

	"github.com/usherbox/usher/seats/payouts"
	"github.com/usherbox/usher/seats/text"
)

// PayoutsPath is the address of the payouts of a team.
const PayoutsPath = BooksPath + "/payouts"

// PayoutPath is the address of a payout.
func PayoutPath(id string) string { return PayoutsPath + "/" + id }

// PayoutsPage is what the card provider paid out.
type PayoutsPage struct {
	Frame
	payouts.Account
	Next  string // the cursor of earlier ones; empty: there are none
	Has   bool   // a provider is set up
	Wrong string // why they are not read
}

// PayoutPage is one payout with its lines, those that make a difference first.
type PayoutPage struct {
	Frame
	Payout payouts.Reckoned
	Lines  []payouts.Entry
}

// mostPayoutLines is how many lines a page has. The files have all.
const mostPayoutLines = 500

func (p PayoutPage) shown() []payouts.Entry { return p.Lines[:min(len(p.Lines), mostPayoutLines)] }

// differing are the lines that make a difference.
func (p PayoutPage) differing() []payouts.Entry { return p.Lines[:p.Payout.Wrong] }

// payoutStates are the words and the class of each state.
var payoutStates = map[string][2]string{
	payouts.Pending:  {text.Mark("pending"), ""},
	payouts.Transit:  {text.Mark("on its way"), ""},
	payouts.Paid:     {text.Mark("paid"), ""},
	payouts.Failed:   {text.Mark("failed"), "bad"},
	payouts.Canceled: {text.Mark("not sent"), "bad"},
}

func payoutState(ctx context.Context, status string) string {
	if words := payoutStates[status][0]; words != "" {
		return text.T(ctx, words)
	}
	return status
}

var lineKinds = map[string]string{
	payouts.Charge: text.Mark("Payment"), payouts.Refund: text.Mark("Refund"), payouts.Returned: text.Mark("Failed refund"), payouts.Dispute: text.Mark("Dispute"),
	payouts.Fee: text.Mark("Stripe fee"), payouts.Earlier: text.Mark("Failed payout"), payouts.Other: text.Mark("Other"),
}

// lineReasons say why a line makes a difference.
var lineReasons = map[string]string{
	payouts.WhyForeign: text.Mark("Belongs to nothing here. Look for it at Stripe."),
	payouts.WhyAmount:  text.Mark("Your books have another amount."),
	payouts.WhyUnknown: text.Mark("Your books do not have this refund, or not that it failed. Load the page again in a few minutes."),
	payouts.WhyDispute: text.Mark("The buyer had the bank take the payment back, or that was decided. Your books still have the payment."),
}
