package shop

import (
	"context"
	"encoding/base64"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
)

// AccountPath is the address of the page on which people find their tickets and their credit.
const AccountPath = "/account"

// AccountPage shows the tickets and the credit of an address, or asks for one, or opens a link that was mailed.
type AccountPage struct {
	views.Page
	Account    string             // who is signed in; empty for none
	Coming     []orders.Owned     // its orders, of events to come
	Past       []orders.Owned     // the others
	Waits      []waitlist.Owned   // its entries in waiting lists
	Statements []credit.Statement // of the account, by currency
	Keys       []credit.Passkey   // that open the account
	Passkeys   bool               // browsers keep passkeys for this site
	SignedIn   []SignedIn         // its sessions, this one first
	Proved     bool               // the reader signed in a few minutes ago, and may end the others
	Code       string             // of a voucher, as it was typed
	WrongCode  string             // why it loaded nothing
	Typed      string             // the address that was typed, or that a link is of
	WrongEmail string             // why no link was sent
	Asked      string             // where a link is on its way to
	Token      string             // of the link that was opened
	Key        string             // of the form: a repeat of it is known by it
	Back       string             // the checkout to go back to
}

// SignedIn is a session that is signed in as an account.
type SignedIn struct {
	Agent string // its browser, in words of ours
	Since time.Time
	Here  bool // it is the reader's
}

// Wallet is the buyer's credit at a checkout, in the currency of its event.
type Wallet struct {
	Account string // empty: not signed in
	Balance int64  // minor units
}

// partly reports whether the reader's credit can pay a part of this order, and another method the rest.
func (p CheckoutPage) partly() bool {
	return p.Wallet != nil && p.Wallet.Balance > 0 && p.Wallet.Balance < p.total() && (slices.Contains(p.Methods, payments.Card) || slices.Contains(p.Methods, payments.Demo))
}

// about says what a way to pay means for this order.
func (p CheckoutPage) about(ctx context.Context, method string) string {
	if method == payments.Credit && p.Wallet != nil {
		return text.T(ctx, "%s of the %s of %s.", views.MoneyIn(ctx, p.total(), p.Event.Currency), views.MoneyIn(ctx, p.Wallet.Balance, p.Event.Currency), p.Wallet.Account)
	}
	if method == payments.Door || method == payments.Invoice {
		return text.T(ctx, methodWords[method].about) + " " + p.payBy(ctx)
	}
	return text.T(ctx, methodWords[method].about)
}

// payBy says until when an order that is paid later is to be paid.
func (p CheckoutPage) payBy(ctx context.Context) string {
	latest := p.Event.StartsAt.Add(-p.Event.Policy.PayBefore)
	if p.held().Now.Add(p.Event.Policy.PayLater).After(latest) {
		return text.T(ctx, "Pay by %s, or we cancel the order.", views.DayTimeIn(ctx, p.Event, latest))
	}
	return text.T(ctx, "Pay within %s, or we cancel the order.", views.LengthIn(ctx, p.Event.Policy.PayLater))
}

// ownedWhen says when and where the event of an order is.
func ownedWhen(ctx context.Context, o orders.Owned) string {
	return whenWhere(ctx, seats.Event{TimeZone: o.TimeZone, StartsAt: o.StartsAt, Venue: o.Venue, Online: seats.Online{On: o.Online}})
}

// waitsWhen says when and where the event of a waiting list is.
func waitsWhen(ctx context.Context, n waitlist.Owned) string {
	return whenWhere(ctx, seats.Event{TimeZone: n.TimeZone, StartsAt: n.StartsAt, Venue: n.Venue, Online: seats.Online{On: n.Online}})
}

func whenWhere(ctx context.Context, e seats.Event) string {
	if place := views.PlaceIn(ctx, e); place != "" {
		return views.WhenIn(ctx, e) + " · " + place
	}
	return views.WhenIn(ctx, e)
}

// OwnedPath is the address of an order, or of the ticket of one that was sent to the reader.
func OwnedPath(o orders.Owned) string {
	if o.Received {
		return ReceivedPath(o.Code)
	}
	return OrderPath(o.Code)
}

// ownedState says how an order stands.
func ownedState(ctx context.Context, o orders.Owned) string {
	switch {
	case o.Called:
		return text.T(ctx, "Event cancelled")
	case o.Cancelled:
		return text.T(ctx, "Cancelled")
	}
	return text.N(ctx, "%d ticket", "%d tickets", o.Tickets)
}

// waitsState says how an entry in a waiting list stands.
func waitsState(ctx context.Context, n waitlist.Owned) string {
	switch n.State {
	case waitlist.Offered:
		return text.T(ctx, "Seats for you")
	case waitlist.Unverified:
		return text.T(ctx, "Not confirmed yet")
	}
	return text.T(ctx, "On the list")
}

// voucherPath is where a voucher is redeemed, with the checkout to go back to.
func (p AccountPage) voucherPath() string {
	if p.Back == "" {
		return AccountPath + "/vouchers"
	}
	return AccountPath + "/vouchers?back=" + p.Back
}

// signed is an amount with its sign, as statements have it.
func signed(ctx context.Context, minor int64, iso string) string {
	if minor < 0 {
		return "\u2212" + views.MoneyIn(ctx, -minor, iso)
	}
	return "+" + views.MoneyIn(ctx, minor, iso)
}

// lineWords says what a line of a statement is.
func lineWords(ctx context.Context, l credit.Line) string {
	about := l.Event
	if about == "" {
		about = text.T(ctx, "an order")
	}
	switch l.Kind {
	case "voucher":
		return text.T(ctx, "Voucher")
	case "refund":
		return text.T(ctx, "Refund: %s", about)
	case "held":
		return text.T(ctx, "Set aside for %s", about)
	case "paid":
		return about
	}
	return text.T(ctx, "From the box office")
}

// facts are nil if the page needs no script, which is that of passkeys.
func (p AccountPage) facts() templ.Attributes {
	if p.Script == "" {
		return nil
	}
	return templ.Attributes{}
}

// passkeyPath is the address of a passkey of the account.
func passkeyPath(k credit.Passkey) string {
	return AccountPath + "/passkeys/" + base64.RawURLEncoding.EncodeToString(k.ID)
}

// passkeyDates says when a passkey was added, and used last.
func passkeyDates(ctx context.Context, k credit.Passkey) string {
	if k.UsedAt == nil {
		return text.T(ctx, "added %s, not used yet", views.DayIn(ctx, k.CreatedAt.UTC()))
	}
	return text.T(ctx, "added %[1]s, last used %[2]s", views.DayIn(ctx, k.CreatedAt.UTC()), views.DayIn(ctx, k.UsedAt.UTC()))
}
