package mail

import (
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Action is a mail with a link in it, such as an invitation.
type Action struct {
	Subject, What, Button, Address, Advice string

	Quote, Code string // of a gift card: the words of its giver, and its code
	Legal       []views.Link
}

// Text is the mail for programs that show plain text.
func (l Action) Text() string {
	what := l.What
	if l.Quote != "" {
		what += "\n\n“" + l.Quote + "”"
	}
	if l.Code != "" {
		what += "\n\nCode: " + l.Code
	}
	return what + "\n\n" + l.Button + ":\n" + l.Address + "\n\n" + l.Advice + "\n" + footText(l.Legal)
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

// PersonalData leads people to what is known of them.
func PersonalData(email, address string) Action {
	return Action{
		Subject: "The link to your personal data", Button: "See my data", Address: address,
		What:   "You, or someone who knows your address, asked what we know of " + email + ".",
		Advice: "The link works for half an hour. Keep it private. If you did not ask for it, ignore this email: only you get the link.",
	}
}

// Confirm asks to confirm an order.
func Confirm(p shop.PaymentPage, address string) Action {
	return Action{
		Subject: "Confirm your order: " + p.Event.Name, Button: "Confirm my order", Address: address,
		What: "Please confirm your order of " + views.Counted(len(p.Payment.Seats), "ticket") + " for " + p.Event.Name + ", " + views.When(p.Event) + ". We keep your seats until " + views.Clock(p.Event, p.Until()) +
			". Nothing is ordered before you confirm.",
		Advice: "If you did not order this, ignore this email: nothing is ordered in your name.",
	}
}

// Security tells of a change to an account or a team.
func Security(about, address string) Action {
	return Action{
		Subject: "Security notice from your box office", Button: "View your account", Address: address, What: about,
		Advice: "If you did this, or know who did, there is nothing to do. If not: sign out everywhere, choose another password, and tell the owners of your team.",
	}
}

// Place invites a person to a waiting room.
func Place(name, address string) Action {
	return Action{
		Subject: "Your invitation: " + name, Button: "Open my invitation", Address: address,
		What:   "You are invited to the sale of " + name + ". The link leads to its waiting room, where one button gives you your place.",
		Advice: "The place is yours alone: one for this address, in whatever browser you open the link. So do not pass it on.",
	}
}
