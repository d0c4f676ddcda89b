package desk

import "github.com/usherbox/usher/seats/publiclog"

// PublicLogPath is the address of what organizers see of the public log of a sale.
func PublicLogPath(slug string) string { return EventPath(slug) + "/log" }

// FairnessPath is where the fairness report of a sale is published.
func FairnessPath(slug string) string { return EventPath(slug) + "/fairness" }

// PublicLogPage is the public log of a sale, with its switch.
type PublicLogPage struct {
	Frame
	Log      publiclog.Log
	May      bool   // it may have a fairness report
	Reported bool   // that is published
	Home     string // how browsers reach us
}
