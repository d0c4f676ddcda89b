package views

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

// PaidHow says how an order is or was paid.
func PaidHow(method string) string { return paidHow[method] }

// PaidBy says how an order was paid. A gift card pays at the box office, in part or all of it.
func PaidBy(ctx context.Context, o orders.Order) string {
	switch {
	case o.ByCard == 0:
		return text.T(ctx, PaidHow(o.Method))
	case o.ByCard == o.Total:
		return text.T(ctx, "by gift card")
	}
	return text.T(ctx, "%s and by gift card", text.T(ctx, PaidHow(o.Method)))
}

var paidHow = map[string]string{
	payments.Free: text.Mark("no charge"), payments.Door: text.Mark("at the box office"), payments.Invoice: text.Mark("by bank transfer"), payments.Card: text.Mark("by card"),
	payments.Demo: text.Mark("demo card"), payments.Credit: text.Mark("from credit"), payments.Cash: text.Mark("in cash"), payments.Terminal: text.Mark("card terminal"),
	payments.Exchange: text.Mark("by exchange"), payments.Deposit: text.Mark("by deposit"),
}

// RoleName is the message that names a role.
func RoleName(r organizers.Role) string { return roleNames[r] }

var roleNames = map[organizers.Role]string{
	organizers.Owner: text.Mark("owner"), organizers.Manager: text.Mark("manager"), organizers.Viewer: text.Mark("viewer"), organizers.Door: text.Mark("door"),
	organizers.Marketing: text.Mark("marketing"), organizers.Accounting: text.Mark("accounting"), organizers.Till: text.Mark("till"),
}

// RoleWords is the message about what a role is for.
func RoleWords(r organizers.Role) string {
	switch r {
	case organizers.Owner:
		return text.Mark("can do everything, including managing the team")
	case organizers.Manager:
		return text.Mark("runs events, prices, orders and the sale")
	case organizers.Marketing:
		return text.Mark("sees figures, and looks after pages, emails and codes")
	case organizers.Accounting:
		return text.Mark("sees figures, and does the books, invoices and bank transfers")
	case organizers.Till:
		return text.Mark("can sell at the box office and admit people")
	case organizers.Door:
		return text.Mark("admits people at the door")
	}
	return text.Mark("can see everything, but change nothing")
}

// agents are browsers as sessions have them.
var agents = text.NewStored(
	// Translators: a browser and a system, such as "Firefox on Linux".
	text.Mark("%s on %s"))

// AgentName is the browser of a session as lists name it.
func AgentName(ctx context.Context, agent string) string {
	if agent == "" {
		return text.T(ctx, "Unknown browser")
	}
	said := []rune(agents.In(ctx, agent))
	return strings.ToUpper(string(said[:1])) + string(said[1:])
}
