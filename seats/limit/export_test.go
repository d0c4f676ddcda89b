package limit

// Step is one step of Run.
var Step = (*Events).step

// IsReading reports whether a Read is under way.
func IsReading(es *Events) bool {
	if es.reading.TryLock() {
		es.reading.Unlock()
		return false
	}
	return true
}

// CountEvery is how often what visitors hold is counted at most.
const CountEvery = countEvery

// Holders is how many visitors an event remembers.
func Holders(e *Event) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.holders)
}
