package views

import (
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
)

// PaidHow says how an order is or was paid.
func PaidHow(method string) string {
	return map[string]string{
		orders.Free: "no charge", orders.Door: "at the door", orders.Invoice: "by invoice", orders.Card: "by card", orders.Demo: "demo card", orders.Credit: "from credit",
		orders.Cash: "in cash", orders.Terminal: "card terminal",
	}[method]
}

// RoleWords says what a role is for.
func RoleWords(r organizers.Role) string {
	switch r {
	case organizers.Owner:
		return "may do everything, also change who is in the team"
	case organizers.Manager:
		return "runs events, prices, orders and the sale"
	case organizers.Viewer:
		return "looks on and changes nothing"
	}
	return "sells at the box office and lets people in"
}
