package desk

import "github.com/usherbox/usher/seats/publiclog"

// PublicLogPath is the address of what organizers see of the public log of a sale.
func PublicLogPath(slug string) string { return EventPath(slug) + "/log" }

// PublicLogPage is the public log of a sale, with its switch.
type PublicLogPage struct {
	Frame
	Log  publiclog.Log
	Home string // how browsers reach us
}
