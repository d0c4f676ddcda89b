// Package payouts says what the card provider paid out to the bank account, what it kept as its fee, and whether that is what the books have, to
// the cent.
//
// # How payouts are read
//
// A webhook about a payout, or a member at the desk, makes a reading due. A job then asks the provider for its payouts, and for the lines of
// each one: charges, refunds, disputes, fees and others. All lines of a payout are stored at once, and never changed. Only the state of a
// payout changes, until it came or failed. A reading that is repeated, or made by two nodes, stores nothing twice.
//
// # How lines are matched
//
// The provider keeps the name of our payment or gift card with its charge, and the key of our call with its refund. A line of one of these is
// matched with it, and is a line of its team. What remains is named:
//
//	foreign   the line is of nothing here
//	amount    the line is of a payment or refund of ours, which is of another amount
//	unknown   the line is a refund of a payment of ours that we do not know of, or one that failed
//	dispute   a buyer disputes a payment of ours, or did
//
// The difference of a payout is the sum of these, and so zero if there are none.
//
// # Teams
//
// All teams of a box office share one account. A payout that was read while only one team took cards is all of that team. Of others a team sees
// its own lines, and what they come to.
//
// # Promises
//
//	S1  A payout that was read is the sum of its lines.
//	S2  A line of a charge or refund is the payment, gift card or refund that it names, to the cent and in its currency.
//
// Package verify holds them against the database.
package payouts
