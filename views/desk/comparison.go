package desk

import (
	"time"

	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/overview"
)

// ComparisonPath is the address of the comparison of an event with others.
func ComparisonPath(slug string) string { return EventPath(slug) + "/comparison" }

// ComparisonPage is how an event sells beside earlier ones.
type ComparisonPage struct {
	Frame
	books.Comparison
	With   string // slug of the event that was chosen; empty: the series
	Others []overview.Event
}

// days is how many days are left until the start; one that has begun counts.
func (p ComparisonPage) days() int {
	return int((p.Before + 24*time.Hour - 1) / (24 * time.Hour))
}
