package shop

import "strings"

// gates names the gates that a seat's ticket is good for, as "North / East"; empty if it may use any.
func (s Sale) gates(idx int) string {
	return strings.Join(s.Event.GatesOf(s.Plan.Sections[s.Plan.Seats[idx].Section].Name), " / ")
}
