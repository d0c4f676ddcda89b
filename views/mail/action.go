package mail

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Action is a mail with a link in it, such as an invitation.
type Action struct {
	Letterhead
	Subject, What, Button, Address, Advice string

	Quote, Code string   // of a gift card: the words of its giver, and its code
	Lines       []string // of alerts: one each
}

// Text is the mail for programs that show plain text.
func (l Action) Text(ctx context.Context) string {
	what := l.What
	if l.Quote != "" {
		what += "\n\n" + text.T(ctx, "“%s”", l.Quote)
	}
	for i, line := range l.Lines {
		what += map[bool]string{true: "\n\n", false: "\n"}[i == 0] + "- " + line
	}
	if l.Code != "" {
		what += "\n\n" + text.T(ctx, "Code: %s", l.Code)
	}
	return what + "\n\n" + l.Button + ":\n" + l.Address + "\n\n" + l.Advice + "\n" + footText(ctx, l.Letterhead)
}

// Invitation asks a person to join a team.
func Invitation(ctx context.Context, i organizers.Invited, address string) Action {
	return Action{
		Subject: text.T(ctx, "Join %s", i.TeamName), Button: text.T(ctx, "Join the team"), Address: address,
		// Translators: %[2]s is a role such as "manager", %[3]s what it may do, such as "runs events, prices, orders and the sale".
		What:   text.T(ctx, "You are invited to the team %[1]s at its box office, as %[2]s. This role %[3]s.", i.TeamName, text.T(ctx, views.RoleName(i.Role)), text.T(ctx, views.RoleWords(i.Role))),
		Advice: text.T(ctx, "The link works once, for a week. If you didn’t expect this invitation, ignore this email: nothing happens without you."),
	}
}

// Password lets an organizer choose another password.
func Password(ctx context.Context, name, address string) Action {
	return Action{
		Subject: text.T(ctx, "Choose another password"), Button: text.T(ctx, "Choose another password"), Address: address,
		What:   text.T(ctx, "You asked to choose another password for %s at the box office.", name),
		Advice: text.T(ctx, "The link works once, for ten minutes. If you didn’t ask for it, ignore this email: your password stays as it is."),
	}
}

// Security tells of a change to an account or a team.
func Security(ctx context.Context, about, address string) Action {
	return Action{
		Subject: text.T(ctx, "Security notice from your box office"), Button: text.T(ctx, "View your account"), Address: address, What: about,
		Advice: text.T(ctx, "If you did this, or know who did, there is nothing to do. If not: sign out everywhere, choose another password, and tell the owners of your team."),
	}
}

// Alerts tells a member what needs a person, a line each; without lines it is a try.
func Alerts(ctx context.Context, lines []string, address string) Action {
	a := Action{
		Subject: text.T(ctx, "Test: alerts from your box office"), Button: text.T(ctx, "Open the desk"), Address: address, Lines: lines,
		What:   text.T(ctx, "This is a test. An alert looks like this, and nothing happened."),
		Advice: text.T(ctx, "You chose these alerts. Change your choice at the desk, under Alerts."),
	}
	switch len(lines) {
	case 0:
	case 1:
		a.Subject, a.What = lines[0], text.T(ctx, "This needs attention now:")
	default:
		a.Subject, a.What = text.N(ctx, "%d alert from your box office", "%d alerts from your box office", len(lines)), text.T(ctx, "This needs attention now:")
	}
	return a
}

// Books tells a member what their team earned in some days, a line for each currency.
func Books(ctx context.Context, days string, lines []string, address string) Action {
	a := Action{
		Subject: text.T(ctx, "Books: %s", days), Button: text.T(ctx, "Open the books"), Address: address, Lines: lines,
		What:   text.T(ctx, "This is what came in:"),
		Advice: text.T(ctx, "You chose to get the books by email. Change your choice at the desk, under Books."),
	}
	if len(lines) == 0 {
		a.What = text.T(ctx, "Nothing was sold or paid in these days.")
	}
	return a
}

// Passkey tells of a passkey that was added to an account of an attendee, or removed from it.
func Passkey(ctx context.Context, added bool, name, address string) Action {
	a := Action{
		Subject: text.T(ctx, "A passkey was removed from your account"), Button: text.T(ctx, "View your account"), Address: address,
		What:   text.T(ctx, "The passkey “%s” was removed from your account.", name),
		Advice: text.T(ctx, "If you did this, there is nothing to do. If not, open your account with a link by email and remove every passkey that you don’t know."),
	}
	if added {
		a.Subject, a.What = text.T(ctx, "A passkey was added to your account"), text.T(ctx, "The passkey “%s” was added to your account.", name)
	}
	return a
}

// Account leads people to their tickets and their credit.
func Account(ctx context.Context, email, address string) Action {
	return Action{
		Subject: text.T(ctx, "Your link to your tickets"), Button: text.T(ctx, "Open my account"), Address: address,
		What:   text.T(ctx, "You asked to see the tickets and the credit of %s.", email),
		Advice: text.T(ctx, "The link works once, for ten minutes. If you did not ask for it, ignore this email: only you get the link."),
	}
}

// PersonalData leads people to what is known of them.
func PersonalData(ctx context.Context, email, address string) Action {
	return Action{
		Subject: text.T(ctx, "Your link to your personal data"), Button: text.T(ctx, "Show my data"), Address: address,
		What:   text.T(ctx, "You asked what we know about %s.", email),
		Advice: text.T(ctx, "The link works for ten minutes. Keep it private. If you did not ask for it, ignore this email: only you get the link."),
	}
}

// Confirm asks to confirm an order.
func Confirm(ctx context.Context, p shop.PaymentPage, address string) Action {
	tickets := text.N(ctx, "%d ticket", "%d tickets", len(p.Payment.Seats))
	return Action{
		Subject: text.T(ctx, "Confirm your order: %s", p.Event.Name), Button: text.T(ctx, "Confirm my order"), Address: address,
		What: text.T(ctx, "Please confirm your order: %s for %s, %s. We hold your seats until %s. Nothing is ordered before you confirm.",
			tickets, p.Event.Name, views.WhenIn(ctx, p.Event), views.ClockIn(ctx, p.Event, p.Until())),
		Advice: text.T(ctx, "If you did not order this, ignore this email: nothing is ordered in your name."),
	}
}

// Renewal tells a subscriber which seats are kept, and leads to where they renew.
func Renewal(ctx context.Context, h *subscriptions.House, b subscriptions.Basket, address string) Action {
	var names []string
	for _, idx := range b.Seats {
		names = append(names, shop.SeatWords(ctx, h.First.Plan, idx))
	}
	return Action{
		Subject: text.T(ctx, "Renew your subscription: %s", h.Name), Button: text.T(ctx, "Renew my subscription"), Address: address,
		What: text.T(ctx, "Your seats are kept for you until %[1]s: %[2]s. They are yours in %[3]s for %[4]s.",
			shop.KeptUntil(ctx, h), strings.Join(names, text.T(ctx, ", ")), text.Some(len(h.Sales), "%d performance", "%d performances"), views.MoneyIn(ctx, b.Total, h.Currency)),
		Advice: text.T(ctx, "Keep this link private: anyone with it can have these seats. If you do nothing, they are on sale for everyone after that time."),
	}
}

// Place invites a person to a waiting room.
func Place(ctx context.Context, name, address string) Action {
	return Action{
		Subject: text.T(ctx, "Your invitation: %s", name), Button: text.T(ctx, "Open my invitation"), Address: address,
		What:   text.T(ctx, "You are invited to the sale of %s. The link opens the waiting room. Join the queue there.", name),
		Advice: text.T(ctx, "This invitation is for you alone: it gives one place in the queue, in any browser. Please do not share it."),
	}
}

// EventCode brings a person a code of their own.
func EventCode(ctx context.Context, sale shop.Sale, c pricing.Code, address string) Action {
	e := sale.Event
	return ownCode(ctx, sale, c, text.T(ctx, "This code is for you: %[1]s, %[2]s.", e.Name, views.WhenIn(ctx, e)), address,
		text.T(ctx, "The button leads to the event, with the code filled in. You can also enter it at the checkout. The organizer made it for you alone: please keep it to yourself."))
}

// SeriesCode brings a person a code of their own that is good in performances of a series.
func SeriesCode(ctx context.Context, sale shop.Sale, c pricing.Code, dates pricing.CodeDates, address string) Action {
	e := sale.Event
	return ownCode(ctx, sale, c, text.T(ctx, "This code is for you: %[1]s, %[2]s, %[3]s.", e.Name, text.Some(dates.Count, "%d performance", "%d performances"), shop.DaySpan(ctx, e.Local(dates.First), e.Local(dates.Last))), address,
		text.T(ctx, "The button leads to the dates. Choose one, and the code is filled in. You can also enter it at the checkout. The organizer made it for you alone: please keep it to yourself."))
}

// ownCode says what a code is for and how long it works.
func ownCode(ctx context.Context, sale shop.Sale, c pricing.Code, is, address, advice string) Action {
	e, what := sale.Event, []string{is}
	if c.Presale {
		what = append(what, text.T(ctx, "With it you can book before the sale opens to everyone."))
		if c.PersonTickets > 0 {
			what = append(what, text.N(ctx, "Until then you can book %d ticket.", "Until then you can book up to %d tickets.", c.PersonTickets))
		}
	}
	if c.BeginsAt != nil {
		what = append(what, text.T(ctx, "It works from %s.", views.MomentIn(ctx, e, *c.BeginsAt)))
	}
	if c.EndsAt != nil {
		what = append(what, text.T(ctx, "It works until %s.", views.MomentIn(ctx, e, *c.EndsAt)))
	}
	return Action{Subject: text.T(ctx, "Your code: %s", e.Name), Button: text.T(ctx, "Use my code"), Address: address, What: strings.Join(what, " "), Code: c.Code, Advice: advice}
}

// Turn tells a visitor of a waiting room that their number is called.
func Turn(ctx context.Context, name string, number int64, until, address string) Action {
	return Action{
		Subject: text.T(ctx, "It is your turn") + ": " + name, Button: text.T(ctx, "Enter the shop"), Address: address,
		What:   text.T(ctx, "Your number %d in the waiting room is called. Enter by %s.", number, until),
		Advice: text.T(ctx, "Open the link in the browser in which you joined: it keeps your place. You asked for this email in the waiting room. It is the only one. We delete your address once this email is sent."),
	}
}

// TicketOffer leads a friend to a ticket that is sent to them.
func TicketOffer(ctx context.Context, sale shop.Sale, from, seat, address string) Action {
	return Action{
		Subject: text.T(ctx, "%[1]s sends you a ticket: %[2]s", from, sale.Event.Name), Button: text.T(ctx, "View the ticket"), Address: address,
		What:   text.T(ctx, "%[1]s sends you a ticket for %[2]s, %[3]s: %[4]s. It is yours once you accept it.", from, sale.Event.Name, views.WhenIn(ctx, sale.Event), seat),
		Advice: text.T(ctx, "Keep this link private: the first person who accepts gets the ticket. If you don’t know the sender, ignore this email: nothing happens without you."),
	}
}

// ResaleOffer leads a friend to tickets that they alone may buy for a time.
func ResaleOffer(ctx context.Context, sale shop.Sale, f orders.ResaleOffer, address string) Action {
	return Action{
		Subject: text.T(ctx, "%[1]s offers you a ticket: %[2]s", f.From, sale.Event.Name), Button: text.T(ctx, "View the ticket"), Address: address,
		What: text.T(ctx, "%[1]s offers you a ticket for %[2]s, %[3]s: %[4]s. Only you can buy it until %[5]s. After that, anyone can.",
			f.From, sale.Event.Name, views.WhenIn(ctx, sale.Event), strings.Join(sale.SeatsOf(ctx, sale.Hold.Seats), text.T(ctx, ", ")), views.DayTimeIn(ctx, sale.Event, f.Until)),
		Advice: text.T(ctx, "Keep this link private: anyone with it can buy the ticket. If you don’t know the sender, ignore this email: nothing happens without you."),
	}
}

// TicketVoid tells a friend that the organizer cancelled the ticket that they were sent.
func TicketVoid(ctx context.Context, sale shop.Sale, seat, address string) Action {
	return Action{
		Subject: text.T(ctx, "Ticket cancelled: %s", sale.Event.Name), Button: text.T(ctx, "View the ticket"), Address: address,
		What:   text.T(ctx, "The organizer cancelled your ticket for %[1]s, %[2]s: %[3]s. It is no longer valid.", sale.Event.Name, views.WhenIn(ctx, sale.Event), seat),
		Advice: text.T(ctx, "If it was paid for, its price goes back to the person who bought it."),
	}
}

// EmailAllow asks the address that an order has whether the order gets another one.
func EmailAllow(ctx context.Context, sale shop.Sale, to, address string) Action {
	return Action{
		Subject: text.T(ctx, "Change of your email address: %s", sale.Event.Name), Button: text.T(ctx, "Allow this change"), Address: address,
		What:   text.T(ctx, "Your order for %[1]s, %[2]s, is to get the email address %[3]s. Emails about it, with the tickets, go there once you allow it and the new address is confirmed.", sale.Event.Name, views.WhenIn(ctx, sale.Event), to),
		Advice: text.T(ctx, "The link works for a day. If you did not ask for this, open it, stop the change and contact the organizer: another person has the link to your order. Nothing changes without you."),
	}
}

// EmailConfirm asks the new address of an order whether it is right. It says nothing of the buyer.
func EmailConfirm(ctx context.Context, sale shop.Sale, address string) Action {
	return Action{
		Subject: text.T(ctx, "Confirm this email address: %s", sale.Event.Name), Button: text.T(ctx, "Confirm this address"), Address: address,
		What:   text.T(ctx, "This email address was entered for an order for %[1]s, %[2]s. Emails about it, with the tickets, come here once you confirm it and the old address allows it.", sale.Event.Name, views.WhenIn(ctx, sale.Event)),
		Advice: text.T(ctx, "The link works for a day. If you did not ask for this, ignore this email: nothing changes without you."),
	}
}

// Option tells the contact of a group what is kept for them, until when, what it costs, and what deposit they are asked for. deposit is the
// address of its page.
func Option(ctx context.Context, sale shop.Sale, k bookings.Booking, total int64, ends bool, address, deposit string) Action {
	e := sale.Event
	until := text.Time(ctx, e.Local(k.Until), "2 Jan 2006, 15:04")
	a := Action{
		Subject: text.T(ctx, "Your seats for %s", e.Name), Button: text.T(ctx, "View event"), Address: address,
		What: text.N(ctx, "We keep %d seat for you until %s.", "We keep %d seats for you until %s.", len(k.Seats), until),
		Lines: []string{
			e.Name + " · " + views.WhenIn(ctx, e), sale.Plan.SeatName(k.Seats...).In(ctx), text.T(ctx, "Total %s", views.MoneyIn(ctx, total, e.Currency)),
		},
		Advice: text.T(ctx, "Tell the box office before then whether you take them. You pay by invoice. Without an answer the seats are on sale again."),
	}
	if d := k.Deposit; d != nil {
		a.Lines = append(a.Lines, shop.DepositWords(ctx, e, k))
		if !d.Paid() {
			a.Lines = append(a.Lines, shop.DepositRule(ctx, e, *d))
			a.Button, a.Address = text.T(ctx, "Pay the deposit"), deposit
		}
	}
	if k.Withdrawn != nil {
		a.Lines = append(a.Lines, text.T(ctx, "No deposit is needed any more. Do not pay it."))
	}
	if d := k.Deposit; d != nil && d.Reminded && !d.Paid() {
		a.Subject = text.T(ctx, "The deposit for %[1]s is due on %[2]s", e.Name, views.DayTimeIn(ctx, e, d.Due))
	}
	if ends {
		a.Subject = text.T(ctx, "Your seats for %[1]s are kept until %[2]s", e.Name, until)
	}
	return a
}
