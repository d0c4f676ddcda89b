package views

import "github.com/usherbox/usher/seats/orders"

// DeskDoorsPath is the address of the links by which tickets of an event are looked at.
func DeskDoorsPath(slug string) string { return DeskEventPath(slug) + "/doors" }

// DeskDoorsPage is who came to an event, and the links by which people are let in.
type DeskDoorsPage struct {
	Desk
	orders.Turnout
	Link string // that was just made; empty for none
}

// share is how much of the bar is filled.
func (p DeskDoorsPage) share() stacked { return stack(p.Tickets-p.Came, 0, p.Came, 0) }
