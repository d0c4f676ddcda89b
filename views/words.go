package views

import (
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// PaidHow says how an order is or was paid.
func PaidHow(method string) string {
	return map[string]string{
		payments.Free: "no charge", payments.Door: "at the door", payments.Invoice: "by bank transfer", payments.Card: "by card", payments.Demo: "demo card", payments.Credit: "from credit",
		payments.Cash: "in cash", payments.Terminal: "card terminal",
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
