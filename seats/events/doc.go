// Package events is what organizers decide about an event: its settings, its status, its plan. It writes the rows of
// events, plans, sections, categories, drawn seats and questions. The states of seats are those of package seats.
//
//	settings.go  the settings, and which are valid
//	create.go    a new event with the seats of a plan
//	edit.go      other settings; which waiting room or waiting list an event has
//	status.go    draft, scheduled, on sale, paused, closed, cancelled
//	readiness.go the checklist from a draft to its sale
//	replan.go    a newer version of the plan, while seats are sold
//	text.go      questions, spans of time and policies as organizers type them
//
// # Promises
//
//   - A change is a version of the event: every node reads the event anew, and no batch is decided by the earlier settings.
//   - What attendees agreed to when they took seats does not change once the sale has begun.
//   - An event becomes a draft again only while nothing was ordered and nothing is held or paid for.
//   - A newer plan loses no seat, and changes neither the label nor the price of one.
//
// A change runs in seats.Inventory.ChangeEvent, which locks the event first and its counter row last.
package events
