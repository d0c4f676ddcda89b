package desk

import (
	"slices"

	"github.com/usherbox/usher/seats/text"
)

// Export is a list that organizers take away.
type Export struct{ Name, Title string }

// Exports are all of them.
var Exports = []Export{{"orders", text.Mark("Orders")}, {"attendees", text.Mark("Tickets")}, {"seats", text.Mark("Seats")}, {"payments", text.Mark("Payments")}, {"taxes", text.Mark("Taxes")}}

// ExportPath is the address of a list as a file.
func ExportPath(slug, name, kind string) string {
	return EventPath(slug) + "/exports/" + name + "." + kind
}

// RoomEvidence is the file of what happened in the waiting room of an event.
const RoomEvidence = "room.jsonl"

func sortWords(list []string) { slices.Sort(list) }
