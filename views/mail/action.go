package mail

import (
	"context"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Action is a mail with a link in it, such as an invitation.
type Action struct {
	Letterhead
	Subject, What, Button, Address, Advice string

	Quote, Code string // of a gift card: the words of its giver, and its code
}

// Text is the mail for programs that show plain text.
func (l Action) Text(ctx context.Context) string {
	what := l.What
	if l.Quote != "" {
		what += "\n\n" + text.T(ctx, "“%s”", l.Quote)
	}
	if l.Code != "" {
		what += "\n\n" + text.T(ctx, "Code: %s", l.Code)
	}
	return what + "\n\n" + l.Button + ":\n" + l.Address + "\n\n" + l.Advice + "\n" + footText(ctx, l.Letterhead)
}

// Invitation asks a person to join a team.
func Invitation(i organizers.Invited, address string) Action {
	return Action{
		Subject: "Join " + i.TeamName, Button: "Join the team", Address: address,
		What:   "You are invited to the team " + i.TeamName + " at its box office, as " + string(i.Role) + ": that role " + views.RoleWords(i.Role) + ".",
		Advice: "The link works once, for a week. If you do not know what this is about, leave it: nothing happens without you.",
	}
}

// Password lets an organizer choose another password.
func Password(name, address string) Action {
	return Action{
		Subject: "Choose another password", Button: "Choose another password", Address: address,
		What:   "You, we hope, asked to choose another password for " + name + " at the desk.",
		Advice: "The link works once, for ten minutes. If you did not ask for it, leave it: your password stays as it is.",
	}
}

// Security tells of a change to an account or a team.
func Security(about, address string) Action {
	return Action{
		Subject: "Security notice from your box office", Button: "View your account", Address: address, What: about,
		Advice: "If you did this, or know who did, there is nothing to do. If not: sign out everywhere, choose another password, and tell the owners of your team.",
	}
}

// Credit leads people to their credit.
func Credit(ctx context.Context, email, address string) Action {
	return Action{
		Subject: text.T(ctx, "Your link to your credit"), Button: text.T(ctx, "Open my credit"), Address: address,
		What:   text.T(ctx, "You asked to see the credit of %s.", email),
		Advice: text.T(ctx, "The link works once, for half an hour. If you did not ask for it, ignore this email: only you get the link."),
	}
}

// PersonalData leads people to what is known of them.
func PersonalData(ctx context.Context, email, address string) Action {
	return Action{
		Subject: text.T(ctx, "Your link to your personal data"), Button: text.T(ctx, "Show my data"), Address: address,
		What:   text.T(ctx, "You asked what we know about %s.", email),
		Advice: text.T(ctx, "The link works for half an hour. Keep it private. If you did not ask for it, ignore this email: only you get the link."),
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

// Place invites a person to a waiting room.
func Place(ctx context.Context, name, address string) Action {
	return Action{
		Subject: text.T(ctx, "Your invitation: %s", name), Button: text.T(ctx, "Open my invitation"), Address: address,
		What:   text.T(ctx, "You are invited to the sale of %s. The link opens the waiting room. Join the queue there.", name),
		Advice: text.T(ctx, "This invitation is for you alone: it gives one place in the queue, in any browser. Please do not share it."),
	}
}
