package desk

import "slices"

// Export is a list that organizers take away.
type Export struct{ Name, Title string }

// Exports are all of them.
var Exports = []Export{{"orders", "Orders"}, {"attendees", "Tickets"}, {"seats", "Seats"}, {"payments", "Payments"}, {"taxes", "Taxes"}}

// ExportPath is the address of a list as a file.
func ExportPath(slug, name, kind string) string {
	return EventPath(slug) + "/exports/" + name + "." + kind
}

func sortWords(list []string) { slices.Sort(list) }
