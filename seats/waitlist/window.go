package waitlist

import "time"

// Windows is how long an offer lasts when the sale ends after so much time.
func Windows(left time.Duration) time.Duration {
	switch {
	case left > 7*24*time.Hour:
		return 24 * time.Hour
	case left > 24*time.Hour:
		return 4 * time.Hour
	case left > time.Hour:
		return 20 * time.Minute
	default:
		return 5 * time.Minute
	}
}

// Quiet hours at the event's place: an offer that would end in them ends in the morning, unless the event is near.
const (
	quietFrom = 22 * time.Hour
	quietTo   = 8*time.Hour + 30*time.Minute
)

// until is when an offer made now ends: never in the night, unless the sale ends within a day, and never after it.
func until(now, end time.Time, zone *time.Location, windows func(time.Duration) time.Duration) time.Time {
	left := end.Sub(now)
	at := now.Add(windows(left))
	if left > 24*time.Hour {
		at = morning(at.In(zone))
	}
	if at.After(end) {
		return end
	}
	return at
}

// morning moves a time in quiet hours to their end.
func morning(at time.Time) time.Time {
	y, m, d := at.Date()
	clock := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	switch {
	case clock >= quietFrom:
		d++
	case clock >= quietTo:
		return at
	}
	return time.Date(y, m, d, int(quietTo/time.Hour), int(quietTo%time.Hour/time.Minute), 0, 0, at.Location())
}
