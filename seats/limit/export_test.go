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
