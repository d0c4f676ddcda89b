package shop

import (
	"context"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// DepositPage is the deposit that a group is asked for.
type DepositPage struct {
	views.Page
	Sale
	Booking  bookings.Booking
	Transfer banktransfer.Transfer // of the deposit; without an account if it is not to be paid, or the team has none

	Method    string              // by which it can be paid here; empty: not now
	Payment   *bookings.Payment   // the latest one here; nil: none
	Documents []invoices.Document // its invoice, and what came of it
	Refused   string              // why a payment was refused
}

// open reports whether a payment is under way.
func (p DepositPage) open() bool {
	return p.Payment != nil && p.Payment.State == bookings.PaymentOpen
}

// returned says what becomes of money that came and is not the deposit; empty if there is none.
func (p DepositPage) returned(ctx context.Context) string {
	switch {
	case p.Payment == nil:
	case p.Payment.State == bookings.PaymentRefunding:
		return text.T(ctx, "Your payment of %s goes back the way you paid.", views.MoneyIn(ctx, p.Payment.Amount, p.Event.Currency))
	case p.Payment.State == bookings.PaymentRefunded:
		return text.T(ctx, "Your payment of %s went back the way you paid.", views.MoneyIn(ctx, p.Payment.Amount, p.Event.Currency))
	}
	return ""
}

// DepositPath is the address of a deposit.
func DepositPath(code string) string { return "/deposits/" + code }

// DepositDue reports whether a deposit is to be paid.
func DepositDue(e seats.Event, k bookings.Booking) bool {
	return k.Deposit != nil && !k.Deposit.Withdrawn && !k.Deposit.Paid() && k.State == bookings.Option && e.Status != seats.Cancelled
}

// DepositWords say where a deposit stands.
func DepositWords(ctx context.Context, e seats.Event, k bookings.Booking) string {
	d := k.Deposit
	amount := views.MoneyIn(ctx, d.Amount, e.Currency)
	switch {
	case d.Outcome == bookings.InOrder && k.OrderCancelled:
		return text.T(ctx, "The order was cancelled. Its page says what goes back to you, and the deposit of %s is a part of what was paid.", amount)
	case d.Outcome == bookings.InOrder:
		return text.T(ctx, "Your booking is confirmed. The deposit of %s is taken off its invoice.", amount)
	case d.GoesBack:
		return text.T(ctx, "We pay the deposit of %s back to you.", amount)
	case d.Outcome == bookings.Refunded:
		return text.T(ctx, "The booking has ended. We paid the deposit of %[1]s back on %[2]s.", amount, views.DayIn(ctx, e.Local(*d.EndedAt)))
	case d.Outcome == bookings.Retained:
		return text.T(ctx, "The booking has ended. We kept the deposit of %[1]s by its rule.", amount)
	case d.Paid() && k.State == bookings.Option && e.Status != seats.Cancelled:
		return text.T(ctx, "We received the deposit of %[1]s on %[2]s. It is taken off the invoice.", amount, views.DayIn(ctx, e.Local(*d.PaidAt)))
	case k.Owed(e) && !d.Keepable:
		return text.T(ctx, "We pay the deposit of %s back to you.", amount)
	case d.Paid():
		return text.T(ctx, "The booking has ended. The organizer decides by the rule whether the deposit of %s is paid back.", amount)
	case k.State == bookings.Confirmed && k.OrderCancelled:
		return text.T(ctx, "The order was cancelled, and no deposit is needed any more. Do not pay it.")
	case k.State == bookings.Confirmed:
		return text.T(ctx, "Your booking is confirmed, and no deposit is needed any more. Pay the invoice.")
	case d.Withdrawn && k.State == bookings.Option && e.Status != seats.Cancelled:
		return text.T(ctx, "We keep your seats, and no deposit is needed any more. Do not pay it.")
	case !DepositDue(e, k):
		return text.T(ctx, "The booking has ended, and no deposit is needed any more. Do not pay it.")
	}
	return text.T(ctx, "Deposit of %[1]s, due on %[2]s", amount, views.DayTimeIn(ctx, e, d.Due))
}

// DepositRule says when a deposit goes back.
func DepositRule(ctx context.Context, e seats.Event, d bookings.Deposit) string {
	if d.Refundable == nil {
		return text.T(ctx, "If the booking is cancelled, or ends without a confirmation, we may keep the deposit.")
	}
	return text.T(ctx, "Refundable until %s. If the booking is cancelled or ends by then, you get the deposit back. After that, we may keep it.", views.DayTimeIn(ctx, e, *d.Refundable))
}
